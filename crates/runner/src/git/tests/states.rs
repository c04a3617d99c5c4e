use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::git::tests::scratch::Scratch;
use crate::git::{ChangeKind, Status};

fn changes(status: &Status) -> Vec<(&str, ChangeKind, bool)> {
    let mut list: Vec<_> =
        status.changes.iter().map(|change| (change.path.as_str(), change.kind, change.staged)).collect();
    list.sort_unstable();
    list
}

#[test]
fn a_clean_tree_has_a_head_and_a_branch() {
    let scratch = Scratch::new();
    let status = scratch.git().status().unwrap();
    assert_eq!(status.head, scratch.git().head().unwrap());
    assert_eq!(status.branch.as_deref(), Some("main"));
    assert_eq!(status.changes, []);
}

#[test]
fn before_the_first_commit_there_is_no_head() {
    let scratch = Scratch::empty();
    scratch.repository.write("new", "");
    let status = scratch.git().status().unwrap();
    assert_eq!((status.head.as_ref(), status.branch.as_deref()), (None, Some("main")));
    assert_eq!(changes(&status), [("new", ChangeKind::Untracked, false)]);
    assert_eq!(scratch.git().head().unwrap(), None);
}

#[test]
fn a_detached_head_has_no_branch() {
    let scratch = Scratch::new();
    scratch.repository.git(&["checkout", "-q", "--detach"]);
    let status = scratch.git().status().unwrap();
    assert_eq!((status.branch, status.head.clone()), (None, scratch.git().head().unwrap()));
    assert!(status.head.is_some());
}

#[test]
fn a_packed_branch_has_a_head() {
    let scratch = Scratch::new();
    scratch.repository.git(&["pack-refs", "--all"]);
    assert!(!scratch.repository.has(".git/refs/heads/main"));
    assert_eq!(scratch.git().head().unwrap(), scratch.git().status().unwrap().head);
}

#[test]
fn every_kind_of_change_is_told() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.write("one", "changed\n");
    repository.write("folder/a file", "");
    repository.write("staged", "");
    repository.git(&["add", "staged"]);
    repository.git(&["rm", "-q", "two"]);
    std::fs::remove_file(repository.root().join("deep/three")).unwrap();
    let expected = [
        ("deep/three", ChangeKind::Deleted, false),
        ("folder/a file", ChangeKind::Untracked, false),
        ("one", ChangeKind::Modified, false),
        ("staged", ChangeKind::Added, true),
        ("two", ChangeKind::Deleted, true),
    ];
    assert_eq!(changes(&scratch.git().status().unwrap()), expected);
}

#[test]
fn a_rename_is_a_deletion_and_an_addition() {
    let scratch = Scratch::new();
    scratch.repository.git(&["config", "status.renames", "copies"]);
    scratch.repository.git(&["mv", "one", "eins"]);
    let expected = [("eins", ChangeKind::Added, true), ("one", ChangeKind::Deleted, true)];
    assert_eq!(changes(&scratch.git().status().unwrap()), expected);
}

#[test]
fn a_conflict_is_told() {
    let scratch = Scratch::new();
    conflict(&scratch);
    assert_eq!(changes(&scratch.git().status().unwrap()), [("one", ChangeKind::Unmerged, false)]);
}

/// Leaves a merge with a conflict in the file `one`.
pub(super) fn conflict(scratch: &Scratch) {
    let repository = &scratch.repository;
    repository.git(&["checkout", "-q", "-b", "other"]);
    repository.write("one", "theirs\n");
    repository.commit_all("theirs");
    repository.git(&["checkout", "-q", "main"]);
    repository.write("one", "ours\n");
    repository.commit_all("ours");
    assert!(!repository.try_git(&["merge", "other"]).status.success());
}

#[test]
fn odd_names_come_through_and_bytes_that_are_no_text_are_set_apart() {
    let scratch = Scratch::new();
    for name in ["-dash", " space ", "new\nline", "tab\t\"quote\"", "ünï", ":(top)x", "a*"] {
        scratch.repository.write(name, "");
    }
    std::fs::write(scratch.repository.root().join(OsStr::from_bytes(b"bad\xff")), "").unwrap();
    let status = scratch.git().status().unwrap();
    let names: Vec<_> = changes(&status).into_iter().map(|(path, ..)| path.to_owned()).collect();
    assert_eq!(names, [" space ", "-dash", ":(top)x", "a*", "new\nline", "tab\t\"quote\"", "ünï"]);
    assert_eq!(status.unnameable, [OsStr::from_bytes(b"bad\xff")]);
}

#[test]
fn asking_does_not_touch_the_index() {
    let scratch = Scratch::new();
    let index = scratch.repository.root().join(".git/index");
    let before = std::fs::metadata(&index).unwrap().modified().unwrap();
    // A file with the same content and another time would be refreshed in the index by a plain status.
    scratch.repository.write("one", "one\n");
    assert_eq!(scratch.git().status().unwrap().changes, []);
    assert_eq!(std::fs::metadata(&index).unwrap().modified().unwrap(), before);
}
