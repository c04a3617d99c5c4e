use crate::git::tests::scratch::{Scratch, owned};
use crate::git::{Commit, GitError};

#[test]
fn a_commit_is_found_by_its_trailer() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let mut made = Vec::new();
    for number in 1..=3 {
        scratch.repository.write("one", format!("{number}\n"));
        let (paths, value) = (owned(&["one"]), format!("demo/1.{number}/1"));
        let request = Commit { trailer: Some(("Tillgreen-Key", &value)), ..Commit::new(&paths, "work") };
        made.push(git.commit(&request).unwrap());
    }
    let find = |value: &str, limit: usize| git.find_trailer("Tillgreen-Key", value, limit).unwrap();
    assert_eq!(find("demo/1.1/1", 10), made[0]);
    assert_eq!(find("demo/1.3/1", 1), made[2]);
    assert_eq!(find("demo/1.1/1", 2), None);
    assert_eq!(find("demo/1.1", 10), None);
    assert_eq!(git.find_trailer("tillgreen-key", "demo/1.2/1", 10).unwrap(), made[1]);
    assert_eq!(git.find_trailer("Other", "demo/1.2/1", 10).unwrap(), None);
    assert!(matches!(git.find_trailer("a,b)", "", 1), Err(GitError::Unacceptable { .. })));
}

#[test]
fn a_trailer_is_a_line_of_its_own_wherever_hooks_leave_it() {
    let scratch = Scratch::new();
    let found = |message: &str| {
        scratch.repository.write("one", message);
        scratch.repository.commit_all(message);
        scratch.git().find_trailer("Tillgreen-Key", "demo", 1).unwrap().is_some()
    };
    assert!(found("work\n\nTillgreen-Key: demo\n\nChange-Id: I0123"));
    assert!(found("work\n\nTillgreen-Key: demo"));
    for other in [
        "Tillgreen-Key: demo",
        "work\n\nas in Tillgreen-Key: demo",
        "work\n\nTillgreen-Key: demo and more",
        "work\n\nTillgreen-Key-Not: demo",
    ] {
        assert!(!found(other), "{other}");
    }
    assert_eq!(Scratch::empty().git().find_trailer("Tillgreen-Key", "demo", 10).unwrap(), None);
}

#[test]
fn what_changed_between_two_commits_is_listed() {
    let scratch = Scratch::new();
    let before = scratch.git().head().unwrap().unwrap();
    scratch.repository.git(&["mv", "one", "ünï\nsecond line"]);
    scratch.repository.write("deep/new", "");
    scratch.repository.commit_all("by the agent");
    scratch.repository.git(&["rm", "-q", "two"]);
    scratch.repository.commit_all("once more");
    let changed = scratch.git().changed_between(before.as_str(), "HEAD").unwrap();
    assert_eq!(changed, ["deep/new", "one", "two", "ünï\nsecond line"]);
    assert_eq!(scratch.git().changed_between("HEAD", "HEAD").unwrap(), Vec::<String>::new());
    assert!(matches!(
        scratch.git().changed_between("--output=x", "HEAD"),
        Err(GitError::Unacceptable { .. })
    ));
    assert!(matches!(scratch.git().changed_between("nowhere", "HEAD"), Err(GitError::Failed { .. })));
}
