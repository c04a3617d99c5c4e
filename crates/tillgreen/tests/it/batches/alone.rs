//! Tasks one by one, in the project itself, while a person works there as well: whatever they save and commit, and
//! whenever, stays.

use std::fs;

use testkit::{Agent, Step};

use super::hooks::kill_after;
use super::kills::real_git;
use super::scene::{Scene, done, members, task, work, worker};

/// A formatter, which adds what it changed.
const FORMATTER: &str = "for file in $(git diff --cached --name-only -- out); do\n\
     grep -q formatted $file || echo formatted >> $file; git add $file; done";

/// When somebody commits.
enum When {
    BeforeOurs,
    OnTop,
}

/// Somebody commits `base.txt` once, as git commits the work of the first task.
fn commits_meanwhile(scene: &Scene, when: When) {
    let (git, once) = (real_git(), scene.control("once").display().to_string());
    let person = format!(
        "echo mine >> base.txt; {git} commit --quiet --message mine base.txt > '{once}/out' 2>&1 < /dev/null"
    );
    let pass = format!("exec {git} \"$@\"");
    let order = match when {
        When::BeforeOurs => format!("{person}; {pass}"),
        When::OnTop => format!("{git} \"$@\"; code=$?; {person}; exit $code"),
    };
    let script = format!(
        "case \"$*\" in *commit*'feat: task 1.1'*) ;; *) {pass};; esac\n\
         mkdir '{once}' 2> /dev/null || {pass}\n{order}"
    );
    scene.install_program("git", &script);
}

fn count(scene: &Scene, subject: &str) -> usize {
    scene.git(&["log", "--format=%s"]).lines().filter(|line| *line == subject).count()
}

#[test]
fn a_commit_that_comes_before_ours_is_no_hooks_doing() {
    for hook in ["pre-commit", "commit-msg", "post-commit"] {
        let scene = Scene::new(&members(2));
        scene.hook(hook, "exit 0");
        commits_meanwhile(&scene, When::BeforeOurs);
        let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(count(&scene, "mine"), 1, "{run}");
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "base\nmine\n", "{run}");
        assert!(!run.stderr.contains("a git hook changed"), "{run}");
    }
}

#[test]
fn what_a_hook_makes_is_taken_back_to_the_persons_commit() {
    let scene = Scene::new(&members(2));
    scene.hook("pre-commit", FORMATTER);
    commits_meanwhile(&scene, When::BeforeOurs);
    let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(count(&scene, "mine"), 1, "{run}");
    assert_eq!(run.stderr.matches("a git hook changed the work of task").count(), 2, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done\nformatted\n", "{run}");
}

#[test]
fn what_a_hook_made_stays_below_a_persons_commit_and_is_verified_there() {
    let scene = Scene::new(&members(2));
    scene.hook("pre-commit", FORMATTER);
    commits_meanwhile(&scene, When::OnTop);
    let run = scene.go(&worker(), &["--jobs", "1"]).expect_code(0);
    scene.expect_complete(&run);
    assert_eq!(count(&scene, "mine"), 1, "{run}");
    assert_eq!(count(&scene, "feat: task 1.1"), 1, "{run}");
    assert!(run.stderr.contains("as it was committed and somebody committed on top"), "{run}");
    assert_eq!(run.stderr.matches("checks are green again").count(), 2, "{run}");
    assert_eq!(scene.git(&["show", "HEAD:out/1.1.txt"]), "done\nformatted\n", "{run}");
    assert!(fs::read_to_string(scene.control("once/out")).is_ok_and(|out| out.is_empty()), "{run}");
}

/// The agent commits its work itself, so that no commit carries our trailer.
#[test]
fn a_kill_after_the_box_is_committed_costs_no_second_commit() {
    let scene = Scene::new(&members(2));
    kill_after(&scene, "chore(spec): complete task 1.1");
    let commit = Step::shell("git add out && git commit --quiet --message agent");
    let agent = Agent::new().otherwise([work(), commit, done()]);
    scene.begin(&agent, &["--jobs", "1"]).wait();
    scene.wait_until_quiet();
    let made = scene.git(&["log", "-1", "--format=%h", "--abbrev=7", "--", "out/1.1.txt"]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_settled(&run);
    assert_eq!(count(&scene, "chore(spec): complete task 1.1"), 1, "{run}");
    let progress = scene.read("specs/demo/.progress.md");
    assert_eq!(progress.matches("- [x] 1.1").count(), 1, "{progress}");
    assert!(progress.contains(made.trim()), "{progress}");
}

/// Each time the work is verified, somebody saves a file and commits it, and saves it once more.
#[test]
fn what_somebody_commits_all_the_time_is_not_taken_back() {
    for rest in ["", "echo unsaved >> base.txt; "] {
        let scene = Scene::bare();
        let git = real_git();
        let person = format!("echo line >> base.txt; {git} commit --quiet --message mine base.txt; {rest}");
        scene.plan(&[task("1.1", "out/1.1.txt", &format!("{person}grep -q done out/1.1.txt"))]);
        let agent = Agent::new().otherwise([Step::shell(&person), work(), done()]);
        let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
        scene.expect_done(&run);
        let mine = scene.git(&["log", "--format=%H", "--grep", "^mine$"]).lines().count();
        let removed = scene.git(&["log", "-p", "--format=", "--", "base.txt"]);
        assert!(!removed.lines().any(|line| line.starts_with('-') && !line.starts_with("---")), "{run}");
        assert_eq!(scene.read("base.txt").matches("line").count(), mine, "{run}");
        assert_eq!(scene.read("base.txt").matches("unsaved").count(), if rest.is_empty() { 0 } else { mine });
        assert_eq!(
            scene.git(&["log", "-1", "--format=", "--name-only", "--grep", "^feat"]).trim(),
            "out/1.1.txt"
        );
    }
}

/// Once they have committed a file while the work is verified, it is theirs, also while they only save it.
#[test]
fn what_somebody_committed_and_goes_on_saving_is_not_committed_for_them() {
    let scene = Scene::bare();
    let (git, once) = (real_git(), scene.control("once").display().to_string());
    let person = format!(
        "echo line >> base.txt; ! mkdir {once} 2> /dev/null || {git} commit --quiet --message mine base.txt; "
    );
    scene.plan(&[task("1.1", "out/1.1.txt", &format!("{person}grep -q done out/1.1.txt"))]);
    let agent = Agent::new().otherwise([Step::shell("echo line >> base.txt"), work(), done()]);
    let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
    scene.expect_done(&run);
    assert!(run.stderr.contains("so they are not in its commit: base.txt"), "{run}");
    let made = scene.git(&["log", "-1", "--format=", "--name-only", "--grep", "^feat"]);
    assert_eq!(made.trim(), "out/1.1.txt", "{run}");
    assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "base\nline\nline\n", "{run}");
    assert_eq!(scene.read("base.txt"), "base\nline\nline\nline\nline\n", "{run}");
}

#[test]
fn what_an_agent_hides_from_git_is_committed_and_what_a_person_hides_is_not() {
    for option in ["--skip-worktree", "--assume-unchanged"] {
        let scene = Scene::new(&members(2));
        scene.write("mine.txt", "theirs\n");
        scene.commit_all("mine");
        scene.git(&["update-index", option, "mine.txt"]);
        scene.write("mine.txt", "mine\n");
        let hide = Step::shell(&format!("git update-index {option} base.txt && echo hidden > base.txt"));
        let agent = Agent::new().on("1.1", [hide, work(), done()]).otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", "1"]).expect_code(0);
        scene.expect_complete(&run);
        assert_eq!(scene.git(&["show", "HEAD:base.txt"]), "hidden\n", "{option}: {run}");
        assert_eq!(scene.git(&["show", "HEAD:mine.txt"]), "theirs\n", "{option}: {run}");
        assert_eq!(scene.read("mine.txt"), "mine\n", "{option}: {run}");
        assert!(
            run.stderr.contains("git was told not to look at base.txt while task 1.1 was at work"),
            "{run}"
        );
    }
}
