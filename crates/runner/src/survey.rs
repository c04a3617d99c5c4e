//! What an attempt left in its tree, as it is found when its agent has ended, and what is said of it.

use engine::FileState;
use plan::TaskId;

use crate::driver::Driver;
use crate::git::Oid;
use crate::remnant::Remnants;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub touched: Vec<FileState>,
    /// Files of the plan that changed, which is dropped.
    pub dropped: Vec<String>,
    pub remnants: Remnants,
    /// What was only taken out of the tree's index.
    pub taken_out: Vec<String>,
    /// The work as a commit of its own.
    pub packed: Option<Oid>,
}

impl Driver<'_> {
    /// Says what of it is no part of the work.
    pub(crate) fn tell_of_survey(&mut self, task: &TaskId, survey: &Survey) {
        if !survey.dropped.is_empty() {
            self.note_of(
                task,
                format!(
                    "task {task} changed files of the plan, which is dropped: {}",
                    survey.dropped.join(", ")
                ),
            );
        }
        self.tell_of_taken_out(task, &survey.taken_out);
        for told in survey.remnants.told() {
            self.note_of(task, format!("task {task} left what cannot come back: {told}"));
        }
    }
}
