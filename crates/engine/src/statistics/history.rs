//! The history of a run: the spans of work that a journal tells of, which the state alone forgets.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use plan::{ErrorType, TaskId};

use crate::event::{Event, Opened, Started, What};
use crate::failure::{Cause, Failure, FailureType};
use crate::plan_changes::PlanChanges;
use crate::roster::Roster;
use crate::spending::Spent;
use crate::status::{Question, Role};
use crate::task::{Attempt, Dispatch};

/// The key of the settings in the journal under which an agent's name stands.
const AGENT_KEY: &str = "agent";
/// The name of an agent that was given as a mere command.
const COMMAND_AGENT: &str = "command";

/// Everything that was done in a run, folded from its events in order.
#[derive(Clone, Debug, Default)]
pub struct History {
    spans: Vec<Span>,
    marks: Vec<Mark>,
    /// The span of each task that has not come to its outcome yet.
    open: BTreeMap<TaskId, OpenSpan>,
    settled: BTreeMap<TaskId, Settled>,
    agent: String,
    roster: Roster,
    spent: BTreeMap<Dispatch, Spent>,
    latest: Option<Timestamp>,
}

/// A stretch of work on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The task.
    pub task: TaskId,
    /// The kind of work.
    pub kind: SpanKind,
    /// When it began.
    pub began: Timestamp,
    /// When it ended; for work that is under way, the latest that is known of it.
    pub ended: Timestamp,
    /// How much of that nobody worked: no program was there, or a person was asked.
    pub idle: Duration,
    /// The outcome.
    pub outcome: SpanOutcome,
}

/// The kind of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An agent's attempt with the checks of it.
    Attempt {
        /// Its number.
        attempt: Attempt,
        /// In which role the agent worked.
        role: Role,
        /// The agent's name.
        agent: String,
    },
    /// A `[VERIFY]` command without an agent.
    Proof,
}

/// The outcome of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpanOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed {
        /// The cause of a failure.
        cause: Cause,
        /// The kind of error.
        kind: ErrorType,
        /// The error in a line.
        error: String,
    },
    /// Nobody watched it to its end.
    Lost,
    /// The agent could not be had.
    Unavailable,
    /// It goes on, or nobody ever decided on it.
    Undecided,
}

/// Something that happened to a task at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The task.
    pub task: TaskId,
    /// When.
    pub at: Timestamp,
    /// The kind.
    pub kind: MarkKind,
}

/// The kind of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A person was asked.
    Escalated(Question),
    /// The task was left out.
    Skipped,
}

/// The one who settled a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// The run.
    ByRun,
    /// A person, in the plan file.
    ByHand,
    /// Somebody before the run knew of it: its box was ticked already.
    Before,
}

#[derive(Clone, Copy, Debug)]
struct OpenSpan {
    place: usize,
    /// True if the agent is through, so that its end cannot be lost any more.
    is_claimed: bool,
    /// Since when a person is asked about it.
    asked_since: Option<Timestamp>,
}

impl Span {
    /// How long somebody or something worked.
    pub fn worked(&self) -> Duration {
        between(self.began, self.ended).saturating_sub(self.idle)
    }

    /// True if it counts as an attempt: one that was lost, or whose agent could not be had, does not.
    pub fn is_attempt(&self) -> bool {
        let is_agents = matches!(self.kind, SpanKind::Attempt { .. });
        is_agents && !matches!(self.outcome, SpanOutcome::Lost | SpanOutcome::Unavailable)
    }

    /// The type of the failure, if it is a failed attempt.
    pub fn failure_type(&self) -> Option<FailureType> {
        match (&self.kind, &self.outcome) {
            (SpanKind::Attempt { .. }, SpanOutcome::Failed { cause, .. }) => Some(cause.failure_type()),
            (SpanKind::Attempt { .. } | SpanKind::Proof, _) => None,
        }
    }
}

impl History {
    /// All spans, in the order in which they began.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// All marks, in order.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The usage of agents, one entry for each start that told.
    pub fn spent(&self) -> impl Iterator<Item = &Spent> {
        self.spent.values()
    }

    pub(super) fn settled(&self, task: &TaskId) -> Option<Settled> {
        self.settled.get(task).copied()
    }

    /// Takes in the next event of the journal.
    pub fn record(&mut self, event: &Event) {
        let at = event.at;
        match &event.what {
            What::Opened(opened) => self.opened(opened, at),
            What::PlanChanged(changes) => self.changed(changes, at),
            What::ProofStarted { task, .. } => self.begin(task, SpanKind::Proof, at),
            What::ProofPassed { task, .. } => self.close(task, SpanOutcome::Passed, at),
            What::ProofFailed { task, failure } => self.close(task, failed(failure), at),
            What::Mended { task, .. } => self.close(task, SpanOutcome::Passed, at),
            What::AttemptStarted(started) => self.started(started, at),
            What::AttemptClaimed { task, .. } => self.claimed(task),
            What::AttemptFailed { task, failure, .. } => self.close(task, failed(failure), at),
            What::AgentUnavailable { task, .. } => self.unavailable(task, at),
            What::AgentDropped { task, agent, .. } => {
                self.roster.drop(agent);
                self.unavailable(task, at);
            }
            What::TreeUnavailable { task, .. } => self.close(task, SpanOutcome::Lost, at),
            What::Spent(spent) => {
                self.spent.insert(spent.dispatch, spent.as_ref().clone());
            }
            What::TaskDone { task, .. } => self.done(task, at),
            What::Reopened { task, failure } => self.reopened(task, failure),
            What::Escalated { task, question } => self.escalated(task, *question, at),
            What::Answered { task, .. } => self.answered(task, at),
            What::TaskSkipped { task, .. } => self.skipped(task, at),
            What::Ended(_) => self.lose(at),
            What::ChecksPassed { .. }
            | What::Found { .. }
            | What::JudgeStarted { .. }
            | What::NoVerdict { .. }
            | What::JudgePassed { .. }
            | What::LandingStarted { .. }
            | What::Landed { .. }
            | What::JoinPassed { .. }
            | What::HeldUp { .. }
            | What::Packed { .. }
            | What::RetryPlanned { .. }
            | What::FixPlanned(_)
            | What::FixInserted { .. }
            | What::Deferred { .. }
            | What::Noted { .. }
            | What::Told { .. }
            | What::PauseRequested
            | What::SkipRequested { .. }
            | What::LimitsChanged(_)
            | What::ClockMoved(_)
            | What::RegressionPassed
            | What::Proved(_)
            | What::PullRequest(_) => {}
        }
        self.latest = Some(at);
        // While a person is asked nobody works: the span ends where the question began, until it is answered.
        for open in self.open.values().filter(|open| open.asked_since.is_none()) {
            self.spans[open.place].ended = at;
        }
    }

    fn opened(&mut self, opened: &Opened, at: Timestamp) {
        let latest = self.latest.unwrap_or(at);
        self.lose(latest);
        for open in self.open.values().filter(|open| open.asked_since.is_none()) {
            self.spans[open.place].idle += between(latest, at);
        }
        self.agent = opened.launch.get(AGENT_KEY).map_or(COMMAND_AGENT, String::as_str).to_owned();
        self.roster.open(&opened.rules.agents);
        self.changed(&opened.changes, at);
    }

    fn changed(&mut self, changes: &PlanChanges, at: Timestamp) {
        for task in &changes.ticked {
            self.close(task, SpanOutcome::Undecided, at);
            self.settled.insert(task.clone(), Settled::ByHand);
        }
        for task in changes.unticked.iter().chain(&changes.removed) {
            self.settled.remove(task);
        }
        let ticked = changes.added.iter().filter(|decl| decl.ticked);
        self.settled.extend(ticked.map(|decl| (decl.id.clone(), Settled::Before)));
    }

    fn begin(&mut self, task: &TaskId, kind: SpanKind, at: Timestamp) {
        // A result that a person sent back instead of judging it.
        self.close(task, SpanOutcome::Undecided, at);
        let open = OpenSpan { place: self.spans.len(), is_claimed: false, asked_since: None };
        self.open.insert(task.clone(), open);
        let outcome = SpanOutcome::Undecided;
        self.spans.push(Span {
            task: task.clone(),
            kind,
            began: at,
            ended: at,
            idle: Duration::ZERO,
            outcome,
        });
    }

    fn started(&mut self, started: &Started, at: Timestamp) {
        let (attempt, role) = (started.attempt, started.role);
        let agent = self.roster.first(role).unwrap_or(&self.agent).to_owned();
        self.begin(&started.task, SpanKind::Attempt { attempt, role, agent }, at);
    }

    fn claimed(&mut self, task: &TaskId) {
        if let Some(open) = self.open.get_mut(task) {
            open.is_claimed = true;
        }
    }

    fn close(&mut self, task: &TaskId, outcome: SpanOutcome, at: Timestamp) {
        let Some(open) = self.open.remove(task) else { return };
        let span = &mut self.spans[open.place];
        span.idle += open.asked_since.map_or(Duration::ZERO, |since| between(since, at));
        span.ended = at;
        span.outcome = outcome;
    }

    /// A judge that cannot be had leaves the attempt it judges as it is.
    fn unavailable(&mut self, task: &TaskId, at: Timestamp) {
        if self.open.get(task).is_some_and(|open| !open.is_claimed) {
            self.close(task, SpanOutcome::Unavailable, at);
        }
    }

    fn done(&mut self, task: &TaskId, at: Timestamp) {
        self.close(task, SpanOutcome::Passed, at);
        self.settled.insert(task.clone(), Settled::ByRun);
    }

    /// The attempt that had passed has not.
    fn reopened(&mut self, task: &TaskId, failure: &Failure) {
        self.settled.remove(task);
        if let Some(span) = self.spans.iter_mut().rfind(|span| span.task == *task) {
            span.outcome = failed(failure);
        }
    }

    fn escalated(&mut self, task: &TaskId, question: Question, at: Timestamp) {
        self.marks.push(Mark { task: task.clone(), at, kind: MarkKind::Escalated(question) });
        if let Some(open) = self.open.get_mut(task) {
            open.asked_since = Some(at);
        }
    }

    fn answered(&mut self, task: &TaskId, at: Timestamp) {
        let Some(open) = self.open.get_mut(task) else { return };
        let since = open.asked_since.take();
        self.spans[open.place].idle += since.map_or(Duration::ZERO, |since| between(since, at));
    }

    fn skipped(&mut self, task: &TaskId, at: Timestamp) {
        self.close(task, SpanOutcome::Undecided, at);
        self.marks.push(Mark { task: task.clone(), at, kind: MarkKind::Skipped });
    }

    /// Agents and proofs at work end with the program that watched them.
    fn lose(&mut self, at: Timestamp) {
        let running = self.open.iter().filter(|(_, open)| !open.is_claimed);
        let lost: Vec<TaskId> = running.map(|(task, _)| task.clone()).collect();
        for task in &lost {
            self.close(task, SpanOutcome::Lost, at);
        }
    }
}

fn failed(failure: &Failure) -> SpanOutcome {
    SpanOutcome::Failed { cause: failure.cause, kind: failure.error_type(), error: failure.error.clone() }
}

/// How long it is from one moment to another; nothing if the clock was turned back.
fn between(since: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(since)).unwrap_or_default()
}
