//! Work that is put into the project without git: files and index must be as git leaves them, and whatever is not quite
//! ordinary is left to git.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::{Applied, Dropped, Landed};

/// A setting that changes nothing here and leaves all files to git.
const BY_GIT: [&str; 3] = ["config", "core.precomposeUnicode", "true"];

/// The index that work comes in through.
const LANDING_INDEX: &str = ".git/tillgreen-landing-index";

fn write(root: &Path, path: &str, (content, is_executable): &(String, bool)) {
    let file = root.join(path);
    // Where a folder or a file is already, that stays.
    if fs::create_dir_all(file.parent().unwrap()).is_ok() && fs::write(&file, content).is_ok() {
        let mode = if *is_executable { 0o755 } else { 0o644 };
        fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
    }
}

/// What git finds in an index, whatever it knows of the looks of files.
fn staged(scratch: &Scratch, index: &str) -> String {
    let root = scratch.repository.root();
    let mut git = Command::new("git");
    git.args(["ls-files", "--stage"]).envs(scratch.repository.environment()).current_dir(root);
    let output = git.env("GIT_INDEX_FILE", root.join(index)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The files on disk, with content and mode.
fn files(root: &Path) -> BTreeMap<String, (String, u32)> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            match entry.file_type().unwrap() {
                _ if name.starts_with(".git") || name.starts_with(".tillgreen") => {}
                kind if kind.is_dir() => folders.push(entry.path()),
                _ => {
                    let mode = entry.metadata().unwrap().permissions().mode();
                    found.insert(name, (fs::read_to_string(entry.path()).unwrap(), mode));
                }
            }
        }
    }
    found
}

type Files = BTreeMap<String, (String, bool)>;

fn some_files() -> impl Strategy<Value = Files> {
    prop::collection::btree_map("([a-c]{1,2}/){0,2}[a-c]{1,2}(\\.x)?", ("[a-z\n]{0,9}", any::<bool>()), 1..8)
}

/// All that is to be seen of a landing, on the way and in the end. Commits have times, so their trees are compared.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    on_the_way: (String, BTreeMap<String, (String, u32)>),
    in_the_end: (String, String, Vec<String>),
}

fn see(before: &Files, work: &Files, index_version: u8, is_by_git: bool) -> Option<Seen> {
    let scratch = Scratch::empty();
    let root = scratch.repository.root();
    scratch.repository.git(&["config", "index.version", &index_version.to_string()]);
    before.iter().for_each(|(path, file)| write(root, path, file));
    scratch.repository.write("specs/tasks.md", "plan\n");
    scratch.repository.commit_all("first");
    if is_by_git {
        scratch.repository.git(&BY_GIT);
    }
    let linked = Linked::new(&scratch, "1.1");
    work.iter().for_each(|(path, file)| write(&linked.path, path, file));
    let packed = linked.try_pack(&[], &[]).unwrap()?;
    scratch.repository.write("specs/tasks.md", "meanwhile\n");
    scratch.commit(&["specs/tasks.md"], "another").unwrap().unwrap();
    let Applied::Done { .. } = linked.apply(&packed.commit) else { panic!("it fits") };
    let on_the_way = (staged(&scratch, LANDING_INDEX), files(root));
    assert!(matches!(linked.commit(), Landed::Done(_)));
    scratch.repository.git(&["fsck", "--strict"]);
    let tree = scratch.repository.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(scratch.repository.git(&["write-tree"]), tree, "what is noted of the folders is right");
    Some(Seen { on_the_way, in_the_end: (tree, staged(&scratch, ".git/index"), scratch.repository.dirt()) })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn files_and_index_are_as_git_leaves_them(before in some_files(), work in some_files(), version in 2..4_u8) {
        prop_assert_eq!(see(&before, &work, version, false), see(&before, &work, version, true));
    }
}

/// Applies work once a repository is set up, and tells whether that was done without git. Either way it has to come in.
#[track_caller]
fn check(set_up: impl Fn(&Scratch), work: impl Fn(&Linked<'_>), is_plain: bool) {
    let scratch = Scratch::new();
    set_up(&scratch);
    let mut linked = Linked::new(&scratch, "1.1");
    work(&linked);
    let commit = linked.pack();
    let (git, count) = scratch.traced_git();
    git.learn_to_commit();
    linked.git = git;
    let applied = linked.apply(&commit);
    assert!(matches!(applied, Applied::Done { .. }), "{applied:?}");
    assert_eq!(count("\"read-tree\"") == 0, is_plain);
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    scratch.repository.git(&["fsck", "--strict"]);
}

fn ordinary(linked: &Linked<'_>) {
    linked.write("one", "changed\n");
    linked.write("new/deep/file", "new\n");
}

#[test]
fn ordinary_work_comes_in_without_git() {
    check(|_| {}, ordinary, true);
    check(|scratch| drop(scratch.repository.git(&["gc", "--quiet"])), ordinary, true);
    let set_up = |scratch: &Scratch| {
        scratch.repository.write(".gitattributes", "*.md text\n");
        scratch.repository.commit_all("attributes");
    };
    check(set_up, ordinary, true);
}

#[test]
fn what_is_written_otherwise_than_it_is_stored_is_left_to_git() {
    for [name, value] in [["core.autocrlf", "true"], ["core.eol", "crlf"], ["core.ignoreCase", "true"]] {
        check(|scratch| drop(scratch.repository.git(&["config", name, value])), ordinary, false);
    }
    for attributes in ["* eol=lf\n", "one ident\n", "*.bin filter=x\n", "new crlf\n"] {
        let set_up = |scratch: &Scratch| {
            scratch.repository.write(".gitattributes", attributes);
            scratch.repository.commit_all("attributes");
        };
        check(set_up, ordinary, false);
    }
    check(|_| {}, |linked| linked.write("deep/.gitattributes", "* text\n"), false);
}

#[test]
fn all_that_is_no_ordinary_file_is_left_to_git() {
    check(|_| {}, |linked| fs::remove_file(linked.path.join("one")).unwrap(), false);
    check(|_| {}, |linked| symlink("one", linked.path.join("link")).unwrap(), false);
    let make_folder = |linked: &Linked<'_>| {
        fs::remove_file(linked.path.join("one")).unwrap();
        linked.write("one/file", "new\n");
    };
    check(|_| {}, make_folder, false);
    check(|scratch| scratch.hook("post-commit", "true"), ordinary, false);
    check(|scratch| drop(scratch.repository.git(&["update-index", "--index-version=4"])), ordinary, false);
}

#[test]
fn what_a_person_has_there_stays() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    ordinary(&linked);
    let commit = linked.pack();
    for path in ["one", "new/deep/file"] {
        scratch.repository.write(path, "a person's\n");
        assert_eq!(linked.apply(&commit), Applied::Refused { paths: vec![path.to_owned()] });
        assert_eq!(scratch.repository.read(path), "a person's\n");
        scratch.repository.git(&["stash", "--include-untracked", "--quiet"]);
    }
    // Staged by somebody, and of other files.
    scratch.repository.write("two", "a person's\n");
    scratch.repository.git(&["add", "two"]);
    assert!(matches!(linked.apply(&commit), Applied::Done { .. }));
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.dirt(), ["M  two"]);
}

#[test]
fn a_folder_that_is_a_link_is_not_followed() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("new/file", "new\n");
    let commit = linked.pack();
    fs::create_dir(scratch.notes().join("elsewhere")).unwrap();
    symlink(scratch.notes().join("elsewhere"), scratch.repository.root().join("new")).unwrap();
    assert_eq!(linked.apply(&commit), Applied::Refused { paths: vec!["new".to_owned()] });
    assert_eq!(fs::read_dir(scratch.notes().join("elsewhere")).unwrap().count(), 0);
}

/// A file that is touched, or written anew with the same content, is the one that was there.
#[test]
fn a_file_that_only_looks_changed_is_in_nobodys_way() {
    check(|scratch| scratch.repository.write("one", "one\n"), ordinary, true);
}

#[test]
fn what_was_put_in_can_be_taken_back() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    ordinary(&linked);
    assert!(matches!(linked.apply(&linked.pack()), Applied::Done { .. }));
    assert_eq!(scratch.repository.dirt(), [" M one", "?? new/deep/file"], "it is in nobody's index");
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(!scratch.repository.has("new"));
}
