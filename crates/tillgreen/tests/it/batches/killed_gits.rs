//! Gits of the program that somebody kills, as a machine does that runs out of memory or loses power, in the middle of what
//! they do: a commit whose hook has made something else of the work, and a fast-forward of many files.

use std::fs;

use testkit::{Agent, Finished, Step};

use super::scene::{Scene, done, member, task, work, worker};

/// Two members; a hook makes something else of the first as it is committed, and once kills the git of that commit, which
/// ends as if it had not been.
fn with_hook(makes: &str) -> Scene {
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
        &format!("git log -1 --format=%s | grep -q 'task 1.1' && mkdir {once} && kill -9 $PPID; exit 0"),
    );
    scene
}

/// Runs until nothing is in the way any more.
fn go(scene: &Scene, flags: &[&str]) -> Finished {
    let flags = [&["--max-task-iterations", "1"], flags].concat();
    let run = scene.go(&worker(), &flags);
    assert!(scene.control("once").exists(), "a git was killed: {run}");
    if run.code == Some(6) { scene.go(&worker(), &flags) } else { run }
}

#[test]
fn what_a_hook_made_of_work_whose_commit_was_killed_is_verified() {
    let scene = with_hook("done, and formatted");
    let run = go(&scene, &[]).expect_code(0);
    scene.expect_complete(&run);
    let seen = fs::read_to_string(scene.control("seen")).unwrap();
    assert!(seen.contains("done, and formatted"), "{seen}\n{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done, and formatted\n", "{run}");
}

#[test]
fn work_that_a_hook_broke_before_its_commit_was_killed_is_no_success() {
    for jobs in ["4", "1"] {
        let scene = with_hook("broken");
        let run = go(&scene, &["--jobs", jobs]).expect_code(1);
        assert!(scene.tasks("demo").contains("- [ ] 1.1"), "{jobs}: {run}");
        assert!(jobs == "1" || !scene.landed().contains(&"1.1".to_owned()), "{jobs}: {run}");
    }
}

/// How many files come in at once.
const FILES: usize = 60;

/// Who is killed.
#[derive(Clone, Copy, Debug)]
enum Killed {
    Git,
    Both,
}

/// Two tasks, the first of which changes, adds and deletes many files. Git writes each of them through a filter, which
/// kills it in the project at the n-th, once.
fn with_many_files(n: usize, killed: Killed) -> (Scene, Agent) {
    let scene = Scene::bare();
    let (count, root) = (scene.control("count").display().to_string(), scene.root().display().to_string());
    let kill = match killed {
        Killed::Git => "kill -9 $PPID",
        Killed::Both => "kill -9 $(ps -o ppid= -p $PPID) $PPID",
    };
    scene.install_program(
        "deadly",
        &format!(
            "if test \"$PWD\" = '{root}' && ! test -e '{count}.reached'; then\n\
             printf x >> '{count}'; read -r seen < '{count}'\n\
             if test ${{#seen}} -ge {n}; then : > '{count}.reached'; {kill}; fi; fi; exec cat"
        ),
    );
    for number in 0..FILES {
        scene.write(&format!("many/{number}.dat"), format!("before {number}\n"));
        scene.write(&format!("gone/{number}.txt"), "gone\n");
    }
    scene.write(".gitattributes", "*.dat filter=deadly\n");
    scene.write("mine.txt", "mine\n");
    let many = format!("test $(grep -l after many/*.dat | wc -l) = {} && test ! -e gone", 2 * FILES);
    scene.plan(&[task("1.1", "many, gone", &many), member("1.2")]);
    scene.git(&["config", "filter.deadly.clean", "cat"]);
    scene.git(&["config", "filter.deadly.smudge", "deadly"]);
    let change = format!(
        "for n in $(seq 0 {}); do echo after $n > many/$n.dat; echo after, new > many/new-$n.dat; done; rm -r gone",
        FILES - 1
    );
    // A person goes on working meanwhile.
    let person = Step::shell(&format!("echo more >> '{root}/mine.txt'; echo new > '{root}/untracked.txt'"));
    let agent = Agent::new().on("1.1", [Step::shell(&change), person, done()]).otherwise([
        work(),
        scene.until_done("1.1"),
        done(),
    ]);
    (scene, agent)
}

#[track_caller]
fn check_fast_forward(n: usize, killed: Killed) {
    let (scene, agent) = with_many_files(n, killed);
    let run = scene.go(&agent, &[]);
    assert!(scene.control("count.reached").exists(), "a git was killed: {run}");
    assert_eq!(scene.landed(), [""; 0], "{run}");
    if let Killed::Both = killed {
        assert_eq!(run.code, None, "{run}");
        // What git had in hand when the power went.
        let written = (0..FILES).map(|number| format!("many/{number}.dat"));
        if let Some(path) =
            written.rev().find(|path| scene.has(path) && scene.read(path).starts_with("after"))
        {
            scene.write(&path, "aft");
        }
    }
    let run = scene.go(&agent, &[]).expect_code(0);
    assert!(run.stdout.contains("ALL_TASKS_COMPLETE"), "{n} {killed:?}: {run}");
    assert_eq!(scene.landed(), ["1.1", "1.2"], "{n} {killed:?}: {run}");
    assert_eq!(scene.attempts("1.1"), 1, "{n} {killed:?}: {run}");
    assert_eq!(scene.dirt(), [" M mine.txt", "?? untracked.txt"], "{n} {killed:?}: {run}");
    assert_eq!(scene.git(&["grep", "-c", "after", "HEAD", "--", "many"]).lines().count(), 2 * FILES, "{run}");
}

#[test]
fn a_fast_forward_of_many_files_that_was_cut_off_is_finished_and_nothing_of_anybodys_is_lost() {
    for n in [1, FILES / 2, FILES, 2 * FILES] {
        check_fast_forward(n, Killed::Both);
    }
}

#[test]
fn a_git_that_is_killed_in_the_middle_of_a_fast_forward_is_made_up_for() {
    check_fast_forward(FILES / 2, Killed::Git);
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
