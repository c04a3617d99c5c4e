//! What comes into the repository while a run is under way and has git do things otherwise from then on: hooks, attributes.

use testkit::{Agent, Step, wait_for};

use super::scene::{Scene, done, members, work};

/// As a task does that sets up a tool for hooks.
#[test]
fn a_folder_of_hooks_that_is_set_meanwhile_counts_for_what_lands_afterwards() {
    let scene = Scene::new(&members(3));
    let (gate, seen) = (scene.control("gate"), scene.control("seen"));
    let gate = Step::AwaitFile(gate.display().to_string());
    let agent = Agent::new().on("1.1", [work(), done()]).otherwise([work(), gate, done()]);
    let run = scene.begin(&agent, &[]);
    wait_for("the first to land", || scene.tasks("demo").contains("- [x] 1.1"));
    let hook = format!("#!/bin/sh\ngit diff --cached --name-only >> {}\n", seen.display());
    scene.install(".git/mine/pre-commit", &hook);
    scene.git(&["config", "core.hooksPath", ".git/mine"]);
    scene.release("gate");
    let run = run.wait().expect_code(0);
    scene.expect_complete(&run);
    let seen = std::fs::read_to_string(seen).unwrap_or_default();
    let work: Vec<&str> = seen.lines().filter(|path| path.starts_with("out/")).collect();
    assert_eq!(work, ["out/1.2.txt", "out/1.3.txt"], "{run}");
}
