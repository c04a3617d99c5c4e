//! How a run ended that is not complete: the error texts that people know, with what to do next.

use std::time::Duration;

use engine::{CapKind, End, Question, Recovery, State, Status, StopReason, Task};
use plan::TaskId;

use super::facts;
use super::lines::question_of;
use super::pull_request;
use super::subject::Subject;
use super::summary::list;
use super::text::{count, one_line, took};
use crate::error::{Error, Kind};
use crate::exit;
use crate::settings::format_dollars;

/// Characters of an error text.
const ERROR_CHARS_MAX: usize = 500;
/// Tasks besides the one that a run stopped at whose errors are told.
const OTHERS_MAX: usize = 10;

/// The error of a run that ended without being complete; none for one that is complete or goes on.
pub(crate) fn error(subject: &Subject, state: &State) -> Option<Error> {
    let end = state.end()?;
    let kind = Kind::Ended(exit::of(end));
    let again = subject.command("run", "");
    let error = match end {
        End::Complete { .. } => return None,
        End::Stopped(reason) => stopped(subject, state, reason, kind),
        End::Capped(cap) => capped(subject, state, *cap, kind),
        End::Waiting { task } => waiting(subject, state, task, kind),
        End::Paused { from } => {
            Error::new(kind, format!("paused: {} asked for it", one_line(from, ERROR_CHARS_MAX)))
                .note("What was under way has come in; nothing is lost.")
                .hint(format!("go on with {again}"))
        }
        End::PullRequest { obstacle } => pull_request::obstructed(subject, obstacle, kind),
        End::Unavailable { reason } => {
            Error::new(kind, format!("paused: {}", one_line(reason, ERROR_CHARS_MAX)))
                .note("No attempt was spent on this; every budget goes on where it was.")
                .hint(format!("see to that, then go on with {again}"))
        }
        End::Aborted => {
            Error::new(kind, "the run was aborted").hint(format!("start a new round with {again}"))
        }
        End::Interrupted => Error::new(kind, "the run was interrupted").hint(format!("go on with {again}")),
    };
    Some(error)
}

fn stopped(subject: &Subject, state: &State, reason: &StopReason, kind: Kind) -> Error {
    let error = match reason {
        StopReason::PullRequest { limit, url } => {
            pull_request::limit(limit, url.as_deref(), kind).hint(learnings(subject))
        }
        StopReason::Retries { task, attempts } => {
            let attempts = count(usize::try_from(*attempts).unwrap_or(usize::MAX), "attempt");
            let kind_of_task = if engine::batch(state, task).is_empty() { "task" } else { "parallel task" };
            let message = format!("ERROR: Max retries reached for {kind_of_task} {task} after {attempts}");
            last_error(subject, Error::new(kind, message), state.task(task)).hint(learnings(subject))
        }
        StopReason::FixTasks { task, limit } => {
            let message = format!("ERROR: Max fix attempts ({limit}) reached for task {task}");
            fix_history(subject, Error::new(kind, message), state, task).hint(learnings(subject))
        }
        StopReason::FixDepth { task, limit } => {
            let message = format!("ERROR: Max fix depth ({limit}) reached for task {task}");
            fix_history(subject, Error::new(kind, message), state, task).hint(learnings(subject))
        }
        StopReason::Regression { error } => {
            let error = Error::new(kind, "ERROR: all tasks are done, but the regression command is red")
                .note(format!("Last error: {}", one_line(error, ERROR_CHARS_MAX)));
            subject.see_regression().into_iter().fold(error, Error::note)
        }
    };
    let stopped_at = match reason {
        StopReason::Retries { task, .. }
        | StopReason::FixTasks { task, .. }
        | StopReason::FixDepth { task, .. } => Some(task),
        StopReason::Regression { .. } | StopReason::PullRequest { .. } => None,
    };
    go_on(others(error, state, stopped_at), subject, state, reason)
}

/// The errors of the other tasks that failed and are not done.
fn others(error: Error, state: &State, stopped_at: Option<&TaskId>) -> Error {
    let others = state.in_progress().filter(|task| Some(task.id()) != stopped_at);
    let failed = others.filter(|task| !matches!(task.status, Status::WaitingFor(_)));
    let failed = failed.filter_map(|task| Some((task, task.last_failure()?)));
    failed.take(OTHERS_MAX).fold(error, |error, (task, failure)| {
        error.note(format!("{} failed as well: {}", task.id(), one_line(&failure.error, ERROR_CHARS_MAX)))
    })
}

fn go_on(error: Error, subject: &Subject, state: &State, reason: &StopReason) -> Error {
    let again = subject.command("run", "");
    let error = error.hint(format!(
        "fix the issue by hand, then go on with {again}: every task gets its full budget again"
    ));
    let recovers = state.rules().is_some_and(|rules| rules.recovery == Recovery::On);
    if matches!(reason, StopReason::Retries { .. }) && !recovers {
        let with_fixes = subject.command("run", "--recovery-mode");
        return error.hint(format!("or let fix tasks be written for it: {with_fixes}"));
    }
    error
}

fn learnings(subject: &Subject) -> String {
    format!(
        "see the Learnings section of {} for failure details, or {}",
        subject.progress,
        subject.command("log", "")
    )
}

/// The last error of a task, with the part of its output that matters.
pub(super) fn last_error(subject: &Subject, error: Error, task: Option<&Task>) -> Error {
    match task.and_then(|task| Some((task, task.last_failure()?))) {
        Some((task, failure)) => {
            let error = error.note(format!("Last error: {}", one_line(&failure.error, ERROR_CHARS_MAX)));
            let matter = facts::matter(failure).into_iter().map(|line| format!("│ {line}"));
            matter.fold(error, Error::note).note(subject.see_output(task.id(), None))
        }
        None => error,
    }
}

/// The fixes of the task and of those that it was itself written to fix.
fn fix_history(subject: &Subject, error: Error, state: &State, task: &TaskId) -> Error {
    let mut error = last_error(subject, error, state.task(task));
    let mut current = Some(task.clone());
    while let Some(id) = current {
        let fixes = state.task(&id).map(|task| task.fixes.as_slice()).unwrap_or_default();
        if !fixes.is_empty() {
            error = error.note(format!("Fix attempts of {id}: {}", list(fixes)));
        }
        current = state.fix_plan(&id).map(|fix| fix.failing.clone());
    }
    error
}

fn capped(subject: &Subject, state: &State, cap: CapKind, kind: Kind) -> Error {
    let (message, flag) = match cap {
        CapKind::Iterations { limit } => {
            (format!("ERROR: Max global iterations ({limit}) reached"), "--max-global-iterations N")
        }
        CapKind::Cost { micros } => {
            (format!("ERROR: Max cost (${}) reached", format_dollars(micros)), "--max-cost USD")
        }
        CapKind::Tokens { limit } => (format!("ERROR: Max tokens ({limit}) reached"), "--max-tokens N"),
        CapKind::Time { seconds } => {
            // The event tells whole seconds; what was asked for may be finer.
            let asked = state.rules().and_then(|rules| rules.limits.time_max);
            let limit = asked.filter(|asked| asked.as_secs() == seconds);
            let limit = allowed(limit.unwrap_or(Duration::from_secs(seconds)));
            (format!("ERROR: Max time ({limit}) reached"), "--max-time DUR")
        }
    };
    let again = subject.command("run", "");
    let raised = subject.command("run", flag);
    Error::new(kind, message)
        .note("Nothing is lost: what is done stays done.")
        .hint(format!("go on for as long again with {again}, or with another limit by {raised}"))
}

/// A limit of time as somebody may have set it, to the millisecond where it is short.
fn allowed(limit: Duration) -> String {
    let millis = limit.as_millis();
    match limit.as_secs() {
        0 => format!("{millis}ms"),
        1..60 if limit.subsec_millis() == 0 => format!("{}s", limit.as_secs()),
        1..60 => format!("{}s", format!("{:.3}", limit.as_secs_f64()).trim_end_matches('0')),
        60.. => took(limit),
    }
}

fn waiting(subject: &Subject, state: &State, task: &TaskId, kind: Kind) -> Error {
    let question = match state.task(task).map(|task| &task.status) {
        Some(Status::Asking(asked)) => asked.question,
        Some(_) | None => Question::Exhausted,
    };
    let (first, others) = match question {
        Question::Judge | Question::HooksGone => ("approve", "'reject: …', skip or abort"),
        Question::Mended => ("approve", "retry, 'fix: …', skip or abort"),
        Question::Checkpoint => ("ANSWER", "'fix: …', skip or abort"),
        Question::Exhausted
        | Question::PermissionDenied
        | Question::HistoryRewritten
        | Question::Blocked
        | Question::Impossible
        | Question::ConflictingRequirements
        | Question::ServiceUnavailable
        | Question::NotProved
        | Question::RedBefore
        | Question::VerifyCannotStart
        | Question::InTheWay => ("retry", "skip, abort or 'fix: …'"),
    };
    let why = question_of(question, task, state);
    let error = Error::new(kind, format!("paused: task {task} waits for an answer: {why}"));
    let (answer, status) = (subject.command("answer", first), subject.command("status", ""));
    last_error(subject, error, state.task(task))
        .hint(format!("answer with {answer}, {others}; {status} shows the question"))
}

#[cfg(test)]
mod tests {
    use engine::{Limits, Rules, Rung};

    use super::*;
    use crate::args::Format;
    use crate::view::samples::{self, Story};

    fn shown(story: Story, end: End) -> String {
        let code = exit::of(&end);
        let error = error(&samples::subject(), &story.end(end).state()).unwrap();
        assert_eq!(error.code(), code);
        error.render(Format::Text)
    }

    fn failing() -> Story {
        Story::new(Rules::default()).fails("1.2", "npm test returned exit code 1")
    }

    #[test]
    fn one_attempt_is_one() {
        let end = End::Stopped(StopReason::Retries { task: TaskId::new("1.2"), attempts: 1 });
        let text = shown(failing(), end);
        assert!(text.starts_with("ERROR: Max retries reached for task 1.2 after 1 attempt\n"), "{text}");
    }

    #[test]
    fn retries_are_used_up() {
        let end = End::Stopped(StopReason::Retries { task: TaskId::new("1.2"), attempts: 5 });
        insta::assert_snapshot!(shown(failing(), end), @"
        ERROR: Max retries reached for task 1.2 after 5 attempts
          Last error: npm test returned exit code 1
          │ FAIL npm test returned exit code 1
          │   expected 2, got 3
          see: tillgreen show 1.2 --output
        hint: see the Learnings section of specs/auth/.progress.md for failure details, or `tillgreen log`
        hint: fix the issue by hand, then go on with `tillgreen run`: every task gets its full budget again
        hint: or let fix tasks be written for it: `tillgreen run --recovery-mode`
        ");
    }

    #[test]
    fn fix_tasks_are_used_up() {
        let story = Story::new(Rules::default())
            .fails_by("1.2", "no parser", Rung::Fix)
            .plans_fix("1.2", "1.2.1", "no parser")
            .passes("1.2.1")
            .retries("1.2")
            .fails_by("1.2", "still no parser", Rung::Fix);
        let end = End::Stopped(StopReason::FixTasks { task: TaskId::new("1.2"), limit: 1 });
        insta::assert_snapshot!(shown(story, end), @"
        ERROR: Max fix attempts (1) reached for task 1.2
          Last error: still no parser
          │ FAIL still no parser
          │   expected 2, got 3
          see: tillgreen show 1.2 --output
          Fix attempts of 1.2: 1.2.1
        hint: see the Learnings section of specs/auth/.progress.md for failure details, or `tillgreen log`
        hint: fix the issue by hand, then go on with `tillgreen run`: every task gets its full budget again
        ");
    }

    #[test]
    fn fixes_nest_too_deep() {
        let story = Story::new(Rules::default())
            .fails_by("1.2", "no parser", Rung::Fix)
            .plans_fix("1.2", "1.2.1", "no parser")
            .fails_by("1.2.1", "no file", Rung::Fix);
        let end = End::Stopped(StopReason::FixDepth { task: TaskId::new("1.2.1"), limit: 1 });
        insta::assert_snapshot!(shown(story, end), @"
        ERROR: Max fix depth (1) reached for task 1.2.1
          Last error: no file
          │ FAIL no file
          │   expected 2, got 3
          see: tillgreen show 1.2.1 --output
          Fix attempts of 1.2: 1.2.1
        hint: see the Learnings section of specs/auth/.progress.md for failure details, or `tillgreen log`
        hint: fix the issue by hand, then go on with `tillgreen run`: every task gets its full budget again
        ");
    }

    #[test]
    fn the_regression_command_is_red() {
        let end = End::Stopped(StopReason::Regression { error: "make test: exit code 2".to_owned() });
        insta::assert_snapshot!(shown(failing(), end), @"
        ERROR: all tasks are done, but the regression command is red
          Last error: make test: exit code 2
          1.2 failed as well: npm test returned exit code 1
        hint: fix the issue by hand, then go on with `tillgreen run`: every task gets its full budget again
        ");
    }

    #[test]
    fn limits_of_time_are_shown_as_they_were_set() {
        for (millis, expected) in
            [(0, "0ms"), (500, "500ms"), (1_500, "1.5s"), (2_000, "2s"), (5_400_000, "1h 30m")]
        {
            assert_eq!(allowed(Duration::from_millis(millis)), expected);
        }
        let limits = Limits { time_max: Some(Duration::from_millis(1_500)), ..Limits::default() };
        let story = Story::new(Rules { limits, ..Rules::default() });
        let text = shown(story, End::Capped(CapKind::Time { seconds: 1 }));
        assert!(text.starts_with("ERROR: Max time (1.5s) reached\n"), "{text}");
    }

    #[test]
    fn caps() {
        insta::assert_snapshot!(shown(failing(), End::Capped(CapKind::Iterations { limit: 100 })), @r"
        ERROR: Max global iterations (100) reached
          Nothing is lost: what is done stays done.
        hint: go on for as long again with `tillgreen run`, or with another limit by `tillgreen run --max-global-iterations N`
        ");
        insta::assert_snapshot!(shown(failing(), End::Capped(CapKind::Time { seconds: 5400 })), @r"
        ERROR: Max time (1h 30m) reached
          Nothing is lost: what is done stays done.
        hint: go on for as long again with `tillgreen run`, or with another limit by `tillgreen run --max-time DUR`
        ");
        insta::assert_snapshot!(shown(failing(), End::Capped(CapKind::Cost { micros: 2_500_000 })), @r"
        ERROR: Max cost ($2.50) reached
          Nothing is lost: what is done stays done.
        hint: go on for as long again with `tillgreen run`, or with another limit by `tillgreen run --max-cost USD`
        ");
        insta::assert_snapshot!(shown(failing(), End::Capped(CapKind::Tokens { limit: 9_000 })), @r"
        ERROR: Max tokens (9000) reached
          Nothing is lost: what is done stays done.
        hint: go on for as long again with `tillgreen run`, or with another limit by `tillgreen run --max-tokens N`
        ");
    }

    #[test]
    fn pauses() {
        let asking = failing().escalates("1.2");
        insta::assert_snapshot!(shown(asking, End::Waiting { task: TaskId::new("1.2") }), @"
        error: paused: task 1.2 waits for an answer: retries or fix tasks are used up
          Last error: npm test returned exit code 1
          │ FAIL npm test returned exit code 1
          │   expected 2, got 3
          see: tillgreen show 1.2 --output
        hint: answer with `tillgreen answer retry`, skip, abort or 'fix: …'; `tillgreen status` shows the question
        ");
        insta::assert_snapshot!(shown(failing(), End::Paused { from: "ada".to_owned() }), @r"
        error: paused: ada asked for it
          What was under way has come in; nothing is lost.
        hint: go on with `tillgreen run`
        ");
        let reason = "the agent is temporarily unavailable: 429 rate limit".to_owned();
        insta::assert_snapshot!(shown(failing(), End::Unavailable { reason }), @r"
        error: paused: the agent is temporarily unavailable: 429 rate limit
          No attempt was spent on this; every budget goes on where it was.
        hint: see to that, then go on with `tillgreen run`
        ");
    }

    #[test]
    fn a_persons_word() {
        insta::assert_snapshot!(shown(failing(), End::Aborted), @r"
        error: the run was aborted
        hint: start a new round with `tillgreen run`
        ");
        insta::assert_snapshot!(shown(failing(), End::Interrupted), @r"
        error: the run was interrupted
        hint: go on with `tillgreen run`
        ");
    }

    #[test]
    fn a_run_that_is_complete_or_goes_on_has_no_error() {
        assert!(error(&samples::subject(), &failing().state()).is_none());
        let complete = samples::fixed().end(End::Complete { skipped: 0 }).state();
        assert!(error(&samples::subject(), &complete).is_none());
    }
}
