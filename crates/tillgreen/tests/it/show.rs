//! `show`, `list` and `use` as a person uses them: before a run, while it goes on, after a crash, and when it is over.

use std::path::Path;

use serde_json::Value;
use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Do**: Write it
  - **Files**: `one.txt`
  - **Verify**: `echo looking; grep -q one one.txt || { printf '\\033[31mno one here\\033[0m\\n' >&2; exit 4; }`
  - **Commit**: `feat: write one`

- [ ] 1.2 Write two
  - **Files**: `two.txt`
  - **Verify**: `grep -q two two.txt`
  - **Commit**: `feat: write two`
";

fn prepared(agent: &Agent) -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(agent);
    (sandbox, command)
}

/// An agent that gets the first task right at its third attempt.
fn slow_learner() -> Agent {
    let wrong = |word: &str| {
        [
            Step::write("one.txt", &format!("{word}\n")),
            Step::say(&format!("I wrote {word}")),
            Step::say("TASK_COMPLETE"),
        ]
    };
    Agent::new()
        .on_attempt("1.1", 1, wrong("nil"))
        .on_attempt("1.1", 2, wrong("null"))
        .on("1.1", [Step::write("one.txt", "one\n"), Step::say("TASK_COMPLETE")])
        .on("1.2", [Step::write("two.txt", "two\n"), Step::say("TASK_COMPLETE")])
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("not JSON: {error}\n{finished}"))
}

#[track_caller]
fn expect_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn every_failure_names_the_command_that_shows_its_output() {
    let (sandbox, agent) = prepared(&slow_learner());
    let run = sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "2"]).expect_code(1);
    expect_parts(
        &run.stderr,
        &["see: tillgreen show 1.1 --attempt 1 --output\n", "  see: tillgreen show 1.1 --output\n"],
    );
    let status = sandbox.run(&["status"]).expect_code(0).stdout;
    expect_parts(&status, &["see: tillgreen show 1.1 --attempt 2 --output\n"]);
    let status = json(&sandbox.run(&["status", "--format", "json"]).expect_code(0));
    let command = status["last_failure"]["show"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let shown = sandbox.run(&words).expect_code(0).stdout;
    expect_parts(
        &shown,
        &[
            "1.1 attempt 2 failed",
            "(exit code 4): no one here\n",
            "I wrote null\n",
            "looking\n",
            "\nno one here\n",
        ],
    );
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let first = sandbox.run(&["show", "demo", "1.1", "--attempt", "1", "--output"]).expect_code(0).stdout;
    expect_parts(&first, &["I wrote nil\n"]);

    let asks = ["run", "--agent-cmd", &agent, "--max-task-iterations", "1", "--on-exhausted", "ask"];
    sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);
    sandbox.write("specs/demo/tasks.md", format!("{PLAN}- [ ] 1.3 Never\n  - **Verify**: `false`\n"));
    sandbox.commit_all("more");
    let paused = sandbox.run(&asks).expect_code(3);
    expect_parts(
        &paused.stderr,
        &["paused: task 1.3 waits for an answer", "  see: tillgreen show 1.3 --output\n"],
    );
}

#[test]
fn a_finished_task_has_its_attempts_its_prompt_and_its_commit() {
    let (sandbox, agent) = prepared(&slow_learner());
    sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);
    let text = sandbox.run(&["show", "1.1"]).expect_code(0).stdout;
    expect_parts(
        &text,
        &[
            "Task      1.1 Write one\n",
            "State     done\n",
            "Do        Write it\n",
            "✗ attempt 1 (executor, command): failed (verification_failed)",
            "  error    no one here\n",
            "  exit     4\n",
            "✓ attempt 3 (executor, command): passed",
            "one.txt",
        ],
    );
    let diff = sandbox.run(&["show", "1.1", "--diff"]).expect_code(0).stdout;
    expect_parts(&diff, &["+++ b/one.txt\n", "+one\n"]);
    let prompt = sandbox.run(&["show", "1.1", "--prompt", "--attempt", "2"]).expect_code(0).stdout;
    expect_parts(&prompt, &["Execute task 1.1", "<retry_context attempt=\"2\"", "no one here"]);
    let output = sandbox.run(&["show", "1.1", "--output"]).expect_code(0).stdout;
    expect_parts(&output, &["1.1 attempt 3 passed\n", "looking\n"]);

    let report = json(&sandbox.run(&["show", "1.1", "--format", "json"]).expect_code(0));
    let attempts = report["attempts"].as_array().unwrap();
    let verdicts: Vec<&str> = attempts.iter().map(|attempt| attempt["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["failed", "failed", "passed"]);
    assert_eq!(attempts[2]["commit"], report["commit"]);
    expect_parts(attempts[1]["feedback"].as_str().unwrap(), &["no one here"]);
    let part = json(&sandbox.run(&["show", "1.1", "--diff", "--format", "json"]).expect_code(0));
    expect_parts(part["diff"].as_str().unwrap(), &["+one\n"]);
    let part =
        json(&sandbox.run(&["show", "1.1", "--output", "--attempt", "1", "--format", "json"]).expect_code(0));
    assert_eq!((&part["attempt"], &part["output"][0]["of"]), (&Value::from(1), &Value::from("agent")));
}

#[test]
fn what_cannot_be_shown_is_said_with_what_to_type() {
    let (sandbox, agent) = prepared(&slow_learner());
    sandbox.write("specs/other/tasks.md", PLAN);
    let before = sandbox.run(&["show", "1.1"]).expect_code(0).stdout;
    expect_parts(&before, &["State     not run yet\n", "start the plan with `tillgreen run`"]);
    for part in ["--output", "--prompt", "--diff"] {
        let none = sandbox.run(&["show", "1.1", part]).expect_code(2);
        expect_parts(&none.stderr, &["nothing was done for task 1.1 yet", "`tillgreen run`"]);
    }
    let refused =
        |words: &[&str], parts: &[&str]| expect_parts(&sandbox.run(words).expect_code(2).stderr, parts);
    refused(&["show", "1.11"], &["'demo' has no task '1.11'", "did you mean `tillgreen show 1.1`?"]);
    refused(&["show", "banana"], &["`tillgreen check` shows the tasks"]);
    refused(&["show", "other"], &["`tillgreen show other TASK`"]);
    refused(&["show"], &["<TASK>"]);
    refused(&["show", "1.1", "--output", "--diff"], &["cannot be used with"]);
    assert!(!sandbox.has(".tillgreen"), "it only reads");
    sandbox.commit_all("another");
    sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "1"]).expect_code(1);
    refused(&["show", "1.1", "--attempt", "4"], &["task 1.1 has no attempt 4: the latest is 1"]);
    refused(&["show", "1.2", "--output"], &["nothing was done for task 1.2 yet"]);
    let work = sandbox.run(&["show", "1.1", "--diff"]).expect_code(0).stdout;
    expect_parts(&work, &["+++ b/one.txt\n", "+nil\n"]);
}

#[test]
fn a_live_run_and_one_that_crashed() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let gate = sandbox.control("go");
    let agent = sandbox.install_agent(&Agent::new().otherwise([
        Step::write("one.txt", "half\n"),
        Step::say("so far"),
        Step::await_file(&gate),
    ]));
    let run = sandbox.start(&["run", "--agent-cmd", &agent]);
    wait_for("the agent's words", || sandbox.run(&["show", "1.1", "--output"]).stdout.contains("so far\n"));
    let live = sandbox.run(&["show", "1.1"]).expect_code(0).stdout;
    expect_parts(
        &live,
        &["State     executor at work, attempt 1, for", "▶ attempt 1 (executor, command): under way"],
    );
    expect_parts(&sandbox.run(&["show", "1.1", "--diff"]).expect_code(0).stdout, &["+half\n"]);
    expect_parts(&sandbox.run(&["list"]).expect_code(0).stdout, &["* demo  0/2  running\n"]);
    sandbox.kill_everything();
    drop(run);
    let crashed = sandbox.run(&["show", "1.1"]).expect_code(0).stdout;
    expect_parts(&crashed, &["when it crashed; it starts again", "attempt 1"]);
    expect_parts(&sandbox.run(&["show", "1.1", "--output"]).expect_code(0).stdout, &["so far\n"]);
    expect_parts(&sandbox.run(&["list"]).expect_code(0).stdout, &["* demo  0/2  crashed"]);
}

#[test]
fn the_command_of_a_verify_task_has_output_too() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox
        .spec("demo", "- [ ] V1 [VERIFY] Look\n  - **Verify**: `echo nothing is there; test -e there.txt`\n");
    sandbox.commit_all("plan");
    let agent = sandbox.install_agent(&Agent::new().otherwise([Step::say("VERIFICATION_FAIL")]));
    let run = sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "1"]).expect_code(1);
    expect_parts(&run.stderr, &["V1 verify command is red", "see: tillgreen show V1 --output"]);
    let shown = sandbox.run(&["show", "V1"]).expect_code(0).stdout;
    let prompt = sandbox.run(&["show", "V1", "--prompt"]).expect_code(0).stdout;
    expect_parts(&prompt, &["nothing is there"]);
    expect_parts(&shown, &["✗ verify command: failed", "  │ nothing is there\n", "attempt 1 (qa, command)"]);
}

#[test]
fn plans_are_listed_and_one_is_chosen() {
    let (sandbox, agent) = prepared(&slow_learner());
    sandbox.write("specs/other/tasks.md", PLAN);
    sandbox.write("specs/empty/notes.md", "nothing yet\n");
    sandbox.write(
        ".planning/phases/03-x/03-01-PLAN.md",
        "---\nphase: 03-x\nplan: 01\n---\n<task type=\"auto\">\n  <name>Task 1: Read it</name>\n</task>\n",
    );
    sandbox.commit_all("plans");
    sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "1"]).expect_code(1);
    let listed = sandbox.run(&["list"]).expect_code(0).stdout;
    assert_eq!(
        listed,
        "  .planning/phases/03-x  0/1  not started\n\
         * demo                   0/2  stopped: retries or fix tasks are used up\n  \
         other                  0/2  not started\n"
    );
    let rows = json(&sandbox.run(&["list", "--format", "json"]).expect_code(0));
    assert_eq!((&rows[1]["state"], &rows[1]["active"]), (&Value::from("stopped"), &Value::from(true)));

    let used = sandbox.run(&["use", "other"]).expect_code(0);
    expect_parts(&used.stdout, &["'other' is the active spec now"]);
    assert_eq!(sandbox.read("specs/.current-spec"), "other\n");
    expect_parts(&sandbox.run(&["status"]).expect_code(0).stdout, &["other (specs/other/tasks.md)"]);
    let refused =
        |name: &str, parts: &[&str]| expect_parts(&sandbox.run(&["use", name]).expect_code(2).stderr, parts);
    refused("demmo", &["no spec is called 'demmo'", "did you mean `tillgreen use demo`?"]);
    refused("banana", &["`tillgreen list` shows the plans here"]);
    refused("empty", &["Tasks file missing at ./specs/empty/tasks.md"]);
    refused("../other", &["no spec is called"]);
    assert_eq!(sandbox.read("specs/.current-spec"), "other\n");
    let nowhere = Sandbox::new(Path::new(PROGRAM));
    expect_parts(
        &nowhere.run(&["list"]).expect_code(0).stdout,
        &["There are no plans here", "`tillgreen new NAME`"],
    );
    expect_parts(&nowhere.run(&["use", "x"]).expect_code(2).stderr, &["`tillgreen new NAME`"]);
}

#[test]
fn the_json_of_an_agent_is_told_in_words() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let lines = [
        r#"{"type":"assistant","message":{"id":"1","content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"I looked.\nTASK_COMPLETE"}"#,
    ];
    let say = lines.map(|line| format!("printf '%s\\n' '{line}'")).join("\n");
    sandbox.install_program("claude", &format!("cat >/dev/null\n{say}"));
    sandbox.run(&["run", "--agent", "claude", "--max-task-iterations", "1"]).expect_code(1);
    let text = sandbox.run(&["show", "1.1", "--output"]).expect_code(0).stdout;
    expect_parts(
        &text,
        &["── agent, what it did and its last words\n› Bash ls\n\nI looked.\nTASK_COMPLETE\n"],
    );
    let part = json(&sandbox.run(&["show", "1.1", "--output", "--format", "json"]).expect_code(0));
    assert_eq!(part["output"][0]["text"], format!("{}\n{}\n", lines[0], lines[1]));
}

#[test]
fn work_that_failed_in_a_tree_of_its_own_can_be_seen() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let task = |id: &str, word: &str| {
        format!(
            "- [ ] {id} [P] Write {word}\n  - **Files**: `{word}.txt`\n  - **Verify**: `grep -q right {word}.txt`\n"
        )
    };
    sandbox.spec("demo", &format!("# Tasks\n\n{}{}", task("1.1", "one"), task("1.2", "two")));
    sandbox.commit_all("plan");
    let writes = |path: &str, text: &str| [Step::write(path, text), Step::say("TASK_COMPLETE")];
    let agent = sandbox.install_agent(
        &Agent::new().on("1.1", writes("one.txt", "wrong\n")).on("1.2", writes("two.txt", "right\n")),
    );
    sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "2"]).expect_code(1);
    let failed = sandbox.run(&["show", "1.1", "--diff"]).expect_code(0).stdout;
    expect_parts(&failed, &["+++ b/one.txt\n", "+wrong\n"]);
    assert!(!failed.contains("two.txt"), "{failed}");
    let earlier = sandbox.run(&["show", "1.1", "--diff", "--attempt", "1"]).expect_code(2).stderr;
    expect_parts(&earlier, &["the next attempt went on from what attempt 1 left: one.txt"]);
    expect_parts(&sandbox.run(&["show", "1.2", "--diff"]).expect_code(0).stdout, &["+right\n"]);
}
