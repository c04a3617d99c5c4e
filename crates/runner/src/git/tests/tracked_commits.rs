//! Files that are committed without git: index, history and files must be as git leaves them, and whatever is not quite
//! ordinary is left to git.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::scratch::{Scratch, owned};
use crate::git::formats::index_tree;
use crate::git::{Commit, Git, GitError, Oid, Staging};

/// What is recorded of a commit that was written without git.
const PLAIN: &str = "commit: by tillgreen";

/// The spec files of these tests.
const SPEC: [&str; 2] = ["specs/demo/.progress.md", "specs/demo/tasks.md"];

/// A repository with spec files and some others, and a git that has looked around in it.
fn project(scratch: Scratch) -> (Scratch, Git) {
    let others = ["a", "specs/demo.md", "specs/demo/a/b", "specs/demo/z", "specs0", "z/y"];
    for path in SPEC.iter().chain(&others) {
        scratch.repository.write(path, "one\n");
    }
    scratch.repository.commit_all("first");
    let git = scratch.git();
    git.learn_to_commit();
    (scratch, git)
}

fn ordinary() -> (Scratch, Git) {
    project(Scratch::empty())
}

fn commit(git: &Git, paths: &[&str]) -> Result<Option<Oid>, GitError> {
    git.commit(&Commit::new(&owned(paths), "chore(spec): complete task 1.1"))
}

fn last_record(scratch: &Scratch) -> String {
    scratch.repository.git(&["log", "--walk-reflogs", "-1", "--format=%gs"]).trim().to_owned()
}

/// Holds all that git can tell of the index against what it makes of the same files and history by itself.
#[track_caller]
fn expect_as_git_leaves_it(scratch: &Scratch) {
    let repository = &scratch.repository;
    assert_eq!(repository.dirt(), Vec::<String>::new());
    assert_eq!(repository.git(&["diff", "--cached", "--name-only"]), "");
    repository.git(&["fsck", "--strict"]);
    let index = repository.root().join(".git/index");
    let tree = Oid::parse(repository.git(&["rev-parse", "HEAD^{tree}"]).trim()).unwrap();
    assert_eq!(index_tree::held(&index, &tree), Some(tree.clone()), "the folders are known");
    assert_eq!(repository.git(&["write-tree"]).trim(), tree.as_str());
    let told = |()| repository.git(&["ls-files", "--stage", "--debug"]);
    let patched = told(());
    fs::remove_file(&index).unwrap();
    repository.git(&["reset", "--quiet"]);
    assert_eq!(patched, told(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn index_and_history_are_as_git_leaves_them(
        contents in prop::collection::vec("[a-z\n]{0,20}", 2),
        others in prop::collection::btree_map("specs/(demo/)?[a-e]{2}(/[a-e]{2}){0,2}", "[a-z]{0,3}", 0..6),
        version in 2..5_u8,
        is_long in any::<bool>(),
        has_sum in any::<bool>(),
    ) {
        let scratch = if is_long { Scratch::with_long_names() } else { Scratch::empty() };
        scratch.repository.git(&["config", "index.version", &version.to_string()]);
        scratch.repository.git(&["config", "index.skipHash", if has_sum { "false" } else { "true" }]);
        for (path, content) in &others {
            let file = scratch.repository.root().join(path);
            if fs::create_dir_all(file.parent().unwrap()).is_ok() {
                // A folder may be there already.
                let _ = fs::write(file, content);
            }
        }
        let (scratch, git) = project(scratch);
        for (path, content) in SPEC.iter().zip(&contents) {
            scratch.repository.write(path, format!("{content}!"));
        }
        let made = commit(&git, &SPEC).unwrap();
        prop_assert_eq!(made, git.head().unwrap());
        prop_assert_eq!(last_record(&scratch), PLAIN);
        prop_assert_eq!(scratch.last_commit(), SPEC.map(|path| format!("M {path}")));
        expect_as_git_leaves_it(&scratch);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn new_files_are_committed_as_git_does(
        new in prop::collection::btree_set("(specs/(demo/)?)?([f-k]{1,2}/){0,2}[l-p]{1,3}", 1..5),
        version in 2..4_u8,
        is_long in any::<bool>(),
        has_sum in any::<bool>(),
        is_packed in any::<bool>(),
    ) {
        let scratch = if is_long { Scratch::with_long_names() } else { Scratch::empty() };
        scratch.repository.git(&["config", "index.version", &version.to_string()]);
        scratch.repository.git(&["config", "index.skipHash", if has_sum { "false" } else { "true" }]);
        let (scratch, git) = project(scratch);
        if is_packed {
            scratch.repository.git(&["gc", "--quiet"]);
        }
        new.iter().for_each(|path| scratch.repository.write(path, format!("{path}\n")));
        scratch.repository.write(SPEC[1], "two\n");
        let paths: Vec<String> = new.iter().cloned().chain([SPEC[1].to_owned()]).collect();
        let request = Commit { staging: Staging::AddSeen, ..Commit::new(&paths, "chore(spec): one") };
        prop_assert_eq!(git.commit(&request).unwrap(), git.head().unwrap());
        prop_assert_eq!(last_record(&scratch), PLAIN);
        expect_as_git_leaves_it(&scratch);
    }
}

#[test]
fn new_files_whose_place_is_taken_are_left_to_git() {
    let (scratch, git) = ordinary();
    fs::remove_file(scratch.repository.root().join("a")).unwrap();
    scratch.repository.write("a/b", "new\n");
    let paths = owned(&["a/b"]);
    let request = Commit { staging: Staging::AddSeen, ..Commit::new(&paths, "chore(spec): one") };
    // Git makes room for it.
    git.commit(&request).unwrap().unwrap();
    assert_ne!(last_record(&scratch), PLAIN);
    assert_eq!(scratch.last_commit(), ["D a", "A a/b"]);
}

#[test]
fn new_files_that_git_may_ignore_are_left_to_git() {
    let (scratch, git) = ordinary();
    scratch.repository.write(".gitignore", "*.log\n");
    scratch.repository.commit_all("ignore");
    scratch.repository.write("x.log", "new\n");
    assert_eq!(commit(&git, &["x.log"]).unwrap(), None);
}

#[test]
fn one_commit_after_the_other() {
    let (scratch, git) = ordinary();
    for round in 0..4 {
        scratch.repository.write(SPEC[round % 2], format!("{round}\n"));
        commit(&git, &SPEC).unwrap().unwrap();
        assert_eq!((last_record(&scratch).as_str(), scratch.repository.dirt().len()), (PLAIN, 0));
    }
    expect_as_git_leaves_it(&scratch);
    assert_eq!(commit(&git, &SPEC).unwrap(), None, "nothing is left");
}

#[test]
fn no_git_is_started() {
    let (scratch, _) = ordinary();
    let (git, count) = scratch.counted_git();
    git.learn_to_commit();
    let again = |content: &str| {
        SPEC.iter().for_each(|path| scratch.repository.write(path, content));
        commit(&git, &SPEC).unwrap().unwrap();
        count()
    };
    // With the first, those are started that stay.
    assert_eq!(again("two\n"), again("three\n"));
    assert_eq!(scratch.repository.subjects().len(), 3);
}

/// Commits the spec files once a repository is set up, and tells whether that was done without git. Either way it
/// has to come to what git stores.
#[track_caller]
fn check(set_up: impl Fn(&Scratch), is_plain: bool) -> Scratch {
    let (scratch, _) = ordinary();
    for path in SPEC {
        scratch.repository.write(path, "two\n");
    }
    set_up(&scratch);
    // Settings and hooks are looked at now.
    let git = scratch.git();
    git.learn_to_commit();
    let made = commit(&git, &SPEC).unwrap();
    assert_eq!(made, git.head().unwrap());
    assert_eq!(last_record(&scratch) == PLAIN, is_plain, "{}", last_record(&scratch));
    assert_eq!(
        scratch.repository.git(&["log", "-1", "--format=%s"]).trim(),
        "chore(spec): complete task 1.1"
    );
    scratch.repository.git(&["fsck", "--strict"]);
    scratch
}

/// One call of git.
fn git(list: &'static [&'static str]) -> impl Fn(&Scratch) {
    move |scratch| drop(scratch.repository.git(list))
}

#[test]
fn what_is_usual_is_written_without_git() {
    check(|_| (), true);
    check(git(&["checkout", "--quiet", "--detach"]), true);
    check(git(&["config", "core.autocrlf", "input"]), true);
    check(git(&["config", "filter.big.clean", "tr a-z A-Z"]), true);
    let noted = |scratch: &Scratch| {
        scratch.repository.git(&["config", "index.recordEndOfIndexEntries", "true"]);
        scratch.repository.git(&["update-index", "--force-write-index"]);
        let index = fs::read(scratch.repository.root().join(".git/index")).unwrap();
        assert!(index.windows(4).any(|name| name == b"EOIE"));
    };
    check(noted, true);
    let attributes = |text: &'static str| {
        move |scratch: &Scratch| {
            scratch.repository.write(".gitattributes", text);
            scratch.repository.git(&["add", ".gitattributes"]);
            scratch.repository.git(&["commit", "--quiet", "-m", "attributes"]);
        }
    };
    check(attributes("* text=auto eol=crlf ident\n"), true);
    check(attributes("*.md filter=big\n"), true);
    check(attributes("*.md working-tree-encoding=UTF-16\n*.md -working-tree-encoding\n"), false);
}

#[test]
fn what_others_have_staged_stays_staged_and_out_of_it() {
    for path in ["a", "specs/demo/z", "specs/demo/new"] {
        let stage = |scratch: &Scratch| {
            scratch.repository.write(path, "staged\n");
            scratch.repository.git(&["add", path]);
        };
        let scratch = check(stage, true);
        assert_eq!(scratch.last_commit(), SPEC.map(|path| format!("M {path}")));
        let letter = if path.ends_with("new") { 'A' } else { 'M' };
        assert_eq!(scratch.repository.dirt(), [format!("{letter}  {path}")]);
        let written = scratch.repository.git(&["write-tree"]);
        let staged = scratch.repository.git(&["ls-tree", written.trim(), path]);
        assert!(staged.starts_with("100644 blob "), "{staged}");
        scratch.repository.git(&["commit", "--quiet", "-m", "theirs"]);
        assert_eq!(scratch.last_commit(), [format!("{letter} {path}")]);
    }
}

#[test]
fn what_others_have_staged_as_a_whole_stays_so() {
    // The folders are known, but not as they are in the history.
    let stage = |scratch: &Scratch| {
        scratch.repository.write("specs/demo/z", "staged\n");
        scratch.repository.git(&["add", "specs/demo/z"]);
        scratch.repository.git(&["write-tree"]);
    };
    let scratch = check(stage, false);
    assert_eq!(scratch.repository.dirt(), ["M  specs/demo/z"]);
}

#[test]
fn an_index_that_is_not_ordinary_is_left_to_git() {
    check(git(&["add", "specs"]), false);
    check(git(&["update-index", "--split-index"]), false);
    check(git(&["update-index", "--untracked-cache"]), false);
    check(git(&["rm", "--quiet", "--cached", "specs/demo/tasks.md"]), false);
    check(git(&["config", "core.ignoreStat", "true"]), false);
    let intended = |scratch: &Scratch| {
        scratch.repository.git(&["rm", "--quiet", "--cached", SPEC[1]]);
        scratch.repository.git(&["add", "--intent-to-add", SPEC[1]]);
    };
    check(intended, false);
}

#[test]
fn files_that_are_not_ordinary_are_left_to_git() {
    let at = |scratch: &Scratch, path: &str| scratch.repository.root().join(path);
    let run = |scratch: &Scratch| {
        fs::set_permissions(at(scratch, SPEC[1]), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let scratch = check(run, false);
    assert!(scratch.repository.git(&["ls-tree", "HEAD", SPEC[1]]).starts_with("100755"));
    let link = |scratch: &Scratch| {
        fs::remove_file(at(scratch, SPEC[1])).unwrap();
        symlink("elsewhere", at(scratch, SPEC[1])).unwrap();
    };
    assert!(check(link, false).repository.git(&["ls-tree", "HEAD", SPEC[1]]).starts_with("120000"));
    let removed = |scratch: &Scratch| fs::remove_file(at(scratch, SPEC[1])).unwrap();
    assert!(check(removed, false).last_commit().contains(&format!("D {}", SPEC[1])));
}

#[test]
fn content_that_git_stores_otherwise_is_left_to_git() {
    let stored = |scratch: &Scratch| scratch.repository.git(&["show", &format!("HEAD:{}", SPEC[1])]);
    let lines = |scratch: &Scratch| {
        scratch.repository.git(&["config", "core.autocrlf", "input"]);
        scratch.repository.write(SPEC[1], "a\r\nb\r\n");
    };
    assert_eq!(stored(&check(lines, false)), "a\nb\n");
    // Wherever it says so: in the file for this repository, for all, and perhaps where only the index has it.
    let filter =
        |scratch: &Scratch| drop(scratch.repository.git(&["config", "filter.big.clean", "tr a-z A-Z"]));
    let by_info = |scratch: &Scratch| {
        filter(scratch);
        scratch.repository.write(".git/info/attributes", "*.md filter=big\n");
    };
    assert_eq!(stored(&check(by_info, false)), "TWO\n");
    let by_home = |scratch: &Scratch| {
        filter(scratch);
        let folder = scratch.repository.home().join(".config/git");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("attributes"), "*.md filter=big\n").unwrap();
    };
    assert_eq!(stored(&check(by_home, false)), "TWO\n");
    let by_index = |scratch: &Scratch| {
        filter(scratch);
        scratch.repository.write("specs/.gitattributes", "*.md filter=big\n");
        scratch.repository.git(&["add", "specs/.gitattributes"]);
        fs::remove_file(scratch.repository.root().join("specs/.gitattributes")).unwrap();
    };
    check(by_index, false);
    let keyword = |scratch: &Scratch| {
        scratch.repository.write(".git/info/attributes", "*.md ident\n");
        scratch.repository.write(SPEC[1], "$Id: old $\n");
    };
    assert_eq!(stored(&check(keyword, false)), "$Id$\n");
}

#[test]
fn whoever_has_the_index_is_alone_with_it() {
    let (scratch, git) = ordinary();
    let index = scratch.repository.root().join(".git/index");
    scratch.repository.write(SPEC[1], "two\n");
    let before = fs::read(&index).unwrap();
    fs::write(index.with_extension("lock"), "").unwrap();
    assert!(matches!(commit(&git, &SPEC), Err(GitError::Locked { .. })));
    assert_eq!(fs::read(&index).unwrap(), before);
    fs::remove_file(index.with_extension("lock")).unwrap();
    assert!(commit(&git, &SPEC).unwrap().is_some());
    assert!(!index.with_extension("lock").exists());
}

#[test]
fn without_a_commit_the_index_is_what_it_was() {
    let (scratch, git) = ordinary();
    let index = scratch.repository.root().join(".git/index");
    scratch.repository.write(SPEC[1], "two\n");
    let before = fs::read(&index).unwrap();
    fs::write(scratch.repository.root().join(".git/refs/heads/main.lock"), "").unwrap();
    let paths = SPEC.iter().map(OsStr::new).collect();
    assert_eq!(git.commit_tracked(&paths, "chore(spec): one", Staging::Skip).unwrap(), None);
    assert_eq!(fs::read(&index).unwrap(), before);
    assert!(!index.with_extension("lock").exists());
    assert_eq!(scratch.repository.dirt(), [format!(" M {}", SPEC[1])]);
}

#[test]
fn a_change_right_after_is_seen() {
    let (scratch, git) = ordinary();
    scratch.repository.git(&["config", "core.trustctime", "false"]);
    for round in 0..20 {
        let (content, other) = (format!("{round:02}\n"), format!("{:02}\n", 99 - round));
        scratch.repository.write(SPEC[1], &content);
        let time = fs::metadata(scratch.repository.root().join(SPEC[1])).unwrap().modified().unwrap();
        commit(&git, &SPEC).unwrap().unwrap();
        assert_eq!(last_record(&scratch), PLAIN);
        scratch.repository.write(SPEC[1], &other);
        // As if it were in the very same moment.
        let file = File::options().write(true).open(scratch.repository.root().join(SPEC[1])).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(scratch.repository.dirt(), [format!(" M {}", SPEC[1])], "{round}");
    }
}

/// Gives a file a time that is whole, and the same for all.
fn date(file: &Path) {
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    File::options().write(true).open(file).unwrap().set_modified(second).unwrap();
}

#[test]
fn what_changed_in_the_second_in_which_the_index_was_written_is_still_seen() {
    let (scratch, git) = ordinary();
    let root = scratch.repository.root();
    scratch.repository.git(&["config", "core.trustctime", "false"]);
    date(&root.join("a"));
    scratch.repository.git(&["update-index", "--refresh"]);
    // Of another file it cannot be seen from size and time that it changed, only from the time of the index.
    date(&root.join(".git/index"));
    scratch.repository.write("a", "eno\n");
    date(&root.join("a"));
    scratch.repository.write(SPEC[1], "two\n");
    commit(&git, &SPEC).unwrap().unwrap();
    assert_eq!(last_record(&scratch), PLAIN);
    assert_eq!(scratch.repository.dirt(), [" M a"]);
}

#[test]
fn now_and_then_git_gets_to_tidy_up() {
    let (scratch, git) = ordinary();
    for _ in 0..99 {
        git.count_commit();
    }
    for is_plain in [false, true] {
        scratch.repository.write(SPEC[1], format!("{is_plain}\n"));
        commit(&git, &SPEC).unwrap().unwrap();
        assert_eq!(last_record(&scratch) == PLAIN, is_plain);
    }
}
