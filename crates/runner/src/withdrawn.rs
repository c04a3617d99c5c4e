//! Tasks that a person took out of the plan when they were finished and waited to come back, or when an attempt had left
//! something; also those in whose place another one is done by now, as on another branch. That does not come in; it may be all that is left of somebody's effort, so it is kept and told of.

use engine::{Event, PlanChanges, Status, What};
use plan::TaskId;

use crate::driver::Driver;
use crate::error::RunError;

impl Driver<'_> {
    /// Those with work in trees of their own that an event takes out of the run.
    pub(crate) fn withdrawn_by(&self, event: &Event) -> Vec<TaskId> {
        let Some(changes) = changes_in(&event.what) else { return Vec::new() };
        let has_work = |id: &&TaskId| {
            let is_finished = self.state.task(id).is_some_and(engine::Task::waits_in_tree);
            is_finished
                || self
                    .state
                    .task(id)
                    .is_some_and(|task| task.work.as_ref().is_some_and(|work| work.commit.is_some()))
        };
        let outdated = if let What::Opened(opened) = &event.what { opened.outdated.as_slice() } else { &[] };
        let replaced = outdated.iter().filter(|id| changes.ticked.contains(id));
        changes.removed.iter().chain(replaced).filter(has_work).cloned().collect()
    }

    /// Puts their work where nothing touches it, and says so.
    pub(crate) fn set_withdrawn_aside(&mut self, withdrawn: &[TaskId]) {
        for id in withdrawn {
            let why = match self.state.task(id) {
                Some(_) => "is ticked in the plan, with another text than the one that was worked on",
                None => "is no longer in the plan",
            };
            self.note(format!("task {id} {why}, so its work does not come in"));
        }
        if !withdrawn.is_empty() {
            self.set_orphans_aside();
        }
    }

    /// Before work comes back: whether the plan still has its task. What a person took out meanwhile is taken out of the
    /// run.
    pub(crate) fn is_withdrawn(&mut self, what: &What) -> Result<bool, RunError> {
        let What::LandingStarted { task: id } = what else { return Ok(false) };
        if !self.state.task(id).is_some_and(|task| matches!(task.status, Status::Finished { .. })) {
            return Ok(false);
        }
        self.refresh_plan()?;
        if self.book.decl(&self.state, id).is_some() {
            return Ok(false);
        }
        self.decide(engine::Seen::PlanRead(self.book.decls(&self.state)))?;
        Ok(self.state.task(id).is_none())
    }
}

fn changes_in(what: &What) -> Option<&PlanChanges> {
    if let What::Opened(opened) = what {
        return Some(&opened.changes);
    }
    if let What::PlanChanged(changes) = what { Some(changes) } else { None }
}
