//! What should be under way now, as a function of the state.

use jiff::Timestamp;

use crate::action::Action;
use crate::dependence;
use crate::pull_request;
use crate::rules::OnEscalation;
use crate::state::{Regression, State};
use crate::status::{Judge, JudgeState, Role, Status};
use crate::task::Task;

/// Everything that should be under way.
pub fn schedule(state: &State, now: Timestamp) -> Vec<Action> {
    let Some(rules) = state.rules() else { return Vec::new() };
    if state.end.is_some() {
        return Vec::new();
    }
    let may_dispatch = may_dispatch(state, now);
    let asks = rules.on_escalation == OnEscalation::Ask;
    let mut actions: Vec<Action> =
        state.attention().filter_map(|task| wanted_for(task, may_dispatch, asks)).collect();
    if let Some(task) = next_to_start(state)
        && !task.asks_by_design()
        && (may_dispatch || !wants_agent(task))
    {
        actions.push(Action::Prepare { task: task.id().clone() });
    }
    if wants_regression(state) {
        actions.push(Action::Regress);
    }
    actions.extend(pull_request::wanted(state, now).map(Action::Forge));
    actions
}

/// The task that may start now: the first that is not settled or, while that one waits for another, the other.
/// Nothing starts beside a task that is being worked on or written. While a person is asked about one, nothing
/// starts either, unless the rules say that what does not depend on the answer goes on.
pub(crate) fn next_to_start(state: &State) -> Option<&Task> {
    let is_busy =
        |task: &Task| task.status.is_active() || matches!(task.status, Status::Drafted | Status::Failed);
    let is_asking = |task: &Task| matches!(task.status, Status::Asking(_));
    if state.attention().any(is_busy) {
        return None;
    }
    let keeps_going = state.rules().is_some_and(|rules| rules.keep_going.is_on());
    let mut task = match (state.attention().any(is_asking), keeps_going) {
        (false, _) => state.first_unsettled()?,
        (true, true) => dependence::first_independent(state)?,
        (true, false) => return None,
    };
    while let Status::WaitingFor(other) = &task.status {
        task = state.task(other)?;
    }
    matches!(task.status, Status::Ready { .. }).then_some(task)
}

/// Whether no wait for an absent agent is on.
fn may_dispatch(state: &State, now: Timestamp) -> bool {
    state.backoff().is_none_or(|backoff| now >= backoff.until)
}

/// Whether the task's next start is wanted now.
pub(crate) fn may_prepare(state: &State, task: &Task, now: Timestamp) -> bool {
    let is_next = wants_judge(task) || next_to_start(state).is_some_and(|next| next.id() == task.id());
    is_next && !task.asks_by_design() && (may_dispatch(state, now) || !wants_agent(task))
}

/// Whether all is done and the regression command has not said so yet.
pub(crate) fn wants_regression(state: &State) -> bool {
    let is_on = state.rules().is_some_and(|rules| rules.regression.is_on());
    is_on && state.regression == Regression::Open && state.first_unsettled().is_none()
}

/// Whether a judging agent is to be started on the task.
fn wants_judge(task: &Task) -> bool {
    matches!(&task.status, Status::Judging(judging)
        if judging.state == JudgeState::Wanted && judging.judge != Judge::Person)
}

/// Whether the task's next step needs an agent.
pub(crate) fn wants_agent(task: &Task) -> bool {
    match &task.status {
        Status::Ready { proves } => !proves && !task.asks_by_design(),
        Status::Judging(_) => wants_judge(task),
        Status::Drafted
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Recording { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => false,
    }
}

fn wanted_for(task: &Task, may_dispatch: bool, asks: bool) -> Option<Action> {
    let id = task.id().clone();
    match &task.status {
        Status::Drafted => Some(Action::InsertFix { fix: id }),
        Status::Proving => Some(Action::Prove { task: id }),
        Status::Running(running) => Some(Action::RunAgent {
            task: id,
            attempt: running.attempt,
            dispatch: running.dispatch,
            role: running.role,
        }),
        Status::Checking(checking) => {
            Some(Action::Check { task: id, attempt: checking.attempt, dispatch: checking.dispatch })
        }
        Status::Judging(judging) => match (judging.state, judging.judge) {
            (JudgeState::AtWork(dispatch), Judge::Qa) => {
                Some(Action::RunJudge { task: id, attempt: judging.attempt, dispatch, role: Role::Qa })
            }
            (JudgeState::AtWork(dispatch), Judge::Reviewer) => {
                Some(Action::RunJudge { task: id, attempt: judging.attempt, dispatch, role: Role::Reviewer })
            }
            (JudgeState::Wanted, Judge::Qa | Judge::Reviewer) => {
                may_dispatch.then_some(Action::Prepare { task: id })
            }
            (JudgeState::AtWork(_) | JudgeState::Wanted, Judge::Person) => None,
        },
        Status::Recording { attempt } => Some(Action::Record { task: id, attempt: *attempt }),
        Status::Asking(_) => asks.then_some(Action::Ask { task: id }),
        Status::Ready { .. } | Status::Failed | Status::WaitingFor(_) | Status::Done | Status::Skipped => {
            None
        }
    }
}
