//! Work trees that are made without a git: they must be what git makes, and whatever is not quite ordinary is left to git.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::scratch::Scratch;
use crate::git::Git;

/// A setting that changes nothing here and leaves all files to git.
const BY_GIT: [&str; 3] = ["config", "core.precomposeUnicode", "true"];

fn place(scratch: &Scratch, name: &str) -> PathBuf {
    scratch.repository.root().join(".tillgreen/demo/trees").join(name)
}

fn make(scratch: &Scratch, git: &Git, name: &str) -> PathBuf {
    let tree = place(scratch, name);
    git.exclude(&crate::tree::OWN_PATTERNS).unwrap();
    git.add_tree(&tree, &git.head().unwrap().unwrap()).unwrap();
    tree
}

/// Everything in a folder but git's own file, with modes and contents. Folders count: git makes none that are empty.
fn files(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let content = match metadata.is_dir() {
                true => Vec::new(),
                false if metadata.is_symlink() => {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                }
                false => fs::read(&path).unwrap(),
            };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(
                path.strip_prefix(root).unwrap().to_owned(),
                (metadata.permissions().mode(), content),
            );
        }
    }
    found.remove(Path::new(".git"));
    found
}

/// What git finds there, and in the index alone.
fn seen(scratch: &Scratch, tree: &Path) -> [String; 4] {
    let ask = |words: &[&str]| scratch.repository.git(&[&["-C", tree.to_str().unwrap()], words].concat());
    // Asked first: whoever looks at the files writes the index anew.
    let known = ask(&["-c", "core.checkStat=default", "diff-files", "--name-only"]);
    [known, ask(&["ls-files", "--stage"]), ask(&["write-tree"]), ask(&["status", "--porcelain", "--branch"])]
}

/// Makes a tree once a repository is set up, one way and by git, and compares.
#[track_caller]
fn check(set_up: impl Fn(&Scratch), is_plain: bool) {
    let scratch = Scratch::new();
    set_up(&scratch);
    let (git, count) = scratch.traced_git();
    let made = make(&scratch, &git, "1.1");
    assert_eq!(count("\"read-tree\"") == 0, is_plain);
    scratch.repository.git(&BY_GIT);
    let expected = make(&scratch, &scratch.git(), "1.2");
    assert_eq!(files(&made), files(&expected));
    assert_eq!(seen(&scratch, &made), seen(&scratch, &expected));
    scratch.repository.git(&["worktree", "remove", "--force", made.to_str().unwrap()]);
    scratch.repository.git(&["fsck", "--strict"]);
}

#[track_caller]
fn check_commit(write: impl Fn(&Scratch), is_plain: bool) {
    check(
        |scratch| {
            write(scratch);
            scratch.repository.commit_all("more");
        },
        is_plain,
    );
}

#[track_caller]
fn check_file(path: &str, content: &str, is_plain: bool) {
    check_commit(|scratch| scratch.repository.write(path, content), is_plain);
}

#[track_caller]
fn check_setting(name: &str, value: &str, is_plain: bool) {
    check(|scratch| drop(scratch.repository.git(&["config", name, value])), is_plain);
}

#[test]
fn trees_of_ordinary_files_are_made_without_git() {
    check(|_| {}, true);
    check_file("a/b/c/d.txt", "deep\n", true);
    check_file("a-b", "beside a folder of nearly that name\n", true);
    check_file("empty", "", true);
    check_file(".gitattributes", "*.md text\n", true);
    let executable = |scratch: &Scratch| {
        scratch.repository.write("run.sh", "#!/bin/sh\n");
        fs::set_permissions(scratch.repository.root().join("run.sh"), Permissions::from_mode(0o755)).unwrap();
    };
    check_commit(executable, true);
    check(|scratch| drop(scratch.repository.git(&["gc", "--quiet"])), true);
    check_setting("commit.gpgSign", "true", true);
    check_setting("index.version", "4", true);
    check_setting("core.splitIndex", "true", true);
    check(|scratch| scratch.hook("post-checkout", "exit 1"), true);
}

#[test]
fn what_is_written_otherwise_than_it_is_stored_is_left_to_git() {
    check_setting("core.autocrlf", "true", false);
    check_setting("core.eol", "crlf", false);
    check_setting("core.ignoreCase", "true", false);
    // What another file says may hold in one tree and not in another.
    check_setting("includeIf.gitdir:**/worktrees/**.path", "other", false);
    check_file(".gitattributes", "* text eol=crlf\n", false);
    check_file("deep/.gitattributes", "three ident\n", false);
    check_file(".gitattributes", "*.bin filter=x\n", false);
    let in_git = |scratch: &Scratch| scratch.repository.write(".git/info/attributes", "* text eol=crlf\n");
    check(in_git, false);
}

#[test]
fn what_is_no_ordinary_file_is_left_to_git() {
    let link = |scratch: &Scratch| symlink("one", scratch.repository.root().join("link")).unwrap();
    check_commit(link, false);
    check_file("ä", "a name that file systems write in two ways\n", false);
    check_file("a:b", "a name that means something elsewhere\n", false);
}

/// Neither the project's index nor its files are believed: what a tree is made of is what was committed.
#[test]
fn what_is_in_the_project_changes_nothing() {
    check(|scratch| scratch.repository.write("one", "not committed\n"), true);
    let other_kind = |scratch: &Scratch| {
        fs::remove_file(scratch.repository.root().join("one")).unwrap();
        symlink("two", scratch.repository.root().join("one")).unwrap();
    };
    check(other_kind, true);
    let staged = |scratch: &Scratch| {
        scratch.repository.write("one", "staged\n");
        scratch.repository.git(&["add", "one"]);
        fs::remove_file(scratch.repository.root().join("two")).unwrap();
    };
    check(staged, true);
    check(|scratch| fs::remove_file(scratch.repository.root().join(".git/index")).unwrap(), true);
}

#[test]
fn names_of_any_length_will_do() {
    let scratch = Scratch::with_long_names();
    scratch.repository.write("a/b", "long\n");
    scratch.repository.commit_all("first");
    let (git, count) = scratch.traced_git();
    let tree = make(&scratch, &git, "1.1");
    assert_eq!(count("\"read-tree\""), 0);
    let [known, _, written, status] = seen(&scratch, &tree);
    assert_eq!((known.as_str(), status.trim_end()), ("", "## HEAD (no branch)"));
    assert_eq!(written, scratch.repository.git(&["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn trees_at_another_commit_are_made_of_that() {
    let scratch = Scratch::new();
    let (git, count) = scratch.traced_git();
    make(&scratch, &git, "1.1");
    scratch.repository.write("one", "another\n");
    scratch.repository.write("new/file", "new\n");
    fs::remove_file(scratch.repository.root().join("two")).unwrap();
    scratch.repository.commit_all("second");
    let tree = make(&scratch, &git, "1.2");
    assert_eq!(fs::read_to_string(tree.join("one")).unwrap(), "another\n");
    assert_eq!(fs::read_to_string(tree.join("new/file")).unwrap(), "new\n");
    assert!(!tree.join("two").exists());
    assert_eq!(count("\"read-tree\""), 0);
    // What is committed by then says how files are written.
    scratch.repository.write(".gitattributes", "* text eol=crlf\n");
    scratch.repository.commit_all("third");
    let tree = make(&scratch, &git, "1.3");
    assert_eq!(fs::read_to_string(tree.join("one")).unwrap(), "another\r\n");
    assert_ne!(count("\"read-tree\""), 0);
}

/// What is in the way of a tree is in git's way as well, and git says what it is.
#[test]
fn a_tree_that_cannot_be_written_is_told_of_by_git() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let base = git.head().unwrap().unwrap();
    fs::write(scratch.repository.root().join(".git/worktrees"), "no folder\n").unwrap();
    let tree = place(&scratch, "1.1");
    git.add_tree(&tree, &base).unwrap_err();
    assert!(!tree.join("one").exists(), "nothing is left of it");
    fs::remove_file(scratch.repository.root().join(".git/worktrees")).unwrap();
    git.add_tree(&tree, &base).unwrap();
    assert!(tree.join("one").exists());
}

type Files = BTreeMap<String, (String, bool)>;

fn some_files() -> impl Strategy<Value = Files> {
    let names = "(\\.?[a-c]{1,2}/){0,3}[a-c]{1,2}([-.][a-c])?";
    prop::collection::btree_map(names, ("[a-z\r\n$]{0,40}", any::<bool>()), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_trees_are_what_git_makes(files in some_files(), more in some_files()) {
        let write_all = |scratch: &Scratch, files: &Files| {
            for (path, (content, is_executable)) in files {
                let file = scratch.repository.root().join(path);
                // Where a folder or a file is already, that stays.
                if fs::create_dir_all(file.parent().unwrap()).is_ok() && fs::write(&file, content).is_ok() {
                    let mode = if *is_executable { 0o755 } else { 0o644 };
                    fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
                }
            }
            scratch.repository.git(&["add", "--all"]);
            scratch.repository.git(&["commit", "--quiet", "--allow-empty", "--message=files"]);
        };
        let scratch = Scratch::empty();
        write_all(&scratch, &files);
        let (git, count) = scratch.traced_git();
        make(&scratch, &git, "1.0");
        write_all(&scratch, &more);
        let made = make(&scratch, &git, "1.1");
        prop_assert_eq!(count("\"read-tree\""), 0);
        scratch.repository.git(&BY_GIT);
        let expected = make(&scratch, &scratch.git(), "1.2");
        prop_assert_eq!(self::files(&made), self::files(&expected));
        prop_assert_eq!(seen(&scratch, &made), seen(&scratch, &expected));
    }
}
