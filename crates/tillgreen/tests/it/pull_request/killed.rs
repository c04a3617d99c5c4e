//! The program is killed at every step of a lifecycle and started again: one pull request, no task asked for or
//! done twice, one answer for each thread.

use std::fs;

use testkit::forge::Forge;
use testkit::{Background, Sandbox, wait_for};

use super::lifecycle::eventful;
use super::scratch::{PLAN, QUICK, agent, pushed, scratch};

const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";

/// What has happened to the pull request so far.
fn steps(sandbox: &Sandbox, _: &Forge) -> usize {
    let text = fs::read_to_string(sandbox.root().join(JOURNAL)).unwrap_or_default();
    text.matches("\"what\":{\"pull_request\":").count()
}

/// What the forge was asked so far: a kill right after that comes before anything is in the journal.
fn calls(_: &Sandbox, forge: &Forge) -> usize {
    forge.hub().calls.len()
}

/// Something that only grows while a run goes on.
type Measure = fn(&Sandbox, &Forge) -> usize;

fn begin(sandbox: &Sandbox, forge: &Forge) -> Background {
    let command = sandbox.install_agent(&agent());
    forge.begin(sandbox, &[&["run", "--agent-cmd", command.as_str(), "--pr-reply"][..], &QUICK].concat())
}

/// What has to be the same however often the program was killed.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    subjects: Vec<String>,
    boxes: Vec<String>,
    pushed: usize,
    pulls: usize,
    answers: Vec<String>,
}

fn outcome(sandbox: &Sandbox, forge: &Forge) -> Outcome {
    let tasks = sandbox.tasks("demo");
    let hub = forge.hub();
    Outcome {
        subjects: sandbox.subjects(),
        boxes: tasks.lines().filter(|line| line.starts_with("- [")).map(str::to_owned).collect(),
        pushed: pushed(sandbox, "feature").len(),
        pulls: hub.pulls.len(),
        answers: hub.answers.iter().map(|(thread, _)| thread.clone()).collect(),
    }
}

#[track_caller]
fn check_killed_every(measure: Measure, step: usize, expected: &Outcome) {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(eventful);
    for lives in 1.. {
        assert!(lives < 100, "the run gets nowhere: {}", sandbox.read(JOURNAL));
        let before = measure(&sandbox, &forge);
        let mut run = begin(&sandbox, &forge);
        wait_for("something to kill for", || measure(&sandbox, &forge) >= before + step || !run.is_running());
        if run.is_running() {
            run.kill();
            sandbox.wait_until_quiet();
            continue;
        }
        let finished = run.wait();
        assert_eq!(finished.code, Some(0), "killed every {step}: {finished}");
        assert_eq!(outcome(&sandbox, &forge), *expected, "killed every {step}: {finished}");
        return;
    }
}

fn undisturbed() -> Option<Outcome> {
    let (sandbox, forge) = scratch(PLAN)?;
    forge.shows(eventful);
    let finished = begin(&sandbox, &forge).wait().expect_code(0);
    let outcome = outcome(&sandbox, &forge);
    assert_eq!((outcome.pulls, outcome.answers.len()), (1, 2), "{finished}");
    Some(outcome)
}

#[test]
fn at_every_step() {
    let Some(expected) = undisturbed() else { return };
    for step in [1, 2, 3] {
        check_killed_every(steps, step, &expected);
    }
}

#[test]
fn right_after_something_was_asked_of_the_forge() {
    let Some(expected) = undisturbed() else { return };
    for step in [5, 7] {
        check_killed_every(calls, step, &expected);
    }
}
