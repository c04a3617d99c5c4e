//! The events of a pull request.

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use super::awaited::Awaited;
use super::report::{Kept, Published};
use super::request::{CheckRef, Request};
use super::stage::{Reviewer, Source};
use crate::task::TaskDecl;

/// The events of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestEvent {
    /// Everything is settled: the branch is to be pushed.
    Begun,
    /// The branch was pushed, and the pull request is there.
    Published {
        /// Which.
        published: Published,
        /// The how manieth push of the round that is watched.
        cycle: u32,
    },
    /// A look showed that something has to be waited for.
    Looked {
        /// The thing that is waited for.
        awaited: Awaited,
        /// The next look.
        until: Timestamp,
        /// Every check that is there and counts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        checks: Vec<String>,
    },
    /// Failed checks are to be run again before they are believed.
    RerunPlanned {
        /// Which.
        checks: Vec<CheckRef>,
    },
    /// They were started again.
    Rerun {
        /// Those that could not be.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<String>,
        /// The next look.
        until: Timestamp,
    },
    /// Checks are red for good.
    FailuresBelieved {
        /// Which.
        checks: Vec<CheckRef>,
    },
    /// Tasks were decided on.
    TasksPlanned {
        /// Which.
        requests: Vec<Request>,
    },
    /// They stand in the plan.
    TasksWritten {
        /// As they read there.
        decls: Vec<TaskDecl>,
        /// Where they are kept.
        kept: Kept,
    },
    /// Commits of the other side are to be taken in.
    IntegrationPlanned {
        /// From where.
        source: Source,
    },
    /// They were.
    Integrated,
    /// Threads whose tasks are done are to be answered.
    RepliesPlanned {
        /// The tasks.
        tasks: Vec<TaskId>,
    },
    /// They were.
    Replied {
        /// Why some were not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// Those who said no are to be asked to look again.
    ReviewPlanned {
        /// The reviewers.
        reviewers: Vec<Reviewer>,
    },
    /// They were.
    ReviewRequested {
        /// Why some were not.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// The next look.
        until: Timestamp,
    },
    /// It is to be merged.
    MergePlanned,
    /// The forge agreed to merge it, and has not done so yet.
    MergeQueued {
        /// The next look.
        until: Timestamp,
    },
    /// The forge could not be had.
    Unavailable {
        /// Why.
        reason: String,
        /// How often in a row.
        nth: u32,
        /// When to try again.
        until: Timestamp,
    },
    /// Nothing is left to do.
    Satisfied {
        /// How it came out.
        outcome: Outcome,
    },
}

/// How a pull request came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Checks are green and no review is open.
    Ready {
        /// How many checks are green.
        checks: usize,
        /// Remarks besides.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        caveats: Vec<Caveat>,
    },
    /// It is merged, and where it is.
    Merged {
        /// Its number.
        number: u64,
        /// Where it is.
        url: String,
    },
}

/// A remark about a pull request that is ready all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caveat {
    /// Checks that it had are not there any more.
    Gone {
        /// Which.
        checks: Vec<String>,
    },
    /// Checks that nobody requires are not green.
    NotGreen {
        /// Which.
        checks: Vec<String>,
    },
    /// The forge does not allow the merge yet.
    NotAllowed,
    /// Reviews that ask for nothing and say something all the same: a person reads them.
    Commented {
        /// The remarks in a line each, with who makes them.
        remarks: Vec<String>,
    },
}

/// Which limit of the lifecycle was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitReached {
    /// Pushes that were watched.
    Cycles {
        /// The limit.
        limit: u32,
    },
    /// Time.
    Time {
        /// The limit.
        seconds: u64,
        /// The thing that was waited for.
        awaited: String,
    },
    /// Rounds of fixes for red checks.
    CiFixes {
        /// The limit.
        limit: u32,
        /// The checks that are still red.
        checks: Vec<String>,
    },
}
