//! Where the lifecycle stands. Each stage carries exactly what is true in it; the legal moves are in `table`.

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use super::awaited::Awaited;
use super::event::Outcome;
use super::request::{CheckRef, Request};

/// Where the lifecycle stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The tasks have the word.
    #[default]
    Resting,
    /// The branch is being pushed and the pull request created or found.
    Publishing,
    /// Checks and reviews are waited for.
    Watching(Watch),
    /// Failed checks are being started again.
    Rerunning(Vec<CheckRef>),
    /// Logs of failed checks are being read.
    Reading(Vec<CheckRef>),
    /// Tasks are being written into the plan.
    Writing(Vec<Request>),
    /// Threads are being answered.
    Replying(Vec<TaskId>),
    /// Reviewers are being asked to look again.
    Requesting(Vec<Reviewer>),
    /// Commits of the other side are being taken in.
    Integrating(Source),
    /// It is being merged.
    Merging,
    /// Nothing is left to do.
    Satisfied(Outcome),
}

/// A watch over one push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// The thing that is waited for; none before the first look.
    pub awaited: Option<Awaited>,
    /// Since when.
    pub since: Timestamp,
    /// How many looks in a row showed that.
    pub looks: u32,
    /// When to look next.
    pub until: Timestamp,
}

/// Somebody whose review says no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    /// The login.
    pub login: String,
    /// The review.
    pub review: String,
}

/// The side whose commits are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The branch's own, pushed by somebody else.
    Branch,
    /// The base's.
    Base,
}
