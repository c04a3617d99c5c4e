//! The record of a failed attempt, and which rung of the ladder it takes.

use jiff::Timestamp;
use plan::{ErrorType, TaskId};
use serde::{Deserialize, Serialize};

use crate::output::Failing;
use crate::task::Attempt;

/// The record of a failed attempt: extracted from what was seen, never invented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which attempt.
    pub attempt: Attempt,
    /// When it ended.
    pub at: Timestamp,
    /// The cause of a failure.
    pub cause: Cause,
    /// Where the failure goes next, decided when it was recorded.
    pub rung: Rung,
    /// The error in a line.
    pub error: String,
    /// The output, for the next attempt: bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// The command that was red.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its exit code, or the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The items that fail in its output.
    #[serde(default, skip_serializing_if = "Failing::is_unknown")]
    pub failing: Failing,
    /// The tree that the command ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The fix that the agent says it tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted_fix: Option<String>,
    /// The fix that the agent or the reviewer suggests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    /// The cause, as the agent or the reviewer takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_cause: Option<String>,
    /// The task that is in the way, where the agent named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<TaskId>,
    /// Files that the attempt left behind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileState>,
    /// Notes of the agent for whoever comes next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learnings: Vec<String>,
    /// How long the attempt took.
    #[serde(default)]
    pub elapsed_ms: u64,
}

impl Failure {
    /// The kind of error: by the tool that told it where that says more than its words.
    pub fn error_type(&self) -> ErrorType {
        match (self.failing.error_type(), ErrorType::of(&self.error)) {
            (Some(ErrorType::Lint), _) => ErrorType::Lint,
            (Some(of_tool), ErrorType::Error) => of_tool,
            (_, of_words) => of_words,
        }
    }
}

/// A file as a failed attempt left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its path from the project's root.
    pub path: String,
    /// How it differs: `partially modified`, `created`, `deleted`.
    pub state: String,
}

/// The four types of failure that logs and feedback name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureType {
    /// The agent failed while it worked.
    ExecutionError,
    /// A check was red.
    VerificationFailed,
    /// Something took too long.
    Timeout,
    /// The reviewer said no.
    ArchitectRejected,
}

impl FailureType {
    /// The name used in feedback and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::ExecutionError => "execution_error",
            Self::VerificationFailed => "verification_failed",
            Self::Timeout => "timeout",
            Self::ArchitectRejected => "architect_rejected",
        }
    }
}

/// The cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The agent said so.
    ClaimedFailure,
    /// The agent ended without any signal.
    NoSignal,
    /// The agent ended with an exit code other than 0.
    BadExit,
    /// The agent took too long or stood still.
    AgentTimeout,
    /// The QA agent said `VERIFICATION_FAIL`.
    VerificationFail,
    /// Success was claimed and the verify command was red.
    VerifyRed,
    /// Success was claimed and the verify command did not end in time.
    VerifyTimeout,
    /// Success was claimed and the verify command needs a program or a folder that is not there.
    VerifyCannotStart,
    /// The verify command was green in the task's own tree and is red on all that came together.
    RedTogether,
    /// The work does not fit to what came in while it was done.
    Conflict,
    /// The verify command was green, but it proves nothing, and that was to be an error.
    ProvesNothing,
    /// Success was claimed beside an admission of failure.
    Contradiction,
    /// Other boxes were ticked, or tasks removed.
    Tampered,
    /// The agent was to tick its box or to commit the spec files and did not.
    Bookkeeping,
    /// Files outside the task's list were changed, and that was to be an error.
    OutOfScope,
    /// The reviewer said no.
    ReviewerRejected,
    /// Something was not permitted.
    PermissionDenied,
    /// Commits that were there before are no longer part of the history.
    HistoryRewritten,
    /// The agent says that something else has to be done first.
    Blocked,
    /// The agent says that the task cannot be done.
    Impossible,
    /// The agent says that the requirements contradict each other.
    ConflictingRequirements,
    /// The agent says that a service it needs is away.
    ServiceUnavailable,
    /// The work could not be committed, for example because a hook refused it.
    CommitRefused,
    /// It was done, and its command, or that of a task before it, is red in a clean checkout of what is committed.
    NotProved,
}

/// The rungs of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Trying the task again, with feedback.
    Retry,
    /// A fix task first.
    Fix,
    /// A person.
    Ask,
}

impl Cause {
    /// True if nothing else stands against the result once the verify command is green.
    pub(crate) fn ends_with_a_green_command(self) -> bool {
        match self {
            Self::ClaimedFailure
            | Self::NoSignal
            | Self::BadExit
            | Self::AgentTimeout
            | Self::PermissionDenied
            | Self::HistoryRewritten
            | Self::Blocked
            | Self::Impossible
            | Self::ConflictingRequirements
            | Self::ServiceUnavailable
            | Self::VerificationFail
            | Self::VerifyRed
            | Self::VerifyTimeout
            | Self::VerifyCannotStart
            | Self::RedTogether
            | Self::Conflict
            | Self::Contradiction
            | Self::CommitRefused => true,
            Self::ProvesNothing
            | Self::NotProved
            | Self::Tampered
            | Self::Bookkeeping
            | Self::OutOfScope
            | Self::ReviewerRejected => false,
        }
    }

    /// The type under which feedback and logs name it.
    pub fn failure_type(self) -> FailureType {
        match self {
            Self::AgentTimeout | Self::VerifyTimeout => FailureType::Timeout,
            Self::ClaimedFailure
            | Self::NoSignal
            | Self::BadExit
            | Self::PermissionDenied
            | Self::HistoryRewritten
            | Self::Blocked
            | Self::Impossible
            | Self::ConflictingRequirements
            | Self::ServiceUnavailable => FailureType::ExecutionError,
            Self::VerificationFail
            | Self::VerifyRed
            | Self::VerifyCannotStart
            | Self::RedTogether
            | Self::Conflict
            | Self::ProvesNothing
            | Self::Contradiction
            | Self::Tampered
            | Self::Bookkeeping
            | Self::CommitRefused
            | Self::NotProved
            | Self::OutOfScope => FailureType::VerificationFailed,
            Self::ReviewerRejected => FailureType::ArchitectRejected,
        }
    }

    /// A few words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::ClaimedFailure => "the agent reported a failure",
            Self::NoSignal => "the agent ended without a signal",
            Self::BadExit => "the agent exited with an error",
            Self::AgentTimeout => "the agent timed out",
            Self::VerificationFail => "the result was not accepted",
            Self::VerifyRed => "the verify command is red",
            Self::VerifyTimeout => "the verify command timed out",
            Self::VerifyCannotStart => "the verify command needs something that is not there",
            Self::RedTogether => "the verify command is red on what came together",
            Self::Conflict => "the work conflicts with what came in meanwhile",
            Self::ProvesNothing => "the verify command proves nothing",
            Self::Contradiction => "the agent contradicts itself",
            Self::Tampered => "boxes of other tasks were changed",
            Self::Bookkeeping => "the bookkeeping is missing",
            Self::OutOfScope => "files outside the task were changed",
            Self::ReviewerRejected => "the reviewer said no",
            Self::PermissionDenied => "permission denied",
            Self::HistoryRewritten => "commits are gone from the history",
            Self::Blocked => "something else has to be done first",
            Self::Impossible => "the agent says that it cannot be done",
            Self::ConflictingRequirements => "the requirements contradict each other",
            Self::ServiceUnavailable => "a service is away",
            Self::CommitRefused => "the commit was refused",
            Self::NotProved => "a clean checkout of what is committed is red",
        }
    }

    /// The rung that it takes when recovery is on; without recovery all but the last are retries.
    pub(crate) fn recovery_rung(self) -> Rung {
        match self {
            Self::ClaimedFailure
            | Self::NoSignal
            | Self::BadExit
            | Self::AgentTimeout
            | Self::VerificationFail
            | Self::VerifyRed
            | Self::RedTogether
            | Self::VerifyTimeout => Rung::Fix,
            Self::ProvesNothing
            | Self::VerifyCannotStart
            | Self::Conflict
            | Self::Contradiction
            | Self::Tampered
            | Self::Bookkeeping
            | Self::OutOfScope
            | Self::CommitRefused
            | Self::NotProved
            | Self::ReviewerRejected => Rung::Retry,
            Self::PermissionDenied
            | Self::HistoryRewritten
            | Self::Blocked
            | Self::Impossible
            | Self::ConflictingRequirements
            | Self::ServiceUnavailable => Rung::Ask,
        }
    }
}
