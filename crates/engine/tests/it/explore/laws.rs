//! The laws that hold at every step.

use engine::{End, Event, OnEscalation, Started, State, Status, StatusKind, What};

use super::node::{Down, Node};
use crate::{beside, waiting};

/// Holds the laws against an event, given how things stood before.
pub(crate) fn after_event(before: &State, node: &Node, event: &Event) {
    let state = &node.state;
    limits_hold(node);
    if let What::TaskDone { task, .. } = &event.what {
        assert!(node.ledger.is_proved(before, task), "no proof: {task} is done without one");
    }
    let is_reopened = |id| matches!(&event.what, What::Reopened { task, .. } if task == id);
    for task in before.tasks().iter().filter(|task| task.status.is_settled() && !is_reopened(task.id())) {
        let is = state.task(task.id()).map(|task| task.status.kind());
        assert_eq!(is, Some(task.status.kind()), "undone: {} was settled", task.id());
    }
    waiting::after_event(node.rules(), before, event);
    if let What::AttemptStarted(Started { task, .. }) | What::ProofStarted { task, .. } = &event.what {
        beside::start_is_allowed(before, state, task);
    }
    // Work that comes in once more has had its turn.
    let is_new = |task| before.task(task).is_some_and(|task| matches!(task.status, Status::Finished { .. }));
    if let What::LandingStarted { task } = &event.what
        && is_new(task)
    {
        beside::landing_is_in_order(before, task);
    }
    // Whoever goes away from a question ends the run at once, as somebody who interrupts it.
    let goes_away = node.rules().on_escalation == OnEscalation::Ask;
    if let What::Ended(end) = &event.what
        && !(goes_away && matches!(end, End::Waiting { .. }))
    {
        beside::nothing_is_left_behind(before, end);
    }
    let landing =
        state.tasks().iter().filter(|task| task.is_isolated() && task.status.is_coming_back()).count();
    assert!(landing <= 1, "work comes back one by one");
}

fn limits_hold(node: &Node) {
    let (state, limits) = (&node.state, &node.rules().limits);
    for task in state.tasks() {
        let (id, page) = (task.id(), node.ledger.page(task.id()));
        assert!(page.retries <= limits.task_iterations_max, "limit: too many retries of {id}");
        assert!(page.fixes <= limits.fix_tasks_max, "limit: too many fixes of {id}");
        assert!(state.fix_depth(id) <= limits.fix_depth_max, "limit: {id} nests too deep");
        assert!(page.returns <= limits.returns_max + 1, "limit: {id} comes in again and again");
    }
    // Those who are at work already when agents are given up may turn out to be away as well.
    let absences_max = limits.unavailable_max + node.rules().parallel.jobs - 1;
    assert!(node.ledger.absences <= absences_max, "limit: agents are away too often");
    assert!(state.round_dispatches() <= state.global_cap(), "limit: too many agents were started");
}

/// Expects that a program that went down and was started again has lost nothing but what ran.
pub(crate) fn after_going_down(before: &State, after: &State, down: &Down) {
    let loses_trees = matches!(down, Down::TreesGone);
    for task in before.tasks() {
        let expected = match task.status.kind() {
            _ if loses_trees && task.waits_in_tree() => StatusKind::Ready,
            StatusKind::Running | StatusKind::Proving => StatusKind::Ready,
            StatusKind::Landing | StatusKind::Joining => StatusKind::Finished,
            kind @ (StatusKind::Drafted
            | StatusKind::Ready
            | StatusKind::Checking
            | StatusKind::Judging
            | StatusKind::Finished
            | StatusKind::Recording
            | StatusKind::Failed
            | StatusKind::WaitingFor
            | StatusKind::Asking
            | StatusKind::Done
            | StatusKind::Skipped) => kind,
        };
        let is = after.task(task.id()).map(|task| task.status.kind());
        assert_eq!(is, Some(expected), "lost: {} was {:?}", task.id(), task.status);
        let is_waited_for = matches!(&task.status, Status::WaitingFor(other) if after.task(other).is_none());
        assert!(!is_waited_for, "lost: {} waits for nobody", task.id());
    }
    assert!(after.end().is_none(), "a program that is started goes on");
}
