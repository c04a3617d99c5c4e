//! What all runs here tell together: how much was right at once, what a verified task costs with which agent and model, and
//! what failed when.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::{FailureType, Span, SpanKind, SpanOutcome};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use super::retry_summary::{cell, common, percent};
use super::statistics::{Run, total};
use super::text::{moment, one_line};

/// Runs and days that are listed, the latest.
const RUNS_MAX: usize = 50;
const DAYS_MAX: usize = 60;
/// Patterns of failures that are named.
const PATTERNS_MAX: usize = 10;
/// Characters of a name.
const NAME_CHARS_MAX: usize = 100;

/// The types of failure, in the order in which they are shown.
pub(crate) const TYPES: [FailureType; 4] = [
    FailureType::VerificationFailed,
    FailureType::ExecutionError,
    FailureType::Timeout,
    FailureType::ArchitectRejected,
];

/// What all runs tell together.
#[derive(Debug, Serialize)]
pub(crate) struct Trend {
    /// Oldest first.
    pub(crate) runs: Vec<Yield>,
    pub(crate) agents: Vec<Worth>,
    /// Oldest first; days without a failure are left out.
    pub(crate) days: Vec<Day>,
    pub(crate) patterns: Vec<(String, usize)>,
}

/// How much of a run was right at once.
#[derive(Debug, Serialize)]
pub(crate) struct Yield {
    pub(crate) plan: String,
    pub(crate) began: Option<Timestamp>,
    /// Tasks that were for the run to do, and how many of them were done without any failure.
    pub(crate) tasks: usize,
    pub(crate) first: usize,
    pub(crate) percent: usize,
    pub(crate) attempts: usize,
    pub(crate) failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_micros: Option<u64>,
}

/// What an agent with a model is worth.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Worth {
    pub(crate) agent: String,
    /// None where it was left to the agent.
    pub(crate) model: Option<String>,
    pub(crate) attempts: usize,
    /// Attempts that passed: each is a task that was verified.
    pub(crate) verified: usize,
    /// Tasks that it was the first to try, and how many of them passed then.
    pub(crate) begun: usize,
    pub(crate) first: usize,
    pub(crate) worked_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost_micros: Option<u64>,
}

/// The failures of a day.
#[derive(Debug, Serialize)]
pub(crate) struct Day {
    pub(crate) day: String,
    /// By type, in the order of [`TYPES`].
    pub(crate) failures: [usize; 4],
    pub(crate) attempts: usize,
}

impl Trend {
    /// That of these runs.
    pub(crate) fn of(runs: &[Run]) -> Self {
        let mut yields: Vec<Yield> = runs.iter().map(Yield::of).filter(|run| run.tasks > 0).collect();
        yields.sort_by_key(|run| run.began);
        let patterns = total(runs).patterns();
        let patterns = common(&patterns).take(PATTERNS_MAX);
        let patterns =
            patterns.map(|pattern| (one_line(&pattern.name, NAME_CHARS_MAX), pattern.occurrences)).collect();
        let runs_left_out = yields.len().saturating_sub(RUNS_MAX);
        Self { runs: yields.split_off(runs_left_out), agents: agents(runs), days: days(runs), patterns }
    }

    /// It for people, in Markdown; nothing where nothing was tried.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        if !self.runs.is_empty() {
            text.push_str("\n### First-Pass Yield\n\n| Run | Begun | Tasks | Right at once |\n|-----|-------|-------|---------------|\n");
        }
        for run in &self.runs {
            let began = run.began.map(moment).unwrap_or_default();
            let (plan, first, percent) = (cell(&run.plan), run.first, run.percent);
            push(&mut text, &format!("| {plan} | {began} | {} | {first} ({percent}%) |", run.tasks));
        }
        if !self.agents.is_empty() {
            text.push_str(
                "\n### Per Verified Task\n\n| Agent | Model | Verified | Right at once | Attempts | Cost |\n",
            );
            text.push_str("|-------|-------|----------|---------------|----------|------|\n");
        }
        for worth in &self.agents {
            let model = worth.model.as_deref().unwrap_or("its own choice");
            let (agent, model) = (cell(&worth.agent), cell(model));
            let first =
                format!("{} of {} ({}%)", worth.first, worth.begun, percent(worth.first, worth.begun));
            let attempts = worth.attempts_each().map_or_else(|| "-".to_owned(), |each| format!("{each:.1}"));
            let cost = worth.cost_each().map_or_else(|| "unknown".to_owned(), |each| format!("${each:.2}"));
            let verified = worth.verified;
            push(&mut text, &format!("| {agent} | {model} | {verified} | {first} | {attempts} | {cost} |"));
        }
        if !self.days.is_empty() {
            let names = TYPES.map(FailureType::name).join(" | ");
            text.push_str(&format!("\n### Failures by Day\n\n| Day | Attempts | {names} |\n"));
            text.push_str("|-----|----------|---|---|---|---|\n");
        }
        for day in &self.days {
            let failures = day.failures.map(|number| number.to_string()).join(" | ");
            push(&mut text, &format!("| {} | {} | {failures} |", day.day, day.attempts));
        }
        text
    }
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

impl Yield {
    fn of(run: &Run) -> Self {
        let statistics = &run.statistics;
        let (tasks, first) = (statistics.for_the_run(), statistics.first_successes());
        Self {
            plan: one_line(&run.plan, NAME_CHARS_MAX),
            began: statistics.began,
            tasks,
            first,
            percent: percent(first, tasks),
            attempts: statistics.attempts(),
            failed: statistics.failed_attempts(),
            cost_micros: statistics.usage().cost_micros,
        }
    }
}

impl Worth {
    /// Attempts for each verified task.
    #[expect(clippy::cast_precision_loss, reason = "nobody makes so many attempts")]
    pub(crate) fn attempts_each(&self) -> Option<f64> {
        (self.verified > 0).then(|| self.attempts as f64 / self.verified as f64)
    }

    /// Dollars for each verified task.
    #[expect(clippy::cast_precision_loss, reason = "no price is so large that a cent is lost")]
    pub(crate) fn cost_each(&self) -> Option<f64> {
        let dollars = self.cost_micros? as f64 / 1_000_000.0;
        (self.verified > 0).then(|| dollars / self.verified as f64)
    }
}

fn agents(runs: &[Run]) -> Vec<Worth> {
    let mut known: BTreeMap<(&str, Option<&str>), Worth> = BTreeMap::new();
    for run in runs {
        let model = run.model.as_deref();
        for span in run.statistics.spans.iter().filter(|span| span.is_attempt()) {
            let SpanKind::Attempt { attempt, agent, .. } = &span.kind else { continue };
            let worth = known.entry((agent, model)).or_default();
            let is_passed = span.outcome == SpanOutcome::Passed;
            worth.attempts += 1;
            worth.verified += usize::from(is_passed);
            worth.begun += usize::from(attempt.0 == 1);
            worth.first += usize::from(attempt.0 == 1 && is_passed);
            worth.worked_ms += u64::try_from(span.worked().as_millis()).unwrap_or(0);
        }
        for spent in &run.statistics.spent {
            let worth = known.entry((&spent.agent, model)).or_default();
            let all = [worth.cost_micros, spent.usage.cost_micros];
            worth.cost_micros = all.iter().any(Option::is_some).then(|| all.iter().flatten().sum());
        }
    }
    let named = |((agent, model), worth): ((&str, Option<&str>), Worth)| Worth {
        agent: one_line(agent, NAME_CHARS_MAX),
        model: model.map(|model| one_line(model, NAME_CHARS_MAX)),
        ..worth
    };
    known.into_iter().map(named).collect()
}

fn days(runs: &[Run]) -> Vec<Day> {
    let mut days: BTreeMap<String, ([usize; 4], usize)> = BTreeMap::new();
    for span in runs.iter().flat_map(|run| &run.statistics.spans).filter(|span| span.is_attempt()) {
        let (failures, attempts) = days.entry(day(span)).or_default();
        *attempts += 1;
        let place = span.failure_type().and_then(|failed| TYPES.iter().position(|known| *known == failed));
        place.into_iter().for_each(|place| failures[place] += 1);
    }
    let failed = days.into_iter().filter(|(_, (failures, _))| failures.iter().sum::<usize>() > 0);
    let mut days: Vec<Day> =
        failed.map(|(day, (failures, attempts))| Day { day, failures, attempts }).collect();
    days.split_off(days.len().saturating_sub(DAYS_MAX))
}

fn day(span: &Span) -> String {
    span.ended.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use engine::{History, Rules, Statistics};

    use super::*;
    use crate::view::samples::{self, Story};

    fn run(story: &Story, model: Option<&str>) -> Run {
        let mut history = History::default();
        story.replay().iter().for_each(|(event, _)| history.record(event));
        let statistics = Statistics::of(&story.clone().state(), &history);
        let model = model.map(str::to_owned);
        Run { plan: "auth".to_owned(), is_archived: false, statistics, proof: None, model }
    }

    #[test]
    fn what_runs_tell_together() {
        let failing = Story::new(Rules::default()).fails("1.2", "red");
        let runs = [run(&samples::fixed(), Some("large")), run(&samples::fixed(), None), run(&failing, None)];
        insta::assert_snapshot!(Trend::of(&runs).render(), @r"
        ### First-Pass Yield

        | Run | Begun | Tasks | Right at once |
        |-----|-------|-------|---------------|
        | auth | 2026-01-26 14:30:00Z | 2 | 1 (50%) |
        | auth | 2026-01-26 14:30:00Z | 2 | 1 (50%) |
        | auth | 2026-01-26 14:30:00Z | 2 | 0 (0%) |

        ### Per Verified Task

        | Agent | Model | Verified | Right at once | Attempts | Cost |
        |-------|-------|----------|---------------|----------|------|
        | command | its own choice | 4 | 2 of 5 (40%) | 1.8 | unknown |
        | command | large | 4 | 2 of 4 (50%) | 1.5 | unknown |

        ### Failures by Day

        | Day | Attempts | verification_failed | execution_error | timeout | architect_rejected |
        |-----|----------|---|---|---|---|
        | 2026-01-26 | 13 | 5 | 0 | 0 | 0 |
        ");
    }
}
