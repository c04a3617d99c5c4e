//! What a pull request says of itself, made from the plan and what came of it.

use std::fmt::Write as _;

use engine::{State, Status, Toggle};

use crate::mask::mask;

/// Tasks that the body lists.
const TASKS_MAX: usize = 200;

/// A pull request that is to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) draft: Toggle,
    /// The branch that it is to be merged into; the default branch where nothing was said.
    pub(super) base: Option<String>,
}

/// The title where nothing else was said.
pub(super) fn title(name: &str) -> String {
    format!("feat: {}", plan::one_line(name))
}

/// The body: the tasks with their commits, and the figures.
pub(super) fn body(state: &State, name: &str) -> String {
    let summary = engine::Summary::of(state, jiff::Timestamp::UNIX_EPOCH);
    let mut text = format!("Plan: {}\n\n## Tasks\n\n", plan::one_line(name));
    let tasks = state.tasks();
    for task in tasks.iter().take(TASKS_MAX) {
        let mark = if task.status == Status::Done { 'x' } else { ' ' };
        let commit = task.commit.as_deref().map(|commit| format!(" ({})", commit.get(..7).unwrap_or(commit)));
        let title = plan::one_line(&task.decl.title);
        // Writing into a string cannot fail, here and below.
        let _ = writeln!(text, "- [{mark}] {} {title}{}", task.id(), commit.unwrap_or_default());
    }
    if tasks.len() > TASKS_MAX {
        let _ = writeln!(text, "- … and {} more", tasks.len() - TASKS_MAX);
    }
    let _ = writeln!(
        text,
        "\n{} of {} tasks and {} fix tasks done, {} skipped; {} attempts, {} of them failed.",
        summary.originals_done,
        summary.originals,
        summary.fixes_done,
        summary.skipped,
        summary.attempts,
        summary.failed_attempts
    );
    mask(&text)
}
