//! The ladder after a failure: again, a fix task first, a person, or the end. One policy for every dialect; the
//! rules say which rungs are in use.

use plan::TaskId;

use crate::event::{End, FixPlan, StopReason, What};
use crate::failure::{Cause, Failure, Rung};
use crate::rules::{OnExhausted, Recovery, Rules};
use crate::state::State;
use crate::status::Question;
use crate::task::Task;

/// The rung that a failure of a task takes under these rules. An attempt that followed a person's instruction
/// was the one more attempt that was asked for: failing, it asks again. So does a command that lacks the same thing once
/// more, and a proof that fails once more: whoever could have mended it was told.
pub(crate) fn rung(rules: &Rules, task: &Task, cause: Cause, error: &str) -> Rung {
    let lacks = |failure: &Failure| failure.cause == Cause::VerifyCannotStart && failure.error == error;
    let mut told = task.round_failures().iter().chain(task.proof_failure.as_deref());
    let is_told = cause == Cause::VerifyCannotStart && told.any(lacks)
        || cause == Cause::NotProved && told.any(|failure| failure.cause == cause);
    if task.instruction.is_some() || is_told {
        return Rung::Ask;
    }
    match (rules.recovery, cause.recovery_rung()) {
        (Recovery::Off, Rung::Fix) => Rung::Retry,
        (Recovery::Off | Recovery::On, rung) => rung,
    }
}

/// The event that follows the last failure of a task.
pub(crate) fn after_failure(state: &State, task: &Task) -> Option<What> {
    let rules = state.rules()?;
    let failure = task.last_failure()?;
    Some(match failure.rung {
        Rung::Retry | Rung::Fix if was_red_elsewhere(task, failure) => ask(task, Question::RedBefore),
        Rung::Retry => retry(rules, task),
        Rung::Fix => fix(state, rules, task),
        Rung::Ask => match in_the_way(state, task) {
            Some(by) => What::Deferred { task: task.id().clone(), by },
            None => ask(task, question(failure.cause)),
        },
    })
}

/// True if all that is left failed before the work as well, and lies in files that are neither the task's nor tests of those
/// nor named by its command: another attempt would hardly mend it.
fn was_red_elsewhere(task: &Task, failure: &Failure) -> bool {
    let Some(files) = failure.failing.files().filter(|_| !task.decl.files.is_empty()) else { return false };
    let own = || {
        task.decl.files.iter().map(String::as_str).chain(failure.files.iter().map(|file| file.path.as_str()))
    };
    let command = failure.command.as_deref().unwrap_or_default();
    let is_own = |file: &str| {
        command.contains(stem(file)) || own().any(|own| own.contains('*') || file.contains(stem(own)))
    };
    let is_left = task.round_failures().len() > 1
        || task.grounds.failed_before.items.len() > failure.failing.items.len();
    is_left
        && task.instruction.is_none()
        && task.grounds.was_failing(&failure.failing)
        && !files.iter().any(|file| is_own(file))
}

/// The name of a file without its folder and ending: tests have it in their names.
fn stem(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    name.split('.').find(|part| !part.is_empty()).unwrap_or(name)
}

/// True if the last failure of a task leads to the end of the run.
pub(crate) fn is_exhausted(state: &State, task: &Task) -> bool {
    matches!(after_failure(state, task), Some(What::Ended(_)))
}

/// The task that a blocked one waits for: one that is not settled, that the agent named at the first attempt of the
/// round, and that does not wait for the blocked one itself. A task that was written because the agent asked for it
/// is waited for at any attempt: there are only so many.
fn in_the_way(state: &State, task: &Task) -> Option<TaskId> {
    let failure = task.last_failure()?;
    let by = failure.blocked_by.as_ref()?;
    let is_first = task.round_failures().len() == 1 || is_below(by, task.id());
    let is_open = state.task(by).is_some_and(|by| !by.status.is_settled());
    let is_blocker =
        failure.cause == Cause::Blocked && is_first && is_open && !state.waits_for(by, task.id());
    is_blocker.then(|| by.clone())
}

/// True if an id is another one with a number behind it.
fn is_below(id: &TaskId, other: &TaskId) -> bool {
    let rest = id.name().strip_prefix(other.name()).and_then(|rest| rest.strip_prefix('.'));
    rest.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The question to a person after a failure of this kind.
fn question(cause: Cause) -> Question {
    match cause {
        Cause::PermissionDenied => Question::PermissionDenied,
        Cause::HistoryRewritten => Question::HistoryRewritten,
        Cause::Blocked => Question::Blocked,
        Cause::Impossible => Question::Impossible,
        Cause::ConflictingRequirements => Question::ConflictingRequirements,
        Cause::ServiceUnavailable => Question::ServiceUnavailable,
        Cause::VerifyCannotStart => Question::VerifyCannotStart,
        Cause::NotProved => Question::NotProved,
        Cause::ClaimedFailure
        | Cause::NoSignal
        | Cause::BadExit
        | Cause::AgentTimeout
        | Cause::VerificationFail
        | Cause::VerifyRed
        | Cause::VerifyTimeout
        | Cause::RedTogether
        | Cause::Conflict
        | Cause::ProvesNothing
        | Cause::Contradiction
        | Cause::Tampered
        | Cause::Bookkeeping
        | Cause::OutOfScope
        | Cause::ReviewerRejected
        | Cause::CommitRefused => Question::Exhausted,
    }
}

fn retry(rules: &Rules, task: &Task) -> What {
    let used = task.failures_on(Rung::Retry);
    if used < rules.limits.task_iterations_max {
        return What::RetryPlanned { task: task.id().clone(), attempt: task.next_attempt() };
    }
    exhausted(rules, task, StopReason::Retries { task: task.id().clone(), attempts: used })
}

fn fix(state: &State, rules: &Rules, task: &Task) -> What {
    let limits = &rules.limits;
    let written = u32::try_from(task.round_fixes().len()).unwrap_or(u32::MAX);
    if state.fix_depth(task.id()) >= limits.fix_depth_max {
        let reason = StopReason::FixDepth { task: task.id().clone(), limit: limits.fix_depth_max };
        return exhausted(rules, task, reason);
    }
    if written >= limits.fix_tasks_max {
        let reason = StopReason::FixTasks { task: task.id().clone(), limit: limits.fix_tasks_max };
        return exhausted(rules, task, reason);
    }
    let failure = task.last_failure();
    What::FixPlanned(FixPlan {
        fix: next_fix_id(state, task),
        failing: task.id().clone(),
        error: failure.map(|failure| failure.error.clone()).unwrap_or_default(),
        attempted_fix: failure.and_then(|failure| failure.attempted_fix.clone()),
    })
}

/// The failing task's id, a dot, the next free number.
fn next_fix_id(state: &State, task: &Task) -> TaskId {
    let first = u32::try_from(task.fixes.len()).unwrap_or(u32::MAX).saturating_add(1);
    (first..)
        .map(|number| task.id().child(number))
        .find(|id| state.task(id).is_none() && state.fix_plan(id).is_none())
        .expect("a plan has fewer tasks than there are numbers")
}

/// What was red before the work is perhaps nobody's fault here: a person is asked.
fn exhausted(rules: &Rules, task: &Task, reason: StopReason) -> What {
    let failing = task.last_failure().map(|failure| &failure.failing);
    let was_failing = failing.is_some_and(|now| task.grounds.was_failing(now));
    match rules.on_exhausted {
        OnExhausted::Stop if !was_failing => What::Ended(End::Stopped(reason)),
        OnExhausted::Stop | OnExhausted::Ask => ask(task, Question::Exhausted),
    }
}

fn ask(task: &Task, question: Question) -> What {
    What::Escalated { task: task.id().clone(), question }
}
