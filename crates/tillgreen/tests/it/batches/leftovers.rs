//! What is left of work trees when git cannot let go of it: it goes as soon as that is possible, and until then it is told.

use testkit::{Agent, Step};

use super::scene::{Scene, done, member, members, task, work, worker};

#[test]
fn what_git_knows_of_a_run_whose_folder_was_deleted_is_told_and_nothing_of_it_stays_registered() {
    let scene = Scene::new(&members(2));
    let half = Step::write("half.txt", "half\n");
    let agent = Agent::new().on("1.2", [half, Step::Exit(3)]).otherwise([work(), done()]);
    scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(1);
    std::fs::remove_dir_all(scene.root().join(".tillgreen")).expect("the folder can be removed");
    scene.git(&["pack-refs", "--all"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    let kept = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen-left"]);
    let kept = kept.trim();
    assert!(kept.starts_with("refs/tillgreen-left/demo/1.2-"), "{kept}: {run}");
    assert_eq!(scene.git(&["show", &format!("{kept}:half.txt")]), "half\n");
    for part in [format!("`git show {kept}`"), format!("`git update-ref -d {kept}`")] {
        assert_eq!(run.stderr.matches(&part).count(), 1, "{part:?} once: {run}");
    }
}

#[test]
fn what_a_run_keeps_is_no_leftover_when_it_goes_on() {
    let scene = Scene::new(&members(2));
    let half = Step::write("half.txt", "half\n");
    let agent = Agent::new().on("1.2", [half, Step::Exit(3)]).otherwise([work(), done()]);
    scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(1);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.read("half.txt"), "half\n");
    assert_eq!(scene.git(&["for-each-ref", "refs/tillgreen-left"]), "", "{run}");
}

/// As a run leaves it that was killed right after work came in.
#[test]
fn what_was_kept_and_is_in_the_history_is_let_go() {
    let scene = Scene::new(&members(2));
    scene.git(&["update-ref", "refs/tillgreen/demo/1.9%landed", "HEAD"]);
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.git(&["for-each-ref", "refs/tillgreen", "refs/tillgreen-left"]), "", "{run}");
}

/// A lock on all references at once, as a git that died leaves it where they are kept in tables.
#[test]
fn a_lock_on_all_references_costs_no_attempt() {
    let scene = Scene::new(&members(2));
    // Not every version takes them over.
    std::fs::remove_dir_all(scene.root().join(".git/logs")).expect("there are logs");
    if !scene.try_git(&["refs", "migrate", "--ref-format=reftable"]).status.success() {
        eprintln!("skipped: this git does not keep references in tables");
        return;
    }
    let lock = scene.root().join(".git/reftable/tables.list.lock");
    let locked = [scene.meet(2), work(), Step::write(&lock.display().to_string(), ""), done()];
    let run = scene.go(&Agent::new().otherwise(locked), &["--max-task-iterations", "1"]).expect_code(6);
    assert!(run.stderr.contains("tables.list.lock'"), "how to remove it is said: {run}");
    std::fs::remove_file(&lock).expect("the lock is there");
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
}

/// A batch of three that is killed while one of them is at work and another is verified with the rest.
fn killed() -> Scene {
    let scene = Scene::bare();
    let verify = scene.gated("grep -q done out/1.3.txt", ":");
    scene.plan(&[member("1.1"), member("1.2"), task("1.3", "out/1.3.txt", &verify)]);
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let agent =
        Agent::new().on("1.1", [scene.meet(3), work(), never]).otherwise([scene.meet(3), work(), done()]);
    let run = scene.begin(&agent, &[]);
    scene.await_gate();
    run.kill();
    scene.release("gate");
    scene
}

#[test]
fn trees_of_a_program_that_died_go_also_where_the_next_one_needs_none() {
    for flags in [&["--share-tree"][..], &["--jobs", "1"]] {
        let scene = killed();
        let run = scene.go(&worker(), flags).expect_code(0);
        scene.expect_complete(&run);
    }
}

#[test]
fn what_was_taken_out_of_the_plan_after_a_kill_does_not_come_in() {
    let scene = killed();
    scene.spec("demo", scene.tasks("demo").split("- [ ] 1.3").next().unwrap_or_default());
    scene.commit_all("less");
    let run = scene.go(&worker(), &[]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert!(run.stderr.contains("task 1.3 is no longer in the plan, so its work does not come in"), "{run}");
}
