//! The coordinator is killed at every call of git: before git starts, while it runs on by itself, after it ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use tempfile::TempDir;
use testkit::{Repository, stride, write_executable};

/// Stands in for git: counts the calls, and at one of them kills who called. Several are called at once, and one of
/// them may still count when the program is dead already, so each takes a number that no other can take.
const WRAPPER: &str = r#"#!/bin/sh
PATH=$KILL_PATH
count=1
while [ -d "$KILL_CALLS" ] && ! mkdir "$KILL_CALLS/$count" 2>/dev/null; do count=$((count + 1)); done
if [ "$count" = "$KILL_AT" ]; then
    case $KILL_MOMENT in
        before) kill -KILL $PPID; exit 1 ;;
        during) kill -KILL $PPID ;;
        after) git "$@"; kill -KILL $PPID; exit ;;
    esac
fi
exec git "$@"
"#;

struct Killed {
    folder: TempDir,
    repository: Repository,
}

impl Killed {
    fn new() -> Killed {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(&folder.path().join("project"), &folder.path().join("home"));
        for path in ["a", "b", "old-a", "mine"] {
            repository.write(path, "as it was\n");
        }
        repository.commit_all("first");
        let base = repository.git(&["rev-parse", "HEAD"]);
        repository.write(".tillgreen/base", base.trim());
        repository.write("b", "landed before\n");
        repository.git(&["commit", "-qam", "before"]);
        repository.write("mine", "staged by a person\n");
        repository.git(&["add", "mine"]);
        repository.write("note", "a person's\n");
        write_executable(&folder.path().join("bin/git"), WRAPPER);
        Killed { folder, repository }
    }

    /// Runs the coordinator and tells how it ended and how often it called git.
    fn run(&self, moment: &str, at: usize) -> (ExitStatus, usize) {
        let calls = tempfile::tempdir_in(self.folder.path()).unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(coordinator());
        command.arg(self.repository.root()).arg("a").envs(self.repository.environment());
        command.env("PATH", format!("{}:{path}", self.folder.path().join("bin").display()));
        command.env("KILL_PATH", &path).env("KILL_CALLS", calls.path());
        command.env("KILL_MOMENT", moment).env("KILL_AT", at.to_string());
        let status = command.status().unwrap();
        (status, fs::read_dir(calls.path()).unwrap().count())
    }

    #[track_caller]
    fn expect_the_same_end(&self, when: &str) {
        let repository = &self.repository;
        assert_eq!(repository.subjects(), ["first", "before", "a"], "{when}");
        assert_eq!(repository.dirt(), ["M  mine", "?? note"], "{when}");
        let changes = repository.git(&["show", "--format=", "--name-status", "--no-renames"]);
        assert_eq!(changes, "M\ta\nA\tnew-a\nD\told-a\n", "{when}");
        assert_eq!(repository.read("b"), "landed before\n", "{when}");
        assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1, "{when}");
        assert_eq!(repository.git(&["for-each-ref", "refs/tillgreen"]), "", "{when}");
        assert_eq!(leftovers(&repository.root().join(".git")), Vec::<String>::new(), "{when}");
    }
}

fn coordinator() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let batch = test.ancestors().nth(2).unwrap().join("examples/batch");
    assert!(
        batch.exists(),
        "{} is missing: run all tests of this crate, or --example batch first",
        batch.display()
    );
    batch
}

/// Files of ours, and locks.
fn leftovers(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.contains("tillgreen") || name.ends_with(".lock")).collect()
}

/// Usually only at every so many calls: each is a run and another one.
const STRIDE: usize = 5;

fn check(moment: &str) {
    for at in (1..).step_by(stride(STRIDE)) {
        let killed = Killed::new();
        let (status, calls) = killed.run(moment, at);
        if status.success() {
            killed.expect_the_same_end("not killed");
            assert!(calls < at && at > 10, "every call was one to be killed at");
            return;
        }
        let (status, _) = killed.run(moment, 0);
        let when = format!("killed {moment} call {at}");
        assert!(status.success(), "{when}");
        killed.expect_the_same_end(&when);
    }
}

#[test]
fn killed_before_any_call_of_git_the_end_is_the_same() {
    check("before");
}

#[test]
fn killed_after_any_call_of_git_the_end_is_the_same() {
    check("after");
}

#[test]
fn killed_while_any_git_runs_on_by_itself_the_end_is_the_same() {
    check("during");
}
