//! `tillgreen skip`: leaves a task out.

use engine::Said;

use crate::args::SkipArgs;
use crate::cli::{Context, Ended};
use crate::exit;
use crate::steering::Target;
use crate::task_argument::Spelled;

/// Has the task left out: by the run that is under way, else at once in its record, else by the first run.
pub(crate) fn run(context: &mut Context, arguments: &SkipArgs) -> Ended {
    let plan = arguments.plan.as_deref();
    let target = Target::find(context, plan)?;
    let task = target.open_task(context, &Spelled { verb: "skip", plan, task: &arguments.task })?;
    let directive = runner::directive(Said::Skip { task: task.clone() });
    let fate = match target.send(&directive)? {
        Some(fate) => fate,
        None if target.is_unfinished() => target.record(directive)?,
        None => target.leave(&directive)?,
    };
    target.say(context, (&fate, Some(&task)), &format!("skips task {task}"))?;
    Ok(exit::DONE)
}
