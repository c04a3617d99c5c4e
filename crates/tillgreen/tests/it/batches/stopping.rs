//! Somebody stops a run in the middle of a batch, or looks at it: while agents work, while work comes in, while a hook or a
//! filter hangs.

use std::fs;

use serde_json::Value;
use testkit::{Agent, Background, Signal, Step, wait_for};

use super::scene::{Scene, done, member, members, task, work, worker};

/// A batch in which one member has passed and the others hang.
fn under_way() -> (Scene, Background) {
    let scene = Scene::new(&members(4));
    let agent = Agent::new().on("1.1", [work(), done()]).otherwise([
        Step::write("half.txt", "half\n"),
        scene.meet(3),
        Step::Detach,
        Step::Hang,
    ]);
    let run = scene.begin(&agent, &[]);
    wait_for("the batch", || run.stderr().contains("1.1 done") && scene.agent_calls().len() == 4);
    (scene, run)
}

#[track_caller]
fn expect_resumable(scene: &Scene) {
    scene.expect_tidy();
    assert_eq!(scene.landed(), ["1.1"], "what passed stays");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.agent_calls().iter().all(|call| call.attempt == 1), "an interruption costs no attempt");
}

#[test]
fn ctrl_c_in_the_middle_of_a_batch() {
    let (scene, mut run) = under_way();
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
    expect_resumable(&scene);
}

#[test]
fn cancelling_in_the_middle_of_a_batch() {
    let (scene, run) = under_way();
    scene.run(&["cancel"]).expect_code(0);
    run.wait().expect_code(130);
    expect_resumable(&scene);
}

#[test]
fn status_shows_all_that_is_under_way() {
    let (scene, mut run) = under_way();
    let text = scene.run(&["status"]).expect_code(0).stdout;
    assert!(["1.2", "1.3", "1.4"].iter().all(|id| text.contains(&format!("Task number {id}"))), "{text}");
    let status: Value = serde_json::from_str(&scene.run(&["status", "--format", "json"]).stdout).unwrap();
    let beside = status["beside"].as_array().map(Vec::len);
    assert_eq!((status["current"]["task"].as_str(), beside), (Some("1.2"), Some(2)), "{status}");
    assert_eq!(status["tasks"]["done"], 1);
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
}

/// A hook that waits, in the middle of the first landing. The others have passed before.
fn landing() -> (Scene, Background) {
    let scene = Scene::new(&members(3));
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let wait = format!(": > {}\nwhile ! test -e {}; do sleep 0.02; done", began.display(), gate.display());
    scene.hook("pre-commit", &wait);
    let run = scene.begin(&worker(), &[]);
    scene.await_passed("demo", 3);
    wait_for("the landing", || began.exists());
    (scene, run)
}

#[test]
fn ctrl_c_in_the_middle_of_a_landing() {
    let (scene, mut run) = landing();
    run.signal_group(Signal::Interrupt);
    scene.release("gate");
    run.wait().expect_code(130);
    scene.expect_tidy();
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 3, "what had passed is not done again");
}

#[test]
fn killed_in_the_middle_of_a_landing() {
    let (scene, mut run) = landing();
    run.signal(Signal::Kill);
    run.wait();
    scene.release("gate");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 3, "what had passed is not done again");
}

#[test]
fn stopped_while_all_is_verified_together() {
    for signal in [Signal::Interrupt, Signal::Kill] {
        let scene = Scene::bare();
        scene.plan(&[
            task("1.1", "out/1.1.txt", &scene.gated("grep -q done out/1.1.txt", ":")),
            member("1.2"),
        ]);
        let agent = Agent::new().on("1.2", [work(), Step::await_file(&scene.control("began")), done()]);
        let mut run = scene.begin(&agent.otherwise([work(), done()]), &[]);
        scene.await_gate();
        scene.await_passed("demo", 2);
        run.signal_group(signal);
        run.wait();
        scene.expect_tidy();
        assert_eq!(scene.landed(), [""; 0]);
        scene.release("gate");
        let run = scene.go(&worker(), &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.agent_calls().len(), 2, "what had passed is not done again");
    }
}

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
fn expect_to_go_on(scene: &Scene) {
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
    expect_to_go_on(&scene);
}

#[test]
fn the_second_ctrl_c_ends_a_hook_that_does_not_want_to() {
    let (scene, mut run) = in_a_hook("trap '' TERM INT");
    run.signal_group(Signal::Interrupt);
    wait_for("the first to be noticed", || run.stderr().contains("waiting for `git commit"));
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
    expect_to_go_on(&scene);
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
    expect_to_go_on(&scene);
}

#[test]
fn a_cap_ends_a_run_that_waits_for_a_filter() {
    let scene = with_filter();
    let run = scene.go(&worker(), &["--max-time", "1s"]).expect_code(5);
    assert_eq!(scene.agent_calls().len(), 0, "{run}");
    scene.git(&["config", "filter.slow.smudge", "cat"]);
    expect_to_go_on(&scene);
}
