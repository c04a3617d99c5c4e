//! Who waits for a person, said once more in the plainest way: what the engine starts beside a question is held
//! against it.

use std::collections::BTreeSet;

use engine::{Dialect, Event, EventKind, OnEscalation, Rules, State, Status, Task, TaskKind, What, why};
use plan::TaskId;

use crate::world::subject;

/// Nothing that has to wait for a person is started, and a run pauses only when nothing else is left to start.
pub(crate) fn after_event(rules: &Rules, before: &State, event: &Event) {
    let subject = subject(&event.what);
    let is_start = |kind| matches!(kind, EventKind::AttemptStarted | EventKind::ProofStarted);
    let is_checkpoint = |task, kind| kind == EventKind::Escalated && is_ready(before, task);
    if let Some((task, kind)) = subject
        && (is_start(kind) || is_checkpoint(task, kind))
    {
        let goes_on = rules.keep_going.is_on() && !waiting(before).contains(task);
        assert!(
            goes_on || !is_held_by_a_question(rules, before, task),
            "{task} was started behind a question"
        );
    }
    let pauses = matches!(&event.what, What::Ended(engine::End::Waiting { .. }));
    if pauses && rules.on_escalation == OnEscalation::Pause && rules.keep_going.is_on() {
        let waiting = waiting(before);
        for task in before.unsettled() {
            assert!(waiting.contains(task.id()), "{} could go on: {:?}", task.id(), task.status);
        }
    }
}

/// True if the plan's own order has a task wait for one that a person is asked about.
fn is_held_by_a_question(rules: &Rules, state: &State, id: &TaskId) -> bool {
    let Some(task) = state.task(id) else { return false };
    let is_earlier = |other: &&Task| state.position(other.id()) < state.position(id);
    state
        .unsettled()
        .filter(|other| is_asking(other))
        .filter(is_earlier)
        .any(|asked| why(rules, &original(state, asked).decl, &original(state, task).decl).is_some())
}

fn is_ready(state: &State, task: &TaskId) -> bool {
    state.task(task).is_some_and(|task| matches!(task.status, Status::Ready { .. }))
}

fn is_asking(task: &Task) -> bool {
    matches!(task.status, Status::Asking(_))
}

/// Every task that waits for a person.
fn waiting(state: &State) -> BTreeSet<TaskId> {
    let mut waiting: BTreeSet<TaskId> = BTreeSet::new();
    loop {
        let more =
            state.unsettled().find(|task| !waiting.contains(task.id()) && waits(state, task, &waiting));
        match more {
            Some(task) => waiting.insert(task.id().clone()),
            None => return waiting,
        };
    }
}

fn waits(state: &State, task: &Task, waiting: &BTreeSet<TaskId>) -> bool {
    if let Status::WaitingFor(other) = &task.status
        && waiting.contains(other)
    {
        return true;
    }
    is_asking(task) || state.unsettled().any(|on| waiting.contains(on.id()) && depends(state, task, on))
}

/// Whether one task depends on another. A fix task is about what its original is about.
fn depends(state: &State, task: &Task, on: &Task) -> bool {
    let is_earlier = state.position(on.id()) < state.position(task.id());
    let (task, files) = (original(state, task), &original(state, on).decl.files);
    let is_spec = state.rules().is_some_and(|rules| rules.dialect == Dialect::Spec);
    let is_vague = is_spec && (task.decl.files.is_empty() || task.decl.kind == TaskKind::Verify);
    let shares = task.decl.files.iter().any(|file| files.contains(file));
    task.decl.depends_on.contains(on.id()) || (is_earlier && (is_vague || shares))
}

/// The task of the plan's author that a fix task is for in the end; any other task is its own.
pub(crate) fn original<'a>(state: &'a State, task: &'a Task) -> &'a Task {
    let failing = state.fix_plan(task.id()).and_then(|fix| state.task(&fix.failing));
    failing.map_or(task, |failing| original(state, failing))
}
