//! What people do to work that is half in the project while it is verified there: they commit it along with theirs, or
//! take it out again. Neither is the task's fault, and nothing of theirs is undone.

use engine::{ChecksReport, Dispatch};
use plan::TaskId;

use crate::driver::Driver;
use crate::git::Sight;

impl Driver<'_> {
    /// After the check on all that came together: whether that was not about this work, because files of it had been
    /// taken out of the project. That is believed once of each attempt's work: it might be the check itself that does so.
    pub(crate) fn was_taken_out(
        &mut self,
        (task, dispatch): (&TaskId, Dispatch),
        report: &ChecksReport,
    ) -> bool {
        let Some(git) = self.tree.git() else { return false };
        // What git cannot tell now is an error for whoever commits the work or takes it back.
        let sight = git.look_at_landing(self.stamps.as_ref()).unwrap_or_default();
        let outcome = match report.failure {
            Some(_) => "it turned out red, so the next attempt goes on from there",
            None => "it turned out green",
        };
        told_of_commit(&sight, &format!("task {task}"), outcome).into_iter().for_each(|told| self.note(told));
        let is_believed = sight.is_taken_out && self.displaced.insert((task.clone(), dispatch));
        if is_believed {
            self.note_of(task, format!(
                "somebody took work of task {task} out of the project while it was verified, so it is brought in once \
                 more"
            ));
        }
        is_believed
    }
}

/// What is said where somebody's commit holds work that nobody had verified yet.
pub(crate) fn told_of_commit(sight: &Sight, whose: &str, outcome: &str) -> Option<String> {
    let commit = sight.committed.as_ref()?.short();
    Some(format!("commit {commit} took along work of {whose} that was being verified: {outcome}"))
}
