//! What comes into the repository while a run is under way and has git do things otherwise from then on: hooks, attributes.

use testkit::{Agent, Step, wait_for};

use super::scene::{Scene, done, member, members, work};

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

/// What the second brings was made where nobody knew of the first's attributes.
#[test]
fn work_is_stored_as_attributes_say_that_came_in_meanwhile() {
    let mut files = Vec::new();
    for jobs in ["1", "4"] {
        let later = "## Phase 2: More\n\n".to_owned();
        let scene = Scene::new(&[members(2).concat(), later, member("2.1"), member("2.2")]);
        let agent = Agent::new()
            .on("1.1", [work(), Step::write(".gitattributes", "*.dat text\n"), done()])
            .on("1.2", [work(), Step::write("x.dat", "a\r\nb\r\n"), Step::write("y.bin", "a\r\n"), done()])
            .on("2.1", [work(), Step::shell("printf 'c\\r\\n' >> x.dat"), done()])
            .otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs, "--max-task-iterations", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["show", "HEAD:x.dat"]), "a\nb\nc\n", "{run}");
        assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
        files.push(scene.files());
    }
    assert_eq!(files[0], files[1], "as one by one");
}

#[test]
fn a_name_that_is_a_pattern_of_gits_is_a_name() {
    for jobs in ["1", "4"] {
        let scene = Scene::new(&members(2));
        scene.hook("pre-commit", "exit 0");
        let odd = Step::write(":!x.txt", "odd\n");
        let agent = Agent::new().on("1.1", [odd, work(), done()]).otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs, "--max-task-iterations", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["show", "HEAD::!x.txt"]), "odd\n", "{run}");
    }
}

/// As it is left by a program that was killed while it found out what a hook lets it do.
#[test]
fn references_of_programs_that_died_on_the_first_look_go() {
    let scene = Scene::new(&members(1));
    let gone = "refs/tillgreen/%25probe/4194305";
    let alive = format!("refs/tillgreen/%25probe/{}", std::process::id());
    for name in [gone, &alive] {
        scene.git(&["update-ref", name, "HEAD"]);
    }
    let run = scene.go(&super::scene::worker(), &[]).expect_code(0);
    let left = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen"]);
    assert_eq!(left.trim(), alive, "{run}");
}
