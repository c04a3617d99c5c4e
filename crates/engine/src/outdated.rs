//! Finished work belongs to the text that it was made for. Where the plan has another one when a run is opened, on another
//! branch or because a person rewrote it, nothing has proved that the work is what the task asks for now.

use std::collections::BTreeMap;

use plan::TaskId;

use crate::fold::Applied;
use crate::state::State;
use crate::status::Status;
use crate::task::{Task, TaskDecl};
use crate::transition::EventKind;

/// Tasks with finished work that is not recorded yet, and with another text than they had when it was made.
pub fn outdated(state: &State, read: &[TaskDecl]) -> Vec<TaskId> {
    let finished = state.attention().filter(|task| task.status.is_active() && !is_lost(&task.status));
    let mut digests: BTreeMap<&TaskId, u32> = finished.map(|task| (task.id(), task.decl.digest)).collect();
    let is_other = |decl: &&TaskDecl| digests.remove(&decl.id).is_some_and(|digest| digest != decl.digest);
    read.iter().filter(is_other).map(|decl| decl.id.clone()).collect()
}

/// True if what happens with a task ends with the program, without anything that could be taken in.
pub(crate) fn is_lost(status: &Status) -> bool {
    matches!(status, Status::Running(_) | Status::Proving)
}

impl State {
    /// The task is worked on again, as if its attempt had been lost while it ran. What an agent remembers of it, and what
    /// its command showed, was about the other text.
    pub(crate) fn outdate_work(&mut self, id: &TaskId) -> Applied {
        let to = |task: &Task| Status::Ready { proves: task.status == Status::Recording { attempt: None } };
        let task = self.go_on(id, EventKind::Lost, to)?;
        task.claimed = None;
        task.forget_landing();
        task.session = None;
        task.proof_failure = None;
        Ok(())
    }
}
