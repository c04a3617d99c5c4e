//! The statistics of a run, or several: worked out from the record when somebody asks. Every number is
//! counted from tasks and spans; nothing is stored beside what it counts.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use plan::TaskId;

use crate::spending::Spent;
use crate::state::State;
use crate::status::{Question, Status};
use crate::task::{Task, TaskKind};
use crate::usage::Usage;

mod history;
mod pattern;

#[cfg(test)]
mod tests;

pub use history::{History, Mark, MarkKind, Span, SpanKind, SpanOutcome};
pub use pattern::{Pattern, PatternKind};

use history::Settled;

/// The statistics of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The tasks in the plan's order, fix tasks behind the task that they were written for.
    pub tasks: Vec<TaskStatistics>,
    /// Everything that was done, in order, also on tasks that are gone from the plan.
    pub spans: Vec<Span>,
    /// Questions and skips, in order.
    pub marks: Vec<Mark>,
    /// When the plan was first taken up.
    pub began: Option<Timestamp>,
    /// The usage of agents, one entry for each start that told.
    pub spent: Vec<Spent>,
}

/// The statistics of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskStatistics {
    /// The task.
    pub id: TaskId,
    /// Its title.
    pub title: String,
    /// The task that it was written to fix.
    pub fix_of: Option<TaskId>,
    /// How deep a fix task nests: 0 for a task of the plan's author.
    pub depth: u32,
    /// Attempts of agents, the one under way included; lost ones do not count.
    pub attempts: usize,
    /// How many of them failed.
    pub failures: usize,
    /// How long it was worked on.
    pub worked: Duration,
    /// True if anything was done for it at all.
    pub is_begun: bool,
    /// Its own fix tasks.
    pub fixes: Vec<TaskId>,
    /// The usage of agents on it.
    pub usage: Usage,
    /// How often a person was asked about it.
    pub escalations: usize,
    /// Where it ended up.
    pub result: TaskResult,
}

/// Where a task ended up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskResult {
    /// Done at the first attempt.
    Success,
    /// A `[VERIFY]` command was green without an agent.
    Proved,
    /// A person answered a checkpoint.
    Answered,
    /// Done after failures, by trying again.
    RetryWorked,
    /// Done after failures, with the help of these fix tasks.
    FixedBy(Vec<TaskId>),
    /// Ticked by a person.
    TickedByHand,
    /// Ticked before the run knew of it.
    DoneBefore,
    /// Left out at a question that was asked by design.
    Skipped,
    /// Left out after a failure.
    SkippedAfterFailure,
    /// Failed, and nothing follows by itself.
    Failed,
    /// A person is asked.
    Asking,
    /// Being worked on.
    InProgress,
    /// Waiting for another task.
    WaitingFor(TaskId),
    /// Failed, and to be tried again.
    ToBeRetried,
    /// Not begun.
    Pending,
}

/// The mean, the median and the largest of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread<T> {
    /// The mean.
    pub mean: T,
    /// The median.
    pub median: T,
    /// The largest.
    pub max: T,
}

/// The statistics of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStatistics {
    /// Attempts that passed.
    pub passed: usize,
    /// Attempts that failed.
    pub failed: usize,
    /// Attempts that nobody watched to their end.
    pub lost: usize,
    /// Times that it could not be had.
    pub unavailable: usize,
    /// Attempts that go on, or that nobody decided on.
    pub undecided: usize,
    /// How long its attempts took, with their checks.
    pub worked: Duration,
    /// The usage, judging included.
    pub usage: Usage,
}

impl TaskResult {
    /// True if the task is done.
    pub fn is_done(&self) -> bool {
        self.is_done_by_run() || self.is_done_by_others()
    }

    /// True if the run did it.
    pub fn is_done_by_run(&self) -> bool {
        self.is_first_success() || matches!(self, Self::RetryWorked | Self::FixedBy(_))
    }

    /// True if somebody else than the run did it.
    pub fn is_done_by_others(&self) -> bool {
        matches!(self, Self::TickedByHand | Self::DoneBefore)
    }

    /// True if it was done without any failure.
    pub fn is_first_success(&self) -> bool {
        matches!(self, Self::Success | Self::Proved | Self::Answered)
    }

    /// True if it was left out.
    pub fn is_skipped(&self) -> bool {
        matches!(self, Self::Skipped | Self::SkippedAfterFailure)
    }
}

impl TaskStatistics {
    /// True if it was tried again after a failure.
    pub fn is_retried(&self) -> bool {
        self.failures > 0 && (self.attempts > 1 || self.result.is_done_by_run())
    }
}

impl Statistics {
    /// Counts a run: its state, and the history folded from the same events.
    pub fn of(state: &State, history: &History) -> Self {
        let mut by_task: BTreeMap<&TaskId, Vec<&Span>> = BTreeMap::new();
        for span in history.spans() {
            by_task.entry(&span.task).or_default().push(span);
        }
        let questions = questions(history);
        let each = |task: &Task| {
            let spans = by_task.get(task.id()).map(Vec::as_slice).unwrap_or_default();
            let asked = questions.get(task.id()).map(Vec::as_slice).unwrap_or_default();
            task_statistics(state, task, Known { spans, asked, settled: history.settled(task.id()) })
        };
        Self {
            tasks: state.tasks().iter().map(|task| each(task)).collect(),
            spans: history.spans().to_vec(),
            marks: history.marks().to_vec(),
            began: state.first_opened_at(),
            spent: history.spent().cloned().collect(),
        }
    }

    /// Adds another run, for a total.
    pub fn add(&mut self, other: Statistics) {
        self.tasks.extend(other.tasks);
        self.spans.extend(other.spans);
        self.marks.extend(other.marks);
        self.spent.extend(other.spent);
        self.began = self.began.into_iter().chain(other.began).min();
    }

    /// Tasks of the plan's author.
    pub fn originals(&self) -> impl Iterator<Item = &TaskStatistics> {
        self.tasks.iter().filter(|task| task.fix_of.is_none())
    }

    /// Fix tasks.
    pub fn fixes(&self) -> impl Iterator<Item = &TaskStatistics> {
        self.tasks.iter().filter(|task| task.fix_of.is_some())
    }

    /// Originals that fulfil a condition.
    pub fn count(&self, condition: impl Fn(&TaskStatistics) -> bool) -> usize {
        self.originals().filter(|task| condition(task)).count()
    }

    /// How many originals were for the run to do; those that others did are not.
    pub fn for_the_run(&self) -> usize {
        self.count(|task| !task.result.is_done_by_others())
    }

    /// Originals that were done without any failure.
    pub fn first_successes(&self) -> usize {
        self.count(|task| task.result.is_first_success())
    }

    /// Originals that were tried again after a failure.
    pub fn retried(&self) -> usize {
        self.count(TaskStatistics::is_retried)
    }

    /// Originals that were done after a failure.
    pub fn retry_successes(&self) -> usize {
        self.count(|task| task.is_retried() && task.result.is_done_by_run())
    }

    /// Tasks that were left out, fix tasks included.
    pub fn skipped(&self) -> usize {
        self.tasks.iter().filter(|task| task.result.is_skipped()).count()
    }

    /// How often a person was asked.
    pub fn escalations(&self) -> usize {
        self.marks.iter().filter(|mark| matches!(mark.kind, MarkKind::Escalated(_))).count()
    }

    /// Attempts, lost ones not counted.
    pub fn attempts(&self) -> usize {
        self.spans.iter().filter(|span| span.is_attempt()).count()
    }

    /// Attempts that failed.
    pub fn failed_attempts(&self) -> usize {
        self.spans.iter().filter(|span| span.failure_type().is_some()).count()
    }

    /// How long everything took together, pauses left out.
    pub fn worked(&self) -> Duration {
        self.spans.iter().map(Span::worked).sum()
    }

    /// The patterns that failures have in common, the most common first.
    pub fn patterns(&self) -> Vec<Pattern> {
        pattern::patterns(&self.spans)
    }

    /// Attempts per task, of the tasks that were begun.
    pub fn attempts_per_task(&self) -> Option<Spread<f64>> {
        let mut counts: Vec<f64> = self.begun().map(|task| task.attempts as f64).collect();
        counts.sort_by(f64::total_cmp);
        let mean = counts.iter().sum::<f64>() / counts.len().max(1) as f64;
        let median = f64::midpoint(*middle(&counts).0?, *middle(&counts).1?);
        Some(Spread { mean, median, max: *counts.last()? })
    }

    /// Time per task, of the tasks that were begun.
    pub fn time_per_task(&self) -> Option<Spread<Duration>> {
        let mut times: Vec<Duration> = self.begun().map(|task| task.worked).collect();
        times.sort();
        let tasks = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
        let mean = times.iter().sum::<Duration>() / tasks;
        let median = (*middle(&times).0? + *middle(&times).1?) / 2;
        Some(Spread { mean, median, max: *times.last()? })
    }

    fn begun(&self) -> impl Iterator<Item = &TaskStatistics> {
        self.tasks.iter().filter(|task| task.is_begun)
    }

    /// The statistics of each agent, by name.
    pub fn agents(&self) -> BTreeMap<&str, AgentStatistics> {
        let mut agents: BTreeMap<&str, AgentStatistics> = BTreeMap::new();
        for span in &self.spans {
            if let SpanKind::Attempt { agent, .. } = &span.kind {
                agents.entry(agent).or_default().take_in(span);
            }
        }
        for spent in &self.spent {
            let agent = agents.entry(&spent.agent).or_default();
            agent.usage = agent.usage.plus(spent.usage);
        }
        agents
    }

    /// The usage of agents in all.
    pub fn usage(&self) -> Usage {
        self.spent.iter().map(|spent| spent.usage).fold(Usage::default(), Usage::plus)
    }
}

impl AgentStatistics {
    fn take_in(&mut self, span: &Span) {
        let counter = match span.outcome {
            SpanOutcome::Passed => &mut self.passed,
            SpanOutcome::Failed { .. } => &mut self.failed,
            SpanOutcome::Lost => &mut self.lost,
            SpanOutcome::Unavailable => &mut self.unavailable,
            SpanOutcome::Undecided => &mut self.undecided,
        };
        *counter += 1;
        self.worked += span.worked();
    }

    /// Attempts, lost ones not counted.
    pub fn attempts(&self) -> usize {
        self.passed + self.failed + self.undecided
    }
}

/// The two values in the middle of sorted ones: the same one twice where their number is odd.
fn middle<T>(sorted: &[T]) -> (Option<&T>, Option<&T>) {
    let upper = sorted.len() / 2;
    let lower = if sorted.len().is_multiple_of(2) { upper.saturating_sub(1) } else { upper };
    (sorted.get(lower), sorted.get(upper))
}

/// The part of a history that is about a task.
#[derive(Clone, Copy)]
struct Known<'a> {
    spans: &'a [&'a Span],
    asked: &'a [Question],
    settled: Option<Settled>,
}

fn questions(history: &History) -> BTreeMap<&TaskId, Vec<Question>> {
    let mut questions: BTreeMap<&TaskId, Vec<Question>> = BTreeMap::new();
    for mark in history.marks() {
        if let MarkKind::Escalated(question) = mark.kind {
            questions.entry(&mark.task).or_default().push(question);
        }
    }
    questions
}

fn task_statistics(state: &State, task: &Task, known: Known<'_>) -> TaskStatistics {
    let failures = known.spans.iter().filter(|span| span.failure_type().is_some()).count();
    TaskStatistics {
        id: task.id().clone(),
        title: task.decl.title.clone(),
        fix_of: task.decl.fix_of.clone(),
        depth: state.fix_depth(task.id()),
        attempts: known.spans.iter().filter(|span| span.is_attempt()).count(),
        failures,
        worked: known.spans.iter().map(|span| span.worked()).sum(),
        is_begun: !known.spans.is_empty(),
        fixes: task.fixes.clone(),
        usage: task.usage,
        escalations: known.asked.len(),
        result: result(state, task, known, failures),
    }
}

fn result(state: &State, task: &Task, known: Known<'_>, failures: usize) -> TaskResult {
    let has_failed = failures > 0;
    match &task.status {
        Status::Done => done(state, task, known, failures),
        Status::Skipped => match known.asked.last() {
            Some(question) if question.follows_failure() => TaskResult::SkippedAfterFailure,
            Some(_) | None => TaskResult::Skipped,
        },
        Status::Failed => TaskResult::Failed,
        Status::Asking(_) => TaskResult::Asking,
        Status::WaitingFor(other) => TaskResult::WaitingFor(other.clone()),
        Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. } => TaskResult::InProgress,
        Status::Ready { .. } if has_failed => TaskResult::ToBeRetried,
        Status::Drafted | Status::Ready { .. } => TaskResult::Pending,
    }
}

fn done(state: &State, task: &Task, known: Known<'_>, failures: usize) -> TaskResult {
    match known.settled {
        Some(Settled::ByRun) if failures > 0 => after_failures(state, task),
        Some(Settled::ByRun) => at_once(task, known),
        Some(Settled::ByHand) => TaskResult::TickedByHand,
        Some(Settled::Before) | None => TaskResult::DoneBefore,
    }
}

fn after_failures(state: &State, task: &Task) -> TaskResult {
    let is_done = |id: &&TaskId| state.task(id).is_some_and(|fix| fix.status == Status::Done);
    let helped: Vec<TaskId> = task.fixes.iter().filter(is_done).cloned().collect();
    if helped.is_empty() { TaskResult::RetryWorked } else { TaskResult::FixedBy(helped) }
}

fn at_once(task: &Task, known: Known<'_>) -> TaskResult {
    let has_attempt = known.spans.iter().any(|span| span.is_attempt());
    match task.decl.kind {
        TaskKind::Work | TaskKind::Verify | TaskKind::Checkpoint if has_attempt => TaskResult::Success,
        TaskKind::Checkpoint => TaskResult::Answered,
        TaskKind::Work | TaskKind::Verify => TaskResult::Proved,
    }
}
