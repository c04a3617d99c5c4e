//! The record of a run as a screen or a page needs it: folded from the journal's events, as they come.

use std::collections::BTreeMap;
use std::path::Path;

use engine::{Attempt, Event, History, State, What};
use jiff::Timestamp;
use plan::TaskId;
use runner::journal::{Follower, JournalError};

use crate::view::work::Work;

/// The record so far.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) state: State,
    pub(crate) history: History,
    pub(crate) work: Work,
    pub(crate) events: Vec<Event>,
    /// Every stretch of work on a task, in the order in which they began.
    pub(crate) bars: Vec<Bar>,
    open: BTreeMap<TaskId, usize>,
    /// The reason why nothing that comes later can be understood.
    pub(crate) problem: Option<String>,
}

/// A stretch of work on a task: an attempt, or a command without an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) task: TaskId,
    /// None for a command without an agent.
    pub(crate) attempt: Option<Attempt>,
    pub(crate) began: Timestamp,
    /// When the agent was through.
    pub(crate) claimed: Option<Timestamp>,
    /// When its work began to come in.
    pub(crate) landing: Option<Timestamp>,
    /// None while it goes on.
    pub(crate) ended: Option<Timestamp>,
    pub(crate) outcome: Outcome,
}

/// How a stretch of work came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Open,
    Passed,
    Failed,
    /// Nobody watched it to its end, or the agent could not be had.
    Lost,
}

impl Record {
    /// The record that a journal tells of, as far as it is written.
    pub(crate) fn read(journal: &Path) -> Result<Self, JournalError> {
        let mut record = Self::default();
        let events = Follower::new(journal).poll()?.into_events();
        events.into_iter().for_each(|(_, event)| record.take(event));
        Ok(record)
    }

    /// Takes in the next event.
    pub(crate) fn take(&mut self, event: Event) {
        if self.problem.is_some() {
            return;
        }
        if let Err(error) = self.state.apply(&event) {
            self.problem = Some(format!("the journal contradicts itself: {error}"));
            return;
        }
        self.history.record(&event);
        self.work.record(&event, &self.state);
        self.draw_bar(&event);
        self.events.push(event);
    }

    /// When the latest event happened.
    pub(crate) fn latest(&self) -> Option<Timestamp> {
        self.events.last().map(|event| event.at)
    }

    /// The events of a task, in order.
    pub(crate) fn events_of(&self, task: &TaskId) -> Vec<Event> {
        self.events.iter().filter(|event| event.what.task() == Some(task)).cloned().collect()
    }

    /// The stretches of work on a task.
    pub(crate) fn bars_of<'a>(&'a self, task: &'a TaskId) -> impl Iterator<Item = &'a Bar> {
        self.bars.iter().filter(move |bar| bar.task == *task)
    }

    fn draw_bar(&mut self, event: &Event) {
        match &event.what {
            What::AttemptStarted(started) => self.begin(&started.task, Some(started.attempt), event.at),
            What::ProofStarted { task, .. } => self.begin(task, None, event.at),
            What::AttemptClaimed { task, .. } => self.change(task, |bar| bar.claimed = Some(event.at)),
            What::LandingStarted { task } => self.change(task, |bar| bar.landing = Some(event.at)),
            What::TaskDone { task, .. } | What::Mended { task, .. } => {
                self.close(task, event.at, Outcome::Passed);
            }
            What::AttemptFailed { task, .. } | What::ProofFailed { task, .. } => {
                self.close(task, event.at, Outcome::Failed);
            }
            What::AgentUnavailable { task, .. }
            | What::AgentDropped { task, .. }
            | What::TreeUnavailable { task, .. }
            | What::TaskSkipped { task, .. } => self.close(task, event.at, Outcome::Lost),
            // Work whose program is gone, or whose task is, has no end of its own.
            What::Opened(_) | What::PlanChanged(_) | What::Ended(_) => self.close_lost(),
            What::ProofPassed { .. }
            | What::Packed { .. }
            | What::Spent(_)
            | What::ChecksPassed { .. }
            | What::Found { .. }
            | What::JudgeStarted { .. }
            | What::NoVerdict { .. }
            | What::JudgePassed { .. }
            | What::Landed { .. }
            | What::JoinPassed { .. }
            | What::HeldUp { .. }
            | What::RetryPlanned { .. }
            | What::FixPlanned(_)
            | What::FixInserted { .. }
            | What::Deferred { .. }
            | What::Escalated { .. }
            | What::Answered { .. }
            | What::Noted { .. }
            | What::Told { .. }
            | What::PauseRequested
            | What::SkipRequested { .. }
            | What::LimitsChanged(_)
            | What::ClockMoved(_)
            | What::RegressionPassed
            | What::Proved(_)
            | What::Reopened { .. }
            | What::PullRequest(_) => {}
        }
    }

    fn begin(&mut self, task: &TaskId, attempt: Option<Attempt>, began: Timestamp) {
        self.open.insert(task.clone(), self.bars.len());
        let (claimed, landing, ended) = (None, None, None);
        let task = task.clone();
        self.bars.push(Bar { task, attempt, began, claimed, landing, ended, outcome: Outcome::Open });
    }

    fn change(&mut self, task: &TaskId, change: impl FnOnce(&mut Bar)) {
        if let Some(bar) = self.open.get(task).and_then(|place| self.bars.get_mut(*place)) {
            change(bar);
        }
    }

    fn close(&mut self, task: &TaskId, at: Timestamp, outcome: Outcome) {
        self.change(task, |bar| (bar.ended, bar.outcome) = (Some(at), outcome));
        self.open.remove(task);
    }

    /// Closes what nobody works on any more; the latest that is known of it is the event before.
    fn close_lost(&mut self) {
        let at = self.latest();
        let is_gone = |task: &TaskId| !self.state.task(task).is_some_and(|task| task.status.is_active());
        let gone: Vec<TaskId> = self.open.keys().filter(|task| is_gone(task)).cloned().collect();
        for task in gone {
            at.into_iter().for_each(|at| self.close(&task, at, Outcome::Lost));
        }
    }
}
