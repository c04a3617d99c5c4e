//! Finished work belongs to the text that it was made for: the program is stopped while it waits to come in, and at the
//! next start the plan has another text of the same task.

use std::fs;

use testkit::{Agent, Background, Finished, Signal, Step, wait_for};

use super::scene::{JOURNAL, LANDS, Scene, TASKS, done, member, plan, task, work, worker};

/// What the plan asks for after it was rewritten.
pub(super) fn other(id: &str) -> String {
    let verify = format!("grep -q done other/{id}.txt");
    task(id, &format!("other/{id}.txt"), &verify)
        .replace("Task number", "Other thing")
        .replace("feat:", "fix:")
}

pub(super) fn other_worker() -> Agent {
    let write = "mkdir -p other && echo done > \"other/$TILLGREEN_TASK_ID.txt\"";
    Agent::new().otherwise([Step::shell(write), done()])
}

/// A task whose verify command stays where no agent works, until the program goes, or for as long as nobody has it go on.
pub(super) fn staying(scene: &Scene, id: &str) -> String {
    let (stays, goes_on) = (scene.control("stays"), scene.control("goes-on"));
    let wait = format!("while ! test -e {}; do sleep 0.05; done", goes_on.display());
    let verify = format!("grep -q done out/{id}.txt && if {LANDS}; then : > {}; {wait}; fi", stays.display());
    task(id, &format!("out/{id}.txt"), &verify)
}

/// A run whose first task stays while it is verified. Side by side, the second has passed and waits to come in.
fn begin(scene: &Scene, flags: &[&str]) -> Background {
    scene.plan(&[staying(scene, "1.1"), member("1.2")]);
    let stays = scene.control("stays");
    let agent =
        Agent::new().on("1.2", [work(), Step::await_file(&stays), done()]).otherwise([work(), done()]);
    let run = scene.begin(&agent, flags);
    wait_for("the verify command to stay", || stays.exists());
    let passed = "{\"checks_passed\":{\"task\":\"1.2\"";
    wait_for("the other to pass", || !flags.is_empty() || journal(scene).contains(passed));
    run
}

fn journal(scene: &Scene) -> String {
    fs::read_to_string(scene.root().join(JOURNAL)).unwrap_or_default()
}

fn stop(mut run: Background, signal: Signal) {
    run.signal(signal);
    run.wait();
}

/// Both tasks were done anew, for what the plan asks now, and nobody was charged.
#[track_caller]
fn expect_other(scene: &Scene, run: &Finished) {
    scene.expect_complete(run);
    for id in ["1.1", "1.2"] {
        assert_eq!(scene.read(&format!("other/{id}.txt")), "done\n", "{run}");
        assert!(scene.subjects().contains(&format!("fix: task {id}")), "{:?}", scene.subjects());
    }
    assert!(!journal(scene).contains("attempt_failed"), "{}", journal(scene));
}

#[test]
fn work_of_another_branch_is_not_taken_for_that_of_this_one() {
    for signal in [Signal::Interrupt, Signal::Kill] {
        let scene = Scene::bare();
        stop(begin(&scene, &[]), signal);
        scene.git(&["stash", "--include-untracked"]);
        scene.git(&["checkout", "-b", "other"]);
        scene.plan(&[other("1.1"), other("1.2")]);
        let run = scene.go(&other_worker(), &[]).expect_code(0);
        expect_other(&scene, &run);
        let told = "the plan has another text of tasks 1.1, 1.2 than the one that was worked on";
        assert_eq!((run.stderr.matches(told).count(), run.stdout.matches(told).count()), (1, 1), "{run}");
        assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (2, 2), "{run}");
    }
}

#[test]
fn what_was_done_for_the_old_text_is_brought_along() {
    check_brought_along(|_| {});
}

#[test]
fn also_without_the_slots_that_it_was_done_in() {
    check_brought_along(|scene| fs::remove_dir_all(scene.cache()).expect("there are slots"));
}

#[track_caller]
fn check_brought_along(meddle: fn(&Scene)) {
    let scene = Scene::bare();
    stop(begin(&scene, &[]), Signal::Kill);
    scene.kill_everything();
    meddle(&scene);
    scene.write(TASKS, plan(&[other("1.1"), other("1.2")]));
    scene.git(&["commit", "-m", "other", TASKS]);
    let look = Step::shell("test -f \"out/$TILLGREEN_TASK_ID.txt\" || exit 3");
    let write = Step::shell("mkdir -p other && cp \"out/$TILLGREEN_TASK_ID.txt\" other/");
    let run = scene.go(&Agent::new().otherwise([look, write, done()]), &[]).expect_code(0);
    expect_other(&scene, &run);
}

#[test]
fn one_by_one_as_well() {
    let scene = Scene::bare();
    stop(begin(&scene, &["--jobs", "1"]), Signal::Kill);
    scene.write(TASKS, plan(&[other("1.1"), other("1.2")]));
    scene.git(&["commit", "-m", "other", TASKS]);
    let run = scene.go(&other_worker(), &["--jobs", "1"]).expect_code(0);
    expect_other(&scene, &run);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (2, 1), "{run}");
}

#[test]
fn work_that_was_about_to_be_committed_does_not_come_in() {
    let scene = Scene::bare();
    let (once, stays) = (scene.control("once"), scene.control("stays"));
    scene.plan(&[member("1.1"), member("1.2")]);
    let (folder, file) = (once.display(), stays.display());
    scene
        .hook("pre-commit", &format!("if mkdir {folder}; then : > {file}; while :; do sleep 0.05; done; fi"));
    let run = scene.begin(&worker(), &[]);
    wait_for("the hook to stay", || stays.exists());
    scene.await_passed("demo", 2);
    stop(run, Signal::Kill);
    scene.kill_everything();
    scene.write(TASKS, plan(&[other("1.1"), other("1.2")]));
    scene.git(&["commit", "-m", "other", TASKS]);
    let run = scene.go(&other_worker(), &[]).expect_code(0);
    expect_other(&scene, &run);
}

#[test]
fn white_space_and_boxes_are_no_other_text() {
    let scene = Scene::bare();
    stop(begin(&scene, &[]), Signal::Kill);
    scene.release("goes-on");
    let text = scene.tasks("demo").replace("  - **Files**", "\n    -  **Files**");
    scene.write(TASKS, text);
    let run = scene.go(&worker(), &[]).expect_code(0);
    assert_eq!((scene.attempts("1.1"), scene.attempts("1.2")), (1, 1), "{run}");
    assert!(!run.stdout.contains("another text") && !run.stderr.contains("another text"), "{run}");
}

#[test]
fn where_the_other_task_is_done_already_the_work_is_kept_aside() {
    let scene = Scene::bare();
    stop(begin(&scene, &[]), Signal::Kill);
    scene.git(&["stash", "--include-untracked"]);
    scene.git(&["checkout", "-b", "other"]);
    scene.plan(&[other("1.1").replace("- [ ]", "- [x]"), other("1.2")]);
    let run = scene.go(&other_worker(), &[]).expect_code(0);
    assert_eq!(scene.landed(), ["1.2"], "{run}");
    assert_eq!(scene.attempts("1.1"), 1, "{run}");
    let left = scene.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen-left"]);
    assert!(!left.is_empty(), "{run}");
    for left in left.lines() {
        assert_eq!(scene.git(&["show", &format!("{left}:out/1.1.txt")]).trim(), "done", "{run}");
    }
}

#[test]
fn a_message_that_is_reworded_at_work_is_the_one_of_the_commit() {
    for flags in [&["--jobs", "1"][..], &[]] {
        let scene = Scene::new(&[member("1.1"), member("1.2")]);
        let (begun, go) = (scene.control("begun"), scene.control("go"));
        let wait = Step::shell(&format!(
            ": > '{}'.$TILLGREEN_TASK_ID; while test ! -e '{}'; do sleep 0.02; done",
            begun.display(),
            go.display()
        ));
        let run =
            scene.begin(&Agent::new().on("1.1", [wait, work(), done()]).otherwise([work(), done()]), flags);
        wait_for("the agent to begin", || scene.control("begun.1.1").exists());
        let text = scene.tasks("demo").replace("`feat: task 1.1`", "`feat: another thing`");
        scene.write(TASKS, text);
        fs::write(&go, "").expect("it can be written");
        run.wait().expect_code(0);
        let subjects = scene.subjects();
        assert!(subjects.iter().any(|subject| subject == "feat: another thing"), "{subjects:?}");
        assert!(!subjects.iter().any(|subject| subject == "feat: task 1.1"), "{subjects:?}");
    }
}
