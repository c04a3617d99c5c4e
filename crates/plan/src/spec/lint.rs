//! What is questionable about how a plan's tasks are verified.

use super::plan::Plan;
use super::task::Task;
use crate::phase::Dialect;
use crate::problem::Problem;
use crate::script::{Script, ScriptLint};
use crate::verify::Verify;

/// Looks at the verify command of every task.
pub(super) fn lint(plan: &Plan) -> Vec<Problem> {
    plan.tasks().iter().flat_map(|task| lint_task(plan, task)).collect()
}

fn lint_task(plan: &Plan, task: &Task) -> Vec<Problem> {
    match plan.verify(task) {
        Verify::Runnable(script) => lint_script(task, &script),
        // Whoever answers a checkpoint verifies it.
        Verify::Prose(_) | Verify::Absent if task.type_.is_checkpoint() => Vec::new(),
        Verify::Prose(_) => vec![unverified(plan, task, "is verified by prose only")],
        Verify::Absent => vec![unverified(plan, task, "has no verification")],
    }
}

fn unverified(plan: &Plan, task: &Task, what: &str) -> Problem {
    let problem = Problem::warning(task.line, format!("task {} {what}", task.id)).of(&task.id);
    problem.hint(match plan.dialect() {
        Dialect::Spec => "add a `**Verify**:` field with one command in backticks",
        Dialect::Phase => "add `<automated>` with one command to its `<verify>`",
    })
}

fn lint_script(task: &Task, script: &Script) -> Vec<Problem> {
    let problem = |message: String| Problem::warning(task.line, message).of(&task.id);
    let id = &task.id;
    let told = script.lints().into_iter().filter_map(|lint| match lint {
        ScriptLint::CannotFail(why) => {
            Some(problem(format!("the verify command of {id} cannot fail: {why}")))
        }
        ScriptLint::HidesFailure(why) => {
            Some(problem(format!("the verify command of {id} hides failures: {why}")))
        }
        // Whether a path exists is for the edge to find out.
        ScriptLint::AbsolutePath(_) => None,
    });
    told.collect()
}
