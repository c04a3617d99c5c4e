//! Which tasks depend on which: declared, or because a later task is about the same files.

use std::collections::BTreeSet;

use plan::{Dialect, TaskId};

use crate::event::What;
use crate::state::State;
use crate::status::Status;
use crate::task::{Task, TaskKind};

/// The first task that may start though a person is asked about another one.
///
/// A task is held up by what it depends on and by what holds that up. Where nothing is declared, a task that
/// names no files, or that verifies, may depend on anything before it.
pub(crate) fn first_independent(state: &State) -> Option<&Task> {
    let is_spec = state.rules().is_some_and(|rules| rules.dialect == Dialect::Spec);
    let mut held: Vec<&Task> = Vec::new();
    for task in state.unsettled() {
        let waits = matches!(task.status, Status::Asking(_) | Status::WaitingFor(_));
        let is_vague = is_spec && (task.decl.files.is_empty() || task.decl.kind == TaskKind::Verify);
        let is_held =
            waits || (is_vague && !held.is_empty()) || held.iter().any(|other| depends(task, other));
        if is_held {
            held.push(task);
        } else if matches!(task.status, Status::Ready { .. }) {
            return Some(task);
        }
    }
    None
}

/// The event of leaving a task out, with what depends on it.
pub(crate) fn skipped(state: &State, task: &Task, reason: &str) -> What {
    let place = state.position(task.id()).unwrap_or(0);
    let later =
        state.unsettled().filter(|other| state.position(other.id()).is_some_and(|there| there > place));
    let dependents = later.filter(|other| depends(other, task)).map(|other| other.id().clone());
    What::TaskSkipped { task: task.id().clone(), reason: reason.to_owned(), dependents: dependents.collect() }
}

/// Whether a task depends directly on an earlier one.
fn depends(task: &Task, on: &Task) -> bool {
    let files: BTreeSet<&String> = on.decl.files.iter().collect();
    let is_declared = |id: &TaskId| id == on.id();
    task.decl.depends_on.iter().any(is_declared) || task.decl.files.iter().any(|file| files.contains(file))
}
