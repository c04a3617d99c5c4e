use std::os::unix::fs::symlink;

use crate::git::GitError;
use crate::git::tests::scratch::{Scratch, owned};

#[test]
fn paths_are_put_back_as_they_were() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    let head = scratch.git().head().unwrap().unwrap();
    repository.write("one", "changed and staged\n");
    repository.write("staged", "");
    repository.git(&["add", "one", "staged"]);
    repository.git(&["rm", "-q", "two"]);
    repository.write("new/deep/file", "");
    repository.write("-odd*", "");
    repository.write("kept", "not asked for\n");
    let paths = owned(&["one", "two", "staged", "new/deep/file", "-odd*", "deep/three", "never"]);
    scratch.git().restore(head.as_str(), &paths).unwrap();
    assert_eq!(repository.dirt(), ["?? kept"]);
    assert_eq!(repository.read("one"), "one\n");
    assert!(!repository.has("new"));
    scratch.git().restore(head.as_str(), &paths).unwrap();
}

#[test]
fn files_and_folders_may_have_changed_places() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    std::fs::remove_file(repository.root().join("one")).unwrap();
    repository.write("one/inside", "");
    std::fs::remove_dir_all(repository.root().join("deep")).unwrap();
    repository.write("deep", "now a file");
    let status = scratch.git().status().unwrap();
    let paths: Vec<_> = status.changes.into_iter().map(|change| change.path).collect();
    scratch.git().restore("HEAD", &paths).unwrap();
    assert_eq!(repository.dirt(), Vec::<String>::new());
    assert_eq!(
        (repository.read("one"), repository.read("deep/three")),
        ("one\n".to_owned(), "deep/three\n".to_owned())
    );
}

#[test]
fn nothing_is_deleted_through_a_link_or_outside() {
    let scratch = Scratch::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("precious"), "").unwrap();
    symlink(outside.path(), scratch.repository.root().join("link")).unwrap();
    let restore = |path: &str| scratch.git().restore("HEAD", &owned(&[path]));
    // Git refuses to look behind a link; whatever it says, the file stays.
    let _ = restore("link/precious");
    assert!(outside.path().join("precious").exists());
    assert!(matches!(restore("../x"), Err(GitError::Unacceptable { .. })));
    restore("link").unwrap();
    assert!(!scratch.repository.has("link") && outside.path().join("precious").exists());
}

#[test]
fn a_revision_that_is_a_flag_or_nothing_is_refused() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    assert!(matches!(scratch.git().restore("--hard", &owned(&["one"])), Err(GitError::Unacceptable { .. })));
    assert!(matches!(scratch.git().restore("nowhere", &owned(&["one"])), Err(GitError::Failed { .. })));
    assert_eq!(scratch.repository.read("one"), "changed\n");
}

/// Another git has the index for a moment.
#[test]
fn a_lock_that_is_let_go_of_is_waited_for() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let head = git.head().unwrap().unwrap();
    scratch.repository.write("one", "changed\n");
    let lock = scratch.repository.root().join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            std::fs::remove_file(&lock).unwrap();
        });
        git.restore(head.as_str(), &owned(&["one"])).unwrap();
    });
    assert_eq!(scratch.repository.read("one"), "one\n");
}
