//! Whoever tidies the repository up at the wrong moment, `git gc --prune=now` or `git prune`, takes objects away that nobody
//! refers to yet, or that nobody referred to when they began to look. The files are there, and all comes in.

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work};

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
    scene.git(&["fsck", "--full", "--no-dangling"]);
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
    for tidy in ["git gc --quiet --prune=now", "git prune --expire=now"] {
        let scene = Scene::new(&members(6));
        let again = Step::shell(&format!("for time in 1 2 3; do {tidy} 2>/dev/null; done"));
        let agent = Agent::new().otherwise([work(), again, done()]);
        check(&scene, &agent);
    }
}
