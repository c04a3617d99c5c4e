//! `tillgreen answer`: answers the open question of a run. One that is under way takes it and goes on; any other is
//! continued with the settings it had.

use engine::{Directive, End, Said, State};
use plan::TaskId;
use runner::{Beginning, Notice, Request, Then};

use super::run::{Telling, attendance};
use crate::answer;
use crate::args::{AnswerArgs, Format};
use crate::checkpoint::Checkpoint;
use crate::cli::{Context, Ended};
use crate::error::{Error, Kind};
use crate::exit;
use crate::explain::told_of_first;
use crate::settings::{LiveReader, apply_recorded};
use crate::steering::{Target, say_masked};
use crate::view::lines::response_text;
use crate::view::subject::Subject;
use crate::view::{ending, json, question};

/// Hands the answer to the run.
pub(crate) fn run(context: &mut Context, arguments: &AnswerArgs) -> Ended {
    let target = Target::find(context, arguments.plan.as_deref())?;
    let open = target.state.as_ref().and_then(question::open);
    let Some((task, asked)) = open else { return Err(nothing_is_asked(&target)) };
    let checkpoint = Checkpoint::find(&target.file, task.id());
    let response = answer::read(&arguments.response, asked.question, checkpoint.as_ref())?;
    let (id, text) = (task.id().clone(), response_text(&response));
    let said = Said::Answer { task: id.clone(), since: asked.since, response };
    let directive = runner::directive(said.clone());
    let fate = target.send(&directive)?;
    say_masked(&said, &directive);
    if let Some(fate) = fate {
        let done = format!("has taken the answer about task {id}: {text}");
        target.say(context, (&fate, Some(&id)), &done)?;
        return Ok(exit::DONE);
    }
    go_on(context, &target, directive, arguments.no_run)
}

/// Why there is nothing to answer: somebody may have been first.
fn nothing_is_asked(target: &Target) -> Error {
    let subject = &target.subject;
    let state = target.state.as_ref().filter(|state| !question::is_over(state));
    let error = match state.and_then(State::latest_answer) {
        Some((task, first)) => Error::new(Kind::Answered, answered_before(task)).note(told_of_first(first)),
        None => Error::usage(format!("no question of '{}' is open", subject.name)),
    };
    error.hint(format!("see where it stands with {}", subject.command("status", "")))
}

fn answered_before(task: &TaskId) -> String {
    format!("somebody else was first: the question about task {task} is answered already")
}

/// Opens a run that is not under way, with the answer.
fn go_on(context: &mut Context, target: &Target, directive: Directive, no_run: bool) -> Ended {
    let Target { project, file, subject, .. } = target;
    let mut settings = target.settings()?;
    // Whoever sat there when the run was started need not be there now.
    settings.rules.on_escalation = attendance().escalation(settings.rules.on_escalation);
    let settings = &settings;
    let mut file = file.clone();
    apply_recorded(&settings.launch, &mut file)?;
    let file = &file;
    if no_run {
        let beginning = Beginning::Told(Box::new(directive), Then::Stop);
        return note(context, subject, &Request { project, file, settings, beginning });
    }
    let live = LiveReader::of_recorded(&settings.launch, file.dialect, project.root())?;
    let beginning = Beginning::Told(Box::new(directive), Then::GoOn);
    let telling = Telling { live: Some(live), ..Telling::default() };
    super::run::execute(context, subject, &Request { project, file, settings, beginning }, telling)
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
    });
    let finished = finished.map_err(|error| Error::from(error).about(subject))?;
    if finished.end != End::Interrupted {
        return ending::error(subject, &finished.state).map_or(Ok(exit::DONE), Err);
    }
    if format == Format::Text {
        writeln!(context.out, "The answer is noted; go on with {}.", subject.command("run", ""))?;
    }
    Ok(exit::DONE)
}
