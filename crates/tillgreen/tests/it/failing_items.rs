//! What a red command says goes into fix tasks, prompts, status and statistics: the failing test, not the count at the
//! end. A fix has done its job once what it was written for is gone, whatever else is red by then.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

/// Two tests, one for each of two files; times differ from run to run, and a wrapper has the last word.
const CHECK: &str = r#"#!/bin/sh
test -f a && test -f b && exit 0
name=test_a; test -f a && name=test_b
echo "collected 2 items"
echo "=================================== FAILURES ==================================="
echo "____________________________________ $name ____________________________________"
echo ">       assert exists('file')"
echo "E       AssertionError: no file for $name"
echo "tests/test_files.py:6: AssertionError"
echo "=========================== short test summary info ============================"
echo "FAILED tests/test_files.py::$name - AssertionError: no file for $name"
echo "1 failed, 1 passed in 0.$(date +%N)s"
echo "make: *** [Makefile:2: test] Error 1" >&2
exit 2
"#;

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write both files
  - **Do**: Write a and b
  - **Files**: `a`, `b`
  - **Done when**: The tests pass
  - **Verify**: `sh check.sh`
  - **Commit**: `feat(files): write both`
";

fn sandbox(tasks: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", tasks);
    sandbox.write("check.sh", CHECK);
    sandbox.commit_all("plan");
    sandbox
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--recovery-mode", "--agent-cmd", &command], flags].concat())
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

fn order(sandbox: &Sandbox) -> Vec<String> {
    sandbox.agent_calls().iter().map(|call| call.task.clone()).collect()
}

/// The fix writes one file, the second attempt at the original the other.
fn stepwise() -> Agent {
    Agent::new()
        .on_attempt("1.1", 1, [done()])
        .on("1.1.1", [Step::write("a", "a\n"), done()])
        .on("1.1", [Step::write("b", "b\n"), done()])
}

#[test]
fn a_fix_task_says_which_test_fails() {
    let sandbox = sandbox(PLAN);
    run(&sandbox, &stepwise(), &[]).expect_code(0);
    let fix = "
- [x] 1.1.1 [FIX 1.1] Fix: tests/test_files.py::test_a - AssertionError: no f
  - **Do**: Address the error: tests/test_files.py::test_a - AssertionError: no file for test_a
    1. Analyze the failure: No previous fix attempted
    2. Review related code in Files list
    3. Implement fix for: tests/test_files.py::test_a - AssertionError: no file for test_a
  - **Files**: `a`, `b`
  - **Done when**: Error \"tests/test_files.py::test_a - AssertionError: no file for test_a\" no longer occurs
  - **Verify**: `sh check.sh`
  - **Commit**: `fix(recovery): address test from task 1.1`
";
    let tasks = sandbox.tasks("demo");
    assert!(tasks.contains(fix), "{tasks}");
}

#[test]
fn whoever_fixes_is_told_what_whoever_tries_again_is_told() {
    let sandbox = sandbox(PLAN);
    run(&sandbox, &stepwise(), &[]).expect_code(0);
    let prompts: Vec<String> = sandbox.agent_calls().into_iter().map(|call| call.prompt).collect();
    for told in [
        "<failure task=\"1.1\" attempt=\"1\">",
        "sh check.sh returned exit code 2\n        tests/test_files.py::test_a - AssertionError: no file for test_a\n",
        "        &gt;       assert exists('file')\n",
        "This task repairs what made task 1.1 fail.",
    ] {
        assert!(prompts[1].contains(told), "{told} in {}", prompts[1]);
    }
    assert!(prompts[2].contains("<failure attempt=\"1\">"), "{}", prompts[2]);
}

#[test]
fn a_fix_has_done_its_job_once_another_test_fails() {
    for flags in [&[][..], &["--jobs", "1"]] {
        let sandbox = sandbox(PLAN);
        let finished = run(&sandbox, &stepwise(), flags).expect_code(0);
        assert_eq!(order(&sandbox), ["1.1", "1.1.1", "1.1"], "{finished}");
        let said = "verify of 1.1 is still red, but what 1.1.1 was to fix is gone; next is: tests/test_files.py::test_b";
        assert!(finished.stderr.contains(said), "{finished}");
        let messages = [
            "plan",
            "chore(spec): add fix task 1.1.1",
            "fix(recovery): address test from task 1.1",
            "chore(spec): complete task 1.1.1",
            "feat(files): write both",
            "chore(spec): complete task 1.1",
        ];
        assert_eq!(sandbox.subjects(), messages);
    }
}

#[test]
fn a_fix_after_which_the_same_test_fails_has_failed() {
    let sandbox = sandbox(PLAN);
    let agent = Agent::new()
        .on_attempt("1.1", 1, [done()])
        .on_attempt("1.1.1", 1, [Step::write("notes.txt", "no idea\n"), done()])
        .on("1.1.1.1", [Step::write("a", "a\n"), Step::write("b", "b\n"), done()])
        .otherwise([done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    assert_eq!(order(&sandbox), ["1.1", "1.1.1", "1.1.1.1", "1.1.1", "1.1"]);
}

#[test]
fn what_the_original_left_is_committed_with_its_own_message() {
    let sandbox = sandbox(PLAN);
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::write("b", "b\n"), done()])
        .on("1.1.1", [Step::write("a", "a\n"), done()])
        .otherwise([done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    let files = |message: &str| {
        let commit = sandbox.git(&["log", "--format=%H", "--fixed-strings", "--grep", message]);
        sandbox.git(&["show", "--format=", "--name-only", commit.trim()])
    };
    assert_eq!(files("fix(recovery): address test from task 1.1").trim(), "a");
    assert_eq!(files("feat(files): write both").trim(), "b");
}

#[test]
fn the_fix_of_a_red_verify_task_says_what_its_command_said() {
    let sandbox = sandbox(&PLAN.replace("1.1 Write both files", "V1 [VERIFY] Check"));
    let agent = Agent::new()
        .on("V1", [Step::say("I looked into it.\n\nI cannot mend this.\nVERIFICATION_FAIL")])
        .on("V1.1", [Step::write("a", "a\n"), Step::write("b", "b\n"), done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    let tasks = sandbox.tasks("demo");
    assert!(
        tasks.contains("- [x] V1.1 [FIX V1] Fix: tests/test_files.py::test_a - AssertionError"),
        "{tasks}"
    );
    assert!(!tasks.contains("VERIFICATION_FAIL"), "{tasks}");
}

#[test]
fn status_statistics_and_log_name_the_test() {
    let sandbox = sandbox(PLAN);
    let command = sandbox.install_agent(&Agent::new().otherwise([done()]));
    let flags = ["run", "--agent-cmd", &command, "--max-task-iterations", "2"];
    let finished = sandbox.run(&flags).expect_code(1);
    let error = "tests/test_files.py::test_a - AssertionError: no file for test_a";
    assert!(finished.stderr.contains(&format!("Last error: {error}")), "{finished}");
    for shown in [sandbox.run(&["status"]).stdout, sandbox.run(&["stats"]).stdout] {
        assert!(shown.contains("test_a - AssertionError: no file for test_a"), "{shown}");
        assert!(!shown.contains("1 failed, 1 passed"), "{shown}");
    }
    let log = sandbox.read(".tillgreen/logs/retry.log");
    assert!(log.contains(&format!("error=\"{error}\"")), "{log}");
    let journal = sandbox.read(".tillgreen/specs-demo/journal.jsonl");
    let items = r#""failing":{"items":[{"tool":"pytest","stage":"test","name":"tests/test_files.py::test_a"}],"ran":{"pytest":2}}"#;
    assert!(journal.contains(items), "{journal}");
}
