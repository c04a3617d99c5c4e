//! The rules for a run's pull request.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::rules::Toggle;

/// How a pull request is looked after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PullRequestRules {
    /// On if there is to be one.
    pub lifecycle: Toggle,
    /// The time between two looks.
    pub look_every: Duration,
    /// How many pushes may be watched in one round.
    pub cycles_max: u32,
    /// How long it may take in one round.
    pub time_max: Duration,
    /// How often in one round red checks get tasks.
    pub ci_fixes_max: u32,
    /// Which checks have to be green.
    pub checks: WhichChecks,
    /// On if threads are answered once their task is done.
    pub reply: Toggle,
    /// On if such threads are resolved as well.
    pub resolve: Toggle,
    /// On if those who said no are asked to look again after a push.
    pub request_review: Toggle,
    /// How it is merged at the end, if that is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge: Option<MergeMethod>,
}

impl Default for PullRequestRules {
    fn default() -> Self {
        Self {
            lifecycle: Toggle::Off,
            look_every: Duration::from_secs(180),
            cycles_max: 20,
            time_max: Duration::from_secs(48 * 60 * 60),
            ci_fixes_max: 5,
            checks: WhichChecks::All,
            reply: Toggle::Off,
            resolve: Toggle::Off,
            request_review: Toggle::On,
            merge: None,
        }
    }
}

impl PullRequestRules {
    /// True if nothing was said about a pull request: then the record does not speak of it either.
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Which checks have to be green.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhichChecks {
    /// Every one.
    All,
    /// Those that the base branch requires; every one where it requires none.
    Required,
}

/// How a pull request is merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeMethod {
    /// By a merge commit.
    Merge,
    /// As one commit.
    Squash,
    /// By putting its commits on top of the base.
    Rebase,
}
