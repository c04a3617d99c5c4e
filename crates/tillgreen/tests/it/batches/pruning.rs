//! Whoever tidies the repository up at the wrong moment, `git gc --prune=now` or `git prune`, takes objects away that nobody
//! refers to yet, or that nobody referred to when they began to look. The files are there, and all comes in.

use std::fs;

use testkit::{Agent, Finished, Step, wait_for};

use super::scene::{JOURNAL, Scene, TREES, done, members, work, worker};

/// Removes the objects that lead from one revision to others, as far as they are files of their own.
fn remove_objects(revisions: &str) -> Step {
    Step::shell(&format!(
        "objects=$(git rev-parse --path-format=absolute --git-path objects)\n\
         for name in $(git rev-list --objects {revisions} | cut -d ' ' -f 1); do\n\
         rm -f \"$objects/$(echo $name | cut -c 1-2)/$(echo $name | cut -c 3-)\"; done"
    ))
}

/// All is there, and nobody had to try again.
#[track_caller]
fn check(scene: &Scene, agent: &Agent) {
    let run = scene.go(agent, &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(scene.agent_calls().len(), scene.ids().len(), "{run}");
    scene.git(&["fsck", "--full", "--no-dangling", "--no-reflogs"]);
}

#[test]
fn finished_work_that_was_tidied_away_is_packed_again() {
    let scene = Scene::new(&members(3));
    let away = remove_objects("--glob=refs/tillgreen --not HEAD");
    let agent =
        Agent::new().on("1.1", [work(), scene.until_passed(2), away, done()]).otherwise([work(), done()]);
    check(&scene, &agent);
}

#[test]
fn what_verify_commands_left_in_the_tree_does_not_come_along_then() {
    let verify = "grep -q done out/1.2.txt; echo trace > trace-$(basename $PWD).txt";
    let scene = Scene::new(&[members(1), vec![super::scene::task("1.2", "out/1.2.txt", verify)]].concat());
    let away = remove_objects("--glob=refs/tillgreen --not HEAD");
    let agent =
        Agent::new().on("1.1", [work(), scene.until_passed(1), away, done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(0);
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{run}");
    assert!(!scene.git(&["ls-files"]).contains("trace"), "{run}");
}

#[test]
fn history_that_was_tidied_away_as_it_was_made_is_there_again() {
    let scene = Scene::new(&members(3));
    let root = scene.root().display().to_string();
    let wait = Step::shell(&format!(
        "while ! git -C '{root}' log --format=%s | grep -q 'complete task 1.1'; do sleep 0.02; done"
    ));
    let branch = scene.git(&["branch", "--show-current"]);
    let away = remove_objects(&format!("{} --not HEAD", branch.trim()));
    let agent = Agent::new().on("1.3", [wait, work(), away, done()]).otherwise([work(), done()]);
    check(&scene, &agent);
}

#[test]
fn agents_that_tidy_up_all_the_time_are_in_nobodys_way() {
    let tidyings = ["git gc --quiet --prune=now", "git prune --expire=now"];
    for (tidy, hook) in [(tidyings[0], None), (tidyings[1], None), (tidyings[1], Some("pre-commit"))] {
        let scene = Scene::new(&members(6));
        hook.iter().for_each(|hook| scene.hook(hook, "exit 0"));
        let again = Step::shell(&format!("for time in 1 2 3; do {tidy} 2>/dev/null; done"));
        let agent = Agent::new().otherwise([work(), again, done()]);
        check(&scene, &agent);
    }
}

/// Two tasks that are finished when the run is killed, and one that is not.
fn killed() -> Scene {
    let scene = Scene::new(&members(3));
    let never = Step::AwaitFile(scene.control("never").display().to_string());
    let agent = Agent::new().on("1.1", [never]).otherwise([work(), done()]);
    let run = scene.begin(&agent, &[]);
    scene.await_passed("demo", 2);
    run.kill();
    scene
}

/// Removes an object for good.
#[track_caller]
fn remove_object(scene: &Scene, name: &str) {
    let name = scene.git(&["rev-parse", "--verify", name]);
    let (folder, file) = name.trim().split_at(2);
    fs::remove_file(scene.root().join(".git/objects").join(folder).join(file)).expect("it is a file");
}

/// Runs again, and all is there at no cost.
#[track_caller]
fn check_resumed(scene: &Scene, attempts: [usize; 3]) -> Finished {
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(["1.1", "1.2", "1.3"].map(|id| scene.attempts(id)), attempts, "{run}");
    assert!(!scene.read(JOURNAL).contains("attempt_failed"), "no attempt was charged");
    scene.git(&["fsck", "--full", "--no-dangling"]);
    run
}

#[test]
fn kept_work_that_is_gone_for_good_is_taken_from_its_tree() {
    for gone in ["", "^{tree}", ":out/1.2.txt"] {
        let scene = killed();
        remove_object(&scene, &format!("refs/tillgreen/demo/1.2{gone}"));
        let run = check_resumed(&scene, [2, 1, 1]);
        assert!(run.stderr.contains("what was kept of the work of task 1.2 is gone"), "{run}");
        assert!(run.stderr.contains("it is packed again from its work tree"), "{run}");
    }
}

#[test]
fn kept_work_that_is_gone_for_good_with_its_tree_is_done_again() {
    for gone in ["", "^{tree}", ":out/1.2.txt"] {
        let scene = killed();
        remove_object(&scene, &format!("refs/tillgreen/demo/1.2{gone}"));
        scene.git(&["worktree", "remove", "--force", &format!("{TREES}/1.2")]);
        let run = check_resumed(&scene, [2, 2, 1]);
        assert!(run.stderr.contains("what was kept of the work of task 1.2 is gone"), "{run}");
        assert!(run.stderr.contains("gone with their work trees, and done again: 1.2"), "{run}");
    }
}

#[test]
fn work_that_is_half_in_the_project_and_tidied_away_comes_in_once_more() {
    for (is_kept, is_edited) in [(true, false), (false, false), (true, true)] {
        let scene = Scene::bare();
        let (begun, go) = (scene.control("begun"), scene.control("go"));
        let root = scene.root().display().to_string();
        let waits = format!(
            "grep -q done out/1.1.txt && {{ test $PWD != {root} || test -e {} || {{ : > {}; sleep 60; }}; }}",
            go.display(),
            begun.display()
        );
        scene.plan(&[super::scene::task("1.1", "out/1.1.txt, base.txt", &waits), members(2).remove(1)]);
        let change = Step::shell("echo more >> base.txt");
        let agent = Agent::new().on("1.1", [work(), change, done()]).otherwise([work(), done()]);
        let run = scene.begin(&agent, &[]);
        wait_for("the verify command", || begun.exists());
        scene.await_passed("demo", 2);
        run.kill();
        fs::write(&go, "").expect("it can be written");
        assert_eq!(scene.read("base.txt"), "base\nmore\n");
        if is_edited {
            fs::write(scene.root().join("base.txt"), "mine\n").expect("it can be written");
        }
        let note = scene.read(".git/tillgreen-landing.json");
        let (_, tree) = note.split_once("\"tree\":\"").expect("a tree is noted");
        let kept: Vec<&str> = if is_kept { vec![] } else { vec!["refs/tillgreen/demo/1.1"] };
        kept.into_iter().chain([&tree[..40]]).for_each(|name| remove_object(&scene, name));
        let run = scene.go(&agent, &["--max-task-iterations", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "{run}");
        assert_eq!(scene.read("base.txt"), "base\nmore\n", "{run}");
        assert!(run.stderr.contains("base.txt, out/1.1.txt; what was there is kept in"), "{run}");
        scene.git(&["fsck", "--full", "--no-dangling"]);
    }
}
