//! Every command as a person or a script uses it: what it prints, how it exits, and what it leaves alone.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Files**: `one.txt`
  - **Verify**: `grep -q one one.txt`
  - **Commit**: `feat: write one`

- [ ] 1.2 Write two
  - **Files**: `two.txt`
  - **Verify**: `grep -q two two.txt`
  - **Commit**: `feat: write two`
";

const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";

fn prepared(agent: &Agent) -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(agent);
    (sandbox, command)
}

fn worker() -> Agent {
    Agent::new().on("1.1", writes("one")).on("1.2", writes("two"))
}

fn writes(word: &str) -> [Step; 2] {
    [Step::write(&format!("{word}.txt"), &format!("{word}\n")), Step::say("TASK_COMPLETE")]
}

/// An agent that claims the first task and never does it.
fn liar() -> Agent {
    Agent::new().on("1.1", [Step::say("TASK_COMPLETE")]).on("1.2", writes("two"))
}

/// A run that has asked a person about 1.1 after two attempts. The agent can do it from the third one on.
fn asking() -> (Sandbox, String) {
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::say("TASK_COMPLETE")])
        .on_attempt("1.1", 2, [Step::say("TASK_COMPLETE")])
        .on("1.1", writes("one"))
        .on("1.2", writes("two"));
    let (sandbox, command) = prepared(&agent);
    let asks = ["run", "--agent-cmd", &command, "--max-task-iterations", "2", "--on-exhausted", "ask"];
    sandbox.run(&asks).expect_code(3);
    (sandbox, command)
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("not JSON: {error}\n{finished}"))
}

fn json_lines(finished: &Finished) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    finished.stdout.lines().map(parse).collect()
}

/// The kinds of the events, in order.
fn kinds(events: &[Value]) -> Vec<String> {
    let kind = |event: &Value| {
        let what = &event["what"];
        let key = what.as_object().and_then(|what| what.keys().next().map(String::as_str));
        key.or(what.as_str()).unwrap_or_default().to_owned()
    };
    events.iter().map(kind).collect()
}

fn says_all_complete(finished: &Finished) -> bool {
    let both = format!("{}\n{}", finished.stdout, finished.stderr);
    both.lines().any(|line| line.contains("ALL_TASKS_COMPLETE"))
}

#[track_caller]
fn expect_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn init_writes_settings_that_work_and_overwrites_nothing() {
    let (sandbox, agent) = prepared(&worker());
    let init = sandbox.run(&["init"]).expect_code(0);
    expect_parts(&init.stdout, &["tillgreen.toml"]);
    let text = sandbox.read("tillgreen.toml");
    expect_parts(&text, &["# recovery_mode = false", "# max_task_iterations = 5"]);
    let again = sandbox.run(&["init"]).expect_code(2);
    expect_parts(&again.stderr, &["tillgreen.toml exists already", "hint: "]);
    assert_eq!(sandbox.read("tillgreen.toml"), text);
    sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);

    sandbox.install_program("claude", "cat >/dev/null; echo TASK_COMPLETE");
    fs::remove_file(sandbox.root().join("tillgreen.toml")).unwrap();
    sandbox.run(&["init"]).expect_code(0);
    let agents = json(&sandbox.run(&["agents", "--format", "json"]).expect_code(0));
    let claude = agents.as_array().unwrap().iter().find(|agent| agent["name"] == "claude").unwrap();
    assert_eq!((&claude["defined"], &claude["installed"]), (&Value::Bool(false), &Value::Bool(true)));
    let listed = sandbox.run(&["agents"]).expect_code(0);
    expect_parts(&listed.stdout, &["✓ claude", "`tillgreen run` uses claude unless told otherwise"]);
}

#[test]
fn new_makes_a_plan_that_can_be_checked_and_run() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let made = sandbox.run(&["new", "auth", "Let", "people", "in"]).expect_code(0);
    expect_parts(&made.stdout, &["specs/auth/tasks.md", "tillgreen check"]);
    assert_eq!(sandbox.read("specs/.current-spec").trim(), "auth");
    expect_parts(&sandbox.read("specs/auth/tasks.md"), &["Let people in", "- [ ] 1.1"]);
    sandbox.run(&["check"]).expect_code(0);
    let before = sandbox.read("specs/auth/tasks.md");
    let again = sandbox.run(&["new", "auth"]).expect_code(2);
    expect_parts(&again.stderr, &["exists already", "hint: "]);
    assert_eq!(sandbox.read("specs/auth/tasks.md"), before);
    for name in ["", ".", "..", "a/b", "/etc", "-x", ".hidden", "a\nb", "a\u{0007}b"] {
        let refused = sandbox.run(&["new", "--", name]).expect_code(2);
        expect_parts(&refused.stderr, &["a spec cannot be called", "hint: "]);
    }
    assert_eq!(sandbox.read("specs/.current-spec").trim(), "auth");
    let agent = sandbox.install_agent(
        &Agent::new()
            .otherwise([Step::write("NOTES.md", "# Auth\n\nLet people in\n"), Step::say("TASK_COMPLETE")]),
    );
    let run = sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);
    assert!(says_all_complete(&run), "{run}");
}

const EVERY_KIND: &str = "\
# Tasks

## Phase 1: All kinds

- [x] 1.1 Done
  - **Verify**: `true`
- [ ] 1.2 [P] One command
  - **Verify**: `cargo test`
- [ ] 1.3 Several
  - **Verify**: `a` and then `b`
- [ ] 1.4 Prose
  - **Verify**: look at it
- [ ] 1.5 Nothing
- [ ] V1 [VERIFY] Quality
  - **Verify**: `make lint || true`
- [ ] 1.6 Elsewhere
  - **Verify**: `grep -q x /home/nobody/at-all`
- [ ] 1.6 Twice
  - **Verify**: `true`
";

#[test]
fn check_shows_tasks_and_problems() {
    let (sandbox, _) = prepared(&worker());
    sandbox.write("specs/demo/tasks.md", EVERY_KIND);
    let text = sandbox.run(&["check"]).expect_code(0).stdout;
    expect_parts(
        &text,
        &[
            "✓ 1.1",
            "[P] One command",
            "cargo test",
            "prose: look at it",
            "nothing verifies it",
            "[VERIFY] Quality",
            "/home/nobody/at-all, which does not exist here",
            "specs/demo/tasks.md:18: warning:",
            "8 tasks, 1 done",
            "0 errors",
        ],
    );
    let report = json(&sandbox.run(&["check", "--format", "json"]).expect_code(0));
    assert_eq!(report["tasks"].as_array().unwrap().len(), 8);
    assert_eq!((&report["errors"], &report["tasks"][4]["verify"]), (&Value::from(0), &Value::from("none")));
    assert!(report["warnings"].as_u64().unwrap() >= 4, "{report:#}");

    let needy =
        format!("{EVERY_KIND}- [ ] 1.8 Needs something\n  - **Verify**: `nosuchtool --check; touch ran`\n");
    sandbox.write("specs/demo/tasks.md", needy);
    let text = sandbox.run(&["check"]).expect_code(0).stdout;
    expect_parts(&text, &["the verify command of 1.8 needs nosuchtool, which is not on PATH here"]);
    assert!(!text.contains("needs touch") && !sandbox.has("ran"), "{text}");

    sandbox.write("specs/demo/tasks.md", format!("{EVERY_KIND}- [] 1.7 Malformed\n"));
    let text = sandbox.run(&["check"]).expect_code(2).stdout;
    expect_parts(&text, &["specs/demo/tasks.md:20: error: ", "1.7", "1 error,"]);
    let report = json(&sandbox.run(&["check", "--format", "json"]).expect_code(2));
    assert_eq!(report["errors"], 1);
    assert!(!sandbox.has(".tillgreen"), "it only reads");
    let below = sandbox.root().join("specs/demo");
    expect_parts(&sandbox.command(&["check", "demo"]).dir(&below).run().stdout, &["8 tasks"]);
}

#[track_caller]
fn stands(sandbox: &Sandbox, state: &str, said: &[&str]) -> Value {
    let text = sandbox.run(&["status"]).expect_code(0);
    expect_parts(&text.stdout, said);
    let value = json(&sandbox.run(&["status", "--format", "json"]).expect_code(0));
    assert_eq!(value["state"], state, "{value:#}");
    value
}

#[test]
fn status_in_every_state() {
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::shell("exit 3")])
        .on_attempt("1.1", 2, [Step::Hang])
        .on("1.2", writes("two"));
    let (sandbox, command) = prepared(&agent);
    stands(
        &sandbox,
        "not_started",
        &["State     not started", "Tasks     0/2 done", "Next      tillgreen run"],
    );

    let run = sandbox.start(&["run", "--agent-cmd", &command, "--max-task-iterations", "2"]);
    wait_for("the second attempt", || sandbox.agent_calls().len() == 2);
    let pid = format!("(process {} since ", run.pid());
    let value = stands(&sandbox, "running", &["State     running", &pid, "Failure   1.1 attempt 1"]);
    assert_eq!((&value["pid"], &value["current"]["task"]), (&Value::from(run.pid()), &Value::from("1.1")));
    assert_eq!(value["current"]["attempt"], 2);

    run.kill();
    let value =
        stands(&sandbox, "crashed", &["State     crashed", "nothing is lost", "Next      tillgreen run"]);
    assert_eq!(value["pid"], Value::Null);

    let agent = sandbox.install_agent(&liar());
    sandbox.run(&["run", "--agent-cmd", &agent, "--max-task-iterations", "2"]).expect_code(1);
    let value = stands(&sandbox, "stopped", &["State     stopped", "Failure   1.1 attempt 2"]);
    assert_eq!(value["tasks"]["failed_attempts"], 2);

    let ask = ["run", "--agent-cmd", &agent, "--max-task-iterations", "1", "--on-exhausted", "ask"];
    sandbox.run(&ask).expect_code(3);
    let value = stands(
        &sandbox,
        "paused",
        &["waits for an answer", "## Task Escalation Required", "tillgreen answer"],
    );
    assert_eq!(value["question"]["task"], "1.1");

    sandbox.run(&["answer", "abort"]).expect_code(7);
    stands(&sandbox, "aborted", &["State     aborted"]);
    let agent = sandbox.install_agent(&worker());
    sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);
    let value = stands(&sandbox, "complete", &["State     complete", "Tasks     2/2 done"]);
    assert_eq!((&value["next"], &value["question"]), (&Value::Null, &Value::Null));
}

#[test]
fn the_log_in_text_and_json() {
    let (sandbox, command) = prepared(&worker());
    let early = sandbox.run(&["log"]).expect_code(2);
    expect_parts(&early.stderr, &["has not been run yet", "`tillgreen run`"]);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    let text = sandbox.run(&["log"]).expect_code(0);
    expect_parts(
        &text.stdout,
        &["round 1 opened: 0/2 tasks done", "✓ 1.1 done", "✓ 1.2 done", "all 2 tasks complete"],
    );
    assert!(!says_all_complete(&text));
    let events = json_lines(&sandbox.run(&["log", "--format", "json"]).expect_code(0));
    assert_eq!(events.len(), text.stdout.lines().count());
    assert_eq!(kinds(&events).first().map(String::as_str), Some("opened"));
    assert_eq!(kinds(&events).last().map(String::as_str), Some("ended"));
    let followed = sandbox.run(&["log", "-f"]).expect_code(0);
    assert_eq!(followed.stdout, text.stdout, "a run that is over is not waited for");
}

#[test]
fn the_log_follows_a_run_to_its_end() {
    let (sandbox, _) = prepared(&worker());
    let gate = sandbox.control("gate");
    let agent = Agent::new()
        .on("1.1", writes("one"))
        .on("1.2", [Step::await_file(&gate), Step::write("two.txt", "two\n"), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let mut log = sandbox.start(&["log", "--follow"]);
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the log to show the second task", || log.stdout().contains("1.2 Write two: attempt 1"));
    assert!(log.is_running());
    assert!(!log.stdout().contains("✓ 1.2 done"));
    sandbox.release("gate");
    run.wait().expect_code(0);
    let log = log.wait().expect_code(0);
    expect_parts(&log.stdout, &["✓ 1.2 done", "all 2 tasks complete"]);
}

#[test]
fn cancel_stops_a_run_and_loses_nothing() {
    let agent = Agent::new().on_attempt("1.1", 1, [Step::Hang]).on("1.2", writes("two"));
    let (sandbox, command) = prepared(&agent);
    let idle = sandbox.run(&["cancel"]).expect_code(0);
    expect_parts(&idle.stdout, &["No run of 'demo' is under way."]);
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the agent", || !sandbox.agent_calls().is_empty());
    let pid = run.pid();
    let cancelled = json(&sandbox.run(&["cancel", "--format", "json"]).expect_code(0));
    assert_eq!((&cancelled["stopped"], &cancelled["pid"]), (&Value::Bool(true), &Value::from(pid)));
    run.wait().expect_code(130);
    sandbox.wait_until_quiet();
    stands(&sandbox, "interrupted", &["State     interrupted"]);
    let agent = sandbox.install_agent(&worker());
    sandbox.run(&["run", "--agent-cmd", &agent]).expect_code(0);
}

#[test]
fn answers_that_are_refused_leave_the_question_open() {
    let (sandbox, command) = prepared(&worker());
    let none = sandbox.run(&["answer", "retry"]).expect_code(2);
    expect_parts(&none.stderr, &["no question of 'demo' is open", "`tillgreen status`"]);
    drop((sandbox, command));
    let (sandbox, _) = asking();
    let before = sandbox.read(JOURNAL);
    for word in ["maybe", "", "fix", "fix:", "approve", "reject: no", "retry please"] {
        let refused = sandbox.run(&["answer", word]).expect_code(2);
        expect_parts(&refused.stderr, &["error: ", "hint: "]);
    }
    assert_eq!(sandbox.read(JOURNAL), before);
    stands(&sandbox, "paused", &["waits for an answer"]);
    assert_eq!(sandbox.agent_calls().len(), 2);
}

#[test]
fn an_answer_goes_on_with_the_settings_of_the_run() {
    let (sandbox, _) = asking();
    let answered = sandbox.run(&["answer", "demo", "retry"]).expect_code(0);
    assert!(says_all_complete(&answered), "{answered}");
    let calls: Vec<_> = sandbox.agent_calls().iter().map(|call| (call.task.clone(), call.attempt)).collect();
    let expected = [("1.1", 1), ("1.1", 2), ("1.1", 3), ("1.2", 1)];
    assert_eq!(calls, expected.map(|(task, attempt)| (task.to_owned(), attempt)));
    let events = json_lines(&sandbox.run(&["log", "--format", "json"]));
    let launches: Vec<_> =
        events.iter().filter_map(|event| event["what"]["opened"]["launch"].as_object().cloned()).collect();
    assert_eq!(launches.len(), 2);
    assert_eq!(launches[0], launches[1]);
}

#[test]
fn an_instruction_reaches_the_agent_and_is_one_attempt() {
    let (sandbox, _) = asking();
    sandbox.run(&["answer", "fix: write the word one into one.txt"]).expect_code(0);
    let third = &sandbox.agent_calls()[2];
    expect_parts(&third.prompt, &["write the word one into one.txt"]);
    assert_eq!(third.attempt, 3);

    let (sandbox, command) = prepared(&liar());
    let ask = ["run", "--agent-cmd", &command, "--max-task-iterations", "2", "--on-exhausted", "ask"];
    sandbox.run(&ask).expect_code(3);
    sandbox.run(&["answer", "fix: try harder"]).expect_code(3);
    assert_eq!(sandbox.agent_calls().len(), 3, "failing, it asks again");
}

#[test]
fn skipping_completes_with_a_skip() {
    let (sandbox, _) = asking();
    let skipped = sandbox.run(&["answer", "skip"]).expect_code(0);
    assert!(!says_all_complete(&skipped), "{skipped}");
    expect_parts(&format!("{}{}", skipped.stdout, skipped.stderr), &["Skipped:   1 task (1.1)"]);
    expect_parts(&sandbox.tasks("demo"), &["- [ ] 1.1", "- [x] 1.2"]);
    let again = sandbox.run(&["run", "--agent-cmd", "true"]).expect_code(0);
    assert!(!says_all_complete(&again), "skipped stays skipped\n{again}");
}

#[test]
fn aborting_has_its_own_exit_code() {
    let (sandbox, command) = asking();
    let aborted = sandbox.run(&["answer", "abort"]).expect_code(7);
    expect_parts(&aborted.stderr, &["the run was aborted", "`tillgreen run`"]);
    assert_eq!(sandbox.agent_calls().len(), 2);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
}

#[test]
fn an_answer_can_be_noted_for_later() {
    let (sandbox, _) = asking();
    let noted = sandbox.run(&["answer", "--no-run", "fix: use the word one"]).expect_code(0);
    expect_parts(&noted.stdout, &["The answer is noted", "`tillgreen run`"]);
    assert_eq!(sandbox.agent_calls().len(), 2, "nothing is started");
    sandbox.run(&["answer", "retry"]).expect_code(8);
    sandbox.run(&["run"]).expect_code(0);
    expect_parts(&sandbox.agent_calls()[2].prompt, &["use the word one"]);

    let (sandbox, _) = asking();
    sandbox.run(&["answer", "--no-run", "skip"]).expect_code(0);
    let run = sandbox.run(&["run"]).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 3);
    assert!(!says_all_complete(&run), "{run}");
    let (sandbox, _) = asking();
    sandbox.run(&["answer", "--no-run", "abort"]).expect_code(7);
}

#[test]
fn a_dry_run_changes_nothing() {
    let (sandbox, command) = prepared(&worker());
    let head = sandbox.git(&["rev-parse", "HEAD"]);
    let dry = sandbox.run(&["run", "--agent-cmd", &command, "--dry-run"]).expect_code(0);
    expect_parts(&dry.stdout, &["1.1", "1.2"]);
    assert!(!says_all_complete(&dry));
    assert!(sandbox.agent_calls().is_empty() && !sandbox.has(".tillgreen"));
    assert_eq!((sandbox.tasks("demo").as_str(), sandbox.dirt().len()), (PLAN, 0));
    assert_eq!(sandbox.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn only_a_complete_run_says_so_on_one_line() {
    let (sandbox, command) = prepared(&worker());
    let run = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    assert_eq!(run.stdout.lines().filter(|line| *line == "ALL_TASKS_COMPLETE").count(), 1, "{run}");
    assert_eq!(run.stdout.lines().last(), Some("ALL_TASKS_COMPLETE"));
    assert!(!run.stderr.contains("ALL_TASKS_COMPLETE"));
    let again = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    assert!(says_all_complete(&again), "a plan that is complete says so again\n{again}");
    assert_eq!(sandbox.agent_calls().len(), 2);
    for arguments in [["status"].as_slice(), &["log"], &["check"], &["log", "--format", "json"], &["cancel"]]
    {
        assert!(!says_all_complete(&sandbox.run(arguments)), "{arguments:?}");
    }
}

#[test]
fn texts_of_others_cannot_claim_completion() {
    let plan = PLAN.replace("Write one", "ALL_TASKS_COMPLETE");
    let agent = Agent::new().on(
        "1.1",
        [
            Step::say("\nALL_TASKS_COMPLETE\n"),
            Step::Complain("ALL_TASKS_COMPLETE".to_owned()),
            Step::say("TASK_COMPLETE"),
        ],
    );
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec(
        "demo",
        &plan.replace(
            "`grep -q one one.txt`",
            "`echo ALL_TASKS_COMPLETE; echo ALL_TASKS_COMPLETE >&2; false`",
        ),
    );
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&agent);
    let ask = ["run", "--agent-cmd", &command, "--max-task-iterations", "1", "--on-exhausted", "ask"];
    for run in [sandbox.run(&ask), sandbox.run(&["status"]), sandbox.run(&["log"])] {
        let both = format!("{}\n{}", run.stdout, run.stderr);
        assert!(!both.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{run}");
    }
}

#[test]
fn a_run_for_programs_prints_its_events() {
    let (sandbox, command) = prepared(&worker());
    let run = sandbox.run(&["run", "--agent-cmd", &command, "--format", "json"]).expect_code(0);
    let events = json_lines(&run);
    assert_eq!(events, json_lines(&sandbox.run(&["log", "--format", "json"])), "the same as in the journal");
    assert_eq!(events.last().unwrap()["what"]["ended"]["complete"]["skipped"], 0);

    let (sandbox, command) = prepared(&liar());
    let arguments = ["run", "--agent-cmd", &command, "--format", "json", "--max-task-iterations", "1"];
    let run = sandbox.run(&arguments).expect_code(1);
    assert_eq!(kinds(&json_lines(&run)).last().map(String::as_str), Some("ended"));
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(error["code"], 1);
    expect_parts(error["error"].as_str().unwrap(), &["Max retries reached for task 1.1 after 1 attempt"]);
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let (sandbox, command) = prepared(&worker());
    let pipes = |arguments: &str| {
        let script = format!("{{ '{PROGRAM}' {arguments}; echo \"code $?\" >&2; }} | head -n 1");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).current_dir(sandbox.root()).env_clear().envs(sandbox.environment());
        let output = shell.stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let run = pipes(&format!("run --format json --agent-cmd \"{command}\""));
    expect_parts(&run, &["code 0"]);
    for arguments in ["log", "log --format json", "check", "--help", "man", "completions bash", "status"] {
        let said = pipes(arguments);
        assert!(!said.contains("panicked") && !said.contains("error"), "{arguments}: {said}");
    }
    assert_eq!(sandbox.agent_calls().len(), 2, "the run went on to its end");
}

/// What the latest round was started with.
fn launch(sandbox: &Sandbox) -> Value {
    let events = json_lines(&sandbox.run(&["log", "--format", "json"]));
    let opened = events.iter().rev().find_map(|event| event["what"].get("opened"));
    opened.expect("a run was opened")["launch"].clone()
}

#[test]
fn settings_come_from_flag_then_file_then_run_then_default() {
    let (sandbox, command) = prepared(&liar());
    let first =
        ["run", "--agent-cmd", &command, "--recovery-mode", "--max-fix-tasks", "1", "--max-fix-depth", "1"];
    sandbox.run(&first).expect_code(1);
    let launched = launch(&sandbox);
    assert_eq!(
        (&launched["recovery_mode"], &launched["max_fix_tasks"]),
        (&Value::from("true"), &Value::from("1"))
    );

    sandbox.write("tillgreen.toml", "max_fix_tasks = 2\nmax_fix_depth = 1\nverify_timeout = \"1m\"\n");
    sandbox.run(&["run", "--verify-timeout", "90s"]).expect_code(1);
    let launched = launch(&sandbox);
    assert_eq!(launched["agent_cmd"], command.as_str(), "inherited");
    assert_eq!(launched["recovery_mode"], "true", "inherited");
    assert_eq!(launched["max_fix_tasks"], "2", "limits are not inherited");
    assert_eq!(launched["verify_timeout"].as_str().map(|time| time == "1m30s" || time == "90s"), Some(true));
    assert_eq!(launched["max_task_iterations"], "5");

    sandbox.run(&["run", "--recovery-mode=false", "--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(launch(&sandbox)["recovery_mode"], "false");
}

#[test]
fn folders_and_plans_can_be_named() {
    let (sandbox, command) = prepared(&worker());
    sandbox.write("src/deep/x.txt", "");
    sandbox.commit_all("folders");
    let deep = sandbox.root().join("src/deep");
    let root = sandbox.root().display().to_string();
    let run = sandbox.command(&["run", "--agent-cmd", &command]).dir(&deep).run().expect_code(0);
    assert!(says_all_complete(&run));
    let elsewhere = sandbox.control("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let cases: [&[&str]; 5] = [
        &["status"],
        &["status", "demo"],
        &["status", "../../specs/demo"],
        &["status", "../../specs/demo/tasks.md"],
        &["-C", "../..", "status", "specs/demo"],
    ];
    for arguments in cases {
        let status = sandbox.command(arguments).dir(&deep).run().expect_code(0);
        expect_parts(&status.stdout, &["demo (specs/demo/tasks.md)", "complete"]);
    }
    let status = sandbox.command(&["status", "-C", &root]).dir(&elsewhere).run().expect_code(0);
    expect_parts(&status.stdout, &["demo (specs/demo/tasks.md)"]);
    let wrong = sandbox.command(&["status", "-C", "no/such"]).dir(&elsewhere).run().expect_code(2);
    expect_parts(&wrong.stderr, &["no/such is not a folder"]);
}

#[test]
fn hints_are_commands_that_work_where_they_are_read() {
    let (sandbox, _) = prepared(&worker());
    let elsewhere = sandbox.control("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let root = sandbox.root().display().to_string();
    let status = sandbox
        .command(&["-C", &root, "status", "demo", "--format", "json"])
        .dir(&elsewhere)
        .run()
        .expect_code(0);
    let next = json(&status)["next"].as_str().unwrap().to_owned();
    assert_eq!(next, format!("tillgreen -C {root} run demo"));
}

#[test]
fn help_version_and_the_rest() {
    let sandbox = Sandbox::without_git(Path::new(PROGRAM));
    let help = sandbox.run(&["--help"]).expect_code(0);
    let commands = [
        "demo",
        "init",
        "new",
        "check",
        "run",
        "status",
        "answer",
        "cancel",
        "clean",
        "log",
        "agents",
        "completions",
        "man",
    ];
    expect_parts(&help.stdout, &commands);
    expect_parts(&help.stdout, &["Exit codes:", "130  interrupted"]);
    for command in commands {
        let text = sandbox.run(&[command, "--help"]).expect_code(0).stdout;
        expect_parts(&text, &["Usage: tillgreen", command]);
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }
    let version = sandbox.run(&["--version"]).expect_code(0);
    assert_eq!(version.stdout.trim(), format!("tillgreen {}", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.run(&["completions", shell]).expect_code(0).stdout;
        expect_parts(&script, &["tillgreen", "recovery-mode"]);
    }
    expect_parts(&sandbox.run(&["man"]).expect_code(0).stdout, &[".TH", "tillgreen"]);
    for wrong in [["rum"].as_slice(), &["run", "--no-such-flag"], &["completions", "tcsh"], &[]] {
        let refused = sandbox.run(wrong).expect_code(2);
        assert!(!refused.stderr.is_empty() && refused.stdout.is_empty(), "{refused}");
    }
}

/// Runs the program at a terminal, typing a text in advance; none, with a line that says so, where that cannot be.
fn at_terminal(sandbox: &Sandbox, arguments: &str, typed: &str) -> Option<(Option<i32>, String)> {
    let can = Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: no program here that makes a terminal");
        return None;
    }
    let input = sandbox.control("typed");
    fs::write(&input, typed).expect("a control file can be written");
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &format!("'{PROGRAM}' {arguments}"), "/dev/null"]);
    command.current_dir(sandbox.root()).env_clear().envs(sandbox.environment()).env("TERM", "xterm");
    command.stdin(fs::File::open(&input).expect("it was just written"));
    let output = command.output().expect("it could be started a moment ago");
    Some((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn at_a_terminal_the_question_is_asked_there() {
    let (sandbox, command) = prepared(&worker());
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::say("TASK_COMPLETE")])
        .on("1.1", writes("one"))
        .on("1.2", writes("two"));
    sandbox.install_agent(&agent);
    let run = format!("run --agent-cmd \"{command}\" --max-task-iterations 1 --on-exhausted ask");
    let Some((code, screen)) = at_terminal(&sandbox, &run, "hm\nfix: write one\n") else { return };
    assert_eq!(code, Some(0), "{screen}");
    expect_parts(
        &screen,
        &["Task Escalation Required", "`hm` is not an answer", "Your answer: ", "ALL_TASKS_COMPLETE"],
    );
    expect_parts(&sandbox.agent_calls()[1].prompt, &["write one"]);
}

#[test]
fn at_a_terminal_an_answer_that_was_given_is_not_asked_for() {
    let (sandbox, _) = asking();
    let Some((code, screen)) = at_terminal(&sandbox, "answer retry", "") else { return };
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains("Your answer"), "{screen}");
}

#[test]
fn a_part_of_a_larger_repository_has_plans_of_its_own() {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let plan =
        |name: &str| format!("# Tasks\n\n- [ ] 1.1 Make {name}\n  - **Verify**: `test -s {name}.txt`\n");
    sandbox.spec("whole", &plan("whole"));
    sandbox.write("packages/app/specs/part/tasks.md", plan("part"));
    sandbox.write("packages/app/src/main.txt", "");
    sandbox.commit_all("plans");
    let inside = sandbox.root().join("packages/app/src");
    let run = |arguments: &[&str]| sandbox.command(arguments).dir(&inside).run().expect_code(0);
    let listed = run(&["list"]).stdout;
    assert!(listed.contains("  part ") && listed.contains("specs/whole"), "{listed}");
    run(&["use", "part"]);
    assert_eq!(sandbox.read("packages/app/specs/.current-spec"), "part\n");
    assert!(run(&["check"]).stdout.contains("Make part"));
    assert!(sandbox.run(&["check", "whole"]).expect_code(0).stdout.contains("Make whole"));
}
