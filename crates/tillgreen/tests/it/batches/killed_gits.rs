//! Gits of the program that somebody kills, as a machine does that runs out of memory, while the program lives: what a
//! hook made of the work is verified all the same.

use std::fs;

use testkit::Finished;

use super::scene::{Scene, member, task, worker};

/// Two members; a hook makes something else of the first as it is committed, and once kills a git after that.
fn scene(makes: &str, kill: &str) -> Scene {
    let scene = Scene::bare();
    let (once, seen) = (scene.control("once"), scene.control("seen"));
    let verify = format!("cat out/1.1.txt >> {}; grep -q ^done out/1.1.txt", seen.display());
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    scene.hook(
        "pre-commit",
        &format!(
            "git diff --cached --name-only | grep -q out/1.1.txt || exit 0\n\
             echo {makes} > out/1.1.txt; git add out/1.1.txt"
        ),
    );
    let once = once.display();
    scene.hook(
        "post-commit",
        &format!("git log -1 --format=%s | grep -q 'task 1.1' && mkdir {once} && {{ {kill}; }}; exit 0"),
    );
    scene
}

/// The commit that was just made ends as if it had not been.
const COMMIT: &str = "kill -9 $PPID";

/// Runs until nothing is in the way any more.
fn go(scene: &Scene, flags: &[&str]) -> Finished {
    let flags = [&["--max-task-iterations", "1"], flags].concat();
    let run = scene.go(&worker(), &flags);
    assert!(scene.control("once").exists(), "a git was killed: {run}");
    if run.code == Some(6) { scene.go(&worker(), &flags) } else { run }
}

#[test]
fn what_a_hook_made_of_work_whose_commit_was_killed_is_verified() {
    for (jobs, kill) in [("4", COMMIT), ("1", COMMIT)] {
        let scene = scene("done, and formatted", kill);
        let run = go(&scene, &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        let seen = fs::read_to_string(scene.control("seen")).unwrap();
        assert!(seen.contains("done, and formatted"), "{jobs} {kill}: {seen}\n{run}");
        assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done, and formatted\n", "{run}");
    }
}

#[test]
fn work_that_a_hook_broke_before_its_commit_was_killed_is_no_success() {
    for (jobs, kill) in [("4", COMMIT), ("1", COMMIT)] {
        let scene = scene("broken", kill);
        let run = go(&scene, &["--jobs", jobs]).expect_code(1);
        assert!(scene.tasks("demo").contains("- [ ] 1.1"), "{jobs} {kill}: {run}");
        assert!(!scene.landed().contains(&"1.1".to_owned()), "{jobs} {kill}: {run}");
    }
}

/// A machine that loses power while a run that has ended commits where it stopped.
#[test]
fn a_lock_that_was_left_after_the_end_of_a_run_is_no_obstacle() {
    let scene = Scene::bare();
    let allowed = scene.control("allowed");
    let verify = format!("grep -q done out/1.1.txt && test -e {}", allowed.display());
    scene.plan(&[task("1.1", "out/1.1.txt", &verify), member("1.2")]);
    scene.hook(
        "commit-msg",
        "grep -q 'where the run stopped' \"$1\" || exit 0\n\
         kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID",
    );
    let flags = ["--max-task-iterations", "1"];
    let run = scene.go(&worker(), &flags);
    assert_eq!(run.code, None, "{run}");
    assert!(scene.root().join(".git/index.lock").exists(), "it was cut off: {run}");
    fs::remove_file(scene.root().join(".git/hooks/commit-msg")).unwrap();
    fs::write(allowed, "").unwrap();
    let run = scene.go(&worker(), &flags).expect_code(0);
    scene.expect_complete(&run);
}
