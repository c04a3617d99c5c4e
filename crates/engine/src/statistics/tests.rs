use std::fmt::Write as _;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use super::pattern::masked;
use super::*;
use crate::event::{End, Event, FixPlan, Opened, Started, What};
use crate::failure::{Cause, Failure, Rung};
use crate::observation::Response;
use crate::plan_changes::PlanChanges;
use crate::rules::Rules;
use crate::status::{Judge, Role};
use crate::task::{Attempt, Dispatch, TaskDecl, Verification};

/// A run that a script tells: one step a line, `SECONDS STEP TASK REST`.
fn told(script: &str) -> Statistics {
    let (mut state, mut history) = (State::default(), History::default());
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(4, ' ');
        let mut word = || words.next().unwrap_or_default();
        let seconds: i64 = word().parse().unwrap();
        let (step, task, rest) = (word(), word(), word());
        let at = time(seconds);
        for what in steps(&state, step, task, rest, at) {
            let event = Event::new(at, what);
            state.apply(&event).unwrap_or_else(|error| panic!("{line}: {error}"));
            history.record(&event);
        }
    }
    Statistics::of(&state, &history)
}

fn time(seconds: i64) -> Timestamp {
    "2026-01-26T14:30:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(seconds)
}

fn decl(id: &str) -> TaskDecl {
    let kind = match id.as_bytes()[0] {
        b'V' => TaskKind::Verify,
        b'C' => TaskKind::Checkpoint,
        _ => TaskKind::Work,
    };
    TaskDecl {
        id: TaskId::new(id.trim_end_matches('x')),
        title: format!("Title of {id}"),
        kind,
        verification: Verification::Command,
        command: None,
        fix_of: None,
        ticked: id.ends_with('x'),
        digest: 0,
        files: vec![],
        depends_on: vec![],
        stage: 0,
        parallel: false,
    }
}

fn opened(round: &str, rest: &str) -> Opened {
    let (agent, added) = rest.split_once(' ').unwrap_or((rest, ""));
    let changes =
        PlanChanges { added: added.split_whitespace().map(decl).collect(), ..PlanChanges::default() };
    let launch = [("agent".to_owned(), agent.to_owned())].into();
    let round = round.parse().unwrap();
    let (rules, [lost, gone]) = (Rules::default(), [vec![], vec![]]);
    Opened {
        round,
        rules,
        launch,
        changes,
        dirty: vec![],
        lost,
        gone,
        outdated: vec![],
        head: None,
        surroundings: None,
    }
}

fn steps(state: &State, step: &str, id: &str, rest: &str, at: Timestamp) -> Vec<What> {
    let task = TaskId::new(id);
    let attempt = state.task(&task).map_or(Attempt(1), Task::next_attempt);
    match step {
        // The round, then the agent, then the tasks that are new; those with an x are ticked.
        "open" => vec![What::Opened(Box::new(opened(id, rest)))],
        "start" => vec![What::AttemptStarted(Started {
            task,
            attempt,
            dispatch: Dispatch(1),
            role: Role::Executor,
            head: None,
            tree: None,
            hooks: Vec::new(),
            slot: None,
        })],
        "claim" => {
            let (touched, learnings) = (vec![], vec![]);
            vec![What::AttemptClaimed { task, dispatch: Dispatch(1), touched, learnings, elapsed_ms: 0 }]
        }
        "judge" => {
            vec![What::ChecksPassed {
                task,
                warnings: vec![],
                judge: Some(Judge::Person),
                tree: None,
                hooks_gone: vec![],
            }]
        }
        "pass" => {
            let checks = What::ChecksPassed {
                task: task.clone(),
                warnings: vec![],
                judge: None,
                tree: None,
                hooks_gone: vec![],
            };
            vec![checks, What::TaskDone { task, commit: None }]
        }
        "done" => vec![What::TaskDone { task, commit: None }],
        "fail" => {
            vec![What::AttemptFailed { task, failure: Box::new(failure(attempt, rest, at)), touched: vec![] }]
        }
        "retry" => vec![What::RetryPlanned { task, attempt }],
        "away" => {
            let reason = "overloaded".to_owned();
            vec![What::AgentUnavailable { task, dispatch: Dispatch(1), reason, nth: 1, until: at }]
        }
        "prove" => vec![What::ProofStarted { task, head: None }],
        "proved" => vec![What::ProofPassed { task, warnings: vec![] }],
        "red" => vec![What::ProofFailed { task, failure: Box::new(failure(attempt, rest, at)) }],
        "fix" => {
            let fix = TaskId::new(rest);
            let plan = FixPlan { fix, failing: task, error: "red".to_owned(), attempted_fix: None };
            vec![What::FixPlanned(plan), What::FixInserted { decl: Box::new(decl(rest)) }]
        }
        "ask" => {
            let question = match rest {
                "judge" => Question::Judge,
                "checkpoint" => Question::Checkpoint,
                _ => Question::Exhausted,
            };
            vec![What::Escalated { task, question }]
        }
        "approve" => vec![What::Answered { task, response: Response::Approve }],
        "skip" => vec![What::TaskSkipped { task, reason: String::new(), dependents: vec![] }],
        "tick" => vec![What::PlanChanged(PlanChanges { ticked: vec![task], ..PlanChanges::default() })],
        "untick" => vec![What::PlanChanged(PlanChanges { unticked: vec![task], ..PlanChanges::default() })],
        "remove" => vec![What::PlanChanged(PlanChanges { removed: vec![task], ..PlanChanges::default() })],
        "end" => vec![What::Ended(End::Interrupted)],
        other => panic!("{other} is no step"),
    }
}

fn failure(attempt: Attempt, text: &str, at: Timestamp) -> Failure {
    let (cause, error) = match text.split_once("! ") {
        Some(("timeout", error)) => (Cause::AgentTimeout, error),
        Some(("claimed", error)) => (Cause::ClaimedFailure, error),
        Some(("denied", error)) => (Cause::PermissionDenied, error),
        Some(("rejected", error)) => (Cause::ReviewerRejected, error),
        Some(_) | None => (Cause::VerifyRed, text),
    };
    Failure {
        attempt,
        at,
        cause,
        rung: Rung::Retry,
        error: error.to_owned(),
        details: String::new(),
        command: None,
        exit_code: None,
        failing: crate::output::Failing::default(),
        tree: None,
        attempted_fix: None,
        suggested_fix: None,
        root_cause: None,
        blocked_by: None,
        files: vec![],
        learnings: vec![],
        elapsed_ms: 0,
    }
}

/// One line a task: attempts, failures, seconds, result.
fn table(statistics: &Statistics) -> String {
    let mut text = String::new();
    for task in &statistics.tasks {
        let indent = "  ".repeat(usize::try_from(task.depth).unwrap());
        let (attempts, failures, seconds) = (task.attempts, task.failures, task.worked.as_secs());
        writeln!(text, "{indent}{} {attempts}/{failures} {seconds}s {:?}", task.id, task.result).unwrap();
    }
    text
}

/// The run of the protocol's example: five tasks, one retried, one given up.
const EXAMPLE: &str = "
    0 open 1 claude 1 2 3 4 5
    0 start 1
    10 claim 1
    12 pass 1
    12 start 2
    20 fail 2 2 tests failed
    20 retry 2
    20 start 2
    30 claim 2
    30 pass 2
    30 start 3
    40 fail 3 tests/a.test.ts: 2 tests failed
    40 retry 3
    40 start 3
    50 fail 3 tests/b.test.ts: 1 tests failed
    50 retry 3
    50 start 3
    60 fail 3 rejected! edge case not handled
    60 ask 3
    99 skip 3
    100 start 4
    110 claim 4
    110 pass 4
    110 start 5
    120 claim 5
    120 pass 5
";

#[test]
fn the_example() {
    let statistics = told(EXAMPLE);
    insta::assert_snapshot!(table(&statistics), @r"
    1 1/0 12s Success
    2 2/1 18s RetryWorked
    3 3/3 30s SkippedAfterFailure
    4 1/0 10s Success
    5 1/0 10s Success
    ");
    let counts = [
        statistics.originals().count(),
        statistics.first_successes(),
        statistics.retried(),
        statistics.retry_successes(),
        statistics.escalations(),
        statistics.skipped(),
        statistics.attempts(),
        statistics.failed_attempts(),
    ];
    assert_eq!(counts, [5, 3, 2, 1, 1, 1, 8, 4]);
    assert_eq!(statistics.worked(), Duration::from_secs(80));
    let patterns: Vec<String> = statistics
        .patterns()
        .into_iter()
        .map(|pattern| format!("{:?} {} {}", pattern.kind, pattern.name, pattern.occurrences))
        .collect();
    insta::assert_snapshot!(patterns.join("\n"), @r"
    Type verification_failed 3
    Category Test failures 3
    Words <path>: N tests failed 2
    Type architect_rejected 1
    Words N tests failed 1
    Words edge case not handled 1
    ");
}

#[test]
fn fixes_and_their_depth() {
    let statistics = told(
        "0 open 1 a 1.1
         0 start 1.1
         5 fail 1.1 red
         5 fix 1.1 1.1.1
         5 start 1.1.1
         9 fail 1.1.1 red
         9 fix 1.1.1 1.1.1.1
         9 start 1.1.1.1
         12 claim 1.1.1.1
         12 pass 1.1.1.1
         12 retry 1.1.1
         12 start 1.1.1
         15 claim 1.1.1
         15 pass 1.1.1
         15 retry 1.1
         15 start 1.1",
    );
    insta::assert_snapshot!(table(&statistics), @r#"
    1.1 2/1 5s InProgress
      1.1.1 2/1 7s FixedBy([TaskId { name: "1.1.1.1", occurrence: 1 }])
        1.1.1.1 1/0 3s Success
    "#);
    assert_eq!((statistics.originals().count(), statistics.fixes().count()), (1, 2));
}

#[test]
fn a_verify_task_needs_no_attempt() {
    let statistics = told(
        "0 open 1 a V1 V2 V3
         0 prove V1
         3 proved V1
         3 done V1
         3 prove V2
         5 red V2 no
         5 start V2
         9 claim V2
         9 pass V2
         9 prove V3",
    );
    insta::assert_snapshot!(table(&statistics), @r"
    V1 0/0 3s Proved
    V2 1/0 6s Success
    V3 0/0 0s InProgress
    ");
    assert_eq!(
        (statistics.first_successes(), statistics.attempts(), statistics.failed_attempts()),
        (2, 1, 0)
    );
    assert!(statistics.patterns().is_empty(), "a red proof is no failure");
}

#[test]
fn what_was_lost_or_away_is_no_attempt_and_a_pause_is_no_work() {
    let statistics = told(
        "0 open 1 a 1
         0 start 1
         10 away 1
         20 start 1
         30 end -
         1000 open 1 b
         1000 start 1
         1010 claim 1
         9000 open 1 c
         9005 pass 1",
    );
    insta::assert_snapshot!(table(&statistics), @"1 1/0 35s Success");
    let agents: Vec<String> =
        statistics.agents().iter().map(|(name, agent)| format!("{name} {agent:?}")).collect();
    insta::assert_snapshot!(agents.join("\n"), @r"
    a AgentStatistics { passed: 0, failed: 0, lost: 1, unavailable: 1, undecided: 0, worked: 20s, usage: Usage { input: None, cached: None, output: None, cost_micros: None } }
    b AgentStatistics { passed: 1, failed: 0, lost: 0, unavailable: 0, undecided: 0, worked: 15s, usage: Usage { input: None, cached: None, output: None, cost_micros: None } }
    ");
    let outcomes: Vec<_> = statistics.spans.iter().map(|span| span.outcome.clone()).collect();
    assert_eq!(outcomes, [SpanOutcome::Unavailable, SpanOutcome::Lost, SpanOutcome::Passed]);
}

#[test]
fn a_crash_loses_what_ran_at_the_last_thing_that_is_known() {
    let statistics = told("0 open 1 a 1 2\n0 start 1\n8 tick 2\n500 open 1 a");
    let [span] = &statistics.spans[..] else { panic!("{:?}", statistics.spans) };
    assert_eq!((span.worked(), &span.outcome), (Duration::from_secs(8), &SpanOutcome::Lost));
}

#[test]
fn a_person_is_no_agent() {
    let statistics = told(
        "0 open 1 a 1 2 3x 4 C5 C6
         0 start 1
         10 claim 1
         10 judge 1
         10 ask 1 judge
         500 approve 1
         505 done 1
         505 tick 2
         505 start 4
         510 fail 4 red
         510 retry 4
         520 tick 4
         520 ask C5 checkpoint
         530 approve C5
         530 done C5
         530 ask C6 checkpoint
         540 skip C6",
    );
    insta::assert_snapshot!(table(&statistics), @r"
    1 1/0 15s Success
    2 0/0 0s TickedByHand
    3 0/0 0s DoneBefore
    4 1/1 5s TickedByHand
    C5 0/0 0s Answered
    C6 0/0 0s Skipped
    ");
    assert_eq!((statistics.originals().count(), statistics.for_the_run()), (6, 3));
    assert_eq!((statistics.retried(), statistics.retry_successes()), (0, 0), "4 was not tried again");
}

#[test]
fn an_unticked_task_is_the_runs_again_and_a_removed_one_is_in_no_table() {
    let statistics = told(
        "0 open 1 a 1x 2 3
         0 untick 1
         0 start 1
         5 claim 1
         5 pass 1
         5 start 2
         9 fail 2 red
         9 remove 2",
    );
    insta::assert_snapshot!(table(&statistics), @r"
    1 1/0 5s Success
    3 0/0 0s Pending
    ");
    assert_eq!(statistics.failed_attempts(), 1, "what was done was done");
}

#[test]
fn what_is_under_way() {
    let statistics = told(
        "0 open 1 a 1 2 3 4
         0 start 1
         5 fail 1 red
         5 retry 1
         5 start 2
         9 fail 2 red
         9 ask 2
         9 start 3",
    );
    insta::assert_snapshot!(table(&statistics), @r"
    1 1/1 5s ToBeRetried
    2 1/1 4s Asking
    3 1/0 0s InProgress
    4 0/0 0s Pending
    ");
}

#[test]
fn spreads() {
    let statistics = told(EXAMPLE);
    assert_eq!(statistics.attempts_per_task(), Some(Spread { mean: 1.6, median: 1.0, max: 3.0 }));
    let time = statistics.time_per_task().unwrap();
    assert_eq!((time.mean.as_secs(), time.median.as_secs(), time.max.as_secs()), (16, 12, 30));
    let none = told("0 open 1 a 1 2");
    assert!(none.attempts_per_task().is_none() && none.time_per_task().is_none());
    let even = told(
        "0 open 1 a 1 2\n0 start 1\n4 claim 1\n4 pass 1\n4 start 2\n5 fail 2 x\n5 retry 2\n5 start 2\n7 fail 2 x",
    );
    assert_eq!(even.attempts_per_task(), Some(Spread { mean: 1.5, median: 1.5, max: 2.0 }));
}

#[test]
fn a_total_counts_everything_once() {
    let mut total = Statistics::default();
    total.add(told(EXAMPLE));
    total.add(told("0 open 1 codex 1\n0 start 1\n4 claim 1\n4 pass 1"));
    assert_eq!((total.originals().count(), total.first_successes(), total.attempts()), (6, 4, 9));
    assert_eq!(total.agents().into_keys().collect::<Vec<_>>(), ["claude", "codex"]);
}

#[test]
fn errors_of_a_kind_read_the_same() {
    for (error, expected) in [
        ("3 tests failed in 0.52s", "N tests failed in N.Ns"),
        ("Cannot find module './parser'", "Cannot find module '<path>'"),
        ("FAIL tests/a.test.ts: no", "FAIL <path>: no"),
        ("open(/tmp/x-123/y.rs:12:3): denied", "open(<path>): denied"),
        ("at /home/a/b.rs:12:3", "at <path>"),
        ("tests/test_a.py::test_b - no", "tests/test_a.py::test_b - no"),
        ("error[E0308]: mismatched types", "error[EN]: mismatched types"),
        ("commit 0f3a9b2c is bad", "commit N is bad"),
        ("1/2 and/or 50%", "N/N and/or N%"),
        ("--file=src/a.rs, C:\\temp\\b. ./c.", "--file=<path>, <path>. <path>."),
        ("", ""),
        (" \n a\tb ", "a b"),
    ] {
        assert_eq!(masked(error), expected, "{error}");
    }
    let long = masked(&"word ".repeat(1000));
    assert!(long.chars().count() <= 101 && long.ends_with('…'), "{long}");
    let wide = masked(&"ä".repeat(1000));
    assert_eq!(wide.chars().count(), 101);
}

#[test]
fn kinds_of_errors() {
    let statistics = told(
        "0 open 1 a 1
         0 start 1
         1 fail 1 claimed! Cannot find module 'uuid'
         1 retry 1
         1 start 1
         2 fail 1 timeout! agent timed out
         2 retry 1
         2 start 1
         3 fail 1 denied! no
         3 ask 1",
    );
    let categories: Vec<String> = statistics
        .patterns()
        .into_iter()
        .filter(|pattern| pattern.kind == PatternKind::Category)
        .map(|pattern| pattern.name)
        .collect();
    assert_eq!(categories, ["Dependency errors", "Permission errors"], "a timeout is a type already");
}
