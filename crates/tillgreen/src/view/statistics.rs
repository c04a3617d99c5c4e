//! What `stats` prints beyond the Retry Summary, and the same facts for programs.

use std::fmt::Write as _;
use std::time::Duration;

use engine::{PatternKind, Spread, Statistics, TaskStatistics};
use jiff::Timestamp;
use serde::Serialize;

use super::retry_summary::{self, cell, percent, task_name, words};
use super::text::{count, moment, took};

/// Tasks in the list of those that took longest.
const SLOWEST_MAX: usize = 10;

/// A run and what to call it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// What people call the plan.
    pub(crate) plan: String,
    /// Whether `--fresh` put its journal aside.
    pub(crate) is_archived: bool,
    /// What it amounts to.
    pub(crate) statistics: Statistics,
}

/// One run, for people.
pub(crate) fn render(run: &Run) -> String {
    let mut text = retry_summary::render(&run.plan, &run.statistics);
    text.push_str(&more(&run.statistics));
    text.push_str(&slowest(&run.statistics));
    text.push_str(&closing(&run.statistics));
    if run.is_archived {
        text.push_str("This run was put aside by `--fresh`.\n");
    }
    text
}

/// Several runs and what they amount to together, for people.
pub(crate) fn render_all(runs: &[Run]) -> String {
    let mut text: String = runs.iter().map(|run| format!("{}\n", render(run))).collect();
    let total = total(runs);
    push(&mut text, &format!("## Total over {}\n", count(runs.len(), "run")));
    text.push_str(&retry_summary::metrics(&total));
    text.push_str(&retry_summary::failures(&total));
    text.push_str(&more(&total));
    text.push_str(&closing(&total));
    text
}

/// All runs as if they were one.
pub(crate) fn total(runs: &[Run]) -> Statistics {
    let mut total = Statistics::default();
    runs.iter().for_each(|run| total.add(run.statistics.clone()));
    total
}

fn more(statistics: &Statistics) -> String {
    let mut text = String::new();
    if let Some((attempts, time)) = statistics.attempts_per_task().zip(statistics.time_per_task()) {
        text.push_str("\n### Attempts and Time\n\n| Per task | Mean | Median | Max |\n");
        text.push_str("|----------|------|--------|-----|\n");
        let Spread { mean, median, max } = attempts;
        push(&mut text, &format!("| Attempts | {mean:.1} | {median} | {max} |"));
        let Spread { mean, median, max } = time;
        push(&mut text, &format!("| Time | {} | {} | {} |", took(mean), took(median), took(max)));
    }
    let agents = statistics.agents();
    if !agents.is_empty() {
        text.push_str("\n### Agents\n\n| Agent | Attempts | Passed | Failed | Lost | Unavailable | Time |\n");
        text.push_str("|-------|----------|--------|--------|------|-------------|------|\n");
    }
    for (name, agent) in agents {
        let (attempts, time) = (agent.attempts(), took(agent.worked));
        let (passed, failed, lost, away) = (agent.passed, agent.failed, agent.lost, agent.unavailable);
        push(
            &mut text,
            &format!("| {} | {attempts} | {passed} | {failed} | {lost} | {away} | {time} |", cell(name)),
        );
    }
    text
}

fn slowest(statistics: &Statistics) -> String {
    let mut tasks: Vec<&TaskStatistics> = statistics.tasks.iter().filter(|task| task.is_begun).collect();
    if tasks.is_empty() {
        return String::new();
    }
    tasks.sort_by_key(|task| std::cmp::Reverse(task.worked));
    let mut text = "\n### Longest Tasks\n\n| Task | Title | Time | Attempts |\n".to_owned();
    text.push_str("|------|-------|------|----------|\n");
    for task in tasks.iter().take(SLOWEST_MAX) {
        let (name, title) = (cell(&task_name(task)), cell(&task.title));
        push(&mut text, &format!("| {name} | {title} | {} | {} |", took(task.worked), task.attempts));
    }
    text
}

fn closing(statistics: &Statistics) -> String {
    let mut text = String::from("\n");
    let fixes = statistics.fixes().count();
    if fixes > 0 {
        let done = statistics.fixes().filter(|task| task.result.is_done()).count();
        push(&mut text, &format!("Fix tasks: {fixes}, {done} done"));
    }
    let (attempts, failed) = (statistics.attempts(), statistics.failed_attempts());
    push(&mut text, &format!("Attempts: {attempts}, {failed} failed"));
    let since = statistics.began.map(|began| format!(" since {}", moment(began)));
    push(&mut text, &format!("Time worked: {}{}", took(statistics.worked()), since.unwrap_or_default()));
    text.push_str("Tokens and cost: unknown\n");
    text
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// A run for programs. What is not known is null, never zero.
#[derive(Serialize)]
pub(crate) struct RunReport {
    plan: String,
    archived: bool,
    total: Report,
    tasks: Vec<TaskReport>,
}

/// Several runs for programs.
#[derive(Serialize)]
pub(crate) struct Reports {
    runs: Vec<RunReport>,
    total: Report,
    /// Journals that could not be read.
    unreadable: Vec<String>,
}

#[derive(Serialize)]
struct Report {
    began: Option<Timestamp>,
    tasks: usize,
    first_attempt_successes: usize,
    first_attempt_percent: usize,
    retried: usize,
    retried_percent: usize,
    retry_successes: usize,
    escalations: usize,
    skipped: usize,
    ticked_by_hand: usize,
    fix_tasks: usize,
    fix_tasks_done: usize,
    attempts: usize,
    failed_attempts: usize,
    worked_ms: u128,
    attempts_per_task: Option<SpreadReport<f64>>,
    ms_per_task: Option<SpreadReport<u128>>,
    patterns: Vec<PatternReport>,
    agents: Vec<AgentReport>,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
}

#[derive(Serialize)]
struct SpreadReport<T> {
    mean: T,
    median: T,
    max: T,
}

#[derive(Serialize)]
struct PatternReport {
    kind: &'static str,
    name: String,
    occurrences: usize,
}

#[derive(Serialize)]
struct AgentReport {
    name: String,
    attempts: usize,
    passed: usize,
    failed: usize,
    lost: usize,
    unavailable: usize,
    worked_ms: u128,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
}

#[derive(Serialize)]
struct TaskReport {
    id: String,
    title: String,
    fix_of: Option<String>,
    attempts: usize,
    failures: usize,
    escalations: usize,
    result: String,
    worked_ms: u128,
    fixes: Vec<String>,
}

impl RunReport {
    /// A run.
    pub(crate) fn of(run: &Run) -> Self {
        Self {
            plan: run.plan.clone(),
            archived: run.is_archived,
            total: Report::of(&run.statistics),
            tasks: run.statistics.tasks.iter().map(TaskReport::of).collect(),
        }
    }
}

impl Reports {
    /// Several runs.
    pub(crate) fn of(runs: &[Run], unreadable: Vec<String>) -> Self {
        let total = Report::of(&total(runs));
        Self { runs: runs.iter().map(RunReport::of).collect(), total, unreadable }
    }
}

impl Report {
    fn of(statistics: &Statistics) -> Self {
        let all = statistics.for_the_run();
        let tasks = statistics.originals().count();
        let millis = |time: Spread<Duration>| SpreadReport {
            mean: time.mean.as_millis(),
            median: time.median.as_millis(),
            max: time.max.as_millis(),
        };
        let plain =
            |spread: Spread<f64>| SpreadReport { mean: spread.mean, median: spread.median, max: spread.max };
        Self {
            began: statistics.began,
            tasks,
            first_attempt_successes: statistics.first_successes(),
            first_attempt_percent: percent(statistics.first_successes(), all),
            retried: statistics.retried(),
            retried_percent: percent(statistics.retried(), all),
            retry_successes: statistics.retry_successes(),
            escalations: statistics.escalations(),
            skipped: statistics.skipped(),
            ticked_by_hand: tasks - all,
            fix_tasks: statistics.fixes().count(),
            fix_tasks_done: statistics.fixes().filter(|task| task.result.is_done()).count(),
            attempts: statistics.attempts(),
            failed_attempts: statistics.failed_attempts(),
            worked_ms: statistics.worked().as_millis(),
            attempts_per_task: statistics.attempts_per_task().map(plain),
            ms_per_task: statistics.time_per_task().map(millis),
            patterns: patterns(statistics),
            agents: agents(statistics),
            tokens: None,
            cost_usd: None,
        }
    }
}

fn patterns(statistics: &Statistics) -> Vec<PatternReport> {
    let name = |kind| match kind {
        PatternKind::Type => "type",
        PatternKind::Category => "category",
        PatternKind::Words => "words",
    };
    let patterns = statistics.patterns().into_iter();
    patterns
        .map(|pattern| PatternReport {
            kind: name(pattern.kind),
            name: pattern.name,
            occurrences: pattern.occurrences,
        })
        .collect()
}

fn agents(statistics: &Statistics) -> Vec<AgentReport> {
    let each = |(name, agent): (&str, engine::AgentStatistics)| AgentReport {
        name: name.to_owned(),
        attempts: agent.attempts(),
        passed: agent.passed,
        failed: agent.failed,
        lost: agent.lost,
        unavailable: agent.unavailable,
        worked_ms: agent.worked.as_millis(),
        tokens: None,
        cost_usd: None,
    };
    statistics.agents().into_iter().map(each).collect()
}

impl TaskReport {
    fn of(task: &TaskStatistics) -> Self {
        Self {
            id: task.id.to_string(),
            title: task.title.clone(),
            fix_of: task.fix_of.as_ref().map(ToString::to_string),
            attempts: task.attempts,
            failures: task.failures,
            escalations: task.escalations,
            result: words(&task.result),
            worked_ms: task.worked.as_millis(),
            fixes: task.fixes.iter().map(ToString::to_string).collect(),
        }
    }
}
