//! Directives in the state.

use plan::TaskId;

use super::Applied;
use crate::event::{Event, NewLimits};
use crate::skip::Skip;
use crate::state::State;
use crate::status::Status;
use crate::transition::EventKind;

impl State {
    pub(super) fn apply_skipped(&mut self, id: &TaskId, skip: Skip, event: &Event) -> Applied {
        let task = self.go(id, EventKind::TaskSkipped, Status::Skipped)?;
        task.ended_at = Some(event.at);
        task.skip = Some(skip);
        if event.by.is_some() || self.is_leaving(id) {
            self.leave_fixes_of(id);
        }
        self.settle_directives(id);
        Ok(())
    }

    pub(super) fn apply_skip_requested(&mut self, id: &TaskId, from: Option<&str>) -> Applied {
        self.place(id)?;
        self.directives.ask_to_leave(id, from);
        Ok(())
    }

    pub(super) fn apply_limits(&mut self, new: &NewLimits) -> Applied {
        let Some(opened) = &mut self.opened else { return Ok(()) };
        opened.rules.limits = new.limits.clone();
        opened.rules.parallel.jobs = new.jobs;
        for change in &new.changes {
            match &change.to {
                Some(to) => drop(opened.launch.insert(change.key.clone(), to.clone())),
                None => drop(opened.launch.remove(&change.key)),
            }
        }
        Ok(())
    }

    pub(super) fn apply_told(&mut self, task: Option<&TaskId>, text: &str, from: Option<&str>) -> Applied {
        self.directives.tell(task, text, from);
        Ok(())
    }

    pub(super) fn apply_pause_requested(&mut self, from: Option<&str>) -> Applied {
        self.directives.ask_for_pause(from);
        Ok(())
    }
}
