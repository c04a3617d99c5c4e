//! The events that follow from the state alone. Nothing here depends on how the state came about, so a crash between
//! two events loses nothing: the second one is due again.

use jiff::Timestamp;

use crate::batch::{is_busy, is_given_up, next_checkpoint, next_to_land, starts};
use crate::dependence;
use crate::directive::due_for_leaving;
use crate::event::{CapKind, End, Event, What};
use crate::ladder;
use crate::proof;
use crate::pull_request;
use crate::rules::{OnEscalation, Rules};
use crate::schedule::{lacks_agent, wants_agent};
use crate::state::{Regression, State};
use crate::status::{Judge, JudgeState, Question, Status};
use crate::task::{Dispatch, Task, TaskKind, Verification};

/// The next event that is due without anything being seen, if one is.
pub fn due(state: &State, now: Timestamp) -> Option<Event> {
    let rules = state.rules()?;
    if state.end.is_some() {
        return None;
    }
    // A question may end the run, so it comes after whatever follows from the tasks beside it.
    let due_for_task = || state.in_motion().find_map(|task| due_for(state, rules, task));
    let what = due_for_leaving(state)
        .or_else(|| proof::due(state, rules, now))
        .or_else(due_for_task)
        .or_else(|| due_for_landing(state))
        .or_else(|| due_for_held_up(state, rules))
        .or_else(|| due_for_question(state, rules))
        .or_else(|| due_for_run_or_pause(state, rules, now))
        .or_else(|| time_up(state, now))?;
    Some(Event::new(now, what))
}

fn due_for(state: &State, rules: &Rules, task: &Task) -> Option<What> {
    match &task.status {
        // What does not depend on it comes to its end before a failure ends the run.
        Status::Failed => ladder::after_failure(state, task).filter(|what| {
            let is_last = || !is_busy(state, rules) && starts(state).is_empty() && state.pause().is_none();
            !matches!(what, What::Ended(_)) || is_last()
        }),
        Status::WaitingFor(other) => {
            let is_over = state.task(other).is_none_or(|other| other.status.is_settled());
            is_over.then(|| retry(task))
        }
        Status::Landing { .. } if task.returns > rules.limits.returns_max => {
            Some(What::Ended(End::Unavailable { reason: restless(task) }))
        }
        Status::Judging(judging) if judging.judge == Judge::Person => {
            Some(What::Escalated { task: task.id().clone(), question: question_to_judge(task) })
        }
        Status::Asking(_)
        | Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. }
        | Status::Done
        | Status::Skipped => None,
    }
}

/// The question to a person who is to judge a result.
fn question_to_judge(task: &Task) -> Question {
    let is_proved = task.decl.verification == Verification::Command;
    match task.decl.kind {
        TaskKind::Checkpoint => Question::Checkpoint,
        TaskKind::Work | TaskKind::Verify if is_proved && !task.hooks_gone.is_empty() => Question::HooksGone,
        TaskKind::Work | TaskKind::Verify => Question::Judge,
    }
}

/// Why work does not come in any more.
fn restless(task: &Task) -> String {
    format!(
        "somebody committed, or took it out again, each of the {} times that the work of task {} was verified together \
         with the rest; should that be its verify command, repair it and start over with `tillgreen run --fresh`",
        task.returns,
        task.id()
    )
}

fn retry(task: &Task) -> What {
    What::RetryPlanned { task: task.id().clone(), attempt: task.next_attempt() }
}

fn due_for_landing(state: &State) -> Option<What> {
    next_to_land(state).map(|task| What::LandingStarted { task: task.id().clone() })
}

/// A person is asked about work that cannot come in once nothing else can go on.
fn due_for_held_up(state: &State, rules: &Rules) -> Option<What> {
    let task = state.in_motion().find(|task| task.is_held_up())?;
    let goes_on = is_busy(state, rules) || state.in_motion().any(|task| task.status == Status::Drafted);
    let is_last = !goes_on && starts(state).is_empty();
    is_last.then(|| What::Escalated { task: task.id().clone(), question: Question::InTheWay })
}

fn due_for_question(state: &State, rules: &Rules) -> Option<What> {
    let task = state.in_motion().find(|task| matches!(task.status, Status::Asking(_)))?;
    match rules.on_escalation {
        OnEscalation::Ask => None,
        OnEscalation::Pause => {
            let goes_on =
                state.in_motion().any(|task| task.status.is_active() || task.status == Status::Drafted);
            // In a pause others wait as well, and not for an answer.
            let is_last = !goes_on && starts(state).is_empty() && state.pause().is_none();
            is_last.then(|| What::Ended(End::Waiting { task: task.id().clone() }))
        }
        OnEscalation::Skip => Some(dependence::skipped(state, task, "skipped by --on-escalation skip")),
        OnEscalation::Abort => Some(What::Ended(End::Aborted)),
    }
}

/// Where a person wants nothing new to start, the run ends as soon as nothing is under way, unless it is complete.
fn due_for_run_or_pause(state: &State, rules: &Rules, now: Timestamp) -> Option<What> {
    let due = due_for_run(state, rules, now);
    let goes_on = || is_busy(state, rules) || state.in_motion().any(|task| task.status == Status::Drafted);
    let is_complete = matches!(due, Some(What::Ended(End::Complete { .. })));
    match state.pause() {
        // A proof is of what is finished: it comes to its end as well.
        Some(from) if !is_complete && !state.lacks_proof() && !goes_on() => {
            Some(What::Ended(End::Paused { from: from.to_owned() }))
        }
        Some(_) | None => due,
    }
}

fn due_for_run(state: &State, rules: &Rules, now: Timestamp) -> Option<What> {
    let is_busy = is_busy(state, rules);
    if is_given_up(state, rules) && !is_busy {
        let reason = state.backoff().map(|backoff| backoff.reason.clone()).unwrap_or_default();
        return Some(What::Ended(End::Unavailable { reason }));
    }
    if let Some(reason) = out_of_agents(state).filter(|_| !is_busy) {
        return Some(What::Ended(End::Unavailable { reason }));
    }
    if state.first_unsettled().is_none() {
        let is_proved = !rules.regression.is_on() || state.regression == Regression::Green;
        return if !is_proved || state.lacks_proof() {
            None
        } else if rules.pull_request.lifecycle.is_on() {
            pull_request::due(state, rules, now)
        } else {
            Some(What::Ended(End::Complete { skipped: state.skipped_count() }))
        };
    }
    if let Some(task) = next_checkpoint(state) {
        return Some(What::Escalated { task: task.id().clone(), question: Question::Checkpoint });
    }
    let wants =
        || starts(state).iter().any(|start| wants_agent(start.task)) || state.in_motion().any(wants_agent);
    if let Some(cap) = state.spending_cap()
        && (state.in_motion().any(|task| is_spending(state, task)) || (!is_busy && wants()))
    {
        return Some(What::Ended(End::Capped(cap)));
    }
    let limit = state.global_cap();
    (state.is_capped() && !is_busy && wants())
        .then_some(What::Ended(End::Capped(CapKind::Iterations { limit })))
}

/// True if an agent is at work on the task and may use more. One that is through costs nothing any longer, so that
/// what it did is verified, whatever it used.
fn is_spending(state: &State, task: &Task) -> bool {
    at_work(task).is_some_and(|dispatch| !state.spending.is_closed(dispatch))
}

/// The agent that is at work on the task.
fn at_work(task: &Task) -> Option<Dispatch> {
    match &task.status {
        Status::Running(running) => Some(running.dispatch),
        Status::Judging(judging) => match judging.state {
            JudgeState::AtWork(dispatch) => Some(dispatch),
            JudgeState::Wanted => None,
        },
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Checking(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. }
        | Status::Failed
        | Status::WaitingFor(_)
        | Status::Asking(_)
        | Status::Done
        | Status::Skipped => None,
    }
}

/// Why nobody is left for what comes next, if an agent was dropped and that is so.
fn out_of_agents(state: &State) -> Option<String> {
    let reason = state.out_of_agents.clone()?;
    let lacks = |task: &Task| lacks_agent(state, task);
    let is_stuck = starts(state).iter().any(|start| lacks(start.task)) || state.in_motion().any(lacks);
    is_stuck.then_some(reason)
}

fn time_up(state: &State, now: Timestamp) -> Option<What> {
    let is_up = state.time_up().is_some_and(|up| now >= up);
    let is_recording = state.in_motion().any(|task| task.status.is_coming_back());
    let wants_forge = state.rules()?.pull_request.lifecycle.is_on();
    if is_up && state.lacks_proof() && !wants_forge {
        return Some(What::Ended(End::Complete { skipped: state.skipped_count() }));
    }
    let seconds = state.rules()?.limits.time_max?.as_secs();
    (is_up && !is_recording).then_some(What::Ended(End::Capped(CapKind::Time { seconds })))
}
