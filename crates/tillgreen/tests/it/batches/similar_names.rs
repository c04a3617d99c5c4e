//! Plans whose paths are alike: what one has finished is neither taken in nor taken away by a run of the other.

use std::fs;

use testkit::{Agent, Background, Finished, Signal, wait_for};

use super::other_text::{other, other_worker, staying};
use super::scene::{Scene, member, plan, worker};

fn begin(scene: &Scene, folder: &str, agent: &Agent) -> Background {
    let command = scene.install_agent(agent);
    scene.start(&["run", &format!("{folder}/tasks.md"), "--jobs", "50", "--agent-cmd", &command])
}

fn run(scene: &Scene, folder: &str, agent: &Agent) -> Finished {
    begin(scene, folder, agent).wait().expect_code(0)
}

/// The first of both is killed when it has finished all, and begins to bring it in; the second is run, and then the first.
#[track_caller]
fn check(first: &str, second: &str) {
    let scene = Scene::bare();
    scene.write(&format!("{first}/tasks.md"), plan(&[staying(&scene, "1.1", 2), member("1.2")]));
    scene.write(&format!("{second}/tasks.md"), plan(&[other("1.1"), other("1.2")]));
    scene.commit_all("plans");
    let mut killed = begin(&scene, first, &worker());
    let journal = scene.root().join(".tillgreen").join(first.replace('/', "-")).join("journal.jsonl");
    let has_passed = || {
        let events = fs::read_to_string(&journal).unwrap_or_default();
        events.contains("{\"checks_passed\":{\"task\":\"1.2\"") && scene.control("runs.stays").exists()
    };
    wait_for("work that comes in", has_passed);
    killed.signal(Signal::Kill);
    killed.wait();
    fs::remove_file(scene.control("runs")).expect("it is there");
    let between = run(&scene, second, &other_worker());
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{between}");
    assert!(scene.has("other/1.1.txt") && !scene.has("out/1.1.txt"), "{between}");
    let again = run(&scene, first, &worker());
    assert!(scene.has("out/1.1.txt") && scene.has("out/1.2.txt"), "{again}");
    assert_eq!(scene.agent_calls().len(), 4, "nothing is done twice: {between} {again}");
    assert_eq!(
        scene.git(&["for-each-ref", "refs/tillgreen-left", "refs/tillgreen"]),
        "",
        "{between} {again}"
    );
}

#[test]
fn a_dash_and_a_folder() {
    check("specs/a-b", "specs/a/b");
}

#[test]
fn a_spec_and_a_plan_elsewhere_of_its_name() {
    check("specs/s", "s");
    check("specs/a-s", "a/s");
}
