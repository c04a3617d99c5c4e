//! Every legal move of a task, in one table. Applying an event whose move is not here is refused, so a journal
//! that was tampered with, or a mistake of ours, stops where it starts.

use std::fmt::Write as _;

use crate::status::Status;

/// The kinds of [`Status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after the variants of Status, which are documented")]
pub enum StatusKind {
    Drafted,
    Ready,
    Proving,
    Running,
    Checking,
    Judging,
    Finished,
    Landing,
    Joining,
    Recording,
    Failed,
    WaitingFor,
    Asking,
    Done,
    Skipped,
}

/// The kinds of events that move a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after what happens, as in What")]
pub enum EventKind {
    FixInserted,
    ProofStarted,
    ProofPassed,
    ProofFailed,
    Mended,
    AttemptStarted,
    AttemptClaimed,
    AttemptFailed,
    AgentUnavailable,
    TreeUnavailable,
    ChecksPassed,
    JudgeStarted,
    NoVerdict,
    JudgePassed,
    LandingStarted,
    Landed,
    JoinPassed,
    HeldUp,
    TaskDone,
    RetryPlanned,
    FixPlanned,
    Deferred,
    Escalated,
    Answered,
    TaskSkipped,
    /// The program that watched it is gone, or the run ended around it.
    Lost,
    /// A new round began.
    Renewed,
    /// A person ticked its box.
    Ticked,
    /// A person unticked its box.
    Unticked,
    /// The final proof was red, and that has to be mended.
    Reopened,
}

use EventKind as E;
use StatusKind as S;

/// The legal moves: from where, by which event, to where.
pub const TRANSITIONS: &[(StatusKind, EventKind, StatusKind)] = &[
    (S::Drafted, E::FixInserted, S::Ready),
    (S::Ready, E::ProofStarted, S::Proving),
    (S::Proving, E::ProofPassed, S::Recording),
    (S::Proving, E::ProofFailed, S::Ready),
    (S::Proving, E::Mended, S::Asking),
    (S::Proving, E::Lost, S::Ready),
    (S::Ready, E::AttemptStarted, S::Running),
    (S::Running, E::AttemptClaimed, S::Checking),
    (S::Running, E::AttemptFailed, S::Failed),
    (S::Running, E::AgentUnavailable, S::Ready),
    (S::Running, E::TreeUnavailable, S::Ready),
    (S::Running, E::Lost, S::Ready),
    (S::Checking, E::ChecksPassed, S::Judging),
    (S::Checking, E::ChecksPassed, S::Recording),
    (S::Checking, E::ChecksPassed, S::Finished),
    (S::Checking, E::AttemptFailed, S::Failed),
    (S::Checking, E::TreeUnavailable, S::Ready),
    (S::Checking, E::Lost, S::Ready),
    (S::Judging, E::JudgeStarted, S::Judging),
    (S::Judging, E::NoVerdict, S::Judging),
    (S::Judging, E::JudgePassed, S::Judging),
    (S::Judging, E::JudgePassed, S::Recording),
    (S::Judging, E::JudgePassed, S::Finished),
    (S::Judging, E::AttemptFailed, S::Failed),
    (S::Judging, E::AgentUnavailable, S::Judging),
    (S::Judging, E::Lost, S::Judging),
    (S::Judging, E::Lost, S::Ready),
    (S::Judging, E::Escalated, S::Asking),
    (S::Finished, E::LandingStarted, S::Landing),
    (S::Finished, E::Escalated, S::Asking),
    (S::Finished, E::Lost, S::Ready),
    (S::Landing, E::Landed, S::Joining),
    (S::Landing, E::AttemptFailed, S::Failed),
    (S::Landing, E::TreeUnavailable, S::Ready),
    (S::Landing, E::Lost, S::Finished),
    (S::Landing, E::Lost, S::Ready),
    (S::Joining, E::JoinPassed, S::Recording),
    (S::Joining, E::AttemptFailed, S::Failed),
    (S::Joining, E::TreeUnavailable, S::Ready),
    (S::Joining, E::Lost, S::Finished),
    (S::Joining, E::Lost, S::Ready),
    (S::Joining, E::LandingStarted, S::Landing),
    (S::Recording, E::LandingStarted, S::Landing),
    (S::Recording, E::HeldUp, S::Finished),
    (S::Recording, E::TaskDone, S::Done),
    (S::Recording, E::AttemptFailed, S::Failed),
    (S::Recording, E::Lost, S::Ready),
    (S::Failed, E::RetryPlanned, S::Ready),
    (S::Failed, E::FixPlanned, S::WaitingFor),
    (S::Failed, E::Deferred, S::WaitingFor),
    (S::Failed, E::Escalated, S::Asking),
    (S::Ready, E::Escalated, S::Asking),
    (S::Failed, E::Renewed, S::Ready),
    (S::WaitingFor, E::RetryPlanned, S::Ready),
    (S::Asking, E::Answered, S::Ready),
    (S::Asking, E::Answered, S::Recording),
    (S::Asking, E::Answered, S::Finished),
    (S::Asking, E::AttemptFailed, S::Failed),
    (S::Asking, E::TaskSkipped, S::Skipped),
    (S::Ready, E::TaskSkipped, S::Skipped),
    (S::Proving, E::TaskSkipped, S::Skipped),
    (S::Running, E::TaskSkipped, S::Skipped),
    (S::Checking, E::TaskSkipped, S::Skipped),
    (S::Judging, E::TaskSkipped, S::Skipped),
    (S::Finished, E::TaskSkipped, S::Skipped),
    (S::Failed, E::TaskSkipped, S::Skipped),
    (S::WaitingFor, E::TaskSkipped, S::Skipped),
    (S::Asking, E::Renewed, S::Ready),
    (S::Asking, E::Renewed, S::Finished),
    (S::Ready, E::Ticked, S::Done),
    (S::Failed, E::Ticked, S::Done),
    (S::WaitingFor, E::Ticked, S::Done),
    (S::Asking, E::Ticked, S::Done),
    (S::Skipped, E::Ticked, S::Done),
    (S::Done, E::Unticked, S::Ready),
    (S::Done, E::Reopened, S::Failed),
];

impl Status {
    /// The kind of this status.
    pub fn kind(&self) -> StatusKind {
        match self {
            Self::Drafted => S::Drafted,
            Self::Ready { .. } => S::Ready,
            Self::Proving => S::Proving,
            Self::Running(_) => S::Running,
            Self::Checking(_) => S::Checking,
            Self::Judging(_) => S::Judging,
            Self::Finished { .. } => S::Finished,
            Self::Landing { .. } => S::Landing,
            Self::Joining { .. } => S::Joining,
            Self::Recording { .. } => S::Recording,
            Self::Failed => S::Failed,
            Self::WaitingFor(_) => S::WaitingFor,
            Self::Asking(_) => S::Asking,
            Self::Done => S::Done,
            Self::Skipped => S::Skipped,
        }
    }
}

/// True if the table has this move.
pub(crate) fn is_legal(from: StatusKind, event: EventKind, to: StatusKind) -> bool {
    TRANSITIONS.contains(&(from, event, to))
}

/// The table as a diagram.
pub fn mermaid() -> String {
    let mut text = String::from("stateDiagram-v2\n");
    for (from, event, to) in TRANSITIONS {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "    {from:?} --> {to:?}: {event:?}");
    }
    text
}
