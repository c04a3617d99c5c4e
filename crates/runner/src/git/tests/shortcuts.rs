//! Where a process is saved by doing what git would do: it must come to the same, also when somebody else is at it.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::calls::index_lock::IndexLock;
use crate::git::{Applied, GitError, Landed};

#[test]
fn a_tree_that_was_linked_without_git_is_like_any_other() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let state = scratch.repository.root().join(".git/worktrees/1.1");
    let listed = scratch.repository.git(&["worktree", "list", "--porcelain"]);
    assert!(listed.contains(&format!(
        "worktree {}\nHEAD {}\ndetached\n",
        linked.path.display(),
        linked.base
    )));
    linked.agent(&["status"]);
    linked.agent(&["checkout", "--quiet", "-b", "mine"]);
    linked.agent(&["commit", "--quiet", "--allow-empty", "-m", "by the agent"]);
    linked.agent(&["fsck", "--strict"]);
    scratch.repository.git(&["worktree", "prune"]);
    assert!(state.exists(), "git does not take it for a leftover");
    scratch.repository.git(&["worktree", "remove", "--force", linked.path.to_str().unwrap()]);
    assert!(!state.exists() && !linked.path.exists());
}

#[test]
fn what_has_more_to_it_is_linked_by_git() {
    let scratch = Scratch::new();
    scratch.repository.git(&["config", "extensions.worktreeConfig", "true"]);
    scratch.repository.git(&["config", "--worktree", "core.fileMode", "false"]);
    let linked = Linked::new(&scratch, "1.1");
    let copied = scratch.repository.root().join(".git/worktrees/1.1/config.worktree");
    assert!(fs::read_to_string(copied).unwrap().contains("fileMode"), "the settings came along");
    let odd = Linked::new(&scratch, "a b~1");
    odd.agent(&["status"]);
    linked.write("one", "changed\n");
    linked.land();
}

#[test]
fn what_a_person_stages_while_work_comes_back_stays_staged_and_out_of_it() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "by the task\n");
    assert!(matches!(linked.apply(&linked.pack()), Applied::Done { .. }));
    scratch.repository.write("two", "by a person\n");
    scratch.repository.git(&["add", "two"]);
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.last_commit(), ["M one"]);
    assert_eq!(scratch.repository.dirt(), ["M  two"]);
}

#[test]
fn the_index_of_the_project_follows_and_its_lock_is_respected() {
    let scratch = Scratch::new();
    let index = scratch.repository.root().join(".git/index");
    let (first, second) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
    first.write("one", "by the first\n");
    first.land();
    let staged = scratch.repository.git(&["diff-index", "--cached", "--name-only", "HEAD"]);
    assert_eq!(staged, "");
    assert!(!index.with_extension("lock").exists());
    second.write("two", "by the second\n");
    assert!(matches!(second.apply(&second.pack()), Applied::Done { .. }));
    fs::write(index.with_extension("lock"), "").unwrap();
    let before = fs::read(&index).unwrap();
    let message = "work of 1.2";
    let ended = second.git.commit_landing(
        ("Tillgreen-Task", "1.2"),
        message,
        std::time::Duration::from_secs(60),
        None,
    );
    assert!(matches!(ended, Err(GitError::Locked { .. })), "{ended:?}");
    assert_eq!(fs::read(&index).unwrap(), before, "whoever holds the lock is alone with the index");
    fs::remove_file(index.with_extension("lock")).unwrap();
    assert!(matches!(second.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.subjects(), ["first", "work of 1.1", "work of 1.2"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn nobody_stages_or_commits_while_work_is_being_committed() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "by the task\n");
    assert!(matches!(linked.apply(&linked.pack()), Applied::Done { .. }));
    let lock = IndexLock::take(&linked.git).unwrap();
    scratch.repository.write("two", "by a person\n");
    assert!(!scratch.repository.try_git(&["add", "two"]).status.success());
    assert!(matches!(IndexLock::take(&linked.git), Err(GitError::Locked { .. })));
    drop(lock);
    scratch.repository.git(&["add", "two"]);
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.dirt(), ["M  two"]);
}

/// Gives a file a time that is whole, and the same for all.
fn date(file: &Path) {
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::options().write(true).open(file).unwrap().set_modified(second).unwrap();
}

/// Changes a file so that its size and its time are what the index knows. Git looks at the content then, because the
/// index is no younger than the file.
fn change_in_the_same_second(root: &Path, index: &Path) {
    date(index);
    fs::write(root.join("one"), "eno\n").unwrap();
    date(&root.join("one"));
}

#[test]
fn a_change_in_the_second_in_which_the_index_was_written_is_seen_in_the_project() {
    for option in ["--refresh", "--skip-worktree", "--assume-unchanged"] {
        let scratch = Scratch::new();
        scratch.repository.git(&["config", "core.trustctime", "false"]);
        let linked = Linked::new(&scratch, "1.1");
        linked.write("one", "theirs\n");
        let packed = linked.pack();
        let root = scratch.repository.root();
        date(&root.join("one"));
        scratch.repository.git(&["update-index", "--refresh"]);
        scratch.repository.git(&["update-index", option, "one"]);
        change_in_the_same_second(root, &root.join(".git/index"));
        assert_eq!(linked.apply(&packed), Applied::Refused { paths: vec!["one".to_owned()] }, "{option}");
        assert_eq!(scratch.repository.read("one"), "eno\n", "{option}");
    }
}

#[test]
fn a_change_in_the_second_in_which_the_index_was_written_is_seen_in_a_work_tree() {
    let scratch = Scratch::new();
    scratch.repository.git(&["config", "core.trustctime", "false"]);
    let linked = Linked::new(&scratch, "1.1");
    let state = linked.git.state_of(&linked.path).unwrap();
    date(&linked.path.join("one"));
    let refresh = ["update-index", "-q", "--refresh"];
    let refreshed = Command::new("git").arg("-C").arg(&linked.path).args(refresh).status();
    assert!(refreshed.unwrap().success());
    change_in_the_same_second(&linked.path, &state.join("index"));
    let packed = linked.pack();
    assert_eq!(scratch.repository.git(&["show", &format!("{packed}:one")]), "eno\n");
}
