//! Every legal move of the lifecycle, in one table. An event whose move is not here is refused.

use std::fmt::Write as _;

use super::event::PullRequestEvent;
use super::stage::Stage;

/// The kinds of [`Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after the variants of Stage, which are documented")]
pub enum StageKind {
    Resting,
    Publishing,
    Watching,
    Rerunning,
    Reading,
    Writing,
    Replying,
    Requesting,
    Integrating,
    Merging,
    Satisfied,
}

/// The kinds of events that move the lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "named after the variants of PullRequestEvent, which are documented")]
pub enum PullRequestEventKind {
    Begun,
    Published,
    Looked,
    RerunPlanned,
    Rerun,
    FailuresBelieved,
    TasksPlanned,
    TasksWritten,
    IntegrationPlanned,
    Integrated,
    RepliesPlanned,
    Replied,
    ReviewPlanned,
    ReviewRequested,
    MergePlanned,
    MergeQueued,
    Unavailable,
    Satisfied,
    /// A task was done, the plan changed, or the run was started anew: everything is looked at again.
    Reset,
}

use PullRequestEventKind as E;
use StageKind as S;

/// The legal moves: from where, by which event, to where.
pub const PULL_REQUEST_MOVES: &[(StageKind, PullRequestEventKind, StageKind)] = &[
    (S::Resting, E::Begun, S::Publishing),
    (S::Publishing, E::Published, S::Watching),
    (S::Publishing, E::IntegrationPlanned, S::Integrating),
    (S::Publishing, E::Satisfied, S::Satisfied),
    (S::Publishing, E::Unavailable, S::Publishing),
    (S::Watching, E::RepliesPlanned, S::Replying),
    (S::Watching, E::Looked, S::Watching),
    (S::Watching, E::RerunPlanned, S::Rerunning),
    (S::Watching, E::FailuresBelieved, S::Reading),
    (S::Watching, E::TasksPlanned, S::Writing),
    (S::Watching, E::IntegrationPlanned, S::Integrating),
    (S::Watching, E::ReviewPlanned, S::Requesting),
    (S::Watching, E::MergePlanned, S::Merging),
    (S::Watching, E::Satisfied, S::Satisfied),
    (S::Watching, E::Unavailable, S::Watching),
    (S::Replying, E::Replied, S::Watching),
    (S::Replying, E::Unavailable, S::Replying),
    (S::Requesting, E::ReviewRequested, S::Watching),
    (S::Requesting, E::Unavailable, S::Requesting),
    (S::Rerunning, E::Rerun, S::Watching),
    (S::Rerunning, E::Unavailable, S::Rerunning),
    (S::Reading, E::TasksPlanned, S::Writing),
    (S::Reading, E::Unavailable, S::Reading),
    (S::Writing, E::TasksWritten, S::Resting),
    (S::Integrating, E::Integrated, S::Resting),
    (S::Integrating, E::Unavailable, S::Integrating),
    (S::Merging, E::Satisfied, S::Satisfied),
    (S::Merging, E::MergeQueued, S::Watching),
    (S::Merging, E::Unavailable, S::Merging),
    (S::Publishing, E::Reset, S::Resting),
    (S::Watching, E::Reset, S::Resting),
    (S::Replying, E::Reset, S::Resting),
    (S::Requesting, E::Reset, S::Resting),
    (S::Rerunning, E::Reset, S::Resting),
    (S::Reading, E::Reset, S::Resting),
    (S::Integrating, E::Reset, S::Resting),
    (S::Merging, E::Reset, S::Resting),
    (S::Satisfied, E::Reset, S::Resting),
];

impl Stage {
    /// The kind of this stage.
    pub fn kind(&self) -> StageKind {
        match self {
            Self::Resting => S::Resting,
            Self::Publishing => S::Publishing,
            Self::Watching(_) => S::Watching,
            Self::Rerunning(_) => S::Rerunning,
            Self::Reading(_) => S::Reading,
            Self::Writing(_) => S::Writing,
            Self::Replying(_) => S::Replying,
            Self::Requesting(_) => S::Requesting,
            Self::Integrating(_) => S::Integrating,
            Self::Merging => S::Merging,
            Self::Satisfied(_) => S::Satisfied,
        }
    }
}

impl PullRequestEvent {
    /// The kind of this event.
    pub fn kind(&self) -> PullRequestEventKind {
        match self {
            Self::Begun => E::Begun,
            Self::Published { .. } => E::Published,
            Self::Looked { .. } => E::Looked,
            Self::RerunPlanned { .. } => E::RerunPlanned,
            Self::Rerun { .. } => E::Rerun,
            Self::FailuresBelieved { .. } => E::FailuresBelieved,
            Self::TasksPlanned { .. } => E::TasksPlanned,
            Self::TasksWritten { .. } => E::TasksWritten,
            Self::IntegrationPlanned { .. } => E::IntegrationPlanned,
            Self::Integrated => E::Integrated,
            Self::RepliesPlanned { .. } => E::RepliesPlanned,
            Self::Replied { .. } => E::Replied,
            Self::ReviewPlanned { .. } => E::ReviewPlanned,
            Self::ReviewRequested { .. } => E::ReviewRequested,
            Self::MergePlanned => E::MergePlanned,
            Self::MergeQueued { .. } => E::MergeQueued,
            Self::Unavailable { .. } => E::Unavailable,
            Self::Satisfied { .. } => E::Satisfied,
        }
    }
}

/// True if the table has a move from here by this event.
pub(super) fn is_legal(from: StageKind, event: PullRequestEventKind) -> bool {
    PULL_REQUEST_MOVES.iter().any(|(source, kind, _)| (*source, *kind) == (from, event))
}

/// The table as a diagram.
pub fn pull_request_mermaid() -> String {
    let mut text = String::from("stateDiagram-v2\n");
    for (from, event, to) in PULL_REQUEST_MOVES {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "    {from:?} --> {to:?}: {event:?}");
    }
    text
}
