//! Hooks that change what is committed: what ends up in the history is what was verified.

use super::scene::{Scene, members, task, worker};

#[test]
fn what_a_hook_makes_of_the_work_is_verified_again() {
    let scene = Scene::new(&members(3));
    // A formatter, which adds what it changed.
    scene.hook(
        "pre-commit",
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
    scene.hook(
        "pre-commit",
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
fn what_a_hook_makes_anew_each_time_is_taken_in_as_it_was_verified() {
    let scene = Scene::new(&members(2));
    scene.hook(
        "pre-commit",
        "for file in $(git diff --cached --name-only -- out); do date +%N >> $file; git add $file; done",
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 2, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]).lines().count(), 2, "it ran once for each");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hook_that_amends_leaves_nothing_half_done() {
    let scene = Scene::new(&members(3));
    scene.hook(
        "post-commit",
        "test -n \"$AMENDING\" && exit; export AMENDING=1\n\
         git commit --quiet --amend --no-edit --trailer 'Amended: yes'",
    );
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
}

#[test]
fn one_by_one_what_a_hook_makes_is_verified_as_well() {
    let scene = Scene::new(&members(2));
    scene.hook(
        "pre-commit",
        "for file in $(git diff --cached --name-only -- out); do\n\
         date +%N >> $file; echo all > out/list; git add $file out/list; done",
    );
    let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 2, "{run}");
    assert_eq!(run.stderr.matches("checks are green again").count(), 2, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]).lines().count(), 2, "it ran once for each");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}

#[test]
fn one_by_one_work_that_a_hook_breaks_is_no_success() {
    let scene = Scene::new(&[members(1).concat(), task("1.2", "out/1.2.txt", "grep -q ^done$ out/1.2.txt")]);
    scene.hook(
        "pre-commit",
        "git diff --cached --name-only | grep -q out/1.2 || exit 0\n\
         sed -i s/done/broken/ out/1.2.txt; git add out/1.2.txt",
    );
    let run = scene.go(&worker(), &["--jobs", "1", "--max-task-iterations", "1"]);
    assert_ne!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("a git hook changed the work of task 1.2"), "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    assert!(scene.tasks("demo").contains("- [ ] 1.2"), "{run}");
    assert_eq!(scene.git(&["status", "--porcelain"]).trim(), "?? out/1.2.txt", "what it left stays: {run}");
}

#[test]
fn a_hook_that_changes_only_what_is_staged_is_told_of() {
    let scene = Scene::new(&members(1));
    scene.hook(
        "pre-commit",
        "oid=$(date +%N | git hash-object -w --stdin); test -f out/1.1.txt || exit 0\n\
         git update-index --cacheinfo 100644,$oid,out/1.1.txt",
    );
    let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
    assert!(run.stderr.contains("a git hook changes the work of task 1.1 each time"), "{run}");
}
