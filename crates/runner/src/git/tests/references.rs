use std::fs;

use super::scratch::Scratch;
use crate::git::references::packed_reference;

/// What the files tell is what git tells.
#[track_caller]
fn check(scratch: &Scratch, case: &str) {
    let git = scratch.git();
    assert_eq!(git.references().unwrap(), git.ask_for_references().unwrap(), "{case}");
}

#[test]
fn branches_tags_and_stashes_are_told_as_git_does() {
    let scratch = Scratch::empty();
    check(&scratch, "before the first commit");
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    let before = scratch.git().references().unwrap();
    repository.git(&["branch", "a/b/c"]);
    repository.git(&["tag", "light"]);
    repository.git(&["tag", "-a", "heavy", "-m", "heavy"]);
    repository.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    repository.git(&["update-ref", "refs/headstrong", "HEAD"]);
    repository.write("one", "changed\n");
    repository.git(&["stash", "--quiet"]);
    check(&scratch, "in files of their own");
    let told = scratch.git().references().unwrap().new_since(&before);
    assert_eq!(told, ["branch a/b/c", "a stash (`git stash list`)", "tag heavy", "tag light"]);
    repository.git(&["pack-refs", "--all"]);
    check(&scratch, "in one file");
    repository.git(&["branch", "a/d"]);
    repository.git(&["branch", "--quiet", "--delete", "a/b/c"]);
    repository.git(&["commit", "--quiet", "--allow-empty", "-m", "more"]);
    check(&scratch, "in both");
}

#[test]
fn what_is_no_plain_reference_is_left_to_git() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    let folder = repository.root().join(".git/refs/heads");
    fs::write(folder.join("half.lock"), "").unwrap();
    check(&scratch, "one that is being written");
    repository.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/gone"]);
    check(&scratch, "one that points nowhere");
    repository.git(&["branch", "--quiet", "gone"]);
    check(&scratch, "one that points to another");
    std::os::unix::fs::symlink(folder.join("gone"), folder.join("linked")).unwrap();
    check(&scratch, "one that is a link");
}

#[test]
fn linked_trees_and_other_stores_are_told_alike() {
    let scratch = Scratch::new();
    scratch.repository.git(&["worktree", "add", "--quiet", "../linked", "-b", "linked"]);
    let linked = scratch.repository.root().with_file_name("linked");
    let git = scratch.discover(&linked).unwrap().unwrap();
    assert_eq!(git.references().unwrap(), git.ask_for_references().unwrap());
    assert_eq!(git.branch().unwrap().as_deref(), Some("linked"));
    let other = scratch.repository.root().with_file_name("other");
    // Only newer ones keep references in tables.
    let (format, place) = ("--ref-format=reftable", other.display().to_string());
    if !scratch.repository.try_git(&["init", "--quiet", format, "-b", "main", &place]).status.success() {
        return;
    }
    let git = scratch.discover(&other).unwrap().unwrap();
    assert_eq!(git.references().unwrap(), git.ask_for_references().unwrap());
    assert_eq!(git.branch().unwrap().as_deref(), Some("main"));
}

#[test]
fn the_branch_is_told_as_git_does() {
    let scratch = Scratch::new();
    let (git, repository) = (scratch.git(), &scratch.repository);
    let check = |expected: Option<&str>| assert_eq!(git.branch().unwrap().as_deref(), expected);
    repository.git(&["checkout", "--quiet", "-b", "a/b"]);
    check(Some("a/b"));
    repository.git(&["pack-refs", "--all"]);
    check(Some("a/b"));
    let packed = packed_reference(git.common_dir(), "refs/heads/a/b");
    assert_eq!(packed.as_ref().unwrap().as_str(), repository.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(git.head().unwrap(), packed);
    assert_eq!(packed_reference(git.common_dir(), "refs/heads/a"), None);
    repository.git(&["checkout", "--quiet", "--orphan", "new"]);
    check(Some("new"));
    assert_eq!(git.head().unwrap(), None);
    repository.git(&["checkout", "--quiet", "--detach", "a/b"]);
    check(None);
    let head = repository.root().join(".git/HEAD");
    fs::remove_file(&head).unwrap();
    std::os::unix::fs::symlink("refs/heads/old", head).unwrap();
    repository.git(&["update-ref", "refs/heads/old", "a/b"]);
    check(Some("old"));
}
