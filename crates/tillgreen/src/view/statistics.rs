//! The statistics that `stats` prints beyond the Retry Summary, and the same facts for programs.

use std::fmt::Write as _;
use std::time::Duration;

use engine::{History, PatternKind, Proof, Spread, State, Statistics, TaskStatistics};
use jiff::Timestamp;
use serde::Serialize;

use super::proof;
use super::retry_summary::{self, Naming, cell, percent, task_name, words};
use super::text::{count, moment, took};
use super::trend::Trend;
use super::usage;

/// Tasks in the list of those that took longest.
const SLOWEST_MAX: usize = 10;

/// A run and what to call it.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The plan's name for people.
    pub(crate) plan: String,
    /// True if `--fresh` put its journal aside.
    pub(crate) is_archived: bool,
    /// Its numbers.
    pub(crate) statistics: Statistics,
    /// The latest proof of what is done.
    pub(crate) proof: Option<Proof>,
    /// The model that agents were told to use, where they were told.
    pub(crate) model: Option<String>,
}

impl Run {
    /// The run that a record tells of.
    pub(crate) fn of(plan: String, (state, history): &(State, History)) -> Self {
        let (statistics, proof) = (Statistics::of(state, history), state.proof().cloned());
        let model = state.opened().and_then(|opened| opened.launch.get("model")).cloned();
        Self { plan, is_archived: false, statistics, proof, model }
    }
}

/// One run, for people.
pub(crate) fn render(run: &Run) -> String {
    let mut text = retry_summary::render(&run.plan, &run.statistics);
    text.push_str(&more(&run.statistics));
    text.push_str(&slowest(&run.statistics));
    if let Some(proof) = &run.proof {
        push(&mut text, &format!("\n### Proof\n\n{}", proof::headline(proof)));
        proof::details(proof).iter().for_each(|line| push(&mut text, &format!("- {line}")));
    }
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
    text.push_str(&Trend::of(runs).render());
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
        text.push_str("\n### Agents\n\n| Agent | Attempts | Passed | Failed | Lost | Unavailable | Time | Tokens | Cost |\n");
        text.push_str("|-------|----------|--------|--------|------|-------------|------|--------|------|\n");
    }
    for (name, agent) in agents {
        let (attempts, time) = (agent.attempts(), took(agent.worked));
        let (passed, failed, lost, away) = (agent.passed, agent.failed, agent.lost, agent.unavailable);
        push(
            &mut text,
            &format!(
                "| {} | {attempts} | {passed} | {failed} | {lost} | {away} | {time} | {} | {} |",
                cell(name),
                usage::cell(agent.usage.tokens()),
                usage::cost(agent.usage).replace("cost ", "")
            ),
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
    let naming = Naming::of(&statistics.tasks);
    for task in tasks.iter().take(SLOWEST_MAX) {
        let (name, title) = (cell(&task_name(task, naming)), cell(&task.title));
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
    let used = usage::words(statistics.usage()).unwrap_or_else(|| "unknown".to_owned());
    push(&mut text, &format!("Tokens and cost: {used}"));
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
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Proof>,
}

/// Several runs for programs.
#[derive(Serialize)]
pub(crate) struct Reports {
    runs: Vec<RunReport>,
    total: Report,
    trend: Trend,
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
    done_by_others: usize,
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
    tokens: Option<u64>,
    cost_usd: Option<f64>,
    fixes: Vec<String>,
}

impl RunReport {
    /// A run.
    pub(crate) fn of(run: &Run) -> Self {
        let tasks = &run.statistics.tasks;
        let naming = Naming::of(tasks);
        Self {
            plan: run.plan.clone(),
            archived: run.is_archived,
            total: Report::of(&run.statistics),
            tasks: tasks.iter().map(|task| TaskReport::of(task, naming)).collect(),
            proof: run.proof.clone(),
        }
    }
}

impl Reports {
    /// Several runs.
    pub(crate) fn of(runs: &[Run], unreadable: Vec<String>) -> Self {
        let total = Report::of(&total(runs));
        let trend = Trend::of(runs);
        Self { runs: runs.iter().map(RunReport::of).collect(), total, trend, unreadable }
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
            done_by_others: tasks - all,
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
        tokens: agent.usage.tokens(),
        cost_usd: usage::dollars(agent.usage),
    };
    statistics.agents().into_iter().map(each).collect()
}

impl TaskReport {
    fn of(task: &TaskStatistics, naming: Naming) -> Self {
        Self {
            id: task.id.to_string(),
            title: task.title.clone(),
            fix_of: task.fix_of.as_ref().map(ToString::to_string),
            attempts: task.attempts,
            failures: task.failures,
            escalations: task.escalations,
            result: words(&task.result, naming),
            worked_ms: task.worked.as_millis(),
            tokens: task.usage.tokens(),
            cost_usd: usage::dollars(task.usage),
            fixes: task.fixes.iter().map(ToString::to_string).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples;

    fn run() -> Run {
        let (mut state, mut history) = (State::default(), History::default());
        for (event, _) in samples::fixed().replay() {
            state.apply(&event).unwrap();
            history.record(&event);
        }
        Run::of("auth".to_owned(), &(state, history))
    }

    #[test]
    fn for_people_there_is_more_than_the_summary() {
        let run = run();
        let text = render(&run);
        let summary = retry_summary::render(&run.plan, &run.statistics);
        insta::assert_snapshot!(text.strip_prefix(&summary).unwrap(), @r"
        ### Attempts and Time

        | Per task | Mean | Median | Max |
        |----------|------|--------|-----|
        | Attempts | 1.5 | 1.5 | 2 |
        | Time | 35s | 35s | 40s |

        ### Agents

        | Agent | Attempts | Passed | Failed | Lost | Unavailable | Time | Tokens | Cost |
        |-------|----------|--------|--------|------|-------------|------|--------|------|
        | command | 6 | 4 | 2 | 0 | 0 | 2m 20s | unknown | unknown |

        ### Longest Tasks

        | Task | Title | Time | Attempts |
        |------|-------|------|----------|
        | Task 1.2 | Add a parser | 40s | 2 |
        | Task 1.2.1 (fix of 1.2) | Fix: no parser | 40s | 2 |
        | Task 1.2.1.1 (fix of 1.2.1) | Fix: no file | 30s | 1 |
        | Task 1.3 | Use the parser | 30s | 1 |

        Fix tasks: 2, 2 done
        Attempts: 6, 2 failed
        Time worked: 2m 20s since 2026-01-26 14:30:00Z
        Tokens and cost: unknown
        ");
    }

    #[test]
    fn several_runs_have_a_total() {
        let archived = Run { is_archived: true, ..run() };
        let text = render_all(&[archived, run()]);
        assert_eq!(text.matches("## Retry Summary for Plan auth\n").count(), 2);
        assert_eq!(text.matches("This run was put aside by `--fresh`.").count(), 1);
        let (_, total) = text.split_once("## Total over 2 runs\n").unwrap();
        insta::assert_snapshot!(total, @r"
        | Metric | Value |
        |--------|-------|
        | Total tasks | 6 |
        | First-attempt success | 2 (50%) |
        | Retried tasks | 2 (50%) |
        | Retry success | 2 |
        | Escalations | 0 |
        | Skipped | 0 |

        2 tasks were done before this run or by hand, and are in no percentage.

        ### Common Failure Patterns

        - verification_failed: 4 occurrences
        - no file: 2 occurrences
        - no parser: 2 occurrences

        ### Attempts and Time

        | Per task | Mean | Median | Max |
        |----------|------|--------|-----|
        | Attempts | 1.5 | 1.5 | 2 |
        | Time | 35s | 35s | 40s |

        ### Agents

        | Agent | Attempts | Passed | Failed | Lost | Unavailable | Time | Tokens | Cost |
        |-------|----------|--------|--------|------|-------------|------|--------|------|
        | command | 12 | 8 | 4 | 0 | 0 | 4m 40s | unknown | unknown |

        ### First-Pass Yield

        | Run | Begun | Tasks | Right at once |
        |-----|-------|-------|---------------|
        | auth | 2026-01-26 14:30:00Z | 2 | 1 (50%) |
        | auth | 2026-01-26 14:30:00Z | 2 | 1 (50%) |

        ### Per Verified Task

        | Agent | Model | Verified | Right at once | Attempts | Cost |
        |-------|-------|----------|---------------|----------|------|
        | command | its own choice | 8 | 4 of 8 (50%) | 1.5 | unknown |

        ### Failures by Day

        | Day | Attempts | verification_failed | execution_error | timeout | architect_rejected |
        |-----|----------|---|---|---|---|
        | 2026-01-26 | 12 | 4 | 0 | 0 | 0 |

        Fix tasks: 4, 4 done
        Attempts: 12, 4 failed
        Time worked: 4m 40s since 2026-01-26 14:30:00Z
        Tokens and cost: unknown
        ");
    }

    #[test]
    fn totals_for_programs() {
        let text = serde_json::to_string_pretty(&RunReport::of(&run()).total).unwrap();
        insta::assert_snapshot!(text, @r#"
        {
          "began": "2026-01-26T14:30:00Z",
          "tasks": 3,
          "first_attempt_successes": 1,
          "first_attempt_percent": 50,
          "retried": 1,
          "retried_percent": 50,
          "retry_successes": 1,
          "escalations": 0,
          "skipped": 0,
          "done_by_others": 1,
          "fix_tasks": 2,
          "fix_tasks_done": 2,
          "attempts": 6,
          "failed_attempts": 2,
          "worked_ms": 140000,
          "attempts_per_task": {
            "mean": 1.5,
            "median": 1.5,
            "max": 2.0
          },
          "ms_per_task": {
            "mean": 35000,
            "median": 35000,
            "max": 40000
          },
          "patterns": [
            {
              "kind": "type",
              "name": "verification_failed",
              "occurrences": 2
            },
            {
              "kind": "words",
              "name": "no file",
              "occurrences": 1
            },
            {
              "kind": "words",
              "name": "no parser",
              "occurrences": 1
            }
          ],
          "agents": [
            {
              "name": "command",
              "attempts": 6,
              "passed": 4,
              "failed": 2,
              "lost": 0,
              "unavailable": 0,
              "worked_ms": 140000,
              "tokens": null,
              "cost_usd": null
            }
          ],
          "tokens": null,
          "cost_usd": null
        }
        "#);
    }

    #[test]
    fn tasks_for_programs() {
        let report = RunReport::of(&run());
        let tasks: Vec<String> =
            report.tasks.iter().map(|task| serde_json::to_string(task).unwrap()).collect();
        insta::assert_snapshot!(tasks.join("\n"), @r#"
        {"id":"1.1","title":"Set up","fix_of":null,"attempts":0,"failures":0,"escalations":0,"result":"done before","worked_ms":0,"tokens":null,"cost_usd":null,"fixes":[]}
        {"id":"1.2","title":"Add a parser","fix_of":null,"attempts":2,"failures":1,"escalations":0,"result":"success (fixed by 1.2.1)","worked_ms":40000,"tokens":null,"cost_usd":null,"fixes":["1.2.1"]}
        {"id":"1.2.1","title":"Fix: no parser","fix_of":"1.2","attempts":2,"failures":1,"escalations":0,"result":"success (fixed by 1.2.1.1)","worked_ms":40000,"tokens":null,"cost_usd":null,"fixes":["1.2.1.1"]}
        {"id":"1.2.1.1","title":"Fix: no file","fix_of":"1.2.1","attempts":1,"failures":0,"escalations":0,"result":"success","worked_ms":30000,"tokens":null,"cost_usd":null,"fixes":[]}
        {"id":"1.3","title":"Use the parser","fix_of":null,"attempts":1,"failures":0,"escalations":0,"result":"success","worked_ms":30000,"tokens":null,"cost_usd":null,"fixes":[]}
        "#);
        let text = serde_json::to_string(&report).unwrap();
        assert!(text.starts_with(r#"{"plan":"auth","archived":false,"total":{"began":"#), "{text}");
    }

    #[test]
    fn several_runs_for_programs() {
        let all = serde_json::to_value(Reports::of(&[run(), run()], vec!["bad".to_owned()])).unwrap();
        assert_eq!(all["total"]["tasks"], 6);
        assert_eq!((all["runs"].as_array().unwrap().len(), &all["unreadable"][0]), (2, &"bad".into()));
    }
}
