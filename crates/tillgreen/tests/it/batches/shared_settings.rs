//! Agents that change settings of git which all working trees share: nothing is written to another folder for that, and
//! it is said what was changed.

use std::fs;

use testkit::{Agent, Step};

use super::scene::{Scene, done, members, work, worker};

/// Runs a plan whose first agent changes a setting, until that is undone.
#[track_caller]
fn check((setting, value, undo): (&str, &str, &str), jobs: &str) {
    let scene = Scene::new(&members(2));
    let elsewhere = scene.control("elsewhere");
    fs::create_dir_all(&elsewhere).expect("a folder can be made");
    let value = value.replace("ELSEWHERE", &elsewhere.display().to_string());
    let change = Step::shell(&format!("git config {setting} '{value}'"));
    let agent = Agent::new().on("1.1", [work(), change, done()]).otherwise([work(), done()]);
    let run = scene.go(&agent, &["--jobs", jobs]);
    assert!(matches!(run.code, Some(2 | 6)), "{run}");
    assert!(run.stderr.contains(&format!("{setting} is {value}")), "{run}");
    assert!(run.stderr.contains(undo), "{run}");
    let written: Vec<_> = fs::read_dir(&elsewhere).expect("it is still there").collect();
    assert!(written.is_empty(), "{written:?}\n{run}");
    let again = scene.go(&worker(), &["--jobs", jobs]).expect_code(2);
    assert!(again.stderr.contains(setting) && again.stderr.contains(undo), "{again}");
    let ended = std::process::Command::new("sh")
        .args(["-c", undo])
        .current_dir(scene.root())
        .env_clear()
        .envs(scene.environment())
        .status();
    assert!(ended.expect("there is a shell").success(), "{undo}");
    let run = scene.go(&worker(), &["--jobs", jobs]).expect_code(0);
    scene.expect_complete(&run);
    assert!(scene.agent_calls().iter().all(|call| call.attempt == 1), "it is no failure of a task's\n{run}");
}

const WORKTREE: &str = "GIT_WORK_TREE=. git config --unset core.worktree";

#[test]
fn another_folder_for_the_project_is_not_written_to() {
    for jobs in ["1", "4"] {
        check(("core.worktree", "ELSEWHERE", WORKTREE), jobs);
    }
}

#[test]
fn settings_and_hooks_that_change_meanwhile_are_told_of() {
    const TOLD: &str = "part of no commit: ";
    for jobs in ["1", "2"] {
        let scene = Scene::new(&members(2));
        let hooks = scene.root().join(".git/hooks").display().to_string();
        let change = Step::shell(&format!(
            "git config alias.shown status && mkdir -p '{hooks}' && echo 'exit 0' > '{hooks}/pre-push' && \
             echo 'exit 0' > '{hooks}/update.sample'"
        ));
        let agent = Agent::new().on("1.2", [change, work(), done()]).otherwise([work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs]).expect_code(0);
        scene.expect_complete(&run);
        // Somebody may look in the middle of it, and then once more.
        let told: Vec<&str> = run.stderr.lines().filter_map(|line| Some(line.split_once(TOLD)?.1)).collect();
        let count = |name: &str| told.iter().map(|line| line.matches(name).count()).sum::<usize>();
        let counts = [".git/config", ".git/hooks/pre-push", "update.sample"].map(count);
        assert_eq!(counts, [1, 1, 0], "{run}");
        // The same value again is no change.
        let scene = Scene::new(&members(2));
        let again = Step::shell("git config core.bare false");
        let agent = Agent::new().otherwise([again, work(), done()]);
        let run = scene.go(&agent, &["--jobs", jobs]).expect_code(0);
        assert!(!run.stderr.contains(TOLD), "{run}");
    }
}
