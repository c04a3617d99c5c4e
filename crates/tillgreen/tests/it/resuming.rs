//! The program is killed at every point of a run and started again. The end is always the same: no task lost, none
//! done twice, no fix task written twice, no budget spent twice, nothing left running.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::{Agent, Background, Finished, Sandbox, Signal, Step, wait_for};

/// A retry, a fix with a fix of its own, work that the agent commits itself, and a `[VERIFY]` that is red at first.
const PLAN: &str = "\
# Tasks

- [ ] 1.1 First
  - **Verify**: `grep -q right first.txt`
  - **Commit**: `feat: first`

- [ ] 1.2 Second
  - **Verify**: `grep -q right second.txt`
  - **Commit**: `feat: second`

- [ ] V1 [VERIFY] Everything
  - **Verify**: `test -f ok`
  - **Commit**: `chore: pass`

- [ ] 1.3 Last
  - **Verify**: `test -f last.txt`
  - **Commit**: `feat: last`
";

const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    sandbox
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// Writes a file unless it holds that already, as an agent does that looks first.
fn leave(path: &str, text: &str) -> Step {
    Step::shell(&format!("grep -qsx '{text}' {path} || echo '{text}' > {path}"))
}

fn agent() -> Agent {
    Agent::new()
        .on_attempt("1.1", 1, [Step::say("This requires manual work."), done()])
        .on("1.1", [leave("first.txt", "right"), done()])
        .on_attempt("1.2", 1, [leave("second.txt", "wrong"), done()])
        .on_attempt("1.2.1", 1, [Step::say("Task 1.2.1: x FAILED\n- Error: one more thing")])
        .on("1.2.1.1", [leave("helper.txt", "help"), leave("second.txt", "right"), done()])
        .on("1.2.1", [leave("note.txt", "noted"), done()])
        .on("1.2", [leave("extra.txt", "more"), done()])
        .on("V1", [leave("ok", "ok"), Step::say("VERIFICATION_PASS")])
        .on("1.3", [leave("last.txt", "last"), done()])
}

fn start(sandbox: &Sandbox) -> Background {
    let command = sandbox.install_agent(&agent());
    sandbox.start(&["run", "--recovery-mode", "--agent-cmd", &command])
}

/// Something that only grows while a run goes on.
type Measure = fn(&Sandbox) -> usize;

fn events(sandbox: &Sandbox) -> usize {
    lines(sandbox, JOURNAL)
}

fn commits(sandbox: &Sandbox) -> usize {
    lines(sandbox, ".git/logs/HEAD")
}

/// Ticks and fix tasks.
fn plan_edits(sandbox: &Sandbox) -> usize {
    let plan = fs::read_to_string(sandbox.root().join("specs/demo/tasks.md")).unwrap_or_default();
    plan.matches("- [x]").count() + plan.matches("[FIX").count()
}

fn lines(sandbox: &Sandbox, path: &str) -> usize {
    let text = fs::read(sandbox.root().join(path)).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// What has to be the same however often the program was killed.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    subjects: Vec<String>,
    tree: String,
    progress: String,
    dirt: Vec<String>,
    counted: Vec<String>,
}

#[track_caller]
fn outcome(sandbox: &Sandbox, finished: &Finished) -> Outcome {
    assert_eq!(finished.code, Some(0), "{finished}");
    assert_eq!(finished.stdout.lines().last(), Some("ALL_TASKS_COMPLETE"), "{finished}");
    sandbox.wait_until_quiet();
    let said = format!("{}\n{}", finished.stdout, finished.stderr);
    let is_count = |line: &&str| line.starts_with("Attempts:") || line.starts_with("Fix");
    Outcome {
        subjects: sandbox.subjects(),
        tree: sandbox.git(&["ls-tree", "-r", "HEAD"]),
        progress: sandbox.read("specs/demo/.progress.md"),
        dirt: sandbox.dirt(),
        counted: said.lines().filter(is_count).map(str::to_owned).collect(),
    }
}

fn undisturbed() -> Outcome {
    let sandbox = sandbox();
    let finished = start(&sandbox).wait();
    let outcome = outcome(&sandbox, &finished);
    assert_eq!(outcome.dirt, [""; 0], "{finished}");
    assert_eq!(outcome.counted.len(), 4, "{finished}");
    outcome
}

/// Kills the program whenever something has grown by so much, until it gets to the end.
#[track_caller]
fn check_killed(expected: &Outcome, measure: Measure, step: usize, kill: fn(&Sandbox, Background)) {
    let sandbox = sandbox();
    for lives in 1.. {
        assert!(lives < 100, "the run gets nowhere: {}", sandbox.read(JOURNAL));
        let before = measure(&sandbox);
        let mut run = start(&sandbox);
        wait_for("something to kill for", || measure(&sandbox) >= before + step || !run.is_running());
        if run.is_running() {
            kill(&sandbox, run);
            sandbox.wait_until_quiet();
            continue;
        }
        let finished = run.wait();
        assert_eq!(
            outcome(&sandbox, &finished),
            *expected,
            "killed every {step} in {lives} lives: {finished}"
        );
        return;
    }
}

/// Only the program itself: whatever it started has to end with it.
fn program_alone(_: &Sandbox, run: Background) {
    run.kill();
}

/// The program and all that it started, at once.
fn everything(sandbox: &Sandbox, _run: Background) {
    sandbox.kill_everything();
}

#[test]
fn killed_after_every_few_events() {
    let expected = undisturbed();
    for step in [3, 5, 8] {
        check_killed(&expected, events, step, program_alone);
    }
}

#[test]
fn killed_together_with_its_keepers() {
    let expected = undisturbed();
    for step in [4, 7] {
        check_killed(&expected, events, step, everything);
    }
}

#[test]
fn killed_after_every_commit_and_every_edit_of_the_plan() {
    let expected = undisturbed();
    check_killed(&expected, commits, 1, program_alone);
    check_killed(&expected, plan_edits, 1, everything);
}

/// One task; its agent leaves a file and then waits, in its first life only.
fn waiting() -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec(
        "demo",
        "- [ ] 1.1 First\n  - **Verify**: `test -f first.txt`\n  - **Commit**: `feat: first`\n",
    );
    sandbox.commit_all("plan");
    let begun = sandbox.control("begun").display().to_string();
    let wait = format!("test -e {begun} || {{ : > {begun}; while :; do sleep 600; done; }}");
    let agent = Agent::new().on("1.1", [leave("first.txt", "right"), Step::shell(&wait), done()]);
    let command = sandbox.install_agent(&agent);
    (sandbox, command)
}

/// However an attempt was cut off, it is made again under its number, and what it left belongs to the task.
#[track_caller]
fn check_cut_off(flags: &[&str], cut_off: impl FnOnce(&Sandbox, Background)) {
    let (sandbox, command) = waiting();
    let arguments = [&["run", "--max-task-iterations", "1", "--agent-cmd", &command], flags].concat();
    let run = sandbox.start(&arguments);
    wait_for("the agent to be at work", || sandbox.control("begun").exists());
    cut_off(&sandbox, run);
    let finished = sandbox.run(&arguments).expect_code(0);
    sandbox.wait_until_quiet();
    let attempts: Vec<_> = sandbox.agent_calls().iter().map(|call| call.attempt).collect();
    assert_eq!(attempts, [1, 1], "{finished}");
    assert_eq!(sandbox.subjects(), ["plan", "feat: first", "chore(spec): complete task 1.1"], "{finished}");
    assert_eq!(sandbox.dirt(), [""; 0], "{finished}");
    assert!(finished.stdout.contains("Attempts:  1, 0 failed"), "{finished}");
}

#[test]
fn a_lost_attempt_is_made_again_under_its_number() {
    check_cut_off(&[], |_, run| {
        run.kill();
    });
}

#[test]
fn what_a_lost_attempt_did_proves_something() {
    check_cut_off(&["--strict"], |_, run| {
        run.kill();
    });
}

#[test]
fn an_interrupted_attempt_is_made_again_under_its_number() {
    check_cut_off(&[], |sandbox, mut run| {
        run.signal_group(Signal::Interrupt);
        let finished = run.wait().expect_code(130);
        assert!(finished.stderr.contains("go on with `tillgreen run`"), "{finished}");
        sandbox.wait_until_quiet();
    });
}

#[test]
fn keepers_that_died_with_the_program_are_swept_up_after() {
    check_cut_off(&[], |sandbox, run| {
        let program = env!("CARGO_BIN_EXE_tillgreen");
        let is_ours = |command: &str| command.starts_with(program) || command.starts_with("tg-keeper");
        let ours = sandbox.processes().into_iter().filter(|process| is_ours(&process.command));
        let pids: Vec<String> = ours.map(|process| process.pid.to_string()).collect();
        assert!(pids.len() > 1, "{pids:?}");
        // One may end by itself when the one before it is gone.
        Command::new("kill").arg("-KILL").args(&pids).status().expect("kill is installed");
        run.wait();
    });
}

/// A run that stopped because its agent does nothing.
fn stopped() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let task = "- [ ] 1.1 Write it\n  - **Files**: `a.txt`\n  - **Verify**: `grep -q done a.txt`\n  - **Commit**: `feat: a`\n";
    sandbox.spec("demo", &format!("# Tasks\n\n{task}"));
    sandbox.commit_all("plan");
    let idle = Agent::new().otherwise([Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&idle);
    sandbox.run(&["run", "--agent-cmd", &command, "--max-task-iterations", "1"]).expect_code(1);
    assert_eq!(sandbox.agent_calls().len(), 1);
    sandbox
}

#[test]
fn what_was_mended_by_hand_and_committed_is_found_by_the_next_run() {
    let sandbox = stopped();
    sandbox.write("a.txt", "done\n");
    sandbox.commit_all("by hand");
    let run = sandbox.run(&["run"]).expect_code(0);
    assert!(sandbox.tasks("demo").contains("- [x] 1.1"), "{run}");
    assert_eq!(sandbox.agent_calls().len(), 1, "no agent is paid for it: {run}");
    assert!(run.stdout.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{run}");
}

#[test]
fn what_was_mended_by_hand_and_not_committed_is_asked_about() {
    let sandbox = stopped();
    sandbox.write("a.txt", "done\n");
    let run = sandbox.run(&["run"]).expect_code(3);
    assert!(run.stderr.contains("a.txt") && run.stderr.contains("approve"), "{run}");
    assert!(!sandbox.subjects().contains(&"feat: a".to_owned()), "nothing is committed unasked: {run}");
    let run = sandbox.run(&["answer", "approve"]).expect_code(0);
    assert!(sandbox.subjects().contains(&"feat: a".to_owned()), "{run}");
    assert_eq!(sandbox.dirt(), Vec::<String>::new(), "{run}");
    assert_eq!(sandbox.agent_calls().len(), 1, "{run}");
}

#[test]
fn what_is_still_red_goes_to_an_agent() {
    let sandbox = stopped();
    let works = Agent::new().otherwise([Step::write("a.txt", "done\n"), Step::say("TASK_COMPLETE")]);
    sandbox.install_agent(&works);
    let run = sandbox.run(&["run"]).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 2, "{run}");
    assert!(sandbox.agent_calls()[1].prompt.contains("<retry_context"), "{run}");
}

#[test]
fn a_run_works_on_the_branch_that_it_is_told_and_says_how_to_go_back() {
    let sandbox = stopped();
    let works = Agent::new().otherwise([Step::write("a.txt", "done\n"), Step::say("TASK_COMPLETE")]);
    sandbox.install_agent(&works);
    let before = sandbox.git(&["rev-parse", "HEAD"]);
    let run = sandbox.run(&["run", "--branch", "work"]).expect_code(0);
    assert_eq!(sandbox.git(&["branch", "--show-current"]).trim(), "work", "{run}");
    assert_eq!(sandbox.git(&["rev-parse", "main"]), before, "{run}");
    assert!(run.stdout.contains("(back to it: git reset --keep "), "{run}");
    let run = sandbox.run(&["run", "--branch", "-x"]).expect_code(2);
    assert!(run.stderr.contains("-x"), "{run}");
}

#[test]
fn what_was_mended_by_hand_is_found_behind_a_fix_task_as_well() {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let task = "- [ ] 1.1 Write it\n  - **Files**: `a.txt`\n  - **Verify**: `grep -q done a.txt`\n";
    sandbox.spec("demo", &format!("# Tasks\n\n{task}"));
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&Agent::new().otherwise([Step::say("TASK_COMPLETE")]));
    let flags = ["run", "--agent-cmd", &command, "--recovery-mode", "--max-fix-depth", "1"];
    sandbox.run(&flags).expect_code(1);
    let calls = sandbox.agent_calls().len();
    sandbox.write("a.txt", "done\n");
    sandbox.commit_all("by hand");
    let run = sandbox.run(&flags).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), calls, "no agent is paid for it: {run}");
    assert!(run.stdout.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{run}");
}
