use std::fs;
use std::path::Path;

use crate::git::tests::scratch::Scratch;
use crate::git::{Git, GitError};

#[test]
fn a_folder_outside_has_no_repository() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = Scratch::empty();
    assert!(scratch.discover(folder.path()).unwrap().is_none());
    let error = scratch.discover(&folder.path().join("missing")).unwrap_err();
    assert!(error.to_string().starts_with("cannot run git in "), "{error}");
}

#[test]
fn the_root_is_found_from_a_folder_below() {
    let scratch = Scratch::new();
    let root = scratch.repository.root();
    let git = scratch.discover(&root.join("deep")).unwrap().unwrap();
    assert_eq!((git.root(), git.git_dir()), (root, root.join(".git").as_path()));
    assert_eq!(git.common_dir(), git.git_dir());
}

#[test]
fn a_linked_working_tree_has_a_folder_of_its_own() {
    let scratch = Scratch::new();
    scratch.repository.git(&["worktree", "add", "-q", "../linked"]);
    let linked = scratch.repository.root().with_file_name("linked");
    let git = scratch.discover(&linked).unwrap().unwrap();
    let main = scratch.repository.root().join(".git");
    assert_eq!(git.root(), linked);
    assert_eq!((git.git_dir(), git.common_dir()), (main.join("worktrees/linked").as_path(), main.as_path()));
    assert_eq!(git.head().unwrap(), scratch.git().head().unwrap());
}

#[test]
fn a_repository_that_cannot_be_used_says_why() {
    let scratch = Scratch::new();
    let check = |dir: &Path, words: &str| {
        let error = scratch.discover(dir).unwrap_err();
        assert!(matches!(error, GitError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.hint().is_some());
    };
    scratch.repository.git(&["init", "-q", "--bare", "bare"]);
    check(&scratch.repository.root().join("bare"), "it is bare");
    fs::create_dir(scratch.repository.root().join("broken")).unwrap();
    scratch.repository.write("broken/.git", "gitdir: /no/such/folder\n");
    check(&scratch.repository.root().join("broken"), "not a git repository: /no/such/folder");
    check(&scratch.repository.root().join(".git"), "work tree");
}

#[test]
fn git_itself_may_be_missing_or_too_old() {
    let scratch = Scratch::new();
    let bin = scratch.notes();
    let with_path = |path: &str| {
        let mut environment = scratch.environment();
        environment.push(("PATH".into(), path.into()));
        Git::discover_with(scratch.repository.root(), environment).unwrap_err()
    };
    let path = bin.display().to_string();
    assert!(matches!(with_path(&path), GitError::NotInstalled));
    testkit::write_executable(&bin.join("git"), "#!/bin/sh\necho git version 2.24.9\n");
    let error = with_path(&format!("{path}:/usr/bin:/bin")).to_string();
    assert_eq!(error, "git 2.24.9 is too old, 2.38 or newer is needed");
}

#[test]
fn a_repository_of_another_user_is_refused_in_gits_words() {
    let scratch = Scratch::new();
    let root = scratch.repository.root();
    for path in [root.to_owned(), root.join(".git")] {
        if std::os::unix::fs::chown(path, Some(12_345), None).is_err() {
            println!("skipped: only root can give files away");
            return;
        }
    }
    let error = scratch.discover(root).unwrap_err();
    assert!(error.to_string().contains("dubious ownership"), "{error}");
}
