//! The facts of a report, put together from the record of a run.

use std::collections::BTreeMap;

use engine::{Account, Statistics, Status, Summary, Task};
use jiff::Timestamp;
use runner::journal::Holder;
use serde::Serialize;

use crate::inspect::record::Record;
use crate::view::status::{Phase, phase};
use crate::view::subject::Subject;
use crate::view::usage;

/// What a report is made from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) subject: &'a Subject,
    pub(crate) record: &'a Record,
    pub(crate) holder: Option<&'a Holder>,
    /// The moment at which it is made.
    pub(crate) now: Timestamp,
}

/// A report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(super) plan: String,
    pub(super) path: String,
    pub(super) verdict: String,
    #[serde(rename = "green")]
    pub(super) is_green: bool,
    pub(super) state: Phase,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) look_first: Vec<Point>,
    pub(super) tasks: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fix_chains: Vec<Chain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) proof: Option<String>,
    pub(super) costs: Vec<Cost>,
    pub(super) attempts: usize,
    pub(super) failed_attempts: usize,
    pub(super) elapsed_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) began: Option<Timestamp>,
    pub(super) made: Timestamp,
    pub(super) version: &'static str,
    pub(super) events: usize,
}

/// Something to look at first.
#[derive(Debug, Serialize)]
pub(super) struct Point {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<String>,
    pub(super) text: String,
}

/// A task.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) task: String,
    pub(super) title: String,
    pub(super) state: &'static str,
    pub(super) rests_on: String,
    pub(super) fix_depth: u32,
    pub(super) attempts: u32,
    pub(super) failures: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) took_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
}

/// A task with the fix tasks that it needed.
#[derive(Debug, Serialize)]
pub(super) struct Chain {
    pub(super) task: String,
    pub(super) fixes: Vec<Fix>,
}

/// A fix task.
#[derive(Debug, Serialize)]
pub(super) struct Fix {
    pub(super) task: String,
    pub(super) depth: u32,
    pub(super) error: String,
}

/// The share of an agent.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    pub(super) agent: String,
    pub(super) passed: usize,
    pub(super) failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
}

impl Report {
    /// The report of a run.
    pub(crate) fn of(source: Source<'_>) -> Self {
        let Source { subject, record, holder, now } = source;
        let state = &record.state;
        let (account, summary) = (Account::of(state), Summary::of(state));
        let (phase, reason) = phase(state, holder);
        let statistics = Statistics::of(state, &record.history);
        let points = account.look_first.into_iter();
        let points =
            points.map(|point| Point { task: point.task.map(|id| id.to_string()), text: point.text });
        let chains = account.chains.into_iter().map(|chain| Chain {
            task: chain.task.to_string(),
            fixes: chain
                .fixes
                .into_iter()
                .map(|(task, depth, error)| Fix { task: task.to_string(), depth, error })
                .collect(),
        });
        Self {
            plan: subject.name.clone(),
            path: subject.path.clone(),
            verdict: account.verdict,
            is_green: account.is_green,
            state: phase,
            reason,
            look_first: points.collect(),
            tasks: state.tasks().iter().map(|task| row(record, task)).collect(),
            fix_chains: chains.collect(),
            proof: state.proof().map(crate::view::proof::headline),
            costs: costs(&statistics),
            attempts: summary.attempts,
            failed_attempts: summary.failed_attempts,
            elapsed_ms: millis(summary.elapsed),
            cost_usd: usage::dollars(summary.usage),
            settings: state.opened().map(|opened| opened.launch.clone()).unwrap_or_default(),
            began: state.first_opened_at(),
            made: now,
            version: env!("CARGO_PKG_VERSION"),
            events: record.events.len(),
        }
    }
}

fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn row(record: &Record, task: &Task) -> Row {
    let state = &record.state;
    Row {
        task: task.id().to_string(),
        title: task.decl.short_title().to_owned(),
        state: word(task),
        rests_on: task.rests_on(state),
        fix_depth: state.fix_depth(task.id()),
        attempts: task.attempted,
        failures: task.failures.len(),
        took_ms: state.time_of(task).map(millis),
        cost_usd: usage::dollars(task.usage),
        commit: task.commit.clone(),
    }
}

/// Where a task ended up, in a word.
fn word(task: &Task) -> &'static str {
    if task.status == Status::Done {
        "done"
    } else if task.status == Status::Skipped {
        "skipped"
    } else if matches!(task.status, Status::Asking(_)) {
        "asks"
    } else if task.status.is_active() {
        "under way"
    } else if !task.failures.is_empty() {
        "failed"
    } else {
        "open"
    }
}

fn costs(statistics: &Statistics) -> Vec<Cost> {
    let agents = statistics.agents().into_iter();
    let cost = |(name, agent): (&str, engine::AgentStatistics)| Cost {
        agent: name.to_owned(),
        passed: agent.passed,
        failed: agent.failed,
        tokens: agent.usage.tokens(),
        cost_usd: usage::dollars(agent.usage),
    };
    agents.map(cost).collect()
}
