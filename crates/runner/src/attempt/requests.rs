//! Changes of the plan that agents ask for: tasks of their own, judged by what they say of being done, because no
//! command of an agent's is ever run. They are bounded as fix tasks are, and what goes beyond is only noted.

use engine::{AgentEnd, Claim, Dialect, Seen, Stuck, StuckKind, Unverifiable};
use plan::{Beside, RequestTask, TaskId};

use crate::attempt::report::{ChangeKind, ChangeRequest};
use crate::error::RunError;
use crate::run::effects::Effects;
use crate::settings::Bookkeeping;

/// The outcome of the changes that an attempt asked for.
#[derive(Debug, Default)]
pub(crate) struct Requested {
    /// The changes that were not written, to be noted as learnings.
    pub notes: Vec<String>,
    /// The first of the tasks that have to be done before the attempt's own.
    pub first: Option<TaskId>,
}

impl Requested {
    /// The end of the agent that asked. Unless it says that the task is done all the same, the task waits.
    pub(crate) fn holding_up(&self, end: AgentEnd) -> AgentEnd {
        match (&self.first, end) {
            (Some(first), AgentEnd::Answered { claim, contradiction, tail }) => {
                AgentEnd::Answered { claim: held_up(claim, first), contradiction, tail }
            }
            (_, end) => end,
        }
    }
}

fn held_up(claim: Claim, first: &TaskId) -> Claim {
    let reason = match claim {
        Claim::Complete => return claim,
        Claim::Stuck(Stuck { kind: StuckKind::Blocked, ref reason, by: None }) => reason.clone(),
        Claim::Stuck(_) => return claim,
        Claim::Failed(failed) | Claim::Denied(failed) => failed.error,
        Claim::NotVerified | Claim::OtherRole | Claim::Silent => {
            format!("the agent asked for task {first} to be done first")
        }
    };
    Claim::Stuck(Stuck { kind: StuckKind::Blocked, reason, by: Some(first.to_string()) })
}

impl Effects<'_, '_> {
    /// Writes the tasks that an attempt asked for into the plan: parts of its own and what has to come first before
    /// it, what follows behind it.
    pub(crate) fn request_changes(
        &mut self,
        task: &TaskId,
        requests: &[ChangeRequest],
    ) -> Result<Requested, RunError> {
        let mut requested = Requested::default();
        let mut is_changed = false;
        for request in requests {
            let id = match self.asked_before(task, request) {
                Some(id) => Some(id),
                None => self.insert_request(task, request)?.inspect(|_| is_changed = true),
            };
            match id {
                // What was done before cannot be what is in the way now.
                Some(id) if self.world.plans.is_ticked(&id) => requested.notes.push(request.note()),
                Some(id) if request.kind.comes_first() => _ = requested.first.get_or_insert(id),
                Some(_) => {}
                None => requested.notes.push(request.note()),
            }
        }
        if is_changed {
            // Whoever waits for one of them has to know it. The running task keeps its text, so it is read again later.
            self.see(Seen::PlanRead(self.world.plans.decls(self.state)));
            self.world.reads_plan_again = true;
        }
        Ok(requested)
    }

    /// The task that an earlier attempt asked for in the same words.
    fn asked_before(&self, task: &TaskId, request: &ChangeRequest) -> Option<TaskId> {
        let children = (1..=self.world.settings.rules.limits.fix_tasks_max).map(|number| task.child(number));
        let is_it = |id: &TaskId| {
            self.world.plans.find(id).is_some_and(|(plan, task)| plan.title(task).trim() == request.title)
        };
        children.into_iter().find(is_it)
    }

    /// Writes a task, if the limits and the plan allow one more.
    fn insert_request(&mut self, task: &TaskId, request: &ChangeRequest) -> Result<Option<TaskId>, RunError> {
        let Some(id) = self.id_for_request(task) else { return Ok(None) };
        let details: Vec<String> = request.reason.iter().map(|reason| format!("Why: {reason}")).collect();
        let wanted = RequestTask {
            id: &id,
            title: &request.title,
            goal: &format!("{} (asked for at work on task {task})", request.title),
            details: &details,
            files: &[],
            done_when: request.done_when.as_ref().unwrap_or(&request.title),
            verify: None,
            commit: &format!("feat: {}", plan::summary(&request.title)),
        };
        let place = if request.kind.comes_first() { Beside::Before } else { Beside::After };
        let is_written = self
            .world
            .plans
            .insert_beside(&wanted, place, task)
            .map_err(RunError::io("write a task into", &self.world.file.path))?;
        if !is_written {
            return Ok(None);
        }
        self.note_of(
            &id,
            format!("task {id} was added to the plan because the agent of {task} asked for it"),
        );
        if let Err(error) = self.commit_spec(&format!("chore(spec): add task {}", id.name())) {
            self.note(format!("the plan could not be committed: {error}"));
        }
        Ok(Some(id))
    }

    /// The id of the task to be written, if the limits allow one more.
    fn id_for_request(&self, task: &TaskId) -> Option<TaskId> {
        let rules = &self.world.settings.rules;
        let is_writable = self.world.file.dialect == Dialect::Spec
            && self.world.settings.bookkeeping == Bookkeeping::Coordinator
            && rules.unverifiable != Unverifiable::Refuse
            && self.depth(task) < rules.limits.fix_depth_max;
        let free = (1..=rules.limits.fix_tasks_max)
            .map(|number| task.child(number))
            .find(|id| self.state.task(id).is_none() && self.world.plans.text(self.state, id).is_none());
        free.filter(|_| is_writable)
    }

    /// The depth of a task below others, as a fix or by its number.
    fn depth(&self, task: &TaskId) -> u32 {
        let mut above = 0;
        let mut name = task.name();
        while let Some((parent, _)) = name.rsplit_once('.') {
            above += u32::from(self.state.task(&TaskId::new(parent)).is_some());
            name = parent;
        }
        above.max(self.state.fix_depth(task))
    }
}

impl ChangeKind {
    /// True if the task that was worked on is done after it. A part of a task that is too large is done before what is
    /// left of it, which is then proven by the task's own verify command.
    fn comes_first(self) -> bool {
        match self {
            Self::Split | Self::Prerequisite => true,
            Self::FollowUp => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_for_something_first_waits_for_it_unless_done() {
        let first = TaskId::new("1.1.1");
        let by = |claim: Claim| match held_up(claim, &first) {
            Claim::Stuck(Stuck { by, .. }) => by,
            Claim::Complete
            | Claim::Denied(_)
            | Claim::OtherRole
            | Claim::NotVerified
            | Claim::Silent
            | Claim::Failed(_) => None,
        };
        assert_eq!(by(Claim::Silent).as_deref(), Some("1.1.1"));
        assert_eq!(by(Claim::Complete), None);
        let stuck = |by: Option<&str>, kind: StuckKind| {
            Claim::Stuck(Stuck { kind, reason: "no".to_owned(), by: by.map(str::to_owned) })
        };
        assert_eq!(by(stuck(None, StuckKind::Blocked)).as_deref(), Some("1.1.1"));
        assert_eq!(by(stuck(Some("2.1"), StuckKind::Blocked)).as_deref(), Some("2.1"));
        assert_eq!(by(stuck(None, StuckKind::Impossible)), None, "nothing that comes first would help");
    }
}
