//! People who have an editor open for the message of a commit while work comes in: their git holds the lock on the index
//! meanwhile, or counts on it that nobody else commits. The run waits for it, and can be stopped.

use std::thread;

use testkit::{Agent, Signal, wait_for};

use super::scene::{Scene, done, member, task, work, worker};

/// A batch of two whose first member waits for a file while it is verified with the rest. The second comes after it.
fn scene() -> (Scene, Agent) {
    let scene = Scene::bare();
    scene.write("mine.txt", "mine\n");
    scene.plan(&[task("1.1", "out/1.1.txt", &scene.gated("grep -q done out/1.1.txt", ":")), member("1.2")]);
    let agent = Agent::new().on("1.2", [work(), scene.until_done("1.1"), done()]).otherwise([work(), done()]);
    (scene, agent)
}

/// Commits a file of somebody's, with an editor that is open until somebody has typed.
fn commit_slowly(scene: &Scene, paths: &[&str]) {
    let (open, typed) = (scene.control("open").display().to_string(), scene.control("typed"));
    let typed = typed.display();
    let editor = format!(
        "core.editor=touch {open}; for i in $(seq 15000); do test -e {typed} && break; sleep 0.02; done; \
         echo mine > .git/COMMIT_EDITMSG; true"
    );
    scene.git(&[&["-c", &editor, "commit", "-q"], paths].concat());
}

const WAITS: &str = "task 1.1 waits for git's lock on the index, held by process ";

#[test]
fn an_open_editor_is_waited_for() {
    let (scene, agent) = scene();
    let run = scene.begin(&agent, &["--max-task-iterations", "1"]);
    scene.await_gate();
    scene.write("mine.txt", "more\n");
    thread::scope(|scope| {
        scope.spawn(|| commit_slowly(&scene, &["mine.txt"]));
        wait_for("the editor", || scene.control("open").exists());
        scene.release("gate");
        wait_for("the run to say so", || run.stderr().contains(WAITS));
        scene.release("typed");
    });
    let run = run.wait().expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(run.stderr.matches(WAITS).count(), 1, "{run}");
    assert!(run.stderr.contains("(git commit): somebody is at work with git"), "{run}");
    let mine = scene.git(&["log", "--format=", "--name-only", "--grep", "^mine$"]);
    assert_eq!(mine.trim(), "mine.txt", "{run}");
}

/// Git has no lock then, but the commit would fail.
#[test]
fn an_open_editor_for_all_that_is_staged_is_waited_for_as_well() {
    let (scene, agent) = scene();
    let run = scene.begin(&agent, &["--max-task-iterations", "1"]);
    scene.await_gate();
    scene.write("mine.txt", "more\n");
    scene.git(&["add", "mine.txt"]);
    thread::scope(|scope| {
        scope.spawn(|| commit_slowly(&scene, &[]));
        wait_for("the editor", || scene.control("open").exists());
        scene.release("gate");
        wait_for("the run to say so", || run.stderr().contains("task 1.1 waits for process "));
        assert_eq!(scene.landed(), [""; 0]);
        scene.release("typed");
    });
    let run = run.wait().expect_code(0);
    scene.expect_complete(&run);
    let mine = scene.git(&["log", "--format=", "--name-only", "--grep", "^mine$"]);
    assert_eq!(mine.trim(), "mine.txt", "{run}");
}

#[test]
fn a_run_that_begins_waits_for_an_open_editor() {
    for paths in [&["mine.txt"][..], &[]] {
        let (scene, agent) = scene();
        scene.release("gate");
        scene.write("mine.txt", "more\n");
        scene.git(&["add", "mine.txt"]);
        let run = thread::scope(|scope| {
            scope.spawn(|| commit_slowly(&scene, paths));
            wait_for("the editor", || scene.control("open").exists());
            let run = scene.begin(&agent, &["--max-task-iterations", "1"]);
            wait_for("the run to say so", || run.stderr().contains("this run waits for "));
            scene.release("typed");
            run
        });
        let run = run.wait().expect_code(0);
        scene.expect_complete(&run);
        assert!(run.stderr.contains("(git commit): somebody is at work with git"), "{run}");
        assert!(!run.stderr.contains("one by one"), "{run}");
        assert_eq!(scene.git(&["show", "HEAD:mine.txt"]), "more\n");
    }
}

#[test]
fn whoever_waits_for_an_open_editor_can_be_stopped() {
    let (scene, agent) = scene();
    let mut run = scene.begin(&agent, &["--max-task-iterations", "1"]);
    scene.await_gate();
    scene.write("mine.txt", "more\n");
    let stopped = thread::scope(|scope| {
        scope.spawn(|| commit_slowly(&scene, &["mine.txt"]));
        wait_for("the editor", || scene.control("open").exists());
        scene.release("gate");
        wait_for("the run to say so", || run.stderr().contains(WAITS));
        run.signal(Signal::Interrupt);
        let stopped = run.wait();
        assert!(!scene.has("out/1.1.txt"), "{stopped}");
        scene.release("typed");
        stopped
    });
    assert_eq!(stopped.code, Some(130), "{stopped}");
    assert_eq!(scene.landed(), [""; 0], "{stopped}");
    let run = scene.go(&worker(), &["--max-task-iterations", "1"]).expect_code(0);
    scene.expect_complete(&run);
}
