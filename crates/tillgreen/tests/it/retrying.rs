//! A red task is tried again with feedback, as often as the limits allow and no oftener. What is not the task's
//! fault spends no attempt.

use std::path::Path;

use testkit::{Agent, AgentCall, Finished, Sandbox, Step};

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Say hello
  - **Do**: Write hello.txt
  - **Verify**: `grep -q hello hello.txt`
  - **Commit**: `feat: say hello`

- [ ] 1.2 Say bye
  - **Verify**: `grep -q bye bye.txt`
";

/// One task whose verify command is never green.
const HOPELESS: &str = "- [ ] 1.3 Reach the moon\n  - **Verify**: `echo too far; test -f moon`\n";

fn sandbox(tasks: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", tasks);
    sandbox.commit_all("plan");
    sandbox
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--agent-cmd", &command], flags].concat())
}

fn attempts(sandbox: &Sandbox) -> Vec<u32> {
    sandbox.agent_calls().iter().map(|call| call.attempt).collect()
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// Says hello at the second attempt and bye at once.
fn slow_learner() -> Agent {
    Agent::new()
        .on_attempt("1.1", 1, [Step::write("hello.txt", "helo\n"), done()])
        .on("1.1", [Step::write("hello.txt", "hello\n"), done()])
        .on("1.2", [Step::write("bye.txt", "bye\n"), done()])
}

#[test]
fn a_red_task_is_tried_again_and_told_why() {
    let sandbox = sandbox(PLAN);
    let finished = run(&sandbox, &slow_learner(), &[]).expect_code(0);
    assert_eq!(finished.stdout.lines().last(), Some("ALL_TASKS_COMPLETE"), "{finished}");
    let calls = sandbox.agent_calls();
    let order: Vec<_> = calls.iter().map(|call| (call.task.as_str(), call.attempt)).collect();
    assert_eq!(order, [("1.1", 1), ("1.1", 2), ("1.2", 1)]);
    let [first, second, other] = &calls[..] else { panic!("{calls:?}") };
    assert!(!first.prompt.contains("<retry_context"), "{}", first.prompt);
    assert!(!other.prompt.contains("<retry_context"), "only this task's failures: {}", other.prompt);
    check_feedback(
        second,
        &["attempt=\"2\" max_attempts=\"5\"", "verification_failed", "grep -q hello hello.txt"],
    );
    check_feedback(
        second,
        &["returned exit code 1", "- hello.txt (created)", "This is retry attempt 2 of 5."],
    );
}

/// The block is there once, before the task, and says all of this.
#[track_caller]
fn check_feedback(call: &AgentCall, expected: &[&str]) {
    let prompt = &call.prompt;
    let start = prompt.find("<retry_context").expect("the prompt has feedback");
    let end = prompt.find("</retry_context>").expect("the block is closed");
    let task = prompt.find(&format!("- [ ] {}", call.task)).expect("the prompt has the task");
    assert!(start < end && end < task, "{prompt}");
    assert_eq!(prompt.matches("<retry_context").count(), 1, "{prompt}");
    for text in expected {
        assert!(prompt[start..end].contains(text), "{text:?} is missing: {prompt}");
    }
}

#[test]
fn every_failure_of_the_task_is_in_the_feedback() {
    let sandbox = sandbox(HOPELESS);
    run(&sandbox, &Agent::new().on("1.3", [done()]), &["--max-task-iterations", "3"]).expect_code(1);
    let calls = sandbox.agent_calls();
    check_feedback(&calls[2], &["<failure attempt=\"1\">", "<failure attempt=\"2\">", "too far"]);
    assert!(!calls[2].prompt.contains("<failure attempt=\"3\">"));
}

#[test]
fn what_an_attempt_learned_reaches_the_next() {
    let sandbox = sandbox(HOPELESS);
    let note = Step::shell("printf '## Learnings\\n- rockets help\\n' > \"$TILLGREEN_PROGRESS_FILE\"");
    run(&sandbox, &Agent::new().on("1.3", [note, done()]), &["--max-task-iterations", "2"]).expect_code(1);
    check_feedback(&sandbox.agent_calls()[1], &["<accumulated_learnings>", "- rockets help"]);
}

#[test]
fn five_attempts_in_all_then_a_clear_end() {
    let sandbox = sandbox(HOPELESS);
    let finished = run(&sandbox, &Agent::new().on("1.3", [done()]), &[]).expect_code(1);
    assert_eq!(attempts(&sandbox), [1, 2, 3, 4, 5]);
    for text in [
        "ERROR: Max retries reached for task 1.3 after 5 attempts",
        "Last error: too far",
        "`tillgreen run`",
        "`tillgreen log`",
        "`tillgreen run --recovery-mode`",
    ] {
        assert!(finished.stderr.contains(text), "{text:?} is missing: {finished}");
    }
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    assert!(sandbox.tasks("demo").contains("- [ ] 1.3"), "the box stays open");
    assert!(sandbox.read("specs/demo/.progress.md").contains("Task 1.3 failed after 5 attempts: too far"));
}

#[test]
fn running_again_opens_a_round_in_which_numbering_goes_on() {
    let sandbox = sandbox(HOPELESS);
    let hopeless = Agent::new().on_attempt("1.3", 4, [Step::write("moon", ""), done()]).on("1.3", [done()]);
    run(&sandbox, &hopeless, &["--max-task-iterations", "2"]).expect_code(1);
    run(&sandbox, &hopeless, &["--max-task-iterations", "2"]).expect_code(0);
    assert_eq!(attempts(&sandbox), [1, 2, 3, 4]);
    let calls = sandbox.agent_calls();
    check_feedback(&calls[2], &["attempt=\"3\" max_attempts=\"4\"", "<failure attempt=\"2\">"]);
}

#[test]
fn an_agent_that_is_away_for_a_moment_spends_no_attempt() {
    let sandbox = sandbox("- [ ] 1.1 Say hello\n  - **Verify**: `test -f hello.txt`\n");
    let away = sandbox.control("was-away").display().to_string();
    let leave = Step::shell(&format!("test -e {away} || {{ : > {away}; echo overloaded >&2; exit 75; }}"));
    let agent = Agent::new().on("1.1", [leave, Step::write("hello.txt", ""), done()]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(0);
    assert_eq!(attempts(&sandbox), [1, 1]);
    assert!(finished.stderr.contains("overloaded") || finished.stdout.contains("overloaded"), "{finished}");
    assert!(!sandbox.agent_calls()[1].prompt.contains("<retry_context"));
}

/// The agent ends so every time; the run pauses with exit code 6, and no attempt is spent.
#[track_caller]
fn check_away(code: u8, words: &str) {
    let sandbox = sandbox(HOPELESS);
    let agent = Agent::new().on("1.3", [Step::Complain("no service".to_owned()), Step::Exit(code)]);
    let finished = run(&sandbox, &agent, &["--infra-retries", "1"]).expect_code(6);
    for text in [words, "no service", "No attempt was spent", "`tillgreen run`"] {
        assert!(finished.stderr.contains(text), "{text:?} is missing: {finished}");
    }
    run(&sandbox, &Agent::new().on("1.3", [Step::write("moon", ""), done()]), &[]).expect_code(0);
    assert_eq!(attempts(&sandbox), [1, 1]);
}

#[test]
fn an_agent_that_stays_away_pauses_the_run() {
    check_away(75, "temporarily unavailable");
    check_away(127, "cannot be started");
}

#[test]
fn permission_denied_asks_a_person_at_once() {
    let sandbox = sandbox(HOPELESS);
    let denied = [Step::Complain("the vault is locked".to_owned()), Step::Exit(126)];
    let agent = Agent::new().on_attempt("1.3", 1, denied).on("1.3", [Step::write("moon", ""), done()]);
    let finished = run(&sandbox, &agent, &["--recovery-mode"]).expect_code(3);
    assert!(finished.stderr.contains("the vault is locked"), "{finished}");
    assert!(finished.stderr.contains("`tillgreen answer retry`"), "{finished}");
    assert_eq!(attempts(&sandbox), [1], "a person is asked, not the agent again");
    let again = sandbox.run(&["run"]).expect_code(3);
    assert!(again.stderr.contains("waits for an answer"), "the question is kept: {again}");
    sandbox.run(&["answer", "perhaps"]).expect_code(2);
    sandbox.run(&["answer", "fix: take the other door"]).expect_code(0);
    let calls = sandbox.agent_calls();
    check_feedback(&calls[1], &["User provided fix: take the other door", "<user_intervention>"]);
}

#[test]
fn an_attempt_has_a_deadline() {
    for (flag, words) in [("--attempt-timeout", "no end within"), ("--no-progress-timeout", "no output")] {
        let sandbox = sandbox(HOPELESS);
        let agent = Agent::new().on("1.3", [Step::Hang]);
        let finished = run(&sandbox, &agent, &[flag, "200ms", "--max-task-iterations", "1"]).expect_code(1);
        assert!(finished.stderr.contains("agent timed out"), "{finished}");
        assert!(finished.stderr.contains(words), "{finished}");
        let log = sandbox.run(&["log"]).expect_code(0);
        assert!(log.stdout.contains("attempt 1 failed (timeout)"), "{log}");
        sandbox.wait_until_quiet();
    }
}

#[test]
fn an_agents_own_account_of_its_failure_is_used() {
    let sandbox = sandbox(HOPELESS);
    let claim = "Task 1.3: Reach the moon FAILED\n- Error: no fuel <left>\n- Attempted fix: walked\n- Status: Blocked";
    let agent = Agent::new()
        .on_attempt("1.3", 1, [Step::say(claim), Step::Exit(4)])
        .on_attempt("1.3", 2, [Step::say(claim)])
        .on_attempt("1.3", 3, [Step::Complain("Segmentation fault".to_owned()), Step::Exit(139)])
        .on("1.3", [Step::say("I did my best.")]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "4"]).expect_code(1);
    assert!(finished.stderr.contains("Last error: Task did not complete"), "{finished}");
    let calls = sandbox.agent_calls();
    check_feedback(&calls[1], &["execution_error", "no fuel &lt;left&gt;"]);
    check_feedback(&calls[3], &["agent exited with code 139: Segmentation fault"]);
}
