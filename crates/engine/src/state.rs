//! The state of a run: a fold over its events, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::directive::Directives;
use crate::event::{End, FixPlan, Opened};
use crate::evidence::KnownResult;
use crate::index::Index;
use crate::proof::{Proof, Proving};
use crate::pull_request::Lifecycle;
use crate::roster::Roster;
use crate::rules::Rules;
use crate::spending::Spending;
use crate::status::{Role, Status};
use crate::task::{Dispatch, Slot, Task, TaskKind};
use crate::warning::Warnings;

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct State {
    pub(crate) opened: Option<Opened>,
    pub(crate) round_since: Option<Timestamp>,
    /// When the latest event happened.
    pub(crate) latest_at: Option<Timestamp>,
    pub(crate) first_opened_at: Option<Timestamp>,
    /// Time since then in which no program was there.
    pub(crate) idle: SignedDuration,
    /// The commit that was checked out when the run was first opened.
    pub(crate) first_head: Option<String>,
    #[expect(clippy::vec_box, reason = "a fix task is put in among thousands: what moves then is pointers")]
    pub(crate) tasks: Vec<Box<Task>>,
    #[serde(skip)]
    pub(crate) index: Index,
    pub(crate) drafts: BTreeMap<TaskId, FixPlan>,
    pub(crate) dispatched: Dispatch,
    pub(crate) round_dispatches: u32,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) unavailable_in_row: u32,
    /// True if a work tree could not be made since the run was started: then tasks start one by one in the project.
    pub(crate) is_without_trees: bool,
    /// True if an attempt has worked in a slot.
    pub(crate) has_used_slots: bool,
    pub(crate) regression: Regression,
    /// The latest result of each command, by its digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) results: BTreeMap<u32, KnownResult>,
    /// The latest final proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proof: Option<Proof>,
    #[serde(default, skip_serializing_if = "Proving::is_open")]
    pub(crate) proving: Proving,
    /// What git ignored in the project before the run began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) surroundings: Option<Vec<String>>,
    pub(crate) warnings: Warnings,
    pub(crate) escalations: u32,
    pub(crate) retries: u32,
    pub(crate) retries_that_worked: u32,
    pub(crate) pull_request: Lifecycle,
    pub(crate) end: Option<End>,
    pub(crate) spending: Spending,
    pub(crate) roster: Roster,
    /// Why the latest agent that was dropped could not be had.
    pub(crate) out_of_agents: Option<String>,
    pub(crate) directives: Directives,
}

/// The standing of the regression command since the last task was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Regression {
    /// Not run, or not since.
    #[default]
    Open,
    /// Green.
    Green,
}

/// A wait for an agent that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backoff {
    /// When to try again.
    pub until: Timestamp,
    /// Why.
    pub reason: String,
}

impl State {
    /// The tasks in the order of the plan.
    pub fn tasks(&self) -> &[Box<Task>] {
        &self.tasks
    }

    /// A task by its id.
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.task_at(self.position(id)?)
    }

    /// The state as a host sees it that numbers its own slots: a task in a slot is in this one there.
    #[must_use]
    pub fn in_slot(mut self, id: &TaskId, slot: Slot) -> Self {
        let place = self.position(id);
        if let Some(task) = place.and_then(|place| self.tasks.get_mut(place)) {
            task.slot = task.slot.map(|_| slot);
        }
        self
    }

    /// A task's place in the order of the plan.
    pub fn position(&self, id: &TaskId) -> Option<usize> {
        // Nearly always the question is about a task that something is happening with, or about the next one.
        let mut likely = self.index.in_motion.iter().take(2).chain(self.index.unsettled.first());
        likely.find(|place| self.tasks[*place].id() == id).or_else(|| self.index.positions.get(id))
    }

    fn task_at(&self, place: usize) -> Option<&Task> {
        self.tasks.get(place).map(AsRef::as_ref)
    }

    /// Tasks that fix tasks were written for, in the plan's order.
    pub fn tasks_with_fixes(&self) -> impl Iterator<Item = &Task> {
        let failing: BTreeSet<usize> =
            self.drafts.values().filter_map(|fix| self.position(&fix.failing)).collect();
        failing.into_iter().filter_map(|place| self.task_at(place))
    }

    /// How often a person was asked.
    pub fn escalations(&self) -> u32 {
        self.escalations
    }

    /// Attempts from the second on.
    pub fn retries(&self) -> u32 {
        self.retries
    }

    /// Tasks that were done after a failure.
    pub fn retries_that_worked(&self) -> u32 {
        self.retries_that_worked
    }

    /// Tasks that were begun and are not settled, in the plan's order.
    pub fn in_progress(&self) -> impl Iterator<Item = &Task> {
        let is_begun =
            |task: &&Task| task.started_at.is_some() || !matches!(task.status, Status::Ready { .. });
        self.unsettled().filter(is_begun)
    }

    /// The policy in force.
    pub fn rules(&self) -> Option<&Rules> {
        self.opened.as_ref().map(|opened| &opened.rules)
    }

    /// How the run was last opened.
    pub fn opened(&self) -> Option<&Opened> {
        self.opened.as_ref()
    }

    /// The commit that was checked out when the run was first opened.
    pub fn first_head(&self) -> Option<&str> {
        self.first_head.as_deref()
    }

    /// When the run was first opened.
    pub fn first_opened_at(&self) -> Option<Timestamp> {
        self.first_opened_at
    }

    /// The time from the first opening to the latest event in which a program was there.
    pub fn elapsed(&self) -> Duration {
        self.elapsed_since(self.first_opened_at, SignedDuration::ZERO)
    }

    /// The time from the first start of a task to the latest event in which a program was there.
    pub fn elapsed_on(&self, id: &TaskId) -> Option<Duration> {
        let task = self.task(id)?;
        task.started_at.map(|started| self.elapsed_since(Some(started), task.idle_before))
    }

    fn elapsed_since(&self, since: Option<Timestamp>, idle_before: SignedDuration) -> Duration {
        let time = since.zip(self.latest_at).map(|(since, latest)| latest.duration_since(since));
        let worked = time.map(|time| time.saturating_sub(self.idle.saturating_sub(idle_before)));
        worked.and_then(|worked| Duration::try_from(worked).ok()).unwrap_or_default()
    }

    /// The pull request.
    pub fn pull_request(&self) -> &Lifecycle {
        &self.pull_request
    }

    /// How the run ended, if it is not under way.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The plan of a drafted or inserted fix task: what it is to repair.
    pub fn fix_plan(&self, fix: &TaskId) -> Option<&FixPlan> {
        self.drafts.get(fix)
    }

    /// Agent starts that count in this round.
    pub fn round_dispatches(&self) -> u32 {
        self.round_dispatches
    }

    /// The last start of an agent; the number is zero where there was none.
    pub fn last_dispatch(&self) -> Dispatch {
        self.dispatched
    }

    /// The agent that was started as a dispatch, where agents have names.
    pub fn agent_of(&self, dispatch: Dispatch) -> Option<&str> {
        self.roster.started(dispatch)
    }

    /// True if nobody is left for a role: all that are named for it are out, or the only one there is.
    pub(crate) fn lacks_agent(&self, role: Role) -> bool {
        let is_named = self.rules().is_some_and(|rules| !rules.agents.of(role).is_empty());
        if is_named { self.roster.is_exhausted(role) } else { self.out_of_agents.is_some() }
    }

    /// The wait that is on, if any.
    pub fn backoff(&self) -> Option<&Backoff> {
        self.backoff.as_ref()
    }

    /// The cap on agent starts in force. Fix tasks do not raise it: it is there to stop them.
    pub fn global_cap(&self) -> u32 {
        self.rules().map_or(0, |rules| rules.limits.global_cap(self.tasks.len() - self.index.fixes))
    }

    /// True if the cap on agent starts is reached.
    pub(crate) fn is_capped(&self) -> bool {
        self.round_dispatches >= self.global_cap()
    }

    /// The first task in the plan's order that is neither done nor skipped.
    pub fn first_unsettled(&self) -> Option<&Task> {
        self.task_at(self.index.unsettled.first()?)
    }

    /// Tasks that are neither done nor skipped, in the plan's order.
    pub fn unsettled(&self) -> impl Iterator<Item = &Task> {
        self.index.unsettled.iter().filter_map(|place| self.task_at(place))
    }

    /// How many tasks are done.
    pub fn done_count(&self) -> usize {
        self.tasks.len() - self.index.unsettled.len() - self.index.skipped
    }

    /// How many tasks were skipped.
    pub fn skipped_count(&self) -> usize {
        self.index.skipped
    }

    /// Tasks that are neither ready nor settled, in the plan's order.
    pub fn attention(&self) -> impl Iterator<Item = &Task> + Clone {
        self.index.attention.iter().filter_map(|place| self.task_at(place))
    }

    /// Tasks that are neither ready nor settled, with their places in the plan.
    pub fn attention_places(&self) -> impl Iterator<Item = (usize, &Task)> {
        self.index.attention.iter().filter_map(|place| self.task_at(place).map(|task| (place, task)))
    }

    /// Tasks that something is happening with or that something is due for, in the plan's order. Whoever waits for another
    /// task and has left nothing in the project is not among them.
    pub(crate) fn in_motion(&self) -> impl Iterator<Item = &Task> + Clone {
        self.index.in_motion.iter().filter_map(|place| self.task_at(place))
    }

    /// How deep a fix task nests: 0 for a task of the plan's author.
    pub fn fix_depth(&self, id: &TaskId) -> u32 {
        let mut depth = 0;
        let mut current = self.drafts.get(id);
        while let Some(fix) = current {
            depth += 1;
            current = self.drafts.get(&fix.failing);
        }
        depth
    }

    /// True if a task is another one or waits for it, directly or not.
    pub(crate) fn waits_for(&self, id: &TaskId, other: &TaskId) -> bool {
        let mut current = Some(id);
        while let Some(id) = current.filter(|id| *id != other) {
            current = match self.task(id).map(|task| &task.status) {
                Some(Status::WaitingFor(next)) => Some(next),
                Some(_) | None => None,
            };
        }
        current.is_some()
    }

    /// The next moment at which something is due though nothing happens, after the one at which somebody last looked
    /// for what is due and wanted. To ask with a later one is to miss what becomes due in between.
    pub fn next_deadline(&self, looked: Timestamp) -> Option<Timestamp> {
        let backoff = self.backoff.as_ref().map(|backoff| backoff.until);
        // A deadline that has passed is no reason to wake up again: what it allows is under way already.
        let of_run = [backoff, self.time_up()].into_iter().flatten();
        let rules = self.rules().map(|rules| &rules.pull_request);
        let of_forge = rules.map(|rules| self.pull_request.deadlines(rules)).into_iter().flatten();
        of_run.chain(of_forge).filter(|deadline| *deadline > looked).min()
    }

    /// When the round's time is used up.
    pub(crate) fn time_up(&self) -> Option<Timestamp> {
        let limit = self.rules()?.limits.time_max?;
        let since = self.round_since?;
        since.checked_add(jiff::SignedDuration::try_from(limit).ok()?).ok()
    }

    /// True if the task's next start runs its command before any agent.
    pub(crate) fn proves(task: &Task) -> bool {
        task.decl.kind == TaskKind::Verify && task.decl.verification == crate::task::Verification::Command
    }

    /// True if a task that failed for good starts by running its command without an agent: where that alone decides,
    /// somebody may have mended it by hand.
    pub(crate) fn proves_again(task: &Task, rules: &Rules) -> bool {
        let has_command = task.decl.verification == crate::task::Verification::Command;
        let is_open = task.last_failure().is_some_and(|failure| failure.cause.ends_with_a_green_command());
        Self::proves(task) || has_command && is_open && !rules.review.is_on()
    }
}
