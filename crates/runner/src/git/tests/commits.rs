use std::fs;

use crate::git::tests::scratch::{Scratch, owned};
use crate::git::{Commit, Staging};

#[test]
fn exactly_the_paths_are_committed() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.write("one", "changed\n");
    repository.write("new/file", "");
    repository.write("two", "changed, but not asked for\n");
    repository.write("other", "");
    fs::remove_file(repository.root().join("deep/three")).unwrap();
    let oid = scratch.commit(&["one", "new/file", "deep/three"], "feat: all kinds").unwrap();
    assert_eq!(oid, scratch.git().head().unwrap());
    assert_eq!(scratch.last_commit(), ["D deep/three", "A new/file", "M one"]);
    assert_eq!(repository.dirt(), [" M two", "?? other"]);
    assert_eq!(repository.subjects(), ["first", "feat: all kinds"]);
}

#[test]
fn what_a_person_staged_stays_staged() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.write("two", "staged by a person\n");
    repository.write("mine", "");
    repository.git(&["add", "two", "mine"]);
    repository.write("one", "work\n");
    repository.write("new", "");
    scratch.commit(&["one", "new"], "work").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["A new", "M one"]);
    assert_eq!(repository.dirt(), ["A  mine", "M  two"]);
}

#[test]
fn nothing_to_commit_is_no_commit() {
    let scratch = Scratch::new();
    scratch.repository.write("untracked", "");
    assert_eq!(scratch.commit(&["one", "two"], "nothing").unwrap(), None);
    assert_eq!(scratch.commit(&[], "nothing").unwrap(), None);
    assert_eq!(scratch.commit(&["never/was/there"], "nothing").unwrap(), None);
    assert_eq!(scratch.repository.subjects(), ["first"]);
}

#[test]
fn ignored_and_missing_paths_are_left_out() {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", ".progress.md\nbuild/\n");
    scratch.repository.commit_all("ignore");
    scratch.repository.write(".progress.md", "");
    scratch.repository.write("build/x", "");
    scratch.repository.write("one", "changed\n");
    scratch.repository.write("new", "");
    let paths = ["one", "new", ".progress.md", "build/x", "gone"];
    scratch.commit(&paths, "work").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["A new", "M one"]);
    assert_eq!(scratch.commit(&[".progress.md"], "only ignored").unwrap(), None);
}

#[test]
fn an_ignored_file_that_is_tracked_is_committed() {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", "one\n");
    scratch.repository.commit_all("ignore");
    scratch.repository.write("one", "changed\n");
    scratch.commit(&["one"], "work").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["M one"]);
}

#[test]
fn odd_names_are_just_names() {
    let scratch = Scratch::new();
    let names = ["-dash", " space ", "new\nline", "ünï", ":(top)x", ":!one", "a*", "\"q\"", "back\\slash"];
    for name in names {
        scratch.repository.write(name, "");
    }
    scratch.repository.write("ab", "not meant by a*");
    scratch.commit(&names, "odd").unwrap().unwrap();
    assert_eq!(scratch.repository.dirt(), ["?? ab"]);
    for name in names {
        fs::remove_file(scratch.repository.root().join(name)).unwrap();
    }
    scratch.commit(&names, "odd no more").unwrap().unwrap();
    assert_eq!(scratch.repository.dirt(), ["?? ab"]);
}

#[test]
fn the_first_commit_and_a_detached_head_are_no_different() {
    let scratch = Scratch::empty();
    scratch.repository.write("new", "");
    scratch.commit(&["new"], "first").unwrap().unwrap();
    scratch.repository.git(&["checkout", "-q", "--detach"]);
    scratch.repository.write("new", "changed");
    let oid = scratch.commit(&["new"], "second").unwrap();
    assert_eq!(oid, scratch.git().status().unwrap().head);
    assert_eq!(scratch.repository.subjects(), ["first", "second"]);
}

#[test]
fn many_paths_are_no_problem() {
    let scratch = Scratch::new();
    let names: Vec<_> = (0..1600).map(|number| format!("many/{}-{number}", "long".repeat(20))).collect();
    names.iter().for_each(|name| scratch.repository.write(name, ""));
    scratch.git().commit(&Commit::new(&names, "many")).unwrap().unwrap();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn tracked_files_need_one_process_and_a_wrong_claim_is_put_right() {
    let scratch = Scratch::new();
    let commit = |paths: &[&str]| {
        let paths = owned(paths);
        scratch.git().commit(&Commit { staging: Staging::Skip, ..Commit::new(&paths, "work") }).unwrap()
    };
    scratch.repository.write("one", "changed\n");
    fs::remove_file(scratch.repository.root().join("two")).unwrap();
    assert!(commit(&["one", "two"]).is_some());
    assert_eq!(scratch.last_commit(), ["M one", "D two"]);
    scratch.repository.write("new", "");
    scratch.repository.write("one", "again\n");
    assert!(commit(&["one", "new"]).is_some());
    assert_eq!(scratch.last_commit(), ["A new", "M one"]);
}

#[test]
fn a_trailer_joins_the_message() {
    let scratch = Scratch::new();
    let check = |message: &str, expected: &str| {
        scratch.repository.write("one", message);
        let paths = owned(&["one"]);
        let trailer = Some(("Tillgreen-Key", "demo/1.1/2"));
        scratch.git().commit(&Commit { trailer, ..Commit::new(&paths, message) }).unwrap().unwrap();
        assert_eq!(scratch.repository.git(&["log", "-1", "--format=%B"]).trim_end(), expected);
    };
    check("feat: x", "feat: x\n\nTillgreen-Key: demo/1.1/2");
    check(
        "# no comment\n\nbody: text\nmore\n",
        "# no comment\n\nbody: text\nmore\n\nTillgreen-Key: demo/1.1/2",
    );
    check("feat: x\n\nSigned-off-by: A", "feat: x\n\nSigned-off-by: A\nTillgreen-Key: demo/1.1/2");
    check(&"ü".repeat(100_000), &format!("{}\n\nTillgreen-Key: demo/1.1/2", "ü".repeat(30_000)));
}

#[test]
fn repositories_inside_are_left_alone() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.git(&["init", "-q", "inner"]);
    repository.write("inner/file", "");
    repository.write("one", "changed\n");
    let status = scratch.git().status().unwrap();
    let paths: Vec<_> = status.changes.into_iter().map(|change| change.path).collect();
    assert_eq!(paths, ["one", "inner/"]);
    scratch.git().commit(&Commit::new(&paths, "work")).unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["M one"]);
}

#[test]
fn a_submodule_is_committed_when_its_commit_changed() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    repository.git(&["clone", "-q", ".", "../origin"]);
    repository.git(&["submodule", "--quiet", "add", "../origin", "sub"]);
    repository.commit_all("submodule");
    repository.write("sub/one", "dirty inside\n");
    assert_eq!(scratch.commit(&["sub"], "dirt is not ours").unwrap(), None);
    repository.git(&["-C", "sub", "commit", "-q", "-a", "-m", "inside"]);
    scratch.commit(&["sub"], "new commit inside").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["M sub"]);
}

#[test]
fn a_linked_working_tree_commits_to_its_own_branch() {
    let scratch = Scratch::new();
    scratch.repository.git(&["worktree", "add", "-q", "../linked"]);
    let linked = scratch.repository.root().with_file_name("linked");
    fs::write(linked.join("one"), "changed\n").unwrap();
    let git = scratch.discover(&linked).unwrap().unwrap();
    let oid = git.commit(&Commit::new(&owned(&["one"]), "linked work")).unwrap();
    assert!(oid.is_some() && oid == git.head().unwrap());
    assert_eq!(scratch.repository.subjects(), ["first"]);
}

#[test]
fn the_commit_is_told_also_if_somebody_takes_it_back_at_once() {
    let scratch = Scratch::new();
    let before = scratch.git().head().unwrap().unwrap();
    scratch.hook("post-commit", "git reset -q --soft HEAD~1");
    scratch.repository.write("one", "changed\n");
    let commit = scratch.git().commit(&Commit::new(&owned(&["one"]), "work")).unwrap().unwrap();
    assert_eq!(scratch.git().head().unwrap(), Some(before.clone()));
    assert_ne!(commit, before);
    assert_eq!(scratch.repository.git(&["log", "-1", "--format=%s", commit.as_str()]).trim(), "work");
}

#[test]
fn what_was_removed_or_moved_by_git_itself_is_committed() {
    let scratch = Scratch::new();
    scratch.repository.git(&["rm", "-q", "one"]);
    scratch.repository.git(&["mv", "two", "moved"]);
    scratch.repository.write("new", "");
    let commit = scratch.commit(&["one", "two", "moved", "new"], "all of it").unwrap();
    assert!(commit.is_some());
    assert_eq!(scratch.last_commit(), ["A moved", "A new", "D one", "D two"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    scratch.repository.git(&["rm", "-q", "moved"]);
    assert!(scratch.commit(&["moved"], "gone").unwrap().is_some());
    assert_eq!(scratch.last_commit(), ["D moved"]);
}

/// Git refuses to add a path in a folder that it ignores, also if it knows the file there; what it adds beside that it
/// adds all the same.
#[test]
fn a_known_file_in_an_ignored_folder_is_committed_with_what_is_new() {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", "build/\n");
    scratch.repository.write("build/known", "1\n");
    scratch.repository.git(&["add", "--force", ".gitignore", "build/known"]);
    scratch.repository.git(&["commit", "-qm", "known"]);
    scratch.repository.write("build/known", "2\n");
    scratch.repository.write("build/other", "ignored\n");
    scratch.repository.write("new", "1\n");
    scratch.commit(&["build/known", "new"], "work").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["M build/known", "A new"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}
