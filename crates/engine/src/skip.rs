//! A task that is left out, in the words that people are told of it.

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::task::Task;

/// The reason for leaving out a task whose retries or fix tasks are used up.
pub(crate) const EXHAUSTED: &str = "User escalation - automated recovery failed";

/// Why a task was left out, and what that means for others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// Why.
    pub reason: String,
    /// Tasks that depend on it, or that come later and share a file with it.
    pub dependents: Vec<TaskId>,
}

impl Skip {
    /// The three lines that tell of a task that was left out.
    pub fn block(&self, task: &Task) -> String {
        let impact =
            if self.dependents.is_empty() { "No task depends on it" } else { "Dependent tasks may fail" };
        format!("[SKIPPED] {}\n  Reason: {}\n  Impact: {impact}\n", task.name(), self.reason_after(task))
    }

    fn reason_after(&self, task: &Task) -> String {
        match (self.reason.as_str(), task.round_failures().len()) {
            (EXHAUSTED, 1) => "User escalation after 1 failed attempt".to_owned(),
            (EXHAUSTED, failed @ 2..) => format!("User escalation after {failed} failed attempts"),
            (reason, _) => plan::one_line(reason),
        }
    }
}
