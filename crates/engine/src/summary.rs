//! The summary of a run: counted from the state when somebody asks, never stored beside it.

use std::time::Duration;

use plan::TaskId;

use crate::state::State;
use crate::status::Status;
use crate::task::Task;
use crate::usage::Usage;
use crate::warning::Warnings;

/// The summary of a run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tasks of the plan's author.
    pub originals: usize,
    /// How many of those are done.
    pub originals_done: usize,
    /// Fix tasks.
    pub fixes: usize,
    /// How many of those are done.
    pub fixes_done: usize,
    /// Tasks left out.
    pub skipped: usize,
    /// Attempts that ended, passed or failed.
    pub attempts: usize,
    /// Attempts that failed.
    pub failed_attempts: usize,
    /// The warnings: they stopped nothing.
    pub warnings: Warnings,
    /// Time from the first start to the last thing that happened, as far as a program was there.
    pub elapsed: Duration,
    /// The usage of agents.
    pub usage: Usage,
    /// Each task that needed fixes, with those.
    pub fixed: Vec<(TaskId, Vec<TaskId>)>,
}

impl Summary {
    /// Counts.
    pub fn of(state: &State) -> Self {
        let mut summary = Self {
            skipped: state.skipped_count(),
            warnings: state.warnings.clone(),
            elapsed: state.elapsed(),
            usage: state.usage(),
            ..Self::default()
        };
        for task in state.tasks() {
            summary.count(task);
        }
        summary
    }

    fn count(&mut self, task: &Task) {
        let is_done = usize::from(task.status == Status::Done);
        if task.decl.fix_of.is_some() {
            self.fixes += 1;
            self.fixes_done += is_done;
        } else {
            self.originals += 1;
            self.originals_done += is_done;
        }
        self.failed_attempts += task.failures.len();
        self.attempts += usize::try_from(task.attempted).unwrap_or(usize::MAX);
        if !task.fixes.is_empty() {
            self.fixed.push((task.id().clone(), task.fixes.clone()));
        }
    }
}
