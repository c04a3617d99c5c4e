//! `tillgreen answer`: answers the open question of a run, then continues it with the settings it had.

use runner::{Beginning, Request};

use crate::answer;
use crate::args::AnswerArgs;
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::settings::from_launch;
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
    let launch = state.opened().map(|opened| opened.launch.clone()).unwrap_or_default();
    let settings = from_launch(&launch)?;
    let beginning = Beginning::Answer(task.id().clone(), response);
    super::run::execute(
        context,
        &subject,
        &Request { project: &project, file: &file, settings: &settings, beginning },
    )
}
