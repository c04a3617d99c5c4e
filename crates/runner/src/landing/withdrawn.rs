//! Tasks that a person took out of the plan when they were finished and waited to come back, or when an attempt had left
//! something; also those in whose place another one is done by now, as on another branch. That does not come in; it may be all that is left of somebody's effort, so it is kept and told of.

use engine::{Event, PlanChanges, State, Task, What};
use plan::TaskId;

use crate::run::effects::Effects;

impl Effects<'_, '_> {
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
}

/// The tasks with work in slots that an event takes out of the run.
pub(crate) fn withdrawn_by(state: &State, event: &Event) -> Vec<TaskId> {
    let Some(changes) = changes_in(&event.what) else { return Vec::new() };
    let has_work = |id: &&TaskId| {
        let is_packed = |task: &Task| task.work.as_ref().is_some_and(|work| work.commit.is_some());
        state.task(id).is_some_and(|task| task.waits_in_tree() || is_packed(task))
    };
    let outdated = if let What::Opened(opened) = &event.what { opened.outdated.as_slice() } else { &[] };
    let replaced = outdated.iter().filter(|id| changes.ticked.contains(id));
    changes.removed.iter().chain(replaced).filter(has_work).cloned().collect()
}

fn changes_in(what: &What) -> Option<&PlanChanges> {
    if let What::Opened(opened) = what {
        return Some(&opened.changes);
    }
    if let What::PlanChanged(changes) = what { Some(changes) } else { None }
}
