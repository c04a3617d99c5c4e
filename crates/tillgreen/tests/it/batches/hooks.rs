//! Hooks that change what is committed: what ends up in the history is what was verified.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::scene::{Scene, members, task, worker};

fn pre_commit(scene: &Scene, script: &str) {
    let file = scene.root().join(".git/hooks/pre-commit");
    fs::create_dir_all(file.parent().expect("it lies in a folder")).expect("a folder can be made");
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it can be made a program");
}

#[test]
fn what_a_hook_makes_of_the_work_is_verified_again() {
    let scene = Scene::new(&members(3));
    // A formatter, which adds what it changed.
    pre_commit(
        &scene,
        "for file in $(git diff --cached --name-only -- out); do\n\
         grep -q formatted $file || echo formatted >> $file; echo all > out/list; git add $file out/list; done",
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 3, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.2.txt"]), "done\nformatted\n");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn work_that_a_hook_breaks_does_not_stay() {
    let scene = Scene::new(&[members(1).concat(), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
    pre_commit(
        &scene,
        "test -f out/1.2.txt && sed -i s/done/broken/ out/1.2.txt && git add out/1.2.txt; exit 0",
    );
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]);
    assert_ne!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("a git hook changed the work of task 1.2"), "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(!scene.has("out/1.2.txt"), "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
}

#[test]
fn a_hook_that_never_leaves_it_alone_is_let_through_and_told_of() {
    let scene = Scene::new(&members(2));
    pre_commit(
        &scene,
        "for file in $(git diff --cached --name-only -- out); do date +%N >> $file; git add $file; done",
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert!(run.stderr.contains("a git hook changes the work of task 1.1 each time"), "{run}");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}
