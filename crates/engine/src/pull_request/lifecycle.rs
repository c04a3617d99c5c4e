//! All that is known of the pull request: a part of the run's state, folded from its events.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;
use serde::{Deserialize, Serialize};

use super::request::{Origin, Request};
use super::rules::PullRequestRules;
use super::stage::Stage;

/// How many looks something odd may last before it is taken at its word: a push that the forge has not noticed, a
/// check that is gone, no check at all.
pub(super) const PATIENCE_LOOKS: u32 = 3;

/// The pull request of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifecycle {
    pub(super) stage: Stage,
    /// When it began in this round, pauses left out.
    pub(super) began_at: Option<Timestamp>,
    pub(super) place: Option<Place>,
    /// Pushes that were watched in this round.
    pub(super) cycles: u32,
    /// True if the push that was watched when the run ended is to be watched on, which is no further one.
    pub(super) goes_on: bool,
    /// How often red checks got tasks in this round.
    pub(super) ci_rounds: u32,
    /// Looks in the whole history, so that each has a key of its own.
    pub(super) looks: u32,
    /// Commits that were pushed.
    pub(super) pushed: BTreeSet<String>,
    /// Checks that were run again at the present commit, with the identity of the run that failed.
    pub(super) rerun: BTreeMap<String, Rerun>,
    /// Checks that were seen at the present commit, with the number of looks since, and those that the commit
    /// before it had: they are expected to come back.
    pub(super) seen: BTreeMap<String, u32>,
    /// The checks of the last look at the present commit.
    pub(super) roll: BTreeSet<String>,
    /// How many looks in a row showed those.
    pub(super) roll_looks: u32,
    /// True if a person went on though checks are gone.
    pub(super) accepts_gone: bool,
    /// The commit that the forge agreed to merge.
    pub(super) queued: Option<String>,
    /// Threads and reviews that got tasks, with the comment that was the latest one then.
    pub(super) addressed: BTreeMap<String, String>,
    pub(super) requests: BTreeMap<TaskId, Request>,
    /// Tasks that are in the record alone.
    pub(super) in_record: BTreeSet<TaskId>,
    /// Tasks whose threads were answered.
    pub(super) replied: BTreeSet<TaskId>,
    /// The reviewers who were asked to look again, with the review that said no.
    pub(super) asked_again: BTreeMap<String, String>,
    pub(super) absence: Option<Absence>,
}

/// Where the pull request is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its number.
    pub number: u64,
    /// Its address.
    pub url: String,
    /// The branch.
    pub branch: String,
    /// The branch that it is to be merged into.
    pub base: String,
    /// The commit that was pushed last.
    pub head: String,
    /// How the ids of tasks in the plan's pull request phase begin.
    pub series: String,
}

/// A wait for a forge that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absence {
    /// How often in a row.
    pub nth: u32,
    /// Since when.
    pub since: Timestamp,
    /// When to try again.
    pub until: Timestamp,
    /// Why.
    pub reason: String,
}

/// A check that was run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rerun {
    /// The run that failed.
    pub(super) id: String,
    /// True if the forge refused to run it again.
    pub(super) refused: bool,
    /// Looks since.
    pub(super) looks: u32,
}

impl Lifecycle {
    /// Where it stands.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Where the pull request is, once it is there.
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Pushes that were watched in this round.
    pub fn cycles(&self) -> u32 {
        self.cycles
    }

    /// How often red checks got tasks in this round.
    pub fn ci_rounds(&self) -> u32 {
        self.ci_rounds
    }

    /// When it began in this round, pauses left out.
    pub fn began_at(&self) -> Option<Timestamp> {
        self.began_at
    }

    /// The wait for the forge that is on, if any.
    pub fn absence(&self) -> Option<&Absence> {
        self.absence.as_ref()
    }

    /// The task that was asked for under this id.
    pub fn request(&self, id: &TaskId) -> Option<&Request> {
        self.requests.get(id)
    }

    /// Every task that was asked for.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.requests.values()
    }

    /// Tasks that are in the record alone.
    pub fn in_record(&self) -> impl Iterator<Item = &TaskId> {
        self.in_record.iter()
    }

    /// Tasks whose threads are to be answered, as far as they are done.
    pub(super) fn unanswered(&self, is_done: impl Fn(&TaskId) -> bool) -> Vec<TaskId> {
        let of_thread = |request: &&Request| matches!(request.origin, Origin::Thread { .. });
        let ids = self.requests.values().filter(of_thread).map(|request| &request.id);
        ids.filter(|id| !self.replied.contains(id) && is_done(id)).cloned().collect()
    }

    /// When the round's time is used up.
    pub(super) fn time_up(&self, rules: &PullRequestRules) -> Option<Timestamp> {
        let limit = SignedDuration::try_from(rules.time_max).ok()?;
        self.began_at?.checked_add(limit).ok()
    }

    /// The moments at which something is due though nothing happens.
    pub(crate) fn deadlines(&self, rules: &PullRequestRules) -> impl Iterator<Item = Timestamp> {
        let (look, time_up) = match &self.stage {
            Stage::Resting | Stage::Writing(_) | Stage::Satisfied(_) => (None, None),
            Stage::Watching(watch) => (Some(watch.until), self.time_up(rules)),
            Stage::Publishing
            | Stage::Rerunning(_)
            | Stage::Reading(_)
            | Stage::Replying(_)
            | Stage::Requesting(_)
            | Stage::Integrating(_)
            | Stage::Merging => (None, self.time_up(rules)),
        };
        let absence = self.absence.as_ref().map(|absence| absence.until);
        [look, time_up, absence].into_iter().flatten()
    }
}
