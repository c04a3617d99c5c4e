//! Hooks and filters that hang: a run that is to end does so all the same, says what it waits for, and leaves nothing of
//! them behind.

use std::fs;

use testkit::{Background, Signal, wait_for};

use super::scene::{Scene, members, worker};

/// A run that waits for a hook, which says so and does not end by itself.
fn in_a_hook(script: &str) -> (Scene, Background) {
    let scene = Scene::new(&members(2));
    scene.hook("pre-commit", &format!("{script}; : > '{}'; sleep 600", scene.control("began").display()));
    let run = scene.begin(&worker(), &[]);
    wait_for("the hook", || scene.control("began").exists());
    (scene, run)
}

/// Nothing lives, and without the hook the run goes on from where it was.
#[track_caller]
fn expect_resumable(scene: &Scene) {
    scene.wait_until_quiet();
    // There is none where it was no hook that hung.
    let _ = fs::remove_file(scene.root().join(".git/hooks/pre-commit"));
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.agent_calls().iter().all(|call| call.attempt == 1), "an interruption costs no attempt");
}

#[test]
fn one_ctrl_c_ends_a_run_that_waits_for_a_hook() {
    let (scene, mut run) = in_a_hook(":");
    run.signal_group(Signal::Interrupt);
    let run = run.wait().expect_code(130);
    assert!(run.stderr.contains("waiting for `git commit"), "{run}");
    assert!(run.stderr.contains("the run was interrupted"), "{run}");
    expect_resumable(&scene);
}

#[test]
fn the_second_ctrl_c_ends_a_hook_that_does_not_want_to() {
    let (scene, mut run) = in_a_hook("trap '' TERM INT");
    run.signal_group(Signal::Interrupt);
    wait_for("the first to be noticed", || run.stderr().contains("waiting for `git commit"));
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
    expect_resumable(&scene);
}

#[test]
fn a_hook_that_outlived_the_program_is_waited_for_and_that_is_said() {
    let scene = Scene::new(&members(2));
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let wait =
        format!(": > '{}'; while ! test -e '{}'; do sleep 0.02; done", began.display(), gate.display());
    scene.hook("pre-commit", &wait);
    let mut run = scene.begin(&worker(), &[]);
    wait_for("the hook", || began.exists());
    run.signal(Signal::Kill);
    run.wait();
    let is_said = |text: &str| text.contains("git of an earlier start");
    let mut again = scene.begin(&worker(), &[]);
    wait_for("the word", || is_said(&again.stderr()) || !again.is_running());
    again.signal(Signal::Interrupt);
    let again = again.wait();
    assert!(is_said(&again.stderr) && again.stdout.is_empty(), "{again}");
    let last = scene.begin(&worker(), &[]);
    scene.release("gate");
    scene.expect_complete(&last.wait().expect_code(0));
}

/// A project in which no file with a filter can be checked out.
fn with_filter() -> Scene {
    let scene = Scene::new(&members(2));
    scene.git(&["config", "filter.slow.clean", "cat"]);
    scene.git(&["config", "filter.slow.smudge", "cat"]);
    scene.write(".gitattributes", "*.bin filter=slow\n");
    scene.write("q.bin", "1\n");
    scene.commit_all("filtered");
    let hangs = format!(": > '{}'; sleep 600; cat", scene.control("began").display());
    scene.git(&["config", "filter.slow.smudge", &hangs]);
    scene
}

#[test]
fn one_ctrl_c_ends_a_run_that_waits_for_a_filter() {
    let scene = with_filter();
    let mut run = scene.begin(&worker(), &[]);
    wait_for("the filter", || scene.control("began").exists());
    run.signal_group(Signal::Interrupt);
    let run = run.wait().expect_code(130);
    assert!(run.stderr.contains("waiting for `git "), "{run}");
    assert_eq!(scene.agent_calls().len(), 0, "{run}");
    scene.git(&["config", "filter.slow.smudge", "cat"]);
    expect_resumable(&scene);
}

#[test]
fn a_cap_ends_a_run_that_waits_for_a_filter() {
    let scene = with_filter();
    let run = scene.go(&worker(), &["--max-time", "1s"]).expect_code(5);
    assert_eq!(scene.agent_calls().len(), 0, "{run}");
    scene.git(&["config", "filter.slow.smudge", "cat"]);
    expect_resumable(&scene);
}
