use std::ffi::OsStr;
use std::fs;

use super::scratch::{Scratch, owned};
use crate::git::{Commit, Staging};

/// A project in which a file became a folder, as a status tells it.
fn folder_for_file() -> (Scratch, Vec<String>) {
    let scratch = Scratch::new();
    fs::remove_file(scratch.repository.root().join("one")).unwrap();
    scratch.repository.write("one/inside", "new\n");
    (scratch, owned(&["one", "one/inside"]))
}

#[test]
fn paths_that_do_not_go_by_their_names_are_known_for_that() {
    let (scratch, _) = folder_for_file();
    let git = scratch.git();
    assert_eq!(git.staging_of(&git.status().unwrap().changes, &[]).unwrap(), Staging::Whole);

    let scratch = Scratch::new();
    let git = scratch.git();
    scratch.repository.write("two", "changed\n");
    scratch.repository.git(&["add", "two"]);
    assert_eq!(git.staging_of(&git.status().unwrap().changes, &[]).unwrap(), Staging::Skip);
    scratch.repository.write("new", "");
    assert_eq!(git.staging_of(&git.status().unwrap().changes, &[]).unwrap(), Staging::Add);
    scratch.repository.git(&["rm", "--quiet", "--cached", "one"]);
    assert_eq!(git.staging_of(&git.status().unwrap().changes, &[]).unwrap(), Staging::Whole);
}

#[test]
fn an_index_that_did_not_follow_a_commit_is_brought_up_to_date() {
    let (scratch, paths) = folder_for_file();
    let (git, index) = (scratch.git(), scratch.repository.root().join(".git/index"));
    let before = fs::read(&index).unwrap();
    let request = Commit { staging: Staging::Whole, ..Commit::new(&paths, "work") };
    git.commit(&request).unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["D one", "A one/inside"]);
    assert_eq!(scratch.repository.dirt(), [""; 0]);
    // As if the program had died between the two.
    fs::write(&index, before).unwrap();
    assert_ne!(scratch.repository.dirt(), [""; 0]);
    assert_eq!(git.commit(&request).unwrap(), None);
    assert_eq!(scratch.repository.dirt(), [""; 0]);
    assert_eq!(scratch.repository.subjects(), ["first", "work"]);
}

#[test]
fn a_hook_that_refuses_leaves_the_index_as_it_was() {
    let (scratch, paths) = folder_for_file();
    scratch.repository.write("two", "staged by a person\n");
    scratch.repository.git(&["add", "two"]);
    scratch.hook("pre-commit", "echo no >&2; exit 1");
    let before = scratch.repository.dirt();
    let request = Commit { staging: Staging::Whole, ..Commit::new(&paths, "work") };
    scratch.git().commit(&request).unwrap_err();
    assert_eq!(scratch.repository.dirt(), before);
    assert_eq!(scratch.repository.subjects(), ["first"]);
}

#[test]
fn a_submodule_that_was_added_is_committed_as_one() {
    let (scratch, library) = (Scratch::new(), Scratch::new());
    let url = library.repository.root().display().to_string();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "deep/lib"];
    scratch.repository.git(&add);
    let git = scratch.git();
    let commit = |message: &str| {
        let changes = git.status().unwrap().changes;
        let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
        let staging = git.staging_of(&changes, &[]).unwrap();
        git.commit(&Commit { staging, ..Commit::new(&paths, message) }).unwrap().unwrap();
        assert_eq!(scratch.repository.dirt(), [""; 0], "{message}");
        scratch.last_commit()
    };
    assert_eq!(commit("added"), ["A .gitmodules", "A deep/lib"]);
    let inside = |words: &[&str]| scratch.repository.git(&[&["-C", "deep/lib"], words].concat());
    inside(&["-c", "user.name=a", "-c", "user.email=a", "commit", "--quiet", "--allow-empty", "-m", "more"]);
    assert_eq!(commit("changed"), ["M deep/lib"]);
    inside(&["-c", "user.name=a", "-c", "user.email=a", "commit", "--quiet", "--allow-empty", "-m", "most"]);
    scratch.repository.git(&["add", "deep/lib"]);
    assert_eq!(commit("staged"), ["M deep/lib"]);
    // One that is not checked out is still one.
    scratch.repository.git(&["submodule", "--quiet", "deinit", "--force", "deep/lib"]);
    scratch.repository.write(".gitmodules", "# nothing\n");
    scratch.repository.git(&["update-index", "--chmod=+x", ".gitmodules"]);
    assert_eq!(commit("deinitialised"), ["M .gitmodules"]);
    scratch.repository.git(&["rm", "--quiet", "--cached", "deep/lib"]);
    assert_eq!(commit("removed"), ["D deep/lib"]);
}

#[test]
fn rules_of_a_commit_are_asked_without_those_of_the_disk() {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", "/mine\n");
    scratch.repository.write("deep/.gitignore", "*.log\n");
    scratch.repository.commit_all("rules");
    let head = scratch.git().head().unwrap().unwrap();
    scratch.repository.write(".gitignore", "other\n");
    fs::remove_file(scratch.repository.root().join("deep/.gitignore")).unwrap();
    let asked = owned(&["mine", "mine/x", "deep/a.log", "a.log", "deep/mine", "other"]);
    let ignored = scratch.git().ignored_by(head.as_str(), &asked).unwrap();
    assert_eq!(ignored.iter().collect::<Vec<_>>(), ["deep/a.log", "mine", "mine/x"]);
    let left = fs::read_dir(scratch.repository.root().join(".git")).unwrap().flatten();
    let is_ours = |name: &OsStr| name.to_string_lossy().contains("tillgreen");
    assert!(!left.map(|entry| entry.file_name()).any(|name| is_ours(&name)));
}
