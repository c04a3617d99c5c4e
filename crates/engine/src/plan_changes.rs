//! How the plan file differs from what the run knows of it.

use std::collections::{BTreeMap, BTreeSet};

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::state::State;
use crate::status::Status;
use crate::task::{Task, TaskDecl};

/// What a person did to the plan, by task id.
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

impl PlanChanges {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What differs between the plan as read and the plan as known.
    pub(crate) fn between(state: &State, read: &[TaskDecl]) -> Self {
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
            .filter(|task| !present.contains(task.id()) && is_gone(state, task, &present));
        changes.removed = gone.map(|task| task.id().clone()).collect();
        changes.order = new_order(state, read, &changes);
        changes
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

/// Whether the file has just the tasks that are known, in their order: the common case, and a quick one.
fn has_known_order(state: &State, read: &[TaskDecl]) -> bool {
    state.tasks().len() == read.len()
        && state.tasks().iter().zip(read).all(|(known, decl)| *known.id() == decl.id)
}

/// Whether a task that the file does not have is gone. What is being worked on is not, and a drafted fix only
/// goes with the task that it was to repair.
fn is_gone(state: &State, task: &Task, present: &BTreeSet<&TaskId>) -> bool {
    if task.status != Status::Drafted {
        return !task.status.is_active();
    }
    let failing = state.fix_plan(task.id()).and_then(|fix| state.task(&fix.failing));
    failing.is_none_or(|failing| !present.contains(failing.id()))
}

/// Whether two declarations differ in nothing but their boxes.
fn is_same_text(read: &TaskDecl, known: &TaskDecl) -> bool {
    let TaskDecl { id, title, kind, verification, fix_of, ticked: _, digest, files, depends_on } = read;
    *id == known.id
        && *title == known.title
        && *kind == known.kind
        && *verification == known.verification
        && *fix_of == known.fix_of
        && *digest == known.digest
        && *files == known.files
        && *depends_on == known.depends_on
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
