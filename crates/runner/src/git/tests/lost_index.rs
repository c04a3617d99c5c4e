use std::fs;

use super::scratch::{Scratch, owned};
use crate::git::{Commit, GitError, Staging};

#[test]
fn an_index_that_is_missing_is_named_and_nothing_is_committed_on_top_of_it() {
    for staging in [Staging::Add, Staging::Whole] {
        let scratch = Scratch::new();
        scratch.repository.write("one", "changed\n");
        let before = scratch.repository.git(&["rev-parse", "HEAD"]);
        fs::remove_file(scratch.repository.root().join(".git/index")).unwrap();
        let (git, paths) = (scratch.git(), owned(&["one"]));
        let refused = git.commit(&Commit { staging, ..Commit::new(&paths, "work") }).unwrap_err();
        assert!(matches!(refused, GitError::NoIndex { reason: "is missing", .. }), "{refused}");
        assert!(refused.hint().is_some_and(|hint| hint.contains("git reset")));
        assert!(matches!(git.status().unwrap_err(), GitError::NoIndex { .. }));
        assert!(matches!(git.refuse_broken_index().unwrap_err(), GitError::NoIndex { .. }));
        assert_eq!(scratch.repository.git(&["rev-parse", "HEAD"]), before);
        scratch.repository.git(&["reset", "--quiet"]);
        git.commit(&Commit::new(&paths, "work")).unwrap().unwrap();
        assert_eq!(scratch.last_commit(), ["M one"]);
    }
}

#[test]
fn an_index_that_git_cannot_read_is_named() {
    let scratch = Scratch::new();
    fs::write(scratch.repository.root().join(".git/index"), "nonsense").unwrap();
    let refused = scratch.git().refuse_broken_index().unwrap_err();
    assert!(matches!(refused, GitError::NoIndex { reason: "is broken", .. }), "{refused}");
}

#[test]
fn before_the_first_file_there_need_not_be_one() {
    assert!(Scratch::empty().git().refuse_broken_index().is_ok());
}
