//! Somebody stops a run in the middle of a batch, or looks at it.

use serde_json::Value;
use testkit::{Agent, Background, Signal, Step, wait_for};

use super::scene::{Scene, done, members, work, worker};

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
    let first = [Step::await_file(&scene.control("others")), work(), done()];
    let run = scene.begin(&Agent::new().on("1.1", first).otherwise([work(), done()]), &[]);
    scene.await_passed("demo", 2);
    scene.release("others");
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
fn ctrl_c_while_all_is_checked_together() {
    let scene = Scene::new(&members(2));
    let (began, gate) =
        (scene.control("began").display().to_string(), scene.control("gate").display().to_string());
    // In the project itself it waits; in a work tree it does not.
    let verify =
        format!("test -f .git || ( : > {began}; while ! test -e {gate}; do sleep 0.02; done ); test -d out");
    let plan = scene.tasks("demo").replace("grep -q done out/1.1.txt", &verify);
    scene.spec("demo", &plan);
    scene.commit_all("slow");
    let mut run = scene.begin(&worker(), &[]);
    wait_for("the check", || scene.control("began").exists());
    scene.await_passed("demo", 2);
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
    scene.expect_tidy();
    assert_eq!(scene.landed(), [""; 0]);
    scene.release("gate");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), 2, "what had passed is not done again");
}
