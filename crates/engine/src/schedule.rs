//! The actions that should be under way now, as a function of the state.

use jiff::Timestamp;

use crate::action::Action;
use crate::batch::{Start, is_absent_in_pause, is_given_up, starts};
use crate::decide::role_for;
use crate::pull_request;
use crate::rules::OnEscalation;
use crate::state::{Regression, State};
use crate::status::{Judge, JudgeState, Role, Status};
use crate::task::Task;

/// Everything that should be under way. What starts an agent comes first: agents take longest.
pub fn schedule(state: &State, now: Timestamp) -> Vec<Action> {
    let Some(rules) = state.rules() else { return Vec::new() };
    if state.end.is_some() {
        return Vec::new();
    }
    let may_dispatch = may_dispatch(state, now);
    let asks = rules.on_escalation == OnEscalation::Ask;
    let may_start = |task: &Task| may_dispatch && !lacks_agent(state, task);
    let starts = starts(state)
        .into_iter()
        .filter(|start| !start.task.asks_by_design() && (may_start(start.task) || !wants_agent(start.task)));
    let mut actions: Vec<Action> =
        starts.map(|start| Action::Prepare { task: start.task.id().clone() }).collect();
    let waits = |task: &Task| waits_to_record(state, task) || waits_to_insert(state, task);
    let wanted = state.in_motion().filter(|task| !waits(task));
    actions.extend(wanted.filter_map(|task| wanted_for(task, may_start(task), asks)));
    if wants_regression(state) {
        actions.push(Action::Regress);
    }
    if state.lacks_proof() {
        actions.push(Action::ProveAll);
    }
    actions.extend(pull_request::wanted(state, now).map(Action::Forge));
    actions
}

/// True if agents may be started: no wait for an absent one is on, it was not given up (what is under way only comes
/// to its end then), and the cap is not reached.
fn may_dispatch(state: &State, now: Timestamp) -> bool {
    let is_given_up = state.rules().is_some_and(|rules| is_given_up(state, rules));
    let is_there = state.backoff().is_none_or(|backoff| now >= backoff.until) && !is_given_up;
    is_there && !state.is_capped() && !is_absent_in_pause(state)
}

/// True if a fix task has to wait with being written and committed: the work of another task is half in the project.
fn waits_to_insert(state: &State, task: &Task) -> bool {
    task.status == Status::Drafted && state.in_motion().any(|other| other.status.is_coming_back())
}

/// True if what a person approved has to wait with being recorded: the work of another task is half in the project.
fn waits_to_record(state: &State, task: &Task) -> bool {
    let lands = |other: &Task| other.is_isolated() && other.status.is_coming_back();
    let is_recording = matches!(task.status, Status::Recording { .. });
    is_recording && !task.is_isolated() && state.in_motion().any(lands)
}

/// How the task's next start is wanted now, if it is.
pub(crate) fn may_prepare<'a>(state: &'a State, task: &'a Task, now: Timestamp) -> Option<Start<'a>> {
    let start = if wants_judge(task) {
        Some(Start { task, isolated: task.is_isolated() })
    } else {
        starts(state).into_iter().find(|start| start.task.id() == task.id())
    };
    let may_start = || may_dispatch(state, now) && !lacks_agent(state, task);
    start.filter(|_| !task.asks_by_design() && (may_start() || !wants_agent(task)))
}

/// True if all is done and the regression command has not said so yet.
pub(crate) fn wants_regression(state: &State) -> bool {
    let is_on = state.rules().is_some_and(|rules| rules.regression.is_on());
    is_on && state.regression == Regression::Open && state.first_unsettled().is_none()
}

/// True if a judging agent is to be started on the task.
fn wants_judge(task: &Task) -> bool {
    matches!(&task.status, Status::Judging(judging)
        if judging.state == JudgeState::Wanted && judging.judge != Judge::Person)
}

/// True if the task's next step needs an agent.
pub(crate) fn wants_agent(task: &Task) -> bool {
    match &task.status {
        Status::Ready { proves } => !proves && !task.asks_by_design(),
        Status::Judging(_) => wants_judge(task),
        Status::Drafted
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => false,
    }
}

/// True if the task's next step needs an agent and nobody is left for it.
pub(crate) fn lacks_agent(state: &State, task: &Task) -> bool {
    state.out_of_agents.is_some() && wants_agent(task) && state.lacks_agent(role_of(state, task))
}

fn role_of(state: &State, task: &Task) -> Role {
    let Status::Judging(judging) = &task.status else { return role_for(state, task) };
    if judging.judge == Judge::Reviewer { Role::Reviewer } else { Role::Qa }
}

fn wanted_for(task: &Task, may_start: bool, asks: bool) -> Option<Action> {
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
                may_start.then_some(Action::Prepare { task: id })
            }
            (JudgeState::AtWork(_) | JudgeState::Wanted, Judge::Person) => None,
        },
        Status::Landing { attempt } => {
            Some(Action::Land { task: id, attempt: *attempt, dispatch: task.dispatch })
        }
        Status::Joining { attempt } => {
            Some(Action::Join { task: id, attempt: *attempt, dispatch: task.dispatch })
        }
        Status::Recording { attempt } => Some(Action::Record { task: id, attempt: *attempt }),
        Status::Asking(_) => asks.then_some(Action::Ask { task: id }),
        Status::Ready { .. }
        | Status::Finished { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Done
        | Status::Skipped => None,
    }
}
