//! The outcome of something that was done at the forge.

use std::time::Duration;

use plan::TaskId;
use serde::{Deserialize, Serialize};

use super::look::Look;
use super::obstacle::Obstacle;
use crate::task::TaskDecl;

/// The outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgeReport {
    /// The branch is pushed and the pull request is there.
    Published(Published),
    /// The pull request was merged already, with everything in it.
    AlreadyMerged {
        /// Its number.
        number: u64,
        /// Where it is.
        url: String,
    },
    /// The branch on the other side has commits that are not here.
    Moved,
    /// How the pull request stands.
    Looked(Box<Look>),
    /// Failed checks were started again.
    Rerun {
        /// Those that could not be, by label.
        refused: Vec<String>,
    },
    /// Logs of failed checks.
    LogsRead(Vec<CheckLog>),
    /// Tasks stand in the plan, or are kept in the record.
    Written {
        /// As they read there.
        decls: Vec<TaskDecl>,
        /// Where.
        kept: Kept,
    },
    /// The commits of the other side were taken in.
    Integrated,
    /// Threads were answered.
    Replied {
        /// Answers that could not be given, and why: by task.
        failed: Vec<(TaskId, String)>,
    },
    /// Reviewers were asked to look again.
    ReviewRequested {
        /// The reviewers for whom that was not possible, and why.
        failed: Vec<String>,
    },
    /// The pull request was merged.
    Merged,
    /// The forge agreed to merge it, and has not done so yet.
    MergeQueued,
    /// A person has to do something first.
    Obstructed(Obstacle),
    /// The forge is not there at the moment.
    Unavailable {
        /// Why.
        reason: String,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
}

/// Where tasks that the pull request asks for are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// In the plan's file.
    InPlan,
    /// In the record alone: the file is never written, or does not allow it.
    InRecord,
}

/// A pushed branch and its pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The pull request's number.
    pub number: u64,
    /// Where it is.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// The branch that it is to be merged into.
    pub base: String,
    /// The commit that was pushed.
    pub head: String,
    /// How the ids of tasks in the plan's pull request phase begin; a number follows.
    pub series: String,
    /// Things that did not work out besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The log of a failed check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckLog {
    /// The check's label.
    pub label: String,
    /// The step that failed.
    pub step: Option<String>,
    /// The line that tells most.
    pub summary: String,
    /// The end of the log: bounded.
    pub tail: String,
    /// A file that the log speaks of.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u64>,
}
