//! The program dies in the middle of a batch: at each call of git, and at each event. Started again, it ends where a run
//! one by one ends.

use std::fs;

use testkit::{Agent, Finished, Signal, Step, wait_for};

use super::scene::{JOURNAL, Scene, done, members, work};

/// Every so many calls of git are tried, each test beginning at another.
const STRIDE: usize = 24;

/// Two members that conflict and one that fails once.
fn agent() -> Agent {
    let share =
        || Step::shell("grep -q \"^$TILLGREEN_TASK_ID\\$\" base.txt || echo $TILLGREEN_TASK_ID >> base.txt");
    Agent::new()
        .on("1.1", [share(), work(), done()])
        .on("1.2", [share(), work(), done()])
        .on_attempt("1.3", 1, [Step::write("half.txt", "half\n"), Step::Exit(3)])
        .otherwise([work(), done()])
}

/// What a run one by one ends with.
fn one_by_one() -> Vec<String> {
    let scene = Scene::new(&members(3));
    scene.go(&agent(), &["--jobs", "1"]).expect_code(0);
    scene.files()
}

/// Starts it again until it has ended.
#[track_caller]
fn expect_resumable(scene: &Scene, expected: &[String], when: &str) {
    let run = scene.go(&agent(), &[]);
    assert_eq!(run.code, Some(0), "killed at {when}: {run}");
    scene.expect_complete(&run);
    assert_eq!(scene.files(), expected, "killed at {when}: {run}");
}

/// A git that kills whoever called it, before or after it has done its work, at its n-th call.
fn install_killer(scene: &Scene, n: usize, when: &str) {
    let count = scene.control("calls").display().to_string();
    let real = real_git();
    // Several may get there at once, and one of them is it.
    let kill = format!(
        "if test $(wc -l < '{count}') -ge {n} && mkdir '{count}.reached' 2>/dev/null; then kill -KILL $PPID; fi"
    );
    let script = match when {
        "before" => format!("echo x >> '{count}'; {kill}; exec {real} \"$@\""),
        _ => format!("{real} \"$@\"; code=$?; echo x >> '{count}'; {kill}; exit $code"),
    };
    scene.install_program("git", &script);
}

fn real_git() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path.split(':').map(|folder| format!("{folder}/git")).find(|file| fs::metadata(file).is_ok());
    found.expect("git is installed")
}

fn calls(scene: &Scene) -> usize {
    fs::read_to_string(scene.control("calls")).unwrap_or_default().lines().count()
}

/// Kills at one call of git; gives what came of the run.
fn killed_at(scene: &Scene, n: usize, when: &str) -> Finished {
    install_killer(scene, n, when);
    let run = scene.go(&agent(), &[]);
    let program = scene.root().with_file_name("bin").join("git");
    fs::remove_file(program).expect("the killer is there");
    run
}

#[track_caller]
fn check_kills_at_git(first: usize, when: &str) {
    let expected = one_by_one();
    for n in (first..).step_by(STRIDE) {
        let scene = Scene::new(&members(3));
        let run = killed_at(&scene, n, when);
        if calls(&scene) < n {
            run.expect_code(0);
            return;
        }
        assert_eq!(run.code, None, "{n}: {run}");
        expect_resumable(&scene, &expected, &format!("{when} call {n} of git"));
    }
}

#[test]
fn killed_before_calls_of_git() {
    check_kills_at_git(1, "before");
}

#[test]
fn killed_after_calls_of_git() {
    check_kills_at_git(STRIDE / 2, "after");
}

#[test]
fn killed_again_and_again() {
    let expected = one_by_one();
    let scene = Scene::new(&members(3));
    for n in (5..).step_by(9) {
        let _ = fs::remove_file(scene.control("calls"));
        let _ = fs::remove_dir(scene.control("calls.reached"));
        let run = killed_at(&scene, n, "before");
        if run.code.is_some() {
            run.expect_code(0);
            break;
        }
    }
    scene.expect_tidy();
    assert_eq!(scene.files(), expected);
    assert_eq!(scene.trees(), [""; 0]);
}

#[test]
fn killed_at_events() {
    let expected = one_by_one();
    for n in (2..).step_by(6) {
        let scene = Scene::new(&members(3));
        let mut run = scene.begin(&agent(), &[]);
        let events = || fs::read_to_string(scene.root().join(JOURNAL)).unwrap_or_default().lines().count();
        wait_for("an event", || events() > n || !run.is_running());
        if !run.is_running() {
            run.wait().expect_code(0);
            return;
        }
        run.signal(Signal::Kill);
        run.wait();
        expect_resumable(&scene, &expected, &format!("event {n}"));
    }
}
