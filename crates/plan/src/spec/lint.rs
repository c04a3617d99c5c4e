//! Warnings about how a plan's tasks are verified, about the files that they name, and about what they depend on.

use super::plan::Plan;
use super::task::{Markers, Task};
use crate::one_line::one_line;
use crate::phase::Dialect;
use crate::problem::Problem;
use crate::script::{Script, ScriptLint};
use crate::verify::Verify;

/// Characters of a Files field that are told.
const FILES_CHARS_MAX: usize = 60;

/// Looks at the verify command, the files and the dependencies of every task that is not done.
pub(super) fn lint(plan: &Plan) -> Vec<Problem> {
    let of_task = |task| {
        lint_task(plan, task).into_iter().chain(lint_files(plan, task)).chain(lint_markers(plan, task))
    };
    let open = plan.tasks().iter().filter(|task| !task.state.is_done());
    let of_tasks = open.flat_map(of_task).chain(plan.dependency_problems());
    let boxes = plan.stray_boxes().iter().chain(plan.other_boxes());
    of_tasks.chain(boxes.cloned()).collect()
}

/// Says where nobody can tell which files a task is about: it then counts as being about any.
fn lint_files(plan: &Plan, task: &Task) -> Option<Problem> {
    let files = plan.fields(task).files.unwrap_or_default();
    let unclear = files.unclear.first()?;
    let told: String = one_line(unclear).chars().take(FILES_CHARS_MAX).collect();
    let message =
        format!("the Files of {} name no path at “{told}”, so it counts as being about any file", task.id);
    let hint = "write paths or patterns in backticks, such as `docs/**`, or None";
    Some(Problem::warning(task.line, message).of(&task.id).hint(hint))
}

/// Says where a marker is written in small letters, so that it is none.
fn lint_markers(plan: &Plan, task: &Task) -> Option<Problem> {
    let title = plan.title(task);
    let first = title.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    let last = title.strip_suffix(']').and_then(|rest| rest.rsplit_once(" [")).map(|(_, inside)| inside);
    let is_meant =
        |inside: &&str| Markers::default().take(&inside.to_uppercase()) && !Markers::default().take(inside);
    let marker = first.into_iter().chain(last).find(is_meant)?;
    let (told, id) = (one_line(marker), &task.id);
    let message = format!("`[{told}]` of {id} is no marker and part of its title");
    let hint = format!("write `[{}]`", told.to_uppercase());
    Some(Problem::warning(task.line, message).of(id).hint(hint))
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
        Dialect::Spec if plan.reading().format.is_foreign() => {
            "say in its words what to run (\"run `COMMAND`\"), have commands proposed by `tillgreen plan --verify`, or set \
             `verify = \"COMMAND\"` in tillgreen.toml for all that have none"
        }
        Dialect::Spec => {
            "add a `**Verify**:` field with one command in backticks, or have it proposed by `tillgreen plan --verify`"
        }
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
