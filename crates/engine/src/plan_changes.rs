//! How the plan file differs from what the run knows of it, and what such a difference does to a state.

use std::collections::{BTreeMap, BTreeSet};

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::fold::{Applied, Impossible};
use crate::outdated::is_lost;
use crate::proof::Proving;
use crate::state::{Regression, State};
use crate::status::Status;
use crate::task::{Task, TaskDecl};
use crate::transition::EventKind;

/// The changes that a person made to the plan, by task id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChanges {
    /// New tasks, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<TaskDecl>,
    /// Tasks that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<TaskId>,
    /// Tasks whose text is another one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reworded: Vec<TaskDecl>,
    /// Boxes that were ticked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticked: Vec<TaskId>,
    /// Boxes that were unticked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unticked: Vec<TaskId>,
    /// The order of all tasks, where it is not the known one with the new tasks at its end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<TaskId>,
}

/// When the plan is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// The run is opened.
    Opening,
    /// The run goes on.
    Midway,
}

impl PlanChanges {
    /// True if nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The differences between the plan as read and the plan as known.
    pub(crate) fn between(state: &State, read: &[TaskDecl]) -> Self {
        Self::at(Moment::Midway, state, read)
    }

    fn at(moment: Moment, state: &State, read: &[TaskDecl]) -> Self {
        let mut changes = Self::default();
        if has_known_order(state, read) {
            state.tasks().iter().zip(read).for_each(|(known, decl)| changes.compare_with(known, decl));
            return changes;
        }
        let mut present = BTreeSet::new();
        for decl in read {
            if present.insert(&decl.id) {
                changes.compare(state, decl);
            }
        }
        let gone = state
            .tasks()
            .iter()
            .filter(|task| !present.contains(task.id()) && is_gone(state, task, (&present, moment)));
        changes.removed = gone.map(|task| task.id().clone()).collect();
        changes.order = new_order(state, read, &changes);
        changes
    }

    /// The differences when a run is opened. A plan that was never seen is all new, and moves in as it is.
    /// Of tasks whose work is gone or outdated it is all new as well.
    pub(crate) fn on_opening(
        state: &State,
        read: Vec<TaskDecl>,
        (gone, outdated): (&[TaskId], &[TaskId]),
    ) -> Self {
        if !state.tasks().is_empty() {
            let mut changes = Self::at(Moment::Opening, state, &read);
            changes.compare_what_begins_again(state, &read, (gone, outdated));
            return changes;
        }
        let mut present = BTreeSet::new();
        let added = read.into_iter().filter(|decl| present.insert(decl.id.clone())).collect();
        Self { added, ..Self::default() }
    }

    /// Compares tasks that nobody works on any more: they do not keep their text.
    fn compare_what_begins_again(
        &mut self,
        state: &State,
        read: &[TaskDecl],
        (gone, outdated): (&[TaskId], &[TaskId]),
    ) {
        let begins_again =
            |task: &&Task| is_lost(&task.status) || gone.contains(task.id()) || outdated.contains(task.id());
        let mut known: BTreeMap<&TaskId, &Task> =
            state.attention().filter(begins_again).map(|task| (task.id(), task)).collect();
        for decl in read {
            let Some(known) = known.remove(&decl.id) else { continue };
            if !is_same_text(decl, &known.decl) {
                self.reworded.push(TaskDecl { ticked: known.decl.ticked, ..decl.clone() });
            }
            // In the project itself the box may be the work of the agent that nobody has examined.
            if decl.ticked && known.is_isolated() && outdated.contains(&decl.id) {
                self.ticked.push(decl.id.clone());
            }
        }
    }

    fn compare(&mut self, state: &State, decl: &TaskDecl) {
        let Some(known) = state.task(&decl.id) else {
            self.added.push(decl.clone());
            return;
        };
        self.compare_with(known, decl);
    }

    fn compare_with(&mut self, known: &Task, decl: &TaskDecl) {
        // What is being worked on keeps its text from dispatch, or an agent could reword its own task into one
        // that is easier to prove. It is compared again as soon as it rests.
        if known.status.is_active() || known.status == Status::Drafted {
            return;
        }
        if !is_same_text(decl, &known.decl) {
            self.reworded.push(TaskDecl { ticked: known.decl.ticked, ..decl.clone() });
        }
        match (decl.ticked, &known.status) {
            (true, Status::Done) | (false, Status::Skipped) => {}
            (true, _) => self.ticked.push(decl.id.clone()),
            (false, Status::Done) => self.unticked.push(decl.id.clone()),
            (false, _) => {}
        }
    }
}

impl State {
    /// Takes what a person did to the plan into the state.
    pub(crate) fn apply_changes(&mut self, changes: &PlanChanges, at: jiff::Timestamp) -> Applied {
        if changes.is_empty() {
            return Ok(());
        }
        self.regression = Regression::Open;
        self.proving = Proving::Open;
        self.pull_request.reset();
        self.index.is_stale |= !changes.reworded.is_empty();
        for decl in &changes.reworded {
            let task = self.known(&decl.id)?;
            task.decl = decl.clone();
            task.grounds.reword(decl.digest);
            self.refresh_proving(&decl.id)?;
        }
        for id in &changes.ticked {
            let task = self.go(id, EventKind::Ticked, Status::Done)?;
            (task.is_ticked_by_hand, task.proof) = (true, None);
            task.decl.ticked = true;
            task.ended_at = Some(at);
            task.instruction = None;
            task.unfinished = None;
            task.work = None;
            task.forget_landing();
            self.settle_directives(id);
        }
        for id in &changes.unticked {
            let to = |task: &Task| Status::Ready { proves: Self::proves(task) };
            let task = self.go_on(id, EventKind::Unticked, to)?;
            task.decl.ticked = false;
            // Who unticks a box wants the task done anew, not what was left over of its old budget.
            task.renew_budget();
        }
        self.rearrange(changes)
    }

    /// A task that was reworded while it waited starts as its new text says. One that failed already goes on
    /// with an agent, unless its command was to be run first anyway.
    fn refresh_proving(&mut self, id: &TaskId) -> Applied {
        let place = self.place(id)?;
        let task = &self.tasks[place];
        if let Status::Ready { proves } = task.status {
            let proves = Self::proves(task) && (proves || task.failures.is_empty());
            self.set_status(place, Status::Ready { proves });
        }
        Ok(())
    }

    fn rearrange(&mut self, changes: &PlanChanges) -> Applied {
        if changes.added.is_empty() && changes.removed.is_empty() && changes.order.is_empty() {
            return Ok(());
        }
        for id in &changes.removed {
            self.place(id)?;
            self.settle_directives(id);
        }
        let removed: BTreeSet<&TaskId> = changes.removed.iter().collect();
        self.tasks.retain(|task| !removed.contains(task.id()));
        let mut added = BTreeSet::new();
        for decl in &changes.added {
            if self.index.positions.has(&decl.id) || !added.insert(&decl.id) {
                return Err(Impossible::TaskExists(decl.id.clone()));
            }
            self.tasks.push(Box::new(new_task(decl)));
        }
        if !changes.order.is_empty() {
            let ranks: BTreeMap<&TaskId, usize> = changes.order.iter().zip(0..).collect();
            self.tasks.sort_by_key(|task| ranks.get(task.id()).copied().unwrap_or(usize::MAX));
        }
        self.reindex();
        Ok(())
    }
}

fn new_task(decl: &TaskDecl) -> Task {
    let mut task = Task::new(decl.clone(), Status::Done);
    if !decl.ticked {
        task.status = Status::Ready { proves: State::proves(&task) };
    }
    task
}

/// True if the file has just the tasks that are known, in their order: the common case, and a quick one.
fn has_known_order(state: &State, read: &[TaskDecl]) -> bool {
    state.tasks().len() == read.len()
        && state.tasks().iter().zip(read).all(|(known, decl)| *known.id() == decl.id)
}

/// True if a task that the file does not have is gone. What is being worked on is not, but what waits to come back is:
/// nobody wants it any more. A drafted fix only goes with the task that it was to repair.
fn is_gone(state: &State, task: &Task, (present, moment): (&BTreeSet<&TaskId>, Moment)) -> bool {
    if task.status != Status::Drafted {
        return match moment {
            // Nobody is at work yet. What has passed, and may be committed already, is recorded.
            Moment::Opening => !matches!(task.status, Status::Recording { .. }),
            Moment::Midway => !task.status.is_active() || matches!(task.status, Status::Finished { .. }),
        };
    }
    let failing = state.fix_plan(task.id()).and_then(|fix| state.task(&fix.failing));
    failing.is_none_or(|failing| !present.contains(failing.id()))
}

/// True if two declarations differ in nothing but their boxes.
fn is_same_text(read: &TaskDecl, known: &TaskDecl) -> bool {
    let TaskDecl {
        id,
        title,
        kind,
        verification,
        command,
        fix_of,
        ticked: _,
        digest,
        files,
        depends_on,
        stage,
        parallel,
    } = read;
    *id == known.id
        && *title == known.title
        && *kind == known.kind
        && *verification == known.verification
        && *command == known.command
        && *fix_of == known.fix_of
        && *digest == known.digest
        && *files == known.files
        && *depends_on == known.depends_on
        && *stage == known.stage
        && *parallel == known.parallel
}

/// The order to record: none where keeping the known order and adding at the end gives the same.
fn new_order(state: &State, read: &[TaskDecl], changes: &PlanChanges) -> Vec<TaskId> {
    let gone: BTreeSet<&TaskId> = changes.removed.iter().collect();
    let known = state.tasks().iter().map(|task| task.id()).filter(|id| !gone.contains(id));
    let expected: Vec<&TaskId> = known.chain(changes.added.iter().map(|decl| &decl.id)).collect();
    let read_ids: BTreeMap<&TaskId, usize> =
        read.iter().enumerate().map(|(place, decl)| (&decl.id, place)).collect();
    let places: Vec<usize> = expected.iter().filter_map(|id| read_ids.get(*id).copied()).collect();
    if places.is_sorted() {
        return Vec::new();
    }
    // Tasks that are not in the file (an active one that was removed, a drafted fix) stay behind their
    // predecessor, so the order names every task once.
    let mut order: Vec<TaskId> = read.iter().map(|decl| decl.id.clone()).collect();
    let mut before: Option<&TaskId> = None;
    for id in expected {
        if !read_ids.contains_key(id) {
            let place = before.and_then(|known| order.iter().position(|other| other == known));
            order.insert(place.map_or(0, |place| place + 1), id.clone());
        }
        before = Some(id);
    }
    order
}
