//! `tillgreen answer`: answers the open question of a run, then continues it with the settings it had.

use runner::{Beginning, Request};

use super::run::attendance;
use crate::answer;
use crate::args::AnswerArgs;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::settings::{Programs, from_launch};
use crate::view::question;

/// Hands the answer to the run.
pub(crate) fn run(context: &mut Context, arguments: &AnswerArgs) -> Ended {
    let response = answer::parse(&arguments.response)?;
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    let state = runner::load(&file, |_| ())?;
    let open = state.as_ref().and_then(|state| Some((state, question::open(state)?)));
    let Some((state, (task, asked))) = open else {
        return Err(Error::usage(format!("no question of '{}' is open", subject.name))
            .hint(format!("see where it stands with {}", subject.command("status", ""))));
    };
    answer::fits(&response, asked.question)?;
    if arguments.no_run {
        // An answer is an event of a run that is under way, so noting it alone needs the runner's help.
        return Err(Error::usage("--no-run is not supported yet; the question stays open")
            .hint(format!("answer and go on with {}", subject.command("answer", "RESPONSE"))));
    }
    let launch = state.opened().map(|opened| opened.launch.clone()).unwrap_or_default();
    let mut settings = from_launch(&launch, &Programs::of_environment(project.root()))?;
    // Whoever sat there when the run was started need not be there now.
    settings.rules.on_escalation = attendance().escalation(settings.rules.on_escalation);
    let beginning = Beginning::Answer(task.id().clone(), response);
    super::run::execute(
        context,
        &subject,
        &Request { project: &project, file: &file, settings: &settings, beginning },
    )
}
