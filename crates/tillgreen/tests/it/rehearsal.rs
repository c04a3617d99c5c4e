//! `tillgreen agents test`: agents that play their parts, and agents that do not.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use testkit::{Finished, RealAgent, Sandbox, leave_network};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

/// How long all parts may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(1_200);

/// A command that does what is wanted of one without a model.
const PUPIL: &str = r#"
case "$TILLGREEN_REHEARSAL" in
    success) echo hello > greeting.txt; echo TASK_COMPLETE ;;
    failure) printf 'Task 1.1: Write the greeting FAILED\n- Error: the rehearsal fails on purpose\n' ;;
    hang) exec tail -f /dev/null ;;
    flood) yes flood | head -n 5000000; echo hello > greeting.txt; echo TASK_COMPLETE ;;
    cancel) setsid tail -f /dev/null & : > "$TILLGREEN_REHEARSAL_STARTED"; exec tail -f /dev/null ;;
esac
"#;

fn sandbox() -> Sandbox {
    Sandbox::new(Path::new(PROGRAM))
}

/// The scorecard of a command that is a script, as JSON.
fn card(sandbox: &Sandbox, script: &str, more: &[&str]) -> (Value, Finished) {
    sandbox.write("agent.sh", script);
    let arguments = ["agents", "test", "--agent-cmd", "sh agent.sh", "--format", "json"];
    let run = sandbox.run(&[&arguments, more].concat());
    let card = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    (card, run)
}

#[test]
fn a_command_that_plays_every_part_passes() {
    let sandbox = sandbox();
    let (card, run) = card(&sandbox, PUPIL, &[]);
    assert_eq!((run.code, &card["passed"]), (Some(0), &Value::Bool(true)), "{run}");
    let parts: Vec<&str> =
        card["parts"].as_array().expect("parts").iter().filter_map(|part| part["part"].as_str()).collect();
    assert_eq!(parts, ["success", "failure", "hang", "flood", "cancel"]);
    assert_eq!(card["folder"], Value::Null, "nothing is kept where all is well");
    sandbox.wait_until_quiet();
}

#[test]
fn what_is_not_played_is_told() {
    let check = |part: &str, script: &str, expected: &str| {
        let sandbox = sandbox();
        let (card, run) = card(&sandbox, script, &["--only", part]);
        assert_eq!((run.code, &card["passed"]), (Some(1), &Value::Bool(false)), "{run}");
        let problems = card["parts"][0]["problems"].to_string();
        assert!(problems.contains(expected), "{part}: {problems}");
        let folder = card["folder"].as_str().expect("what failed is kept");
        std::fs::remove_dir_all(folder).expect("the folder is there");
    };
    check("success", "echo TASK_COMPLETE", "an attempt failed (verify red)");
    check("success", "exit 75", "the agent was taken for unavailable");
    check("failure", "echo TASK_COMPLETE", "`claimed failure` was expected");
    check("hang", "echo TASK_COMPLETE", "`agent timeout` was expected");
    check("flood", "yes | head -c 1000000", "an attempt failed (no signal)");
    check("cancel", "echo TASK_COMPLETE", "the agent never said that it was busy");
}

#[test]
fn the_scorecard_is_for_people_too() {
    let sandbox = sandbox();
    sandbox.write("agent.sh", PUPIL);
    let run = sandbox.run(&["agents", "test", "--agent-cmd", "sh agent.sh", "--only", "success,failure"]);
    let run = run.expect_code(0);
    assert!(run.stdout.contains("✓ success") && run.stdout.contains("✓ failure"), "{run}");
    assert!(run.stdout.ends_with("\n2 of 2 parts passed\n"), "{run}");
}

#[test]
fn agents_of_the_settings_come_with_their_definition_alone() {
    let sandbox = sandbox();
    sandbox.write("agent.sh", PUPIL);
    sandbox.write("tillgreen.toml", "regression = \"false\"\n[agents.mine]\ncommand = \"sh agent.sh\"\n");
    sandbox.run(&["agents", "test", "mine", "--only", "success"]).expect_code(0);
}

#[test]
fn who_is_not_there_is_named() {
    let sandbox = sandbox();
    let unknown = sandbox.run(&["agents", "test", "nobody"]).expect_code(2);
    assert!(unknown.stderr.contains("unknown agent `nobody`"), "{unknown}");
    let missing =
        sandbox.command(&["agents", "test", "opencode"]).env("PATH", "/usr/bin:/bin").run().expect_code(2);
    assert!(missing.stderr.contains("opencode is not installed"), "{missing}");
    let part = sandbox.run(&["agents", "test", "claude", "--only", "dance"]).expect_code(2);
    assert!(part.stderr.contains("success, failure, hang, flood, cancel"), "{part}");
    sandbox.run(&["agents", "test"]).expect_code(2);
}

/// Parts, played by a real program and its own tools.
#[track_caller]
fn expect_pass(name: &str, parts: &str) {
    let program = name.trim_end_matches("-acp");
    let Some(agent) = RealAgent::find(program) else { return };
    leave_network();
    let sandbox = sandbox();
    sandbox.install_program(program, &format!("exec '{}' \"$@\"", agent.program.display()));
    let run = sandbox.command(&["agents", "test", name, "--only", parts]).deadline(PATIENCE).run();
    assert_eq!(run.code, Some(0), "{name}: {run}");
    assert!(!run.stdout.contains("the model was not asked"), "{name}: {run}");
    sandbox.wait_until_quiet();
}

#[test]
fn claude_code_passes() {
    expect_pass("claude", "success,failure,hang,flood,cancel");
}

#[test]
fn codex_passes() {
    expect_pass("codex", "success,failure,hang,flood,cancel");
}

#[test]
fn gemini_passes() {
    // What floods it and hangs takes it long, and is the same for all.
    expect_pass("gemini", "success,failure,cancel");
}

#[test]
fn gemini_over_acp_passes() {
    expect_pass("gemini-acp", "success,failure,cancel");
}

#[test]
fn pi_passes() {
    expect_pass("pi", "success,failure,cancel");
}

#[test]
fn opencode_passes() {
    // It takes long to start.
    expect_pass("opencode", "success,cancel");
}
