//! The program is killed at every point of a run and started again. The end is always the same: no task lost, none
//! done twice, no fix task written twice, no budget spent twice, nothing left running.

use std::fs;
use std::path::Path;

use testkit::{Agent, Background, Finished, Sandbox, Step, wait_for};

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
        .on("1.2.1.1", [leave("helper.txt", "help"), done()])
        .on("1.2.1", [leave("second.txt", "right"), done()])
        .on("1.2", [leave("extra.txt", "more"), done()])
        .on("V1", [leave("ok", "ok"), Step::say("VERIFICATION_PASS")])
        .on("1.3", [leave("last.txt", "last"), done()])
}

fn start(sandbox: &Sandbox) -> Background {
    let command = sandbox.install_agent(&agent());
    sandbox.start(&["run", "--recovery-mode", "--agent-cmd", &command])
}

fn events(sandbox: &Sandbox) -> usize {
    let journal = fs::read(sandbox.root().join(JOURNAL)).unwrap_or_default();
    journal.iter().filter(|byte| **byte == b'\n').count()
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
    let said = format!("{}{}", finished.stdout, finished.stderr);
    let counted = said.lines().filter(|line| ["Tasks: ", "Fix tasks:", "Attempts:", "Fixed:"].iter().any(|start| line.starts_with(start) && !line.contains("0/")));
    Outcome {
        subjects: sandbox.subjects(),
        tree: sandbox.git(&["ls-tree", "-r", "HEAD"]),
        progress: sandbox.read("specs/demo/.progress.md"),
        dirt: sandbox.dirt(),
        counted: counted.filter(|line| line.starts_with("Attempts:") || line.starts_with("Fix")).map(str::to_owned).collect(),
    }
}

/// A run that nobody disturbs: how it ends, and how many lines its journal gets.
fn undisturbed() -> (Outcome, usize) {
    let sandbox = sandbox();
    let finished = start(&sandbox).wait();
    (outcome(&sandbox, &finished), events(&sandbox))
}

/// Waits until the journal has so many lines, or the run is over.
fn follow(sandbox: &Sandbox, run: &mut Background, lines: usize) {
    wait_for("the journal to grow", || events(sandbox) >= lines || !run.is_running());
}

/// Kills the program when its journal has so many lines, for every number of lines that is `start` modulo `step`.
#[track_caller]
fn check_every(start_at: usize, step: usize) {
    let (expected, lines) = undisturbed();
    assert!(lines > 30, "the plan is worth killing the program in: {lines}");
    for at in (start_at..lines).step_by(step) {
        let sandbox = sandbox();
        let mut run = start(&sandbox);
        follow(&sandbox, &mut run, at);
        run.kill();
        sandbox.wait_until_quiet();
        let finished = start(&sandbox).wait();
        assert_eq!(outcome(&sandbox, &finished), expected, "killed at line {at}: {finished}");
    }
}

#[test]
fn killed_at_any_line_of_the_journal_the_end_is_the_same() {
    check_every(0, 2);
}

#[test]
fn killed_at_any_other_line_of_the_journal_the_end_is_the_same() {
    check_every(1, 2);
}
