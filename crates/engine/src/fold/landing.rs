//! How finished work comes in, in the state.

use plan::TaskId;

use super::Applied;
use crate::state::State;
use crate::status::Status;
use crate::task::{Landed, Task};
use crate::transition::EventKind;

impl State {
    pub(super) fn apply_landing_started(&mut self, id: &TaskId) -> Applied {
        let is_return =
            |task: &Task| matches!(task.status, Status::Joining { .. } | Status::Recording { .. });
        let returns = self.task(id).is_some_and(is_return);
        let task = self.go_on(id, EventKind::LandingStarted, |task| {
            // All but the first are for work that has to come in once more.
            let (Status::Finished { attempt }
            | Status::Joining { attempt }
            | Status::Recording { attempt: Some(attempt) }) = task.status
            else {
                return Status::Failed;
            };
            Status::Landing { attempt }
        })?;
        task.returns = task.returns.saturating_add(u32::from(returns));
        // What was green where no agent works is so still, should the same tree come together again.
        let verified = task.verified.take().filter(|_| task.is_isolated());
        task.forget_landing();
        task.verified = verified;
        Ok(())
    }

    pub(super) fn apply_landed(&mut self, id: &TaskId, touched: &[String], landed: Landed) -> Applied {
        let task = self.go_on(id, EventKind::Landed, |task| {
            let Status::Landing { attempt } = task.status else { return Status::Failed };
            Status::Joining { attempt }
        })?;
        // What its attempts changed in their slots is of no interest any more.
        task.touched = touched.iter().cloned().collect();
        task.landed = Some(landed);
        Ok(())
    }

    pub(super) fn apply_join_passed(
        &mut self,
        id: &TaskId,
        warnings: &[String],
        tree: Option<&str>,
    ) -> Applied {
        self.warnings.add_of(id, warnings);
        self.note_green(id, tree);
        let task = self.go_on(id, EventKind::JoinPassed, |task| {
            let Status::Joining { attempt } = task.status else { return Status::Failed };
            Status::Recording { attempt: Some(attempt) }
        })?;
        task.verified = tree.map(str::to_owned);
        Ok(())
    }

    /// The work waits as it did before it was its turn.
    pub(super) fn apply_held_up(&mut self, id: &TaskId, files: &[String]) -> Applied {
        let task = self.go_on(id, EventKind::HeldUp, |task| {
            let Status::Recording { attempt: Some(attempt) } = task.status else { return Status::Failed };
            Status::Finished { attempt }
        })?;
        task.held_up = files.to_vec();
        Ok(())
    }

    /// Lets work come in again that was held up: whoever starts the program may have seen to what was in the way.
    pub(super) fn try_held_up_again(&mut self) {
        let places: Vec<usize> = self.index.attention.iter().collect();
        for place in places {
            let task = &mut self.tasks[place];
            if task.is_held_up() {
                task.held_up.clear();
            }
        }
    }

    /// No attempt is spent. What earlier attempts at the task left stays packed.
    pub(super) fn apply_tree_unavailable(&mut self, id: &TaskId) -> Applied {
        self.uncount_dispatch(self.place(id)?);
        let task = self.go(id, EventKind::TreeUnavailable, Status::Ready { proves: false })?;
        task.leave_tree();
        task.claimed = None;
        task.forget_landing();
        self.is_without_trees = true;
        Ok(())
    }
}
