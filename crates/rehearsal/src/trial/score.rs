//! The score of a part of a trial: what came of it, compared with what should come of it.

use std::time::Duration;

use engine::{Cause, State, Status};

use super::part::{ERROR, Part};

/// Exit codes of a run.
const COMPLETE: i32 = 0;
const STOPPED: i32 = 1;
const NOT_STARTED: i32 = 2;
const UNAVAILABLE: i32 = 6;
const INTERRUPTED: i32 = 130;

/// Bytes of one output that may be kept of an attempt, however much there was: the program's own cap and what the
/// masking of keys may add.
const LOG_BYTES_MAX: u64 = 4 << 20;

/// The verdict on one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Score {
    /// Which part.
    pub part: Part,
    /// The problems; none if it passed.
    pub problems: Vec<String>,
    /// How often the scripted model was asked.
    pub requests: usize,
    /// How long it took.
    pub elapsed: Duration,
}

/// The observations of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Its exit code; none if it had to be killed.
    pub(super) code: Option<i32>,
    /// The failed attempts.
    pub(super) failures: Vec<(Cause, String)>,
    /// True if the task was done.
    pub(super) done: bool,
    /// True if the agent said that it was busy.
    pub(super) started: bool,
    /// Processes that were left.
    pub(super) leftovers: usize,
    /// The largest log that was kept.
    pub(super) log_bytes: u64,
    /// How often the scripted model was asked for something that it has no turn for.
    pub(super) unscripted: usize,
    /// True if the model should have been asked, and never was.
    pub(super) is_untested: bool,
    /// The last words of the run.
    pub(super) said: String,
}

impl Score {
    /// True if the part was passed.
    pub fn is_passed(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Observed {
    /// Takes in what the journal knows.
    pub(super) fn learn(&mut self, state: &State) {
        let tasks = state.tasks();
        let failures = tasks.iter().flat_map(|task| &task.failures);
        self.failures = failures.map(|failure| (failure.cause, failure.error.clone())).collect();
        self.done = tasks.iter().all(|task| matches!(task.status, Status::Done));
    }

    /// Everything that is not as it should be.
    pub(super) fn problems(&self, part: Part) -> Vec<String> {
        let mut problems = match part {
            Part::Success => self.completes(),
            Part::Failure => self.fails(Cause::ClaimedFailure, ERROR),
            Part::Hang => self.hangs(),
            Part::Flood => self.completes().into_iter().chain(self.is_bounded()).collect(),
            Part::Cancellation => self.is_cancelled(),
        };
        if self.leftovers > 0 {
            problems.push(format!("{} processes were left behind and had to be killed", self.leftovers));
        }
        if self.unscripted > 0 && !problems.is_empty() {
            problems
                .push(format!("the model was asked {} times for what it has no script for", self.unscripted));
        }
        if !problems.is_empty() && !self.said.is_empty() {
            problems.push(format!("the run said: {}", self.said));
        }
        problems
    }

    fn completes(&self) -> Vec<String> {
        let mut problems: Vec<String> = self
            .failures
            .iter()
            .map(|(cause, error)| format!("an attempt failed ({}): {error}", describe(*cause)))
            .collect();
        if problems.is_empty() && !(self.done && self.code == Some(COMPLETE)) {
            problems.push(format!("the task was not done: {}", self.ending()));
        }
        problems
    }

    fn fails(&self, expected: Cause, text: &str) -> Vec<String> {
        match self.failures.first() {
            Some((cause, error)) if *cause == expected && error.contains(text) => {
                let is_right = self.code == Some(STOPPED);
                (!is_right).then(|| format!("the run should stop: {}", self.ending())).into_iter().collect()
            }
            Some((cause, error)) => vec![format!(
                "`{}` was expected, but the attempt ended with `{}`: {error}",
                describe(expected),
                describe(*cause)
            )],
            None => vec![format!("`{}` was expected: {}", describe(expected), self.ending())],
        }
    }

    /// An agent that never came to ask hung for a reason of its own.
    fn hangs(&self) -> Vec<String> {
        let untested = self.is_untested.then(|| "not tested: the model was never asked".to_owned());
        self.fails(Cause::AgentTimeout, "").into_iter().chain(untested).collect()
    }

    fn is_bounded(&self) -> Option<String> {
        (self.log_bytes > LOG_BYTES_MAX).then(|| format!("{} bytes of output were kept", self.log_bytes))
    }

    fn is_cancelled(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.started {
            problems.push("the agent never said that it was busy".to_owned());
        }
        if self.code != Some(INTERRUPTED) {
            problems.push(format!("the run was interrupted: {}", self.ending()));
        }
        if self.done || !self.failures.is_empty() {
            problems.push("an interruption was taken for a result".to_owned());
        }
        problems
    }

    fn ending(&self) -> String {
        match self.code {
            None => "it did not end in time and was killed".to_owned(),
            Some(COMPLETE) => "it ended complete".to_owned(),
            Some(STOPPED) => "it stopped".to_owned(),
            Some(NOT_STARTED) => "nothing was started".to_owned(),
            Some(UNAVAILABLE) => "the agent was taken for unavailable".to_owned(),
            Some(INTERRUPTED) => "it ended interrupted".to_owned(),
            Some(code) => format!("it ended with exit code {code}"),
        }
    }
}

/// A cause in the words of the journal.
fn describe(cause: Cause) -> String {
    let name = serde_json::to_value(cause).unwrap_or_default();
    name.as_str().unwrap_or_default().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(part: Part, observed: &Observed, expected: &[&str]) {
        assert_eq!(observed.problems(part), expected, "{part:?}");
    }

    fn failed(cause: Cause, error: &str) -> Observed {
        Observed { code: Some(1), failures: vec![(cause, error.to_owned())], ..Observed::default() }
    }

    #[test]
    fn every_part_has_an_end_that_passes() {
        let done = Observed { code: Some(0), done: true, ..Observed::default() };
        check(Part::Success, &done, &[]);
        check(Part::Flood, &done, &[]);
        check(Part::Failure, &failed(Cause::ClaimedFailure, ERROR), &[]);
        check(Part::Hang, &failed(Cause::AgentTimeout, "no end within 8 s"), &[]);
        check(Part::Cancellation, &Observed { code: Some(130), started: true, ..Observed::default() }, &[]);
    }

    #[test]
    fn everything_else_is_told() {
        let done = Observed { code: Some(0), done: true, ..Observed::default() };
        check(Part::Success, &failed(Cause::NoSignal, "x"), &["an attempt failed (no signal): x"]);
        let code = |code| Observed { code, ..Observed::default() };
        check(Part::Success, &code(Some(6)), &["the task was not done: the agent was taken for unavailable"]);
        check(Part::Failure, &done, &["`claimed failure` was expected: it ended complete"]);
        let other = failed(Cause::ClaimedFailure, "x");
        check(
            Part::Failure,
            &other,
            &["`claimed failure` was expected, but the attempt ended with `claimed failure`: x"],
        );
        check(
            Part::Hang,
            &code(None),
            &["`agent timeout` was expected: it did not end in time and was killed"],
        );
        let early = Observed { is_untested: true, ..failed(Cause::AgentTimeout, "no end within 90 s") };
        check(Part::Hang, &early, &["not tested: the model was never asked"]);
        let flood = Observed { log_bytes: 1 << 30, ..done.clone() };
        check(Part::Flood, &flood, &["1073741824 bytes of output were kept"]);
        check(
            Part::Cancellation,
            &done,
            &[
                "the agent never said that it was busy",
                "the run was interrupted: it ended complete",
                "an interruption was taken for a result",
            ],
        );
        let left = Observed { leftovers: 2, said: "bye".to_owned(), ..done };
        check(
            Part::Success,
            &left,
            &["2 processes were left behind and had to be killed", "the run said: bye"],
        );
    }
}
