//! Problems of a plan: what is wrong, where, and what a person can do about it.

use crate::TaskId;

/// How bad a problem is: a plan can be run in spite of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The plan still means something definite; a person should look.
    Warning,
    /// The plan's meaning is not known; it should not be run like this.
    Error,
}

/// One thing found while reading or examining a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line it is about, counted from one.
    pub line: usize,
    /// How bad it is.
    pub severity: Severity,
    /// The problem, as a lower-case fragment.
    pub message: String,
    /// A way out.
    pub hint: Option<String>,
    /// The task it is about, if it is about one.
    pub task: Option<TaskId>,
}

impl Problem {
    pub(crate) fn warning(line: usize, message: impl Into<String>) -> Self {
        Problem { line, severity: Severity::Warning, message: message.into(), hint: None, task: None }
    }

    pub(crate) fn error(line: usize, message: impl Into<String>) -> Self {
        Problem { severity: Severity::Error, ..Problem::warning(line, message) }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Problem { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn of(self, task: &TaskId) -> Self {
        Problem { task: Some(task.clone()), ..self }
    }
}
