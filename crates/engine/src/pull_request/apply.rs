//! The fold of the lifecycle's events. It may not change its mind about events of old journals.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::awaited::Awaited;
use super::event::PullRequestEvent;
use super::lifecycle::{Absence, Lifecycle, PATIENCE_LOOKS, Place, Rerun};
use super::obstacle::Obstacle;
use super::report::{Kept, Published};
use super::request::{CheckRef, Origin, Request};
use super::stage::{Stage, Watch};
use super::table::is_legal;
use crate::event::End;
use crate::fold::{Applied, Impossible};
use crate::plan_changes::PlanChanges;
use crate::proof::Proving;
use crate::state::{Regression, State};
use crate::task::TaskDecl;

impl State {
    /// Takes what has happened to the pull request into the state.
    pub(crate) fn apply_pull_request(&mut self, event: &PullRequestEvent, at: Timestamp) -> Applied {
        let from = self.pull_request.stage.kind();
        if !is_legal(from, event.kind()) {
            return Err(Impossible::PullRequest { from, event: event.kind() });
        }
        if !matches!(event, PullRequestEvent::Unavailable { .. }) {
            self.pull_request.absence = None;
        }
        self.pull_request.take(event, at);
        if let PullRequestEvent::TasksWritten { decls, kept } = event {
            return self.apply_tasks_written(decls, *kept, at);
        }
        if *event == PullRequestEvent::Integrated {
            // What was taken in may have broken something.
            self.regression = Regression::Open;
            self.proving = Proving::Open;
        }
        Ok(())
    }

    /// Tasks that a crash let in by way of the plan are known already.
    fn apply_tasks_written(&mut self, decls: &[TaskDecl], kept: Kept, at: Timestamp) -> Applied {
        let is_new = |decl: &&TaskDecl| self.task(&decl.id).is_none();
        let added: Vec<TaskDecl> = decls.iter().filter(is_new).cloned().collect();
        self.apply_changes(&PlanChanges { added, ..PlanChanges::default() }, at)?;
        if kept == Kept::InRecord {
            self.pull_request.in_record.extend(decls.iter().map(|decl| decl.id.clone()));
        }
        Ok(())
    }
}

impl Lifecycle {
    fn take(&mut self, event: &PullRequestEvent, at: Timestamp) {
        match event {
            PullRequestEvent::Begun => {
                self.began_at = self.began_at.or(Some(at));
                self.stage = Stage::Publishing;
            }
            PullRequestEvent::Published { published, cycle } => self.publish(published, *cycle, at),
            PullRequestEvent::Looked { awaited, until, checks } => {
                self.looks = self.looks.saturating_add(1);
                // What the forge shows of an earlier commit says nothing about this one.
                if *awaited != Awaited::Head {
                    self.count_look(checks);
                }
                let watch = Watch { awaited: Some(awaited.clone()), since: at, looks: 1, until: *until };
                self.stage = Stage::Watching(self.go_on_watching(watch));
            }
            PullRequestEvent::RerunPlanned { checks } => self.plan_rerun(checks),
            PullRequestEvent::Rerun { refused, until } => {
                for label in refused {
                    self.rerun.entry(label.clone()).and_modify(|rerun| rerun.refused = true);
                }
                self.watch_from(at, *until);
            }
            PullRequestEvent::FailuresBelieved { checks } => {
                self.looks = self.looks.saturating_add(1);
                self.ci_rounds = self.ci_rounds.saturating_add(1);
                self.remember(checks);
                self.stage = Stage::Reading(checks.clone());
            }
            PullRequestEvent::TasksPlanned { requests } => self.plan_tasks(requests),
            PullRequestEvent::IntegrationPlanned { source } => self.stage = Stage::Integrating(*source),
            PullRequestEvent::RepliesPlanned { tasks } => self.stage = Stage::Replying(tasks.clone()),
            PullRequestEvent::Replied { .. } => {
                if let Stage::Replying(tasks) = std::mem::take(&mut self.stage) {
                    self.replied.extend(tasks);
                }
                self.watch_from(at, at);
            }
            PullRequestEvent::ReviewPlanned { reviewers } => {
                self.looks = self.looks.saturating_add(1);
                self.stage = Stage::Requesting(reviewers.clone());
            }
            PullRequestEvent::ReviewRequested { until, .. } => {
                if let Stage::Requesting(reviewers) = std::mem::take(&mut self.stage) {
                    self.asked_again.extend(reviewers.into_iter().map(|asked| (asked.login, asked.review)));
                }
                self.watch_from(at, *until);
            }
            PullRequestEvent::MergePlanned => self.stage = Stage::Merging,
            PullRequestEvent::MergeQueued { until } => {
                self.looks = self.looks.saturating_add(1);
                self.queued = self.place.as_ref().map(|place| place.head.clone());
                self.watch_from(at, *until);
            }
            PullRequestEvent::Unavailable { reason, nth, until } => {
                let since = self.absence.as_ref().map_or(at, |absence| absence.since);
                self.absence = Some(Absence { nth: *nth, since, until: *until, reason: reason.clone() });
            }
            PullRequestEvent::Satisfied { outcome } => self.stage = Stage::Satisfied(outcome.clone()),
            PullRequestEvent::TasksWritten { .. } | PullRequestEvent::Integrated => {
                self.stage = Stage::Resting;
            }
        }
    }

    fn publish(&mut self, published: &Published, cycle: u32, at: Timestamp) {
        let Published { number, url, branch, base, head, series, .. } = published.clone();
        if self.place.as_ref().is_none_or(|place| place.head != head) {
            self.turn_to_new_commit(number);
        }
        self.pushed.insert(head.clone());
        self.place = Some(Place { number, url, branch, base, head, series });
        self.cycles = cycle;
        self.goes_on = false;
        self.watch_from(at, at);
    }

    /// Turns to a new commit: what was known of the checks is known of another one. Those that it had are waited for at
    /// the new one, except for those that had been given up.
    fn turn_to_new_commit(&mut self, number: u64) {
        let is_same = self.place.as_ref().is_some_and(|place| place.number == number);
        self.rerun.clear();
        self.seen.retain(|_, looks| is_same && *looks < PATIENCE_LOOKS);
        self.seen.values_mut().for_each(|looks| *looks = 0);
        self.roll.clear();
        self.roll_looks = 0;
        self.accepts_gone = false;
        self.queued = None;
    }

    fn watch_from(&mut self, at: Timestamp, until: Timestamp) {
        self.stage = Stage::Watching(Watch { awaited: None, since: at, looks: 0, until });
    }

    /// The watch that follows: waiting for the same thing goes on, anything else begins anew.
    fn go_on_watching(&self, watch: Watch) -> Watch {
        let Stage::Watching(before) = &self.stage else { return watch };
        let is_same = match (&before.awaited, &watch.awaited) {
            (Some(before), Some(now)) => before.is_like(now),
            (None, _) | (_, None) => false,
        };
        if is_same {
            let looks = before.looks.saturating_add(1);
            return Watch { since: before.since, looks, ..watch };
        }
        watch
    }

    fn count_look(&mut self, checks: &[String]) {
        self.rerun.values_mut().for_each(|rerun| rerun.looks = rerun.looks.saturating_add(1));
        self.seen.values_mut().for_each(|looks| *looks = looks.saturating_add(1));
        self.seen.extend(checks.iter().map(|label| (label.clone(), 0)));
        let roll: BTreeSet<String> = checks.iter().cloned().collect();
        self.roll_looks = if roll == self.roll { self.roll_looks.saturating_add(1) } else { 1 };
        self.roll = roll;
    }

    /// Red checks that are not shown any more later on are missed.
    fn remember(&mut self, checks: &[CheckRef]) {
        self.seen.extend(checks.iter().map(|check| (check.label.clone(), 0)));
    }

    fn plan_rerun(&mut self, checks: &[CheckRef]) {
        self.remember(checks);
        for check in checks {
            let rerun = Rerun { id: check.id.clone(), refused: false, looks: 0 };
            self.rerun.insert(check.label.clone(), rerun);
        }
        self.looks = self.looks.saturating_add(1);
        self.stage = Stage::Rerunning(checks.to_vec());
    }

    fn plan_tasks(&mut self, requests: &[Request]) {
        for request in requests {
            match &request.origin {
                Origin::Check { .. } => {}
                Origin::Thread { thread, comment, .. } => {
                    self.addressed.insert(thread.clone(), comment.clone());
                }
                Origin::Review { review, .. } => {
                    self.addressed.insert(review.clone(), review.clone());
                }
            }
            self.requests.insert(request.id.clone(), request.clone());
        }
        self.looks = self.looks.saturating_add(1);
        self.stage = Stage::Writing(requests.to_vec());
    }

    /// Something else has the word: whatever was under way at the forge is looked at anew afterwards. Tasks that
    /// are being written still have to be.
    pub(crate) fn reset(&mut self) {
        if !matches!(self.stage, Stage::Writing(_)) {
            self.stage = Stage::Resting;
        }
    }

    /// A person started the program again after an end.
    pub(crate) fn resume(&mut self, is_new_round: bool) {
        self.absence = None;
        if is_new_round {
            (self.cycles, self.ci_rounds, self.began_at) = (0, 0, None);
        }
        self.goes_on |= !is_new_round && self.place.is_some() && self.stage.is_active();
        if !matches!(self.stage, Stage::Satisfied(_)) {
            self.reset();
        }
    }

    /// A person knows how the run ended, and started the program again.
    pub(crate) fn heed(&mut self, end: &End) {
        let obstacle = if let End::PullRequest { obstacle } = end { Some(obstacle) } else { None };
        self.accepts_gone |= matches!(obstacle, Some(Obstacle::ChecksGone { .. }));
    }

    /// The time in which no program was there does not count.
    pub(crate) fn leave_out(&mut self, pause: SignedDuration) {
        self.began_at = self.began_at.map(|since| since.checked_add(pause).unwrap_or(since));
    }

    /// The clock was set: what is waited for is as far away as it was.
    pub(crate) fn set_clock(&mut self, move_by: impl Fn(Timestamp) -> Timestamp) {
        self.began_at = self.began_at.map(&move_by);
        if let Stage::Watching(watch) = &mut self.stage {
            watch.until = move_by(watch.until);
        }
        if let Some(absence) = &mut self.absence {
            absence.until = move_by(absence.until);
        }
    }
}
