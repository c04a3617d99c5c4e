//! The program dies at a change of files that it makes itself, without a git. Started again, it ends where a run one by one ends. This takes strace, and is skipped where there is none.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use testkit::stride;

use super::scene::{Scene, members, worker};

/// How many runs are killed at once.
const WORKERS: usize = 3;

/// Usually only every so many steps are died at: each is a run and another one.
const STRIDE: usize = 6;

/// What changes files other than by writing into them.
const STEPS: &str = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,rmdir,utimensat,fchmod";

/// Runs a batch of which each thread dies at its n-th step, and all others with it. Says whether one got so far. What the
/// program starts is let go.
fn is_killed_at(scene: &Scene, n: usize) -> bool {
    let inject = format!("inject={STEPS}:signal=KILL:when={n}");
    let count = scene.ids().len();
    let agent = scene.install_agent(&scene.first_is_last(count - 1));
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-b",
        "execve",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        &format!("trace={STEPS}"),
        "-e",
        &inject,
    ]);
    command.arg(env!("CARGO_BIN_EXE_tillgreen")).args([
        "run",
        "--jobs",
        &count.to_string(),
        "--agent-cmd",
        &agent,
    ]);
    command.env_clear().envs(scene.environment()).current_dir(scene.root());
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    !status.expect("strace runs").success()
}

fn has_strace() -> bool {
    let version = Command::new("strace").arg("--version").stdout(Stdio::null()).status();
    let is_there = version.is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("skipped: strace is not installed");
    }
    is_there
}

#[test]
fn killed_at_changes_that_the_program_makes_itself() {
    check_kills(&members(2));
}

#[track_caller]
fn check_kills(tasks: &[String]) {
    if !has_strace() {
        return;
    }
    let expected = {
        let scene = Scene::new(tasks);
        scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
        scene.files()
    };
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work_off = || {
        while !is_over.load(Ordering::Relaxed) {
            let n = 1 + stride(STRIDE) * next.fetch_add(1, Ordering::Relaxed);
            let scene = Scene::new(tasks);
            if !is_killed_at(&scene, n) {
                is_over.store(true, Ordering::Relaxed);
                return;
            }
            let run = scene.go(&worker(), &[]).expect_code(0);
            scene.expect_complete(&run);
            assert_eq!(scene.files(), expected, "killed at step {n}: {run}");
            scene.git(&["fsck", "--strict", "--full"]);
        }
    };
    thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work_off))));
    assert!(next.load(Ordering::Relaxed) > WORKERS + 3, "there were steps to die at");
}
