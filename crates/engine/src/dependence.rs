//! Which tasks depend on which: declared, or because a later task is about the same files.

use std::collections::BTreeSet;

use plan::{ANY_FILE, Dialect, TaskId};

use crate::event::What;

use crate::state::State;
use crate::status::Status;
use crate::task::{Task, TaskDecl, TaskKind};

/// Every task that waits for a person: because one is asked about it, or because of what it depends on or waits
/// for.
pub(crate) fn held_up(state: &State) -> BTreeSet<&TaskId> {
    let mut held = BTreeSet::new();
    loop {
        let known = held.len();
        sweep(state, &mut held);
        // A second look is needed only where a task waits for a later one.
        if held.len() == known {
            return held;
        }
    }
}

/// Adds, in the plan's order, what is held up by those that are known to be.
fn sweep<'a>(state: &'a State, held: &mut BTreeSet<&'a TaskId>) {
    let is_spec = state.rules().is_some_and(|rules| rules.dialect == Dialect::Spec);
    let mut files: BTreeSet<&str> = BTreeSet::new();
    let mut is_first = true;
    for task in state.unsettled() {
        let decl = subject(state, task);
        let waits = match &task.status {
            Status::Asking(_) => true,
            Status::Finished { .. } => task.is_held_up(),
            Status::WaitingFor(other) => held.contains(other),
            Status::Drafted
            | Status::Ready { .. }
            | Status::Proving
            | Status::Running(_)
            | Status::Checking(_)
            | Status::Judging(_)
            | Status::Landing { .. }
            | Status::Joining { .. }
            | Status::Recording { .. }
            | Status::Failed
            | Status::Done
            | Status::Skipped => false,
        };
        // Where nothing is declared, a task that names no files or any, or that verifies, may depend on anything
        // before it.
        let names_none = decl.files.is_empty() || decl.files.iter().any(|file| file == ANY_FILE);
        let is_vague = is_spec && (names_none || decl.kind == TaskKind::Verify);
        let depends = decl.depends_on.iter().any(|id| held.contains(id))
            || decl.files.iter().any(|file| files.contains(file.as_str()));
        if waits || depends || (is_vague && !is_first) {
            held.insert(task.id());
            files.extend(decl.files.iter().map(String::as_str));
            is_first = false;
        }
    }
}

/// The declaration that says what a task is about. A fix task is about what its original is about.
pub(crate) fn subject<'a>(state: &'a State, task: &'a Task) -> &'a TaskDecl {
    let mut task = task;
    while let Some(failing) = state.fix_plan(task.id()).and_then(|fix| state.task(&fix.failing)) {
        task = failing;
    }
    &task.decl
}

/// The event of leaving a task out, with what depends on it: by declaration, also by way of others, or by a file that a
/// later task shares.
pub(crate) fn skipped(state: &State, task: &Task, reason: &str) -> What {
    let place = state.position(task.id());
    let files: BTreeSet<&String> = task.decl.files.iter().collect();
    let shares = |other: &&Task| {
        let is_later = state.position(other.id()) > place;
        is_later && other.decl.files.iter().any(|file| files.contains(file))
    };
    // By way of others as well, also of such as are done.
    let mut declared = BTreeSet::from([task.id()]);
    loop {
        let known = declared.len();
        let all = state.tasks().iter();
        let more = all.filter(|other| other.decl.depends_on.iter().any(|id| declared.contains(id)));
        let more: Vec<&TaskId> = more.map(|other| other.id()).collect();
        declared.extend(more);
        if declared.len() == known {
            break;
        }
    }
    let is_dependent = |other: &&Task| declared.contains(other.id()) || shares(other);
    let others = state.unsettled().filter(|other| other.id() != task.id()).filter(is_dependent);
    let dependents = others.map(|other| other.id().clone()).collect();
    What::TaskSkipped { task: task.id().clone(), reason: reason.to_owned(), dependents }
}
