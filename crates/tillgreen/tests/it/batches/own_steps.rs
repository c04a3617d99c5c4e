//! The program dies at a change of files that it makes itself, without a git: it writes objects, files that come in and
//! indexes. Started again, it ends where a run one by one ends. This takes strace, and is skipped where there is none.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use testkit::wait_for;

use super::scene::{JOURNAL, PROGRESS, Scene, members, worker};

/// How many runs are killed at once.
const WORKERS: usize = 3;

/// Only every so many steps are died at: each is a run and another one.
const STRIDE: usize = 2;

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

/// So many that what comes in together is stored as a pack.
#[test]
fn killed_at_changes_that_the_program_makes_itself_in_a_wide_batch() {
    check_kills(&members(5));
}

#[test]
fn killed_at_changes_that_the_program_makes_itself_where_work_comes_in_one_by_one() {
    let look = |task: String| task.replace("grep -q done", "git log -1 && grep -q done");
    check_kills(&members(2).into_iter().map(look).collect::<Vec<_>>());
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
            let n = 1 + STRIDE * next.fetch_add(1, Ordering::Relaxed);
            let scene = Scene::new(tasks);
            if !is_killed_at(&scene, n) {
                is_over.store(true, Ordering::Relaxed);
                return;
            }
            let run = scene.go(&worker(), &[]).expect_code(0);
            scene.expect_complete(&run);
            assert_eq!(scene.files(), expected, "killed at step {n}: {run}");
            scene.git(&["fsck", "--strict", "--full"]);
            let packs = fs::read_dir(scene.root().join(".git/objects/pack")).expect("a folder of packs");
            let packs: Vec<_> = packs.flatten().map(|file| file.path()).collect();
            let is_whole =
                |file: &PathBuf| file.with_extension("pack").exists() && file.with_extension("idx").exists();
            assert!(packs.iter().all(is_whole), "killed at step {n}: {packs:?}");
        }
    };
    thread::scope(|scope| (0..WORKERS).for_each(|_| drop(scope.spawn(work_off))));
    assert!(next.load(Ordering::Relaxed) > WORKERS + 10, "there were steps to die at");
}

/// Runs a batch whose members come in together, held up for a moment when it first opens a file, in which a person does
/// something.
fn held_up_at(path: &str, person: &(dyn Fn(&Scene) + Sync)) -> Option<Scene> {
    if !has_strace() {
        return None;
    }
    let scene = Scene::new(&members(3));
    let agent = scene.install_agent(&scene.first_is_last(2));
    let mut command = Command::new("strace");
    command.args(["-f", "-b", "execve", "-qq", "-o", "/dev/null", "-e", "trace=openat"]);
    command.arg("-P").arg(scene.root().join(path));
    command.args(["-e", "inject=openat:delay_enter=600000:when=1"]);
    command.arg(env!("CARGO_BIN_EXE_tillgreen")).args(["run", "--jobs", "3", "--agent-cmd", &agent]);
    command.env_clear().envs(scene.environment()).current_dir(scene.root());
    let mut run = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("strace runs");
    let journal = scene.root().join(JOURNAL);
    let has_begun = || {
        fs::read_to_string(&journal).unwrap_or_default().matches("landing_started").count() > 0
            && (path != LOCK || scene.root().join("out/1.3.txt").exists())
    };
    wait_for("work to come in", has_begun);
    thread::sleep(Duration::from_millis(200));
    person(&scene);
    assert!(run.wait().expect("it ends").success());
    Some(scene)
}

const LOCK: &str = ".git/index.lock";

#[test]
fn what_somebody_stages_while_work_is_put_in_stays_staged() {
    let stage = |scene: &Scene| {
        scene.write("base.txt", "staged\n");
        // Git's lock may be taken just then.
        wait_for("the lock", || scene.try_git(&["add", "base.txt"]).status.success());
    };
    if let Some(scene) = held_up_at("out/1.2.txt", &stage) {
        assert_eq!(scene.git(&["diff", "--cached", "--name-only"]).trim(), "base.txt");
        assert_eq!(scene.landed(), scene.ids());
    }
}

#[test]
fn what_somebody_writes_into_the_progress_file_while_work_is_committed_stays() {
    let write = |scene: &Scene| {
        let text = fs::read_to_string(scene.root().join(PROGRESS)).unwrap_or_default();
        scene.write(PROGRESS, format!("{text}\n- my own words\n"));
    };
    if let Some(scene) = held_up_at(LOCK, &write) {
        let text = scene.read(PROGRESS);
        assert!(text.contains("- my own words"), "{text}");
        assert_eq!(scene.landed(), scene.ids());
    }
}
