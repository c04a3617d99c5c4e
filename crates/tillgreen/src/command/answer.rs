//! `tillgreen answer`: answers the open question of a run, then continues it with the settings it had.

use engine::End;
use runner::{Beginning, Notice, Request};

use super::run::attendance;
use crate::answer;
use crate::args::{AnswerArgs, Format};
use crate::checkpoint::Checkpoint;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FileSettings, Programs, from_launch};
use crate::view::subject::Subject;
use crate::view::{ending, json, question};

/// Hands the answer to the run.
pub(crate) fn run(context: &mut Context, arguments: &AnswerArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    let state = runner::load(&file, |_| ())?;
    let open = state.as_ref().and_then(|state| Some((state, question::open(state)?)));
    let Some((state, (task, asked))) = open else {
        return Err(Error::usage(format!("no question of '{}' is open", subject.name))
            .hint(format!("see where it stands with {}", subject.command("status", ""))));
    };
    let checkpoint = Checkpoint::find(&file, task.id());
    let response = answer::read(&arguments.response, asked.question, checkpoint.as_ref())?;
    let launch = state.opened().map(|opened| opened.launch.clone()).unwrap_or_default();
    let of_file = FileSettings::load(project.root())?;
    let programs = Programs::of_environment(project.root());
    let mut settings = from_launch(&launch, file.dialect, &of_file, &programs)?;
    // Whoever sat there when the run was started need not be there now.
    settings.rules.on_escalation = attendance().escalation(settings.rules.on_escalation);
    if arguments.no_run {
        let beginning = Beginning::NoteAnswer(task.id().clone(), response);
        let request = Request { project: &project, file: &file, settings: &settings, beginning };
        return note(context, &subject, &request);
    }
    let beginning = Beginning::Answer(task.id().clone(), response);
    super::run::execute(
        context,
        &subject,
        &Request { project: &project, file: &file, settings: &settings, beginning },
    )
}

/// Records the answer alone. That the run has not gone on is what was asked for; an abort has its own exit code.
fn note(context: &mut Context, subject: &Subject, request: &Request<'_>) -> Ended {
    let format = context.format;
    let out = &mut context.out;
    let finished = runner::run(request, &mut |_, notice| {
        if let (Format::Json, Notice::Recorded(event)) = (format, notice) {
            // As while a run goes on: where nobody reads the events, they are in the journal all the same.
            let _ = json::line(out, event);
        }
    })?;
    if finished.end != End::Interrupted {
        return ending::error(subject, &finished.state).map_or(Ok(exit::DONE), Err);
    }
    if format == Format::Text {
        writeln!(context.out, "The answer is noted; go on with {}.", subject.command("run", ""))?;
    }
    Ok(exit::DONE)
}
