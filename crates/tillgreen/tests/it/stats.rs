//! What a run came to, counted from its record: after real runs with failures, a skip, fix tasks and fresh starts.

use std::path::Path;

use serde_json::Value;
use testkit::{Agent, Sandbox, Step};

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Say hello
  - **Verify**: `test -f hello.txt`

- [ ] 1.2 Say bye
  - **Verify**: `test -f bye.txt || { echo 'FAIL tests/bye.test.ts: 3 tests failed'; exit 1; }`

- [ ] 1.3 Reach the <moon> | sun
  - **Verify**: `echo 'FAIL tests/moon.test.ts: 7 tests failed'; test -f moon`

- [ ] 1.4 [VERIFY] All is well
  - **Verify**: `test -f hello.txt`
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    sandbox
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// Says bye at the second attempt and never reaches the moon.
fn agent() -> Agent {
    Agent::new()
        .on("1.1", [Step::write("hello.txt", ""), done()])
        .on_attempt("1.2", 1, [done()])
        .on("1.2", [Step::write("bye.txt", ""), done()])
        .on("1.3", [done()])
}

/// A run to its end, with one task tried again and one skipped.
fn run(sandbox: &Sandbox) {
    let command = sandbox.install_agent(&agent());
    let flags = ["--max-task-iterations", "2", "--on-exhausted", "ask", "--on-escalation", "skip"];
    sandbox.run(&[&["run", "--agent-cmd", &command], &flags[..]].concat()).expect_code(0);
}

#[test]
fn the_retry_summary() {
    let sandbox = sandbox();
    run(&sandbox);
    let stats = sandbox.run(&["stats"]).expect_code(0);
    let (summary, more) =
        stats.stdout.split_once("\n### Attempts and Time\n").expect("more than the summary");
    let expected = "\
## Retry Summary for Plan demo

| Metric | Value |
|--------|-------|
| Total tasks | 4 |
| First-attempt success | 2 (50%) |
| Retried tasks | 2 (50%) |
| Retry success | 1 |
| Escalations | 1 |
| Skipped | 1 |

1 [VERIFY] task was green without an agent: first-attempt success with 0 attempts.

### Retry Details

| Task | Attempts | Result |
|------|----------|--------|
| Task 1.1 | 1 | success |
| Task 1.2 | 2 | success (retry worked) |
| Task 1.3 | 2 | skipped (escalated) |
| Task 1.4 | 0 | success |

### Common Failure Patterns

- verification_failed: 3 occurrences
- Test failures: 3 occurrences
- FAIL <path>: N tests failed: 3 occurrences
";
    assert_eq!(summary, expected, "{stats}");
    for text in ["| command | 5 | 2 | 3 | 0 | 0 | ", "Reach the <moon> \\| sun", "Tokens and cost: unknown\n"]
    {
        assert!(more.contains(text), "{text:?} is missing: {stats}");
    }
    assert_eq!(stats.stderr, "");
}

#[test]
fn json_has_the_same_facts() {
    let sandbox = sandbox();
    run(&sandbox);
    let stats = sandbox.run(&["stats", "demo", "--format", "json"]).expect_code(0);
    let report: Value = serde_json::from_str(&stats.stdout).expect("JSON");
    assert_eq!(report["plan"], "demo");
    let total = &report["total"];
    for (key, expected) in [
        ("tasks", 4),
        ("first_attempt_successes", 2),
        ("first_attempt_percent", 50),
        ("retried", 2),
        ("retry_successes", 1),
        ("escalations", 1),
        ("skipped", 1),
        ("attempts", 5),
        ("failed_attempts", 3),
    ] {
        assert_eq!(total[key], expected, "{key}: {stats}");
    }
    assert!(total["tokens"].is_null() && total["cost_usd"].is_null(), "unknown is not zero: {stats}");
    assert!(total["worked_ms"].as_u64() > Some(0), "{stats}");
    assert_eq!(total["patterns"][0]["name"], "verification_failed");
    assert_eq!(report["tasks"][2]["result"], "skipped (escalated)");
}

#[test]
fn all_runs_and_a_total() {
    let sandbox = sandbox();
    run(&sandbox);
    let command = sandbox.install_agent(&agent());
    let fix = ["--fresh", "--recovery-mode", "--max-fix-tasks", "1", "--max-fix-depth", "1"];
    sandbox.run(&[&["run", "--agent-cmd", &command], &fix[..]].concat()).expect_code(1);
    let stats = sandbox.run(&["stats", "--all"]).expect_code(0);
    assert_eq!(stats.stdout.matches("## Retry Summary for Plan demo\n").count(), 2, "{stats}");
    assert_eq!(stats.stdout.matches("This run was put aside by `--fresh`.").count(), 1, "{stats}");
    for text in
        ["| Task 1.3.1 (fix of 1.3) | 1 | failed |", "## Total over 2 runs\n\n", "| Total tasks | 8 |"]
    {
        assert!(stats.stdout.contains(text), "{text:?} is missing: {stats}");
    }
    let report = sandbox.run(&["stats", "--all", "--format", "json"]).expect_code(0);
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!((&report["runs"][0]["archived"], &report["total"]["tasks"]), (&true.into(), &8.into()));
}

#[test]
fn a_damaged_record_does_not_take_the_others_with_it() {
    let sandbox = sandbox();
    run(&sandbox);
    sandbox.write(".tillgreen/specs-other/journal.jsonl", "nonsense\n");
    let stats = sandbox.run(&["stats", "--all"]).expect_code(0);
    assert!(stats.stderr.contains("warning: ") && stats.stderr.contains("specs-other"), "{stats}");
    assert!(stats.stdout.contains("## Total over 1 run\n"), "{stats}");
    sandbox.write(".tillgreen/specs-demo/journal.jsonl", "nonsense\n");
    let none = sandbox.run(&["stats", "--all"]).expect_code(2);
    assert!(none.stderr.contains("hint: "), "{none}");
    sandbox.run(&["stats"]).expect_code(2);
}

#[test]
fn charts_stand_for_themselves() {
    let sandbox = sandbox();
    run(&sandbox);
    for (file, begin) in [("run.svg", "<svg xmlns="), ("run.html", "<!doctype html>")] {
        let stats = sandbox.run(&["stats", "--chart", file]).expect_code(0);
        assert!(stats.stderr.contains(&format!("The chart is in {file}\n")), "{stats}");
        assert!(stats.stdout.starts_with("## Retry Summary"), "{stats}");
        let chart = sandbox.read(file);
        assert!(chart.starts_with(begin), "{chart}");
        for text in ["Reach the &lt;moon&gt; | sun", "skipped (escalated)", "verification_failed"] {
            assert!(chart.contains(text), "{text:?} is missing: {chart}");
        }
    }
    for (file, words) in [("run.png", "must end in .svg or .html"), ("no/such/run.svg", "cannot write")] {
        let refused = sandbox.run(&["stats", "--chart", file]).expect_code(2);
        assert!(refused.stderr.contains(words), "{refused}");
    }
}

#[test]
fn without_a_record_there_is_nothing_to_count() {
    let sandbox = sandbox();
    for (arguments, words, hint) in [
        (&["stats"][..], "'demo' has not been run yet", "`tillgreen run`"),
        (&["stats", "demo"], "'demo' has not been run yet", "`tillgreen run demo`"),
        (&["stats", "--all"], "nothing has been run in ", "`tillgreen run`"),
        (&["stats", "nonesuch"], "Spec directory missing", "tillgreen new nonesuch"),
        (&["stats", "demo", "--all"], "cannot be used with", "--help"),
    ] {
        let stats = sandbox.run(arguments).expect_code(2);
        assert!(stats.stderr.contains(words) && stats.stderr.contains(hint), "{arguments:?}: {stats}");
        assert_eq!(stats.stdout, "", "{stats}");
    }
}

#[test]
fn a_run_can_be_counted_while_it_goes_on() {
    let sandbox = sandbox();
    let wait = Step::await_file(&sandbox.control("go"));
    let agent = Agent::new().on("1.1", [Step::write("hello.txt", ""), done()]).on("1.2", [wait, done()]);
    let command = sandbox.install_agent(&agent);
    let background = sandbox.start(&["run", "--max-task-iterations", "1", "--agent-cmd", &command]);
    testkit::wait_for("the second task to be under way", || sandbox.agent_calls().len() == 2);
    let stats = sandbox.run(&["stats"]).expect_code(0);
    for text in ["| Task 1.1 | 1 | success |", "| Task 1.2 | 1 | in progress |", "| Task 1.3 | 0 | pending |"]
    {
        assert!(stats.stdout.contains(text), "{text:?} is missing: {stats}");
    }
    sandbox.release("go");
    background.wait().expect_code(1);
}
