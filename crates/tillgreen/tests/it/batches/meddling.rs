//! People who lay hands on work while it is verified together with the rest: they edit its files, commit them along with
//! theirs, take them out of the project or tidy the repository up. Nothing of theirs is lost, and no task pays for it.

use std::fs;

use testkit::{Agent, Finished, Signal, Step, wait_for};

use super::scene::{Scene, done, member, task, work};

/// The second of two members changes a file that is there before. Its verify command does one thing before it waits in the
/// project, and another one after that.
fn waiting(before: &str, after: &str) -> Scene {
    let scene = Scene::bare();
    let (began, gate) = (scene.control("began"), scene.control("gate"));
    let wait = format!("touch {}; while ! test -e {}; do sleep 0.02; done", began.display(), gate.display());
    let verify = format!("{before} && if test -d .git; then {wait}; {after}; fi");
    scene.write("mine.txt", "mine\n");
    scene.plan(&[member("1.1"), task("1.2", "base.txt", &verify)]);
    scene
}

fn agent() -> Agent {
    let edit = || Step::write("base.txt", "edited\n");
    Agent::new()
        .on_attempt("1.2", 1, [edit(), done()])
        .on("1.2", [edit(), Step::write("allowed", ""), done()])
        .otherwise([work(), done()])
}

/// Runs it, and lets a person do something while the second member is verified together with the first.
fn meanwhile(scene: &Scene, flags: &[&str], person: impl FnOnce()) -> Finished {
    let run = scene.begin(&agent(), flags);
    wait_for("the check", || scene.control("began").exists());
    person();
    scene.release("gate");
    run.wait()
}

const ONCE: [&str; 2] = ["--max-task-iterations", "1"];
const LEFT: &str = ".tillgreen/specs-demo/left/files/base.txt";
const KEPT: &str = "what was there is kept in .tillgreen/specs-demo/left/files";

fn commit_all(scene: &Scene) {
    scene.write("mine.txt", "more\n");
    scene.git(&["commit", "-q", "-a", "-m", "mine"]);
}

#[test]
fn what_a_person_makes_of_work_that_turns_out_red_is_kept() {
    let scene = waiting("true", "test -f allowed");
    let run = meanwhile(&scene, &[], || scene.write("base.txt", "precious\n")).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert_eq!(scene.read(LEFT), "precious\n", "{run}");
    assert_eq!(run.stderr.matches(KEPT).count(), 1, "{run}");
    assert_eq!(scene.read("base.txt"), "edited\n");
}

/// Kills the program while the second member is verified, lets a person do something, and starts it again.
fn after_kill(scene: &Scene, person: impl FnOnce()) -> Finished {
    let mut run = scene.begin(&agent(), &[]);
    wait_for("the check", || scene.control("began").exists());
    run.signal(Signal::Kill);
    run.wait();
    scene.wait_until_quiet();
    person();
    scene.release("gate");
    scene.go(&agent(), &ONCE).expect_code(0)
}

#[test]
fn what_a_person_makes_of_work_after_the_program_was_killed_is_kept() {
    let scene = waiting("true", "true");
    let run = after_kill(&scene, || scene.write("base.txt", "precious\n"));
    scene.expect_complete(&run);
    assert_eq!(scene.read(LEFT), "precious\n", "{run}");
    assert_eq!(run.stderr.matches(KEPT).count(), 1, "{run}");
}

#[test]
fn work_that_somebody_committed_along_with_theirs_is_done_when_it_is_green() {
    let scene = waiting("grep -qx edited base.txt", "true");
    let run = meanwhile(&scene, &ONCE, || commit_all(&scene)).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.landed(), ["1.1"], "it is in the history already: {run}");
    let commit = scene.git(&["log", "--format=%h", "--grep", "^mine$"]);
    assert!(run.stderr.contains(&format!("commit {}", &commit[..7])), "{run}");
    assert!(
        run.stderr.contains("took along work of task 1.2 that was being verified: it turned out green"),
        "{run}"
    );
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n");
    assert_eq!(scene.git(&["show", "HEAD:mine.txt"]), "more\n");
}

#[test]
fn work_that_somebody_committed_after_the_program_was_killed_is_verified_once_more() {
    let scene = waiting("grep -qx edited base.txt", "true");
    let run = after_kill(&scene, || commit_all(&scene));
    scene.expect_settled(&run);
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    let told = "took along work of task 1.2 that was being verified: it is verified once more";
    assert_eq!(run.stderr.matches(told).count(), 1, "{run}");
}

#[test]
fn work_that_somebody_committed_along_with_theirs_is_tried_again_when_it_is_red() {
    let scene = waiting("grep -qx edited base.txt", "test -f allowed");
    let run = meanwhile(&scene, &[], || commit_all(&scene)).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(scene.attempts("1.2"), 2, "{run}");
    assert!(
        run.stderr.contains("took along work of task 1.2 that was being verified: it turned out red"),
        "{run}"
    );
    let mine = scene.git(&["log", "--format=", "--name-only", "--grep", "^mine$"]);
    assert_eq!(mine.lines().collect::<Vec<_>>(), ["base.txt", "mine.txt"], "{run}");
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert!(scene.git(&["ls-files", "allowed"]).contains("allowed"), "{run}");
}

#[test]
fn work_that_somebody_took_out_is_brought_in_again_at_no_cost() {
    for (before, after) in [("true", "grep -qx edited base.txt"), ("grep -qx edited base.txt", "true")] {
        let scene = waiting(before, after);
        let run = meanwhile(&scene, &ONCE, || drop(scene.git(&["stash", "-q"]))).expect_code(0);
        scene.expect_complete(&run);
        assert!(run.stderr.contains("took work of task 1.2 out of the project"), "{run}");
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "edited\n", "{run}");
        assert_eq!(scene.git(&["stash", "list"]).lines().count(), 1, "what is stashed stays there");
    }
}

#[test]
fn a_verify_command_that_takes_its_own_work_out_is_red_in_the_end() {
    let scene = waiting("true", "git checkout -q -- base.txt; grep -qx edited base.txt");
    let run = meanwhile(&scene, &ONCE, || {}).expect_code(1);
    assert_eq!(run.stderr.matches("took work of task 1.2 out of the project").count(), 1, "{run}");
    assert_eq!(scene.landed(), ["1.1"], "{run}");
    scene.expect_tidy();
}

#[test]
fn whoever_tidies_the_repository_up_takes_nothing_away() {
    let scene = waiting("grep -qx edited base.txt", "true");
    let tidy = || drop(scene.git(&["gc", "--quiet", "--prune=now"]));
    let run = meanwhile(&scene, &ONCE, tidy).expect_code(0);
    scene.expect_complete(&run);
}

#[test]
fn what_somebody_writes_into_the_work_while_it_is_verified_is_verified() {
    for (written, code) in [("edited, and more\n", 0), ("half-typed\n", 1)] {
        let scene = waiting("grep -q ^edited base.txt", "true");
        let run = meanwhile(&scene, &ONCE, || scene.write("base.txt", written)).expect_code(code);
        assert!(run.stderr.contains("files of task 1.2 changed while it was verified (base.txt)"), "{run}");
        let is_done = scene.tasks("demo").contains("- [x] 1.2");
        assert_eq!(is_done, code == 0, "{run}");
        let committed = if is_done { written } else { "base\n" };
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), committed, "{run}");
    }
}

#[test]
fn nothing_is_committed_on_a_branch_that_nobody_chose() {
    for (switch, now) in [
        (&["checkout", "-q", "--detach"][..], "no branch is checked out now"),
        (&["checkout", "-q", "-b", "other"], "branch other is checked out now"),
    ] {
        let scene = waiting("true", "true");
        let run = meanwhile(&scene, &[], || drop(scene.git(switch))).expect_code(6);
        assert!(run.stderr.contains(&format!("{now}, and the run began on branch main")), "{run}");
        assert_eq!(scene.landed(), ["1.1"], "{run}");
        assert_eq!(scene.git(&["status", "--porcelain"]), "", "{run}");
        scene.git(&["checkout", "-q", "main"]);
        let run = scene.go(&agent(), &[]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.attempts("1.2"), 1, "{run}");
    }
}

/// Who names a plan may have another one that is current, or none.
#[test]
fn what_is_to_be_typed_names_the_plan() {
    let scene = waiting("true", "true");
    let command = scene.install_agent(&agent());
    fs::remove_file(scene.root().join("specs/.current-spec")).expect("it is there");
    let run = scene.start(&["run", "demo", "--agent-cmd", &command, "--jobs", "4"]);
    wait_for("the check", || scene.control("began").exists());
    scene.git(&["checkout", "-q", "--orphan", "elsewhere"]);
    scene.git(&["commit", "-q", "-m", "elsewhere"]);
    scene.release("gate");
    let run = run.wait().expect_code(6);
    assert!(run.stderr.contains("`tillgreen run demo"), "{run}");
    assert!(!run.stderr.contains("`tillgreen run`") && !run.stderr.contains("`tillgreen run --"), "{run}");
}
