//! The actions that should be under way at the forge, as a function of the state.

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use super::request::CheckRef;
use super::stage::{Reviewer, Source, Stage};
use crate::state::State;

/// Something that should be under way at the forge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgeAction {
    /// Push the branch, and create or find the pull request.
    Publish {
        /// The coming push of the round.
        cycle: u32,
    },
    /// Look at checks, reviews and threads.
    Look {
        /// Which look.
        look: u32,
    },
    /// Run failed checks again.
    Rerun {
        /// At which commit.
        head: String,
        /// Which.
        checks: Vec<CheckRef>,
    },
    /// Read the logs of failed checks.
    ReadLogs {
        /// At which commit.
        head: String,
        /// Which.
        checks: Vec<CheckRef>,
    },
    /// Write tasks into the plan.
    Write {
        /// Which.
        tasks: Vec<TaskId>,
    },
    /// Answer threads.
    Reply {
        /// The tasks whose threads are answered.
        tasks: Vec<TaskId>,
    },
    /// Ask reviewers to look again.
    RequestReview {
        /// At which commit.
        head: String,
        /// The reviewers.
        reviewers: Vec<Reviewer>,
    },
    /// Take in commits of the other side.
    Integrate {
        /// After which push of the round.
        cycle: u32,
        /// The side whose commits are taken in.
        source: Source,
    },
    /// Merge the pull request.
    Merge {
        /// At which commit.
        head: String,
    },
}

impl ForgeAction {
    /// The action's key.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Publish { cycle } => format!("forge publish {cycle}"),
            Self::Look { look } => format!("forge look {look}"),
            Self::Rerun { head, checks } => format!("forge rerun {head} {}", labels(checks)),
            Self::ReadLogs { head, checks } => format!("forge logs {head} {}", labels(checks)),
            Self::Write { tasks } => format!("forge write {}", ids(tasks)),
            Self::Reply { tasks } => format!("forge reply {}", ids(tasks)),
            Self::RequestReview { head, reviewers } => {
                let logins: Vec<&str> = reviewers.iter().map(|asked| asked.login.as_str()).collect();
                format!("forge request {head} {}", logins.join(","))
            }
            Self::Integrate { cycle, source } => format!("forge integrate {cycle} {source:?}"),
            Self::Merge { head } => format!("forge merge {head}"),
        }
    }
}

fn labels(checks: &[CheckRef]) -> String {
    checks.iter().map(|check| check.label.as_str()).collect::<Vec<_>>().join(",")
}

fn ids(tasks: &[TaskId]) -> String {
    tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The action that should be under way at the forge now.
pub(crate) fn wanted(state: &State, now: Timestamp) -> Option<ForgeAction> {
    let lifecycle = &state.pull_request;
    let is_on = state.rules().is_some_and(|rules| rules.pull_request.lifecycle.is_on());
    if !is_on || state.end.is_some() || lifecycle.absence.as_ref().is_some_and(|absence| now < absence.until)
    {
        return None;
    }
    // A crash may have come between the plan's edit and its record, so that these tasks are known already.
    if let Stage::Writing(requests) = &lifecycle.stage {
        let tasks = requests.iter().map(|request| request.id.clone()).collect();
        return Some(ForgeAction::Write { tasks });
    }
    if state.first_unsettled().is_some() {
        return None;
    }
    of_stage(state, now)
}

fn of_stage(state: &State, now: Timestamp) -> Option<ForgeAction> {
    let lifecycle = &state.pull_request;
    let head = lifecycle.place.as_ref().map(|place| place.head.clone()).unwrap_or_default();
    match &lifecycle.stage {
        Stage::Resting | Stage::Satisfied(_) | Stage::Writing(_) => None,
        Stage::Publishing => Some(ForgeAction::Publish { cycle: lifecycle.cycles.saturating_add(1) }),
        Stage::Watching(watch) => {
            let look = lifecycle.looks.saturating_add(1);
            (now >= watch.until).then_some(ForgeAction::Look { look })
        }
        Stage::Rerunning(checks) => Some(ForgeAction::Rerun { head, checks: checks.clone() }),
        Stage::Reading(checks) => Some(ForgeAction::ReadLogs { head, checks: checks.clone() }),
        Stage::Replying(tasks) => Some(ForgeAction::Reply { tasks: tasks.clone() }),
        Stage::Requesting(reviewers) => {
            Some(ForgeAction::RequestReview { head, reviewers: reviewers.clone() })
        }
        Stage::Integrating(source) => {
            Some(ForgeAction::Integrate { cycle: lifecycle.cycles, source: *source })
        }
        Stage::Merging => Some(ForgeAction::Merge { head }),
    }
}
