//! Work that is found without git, held against what git finds in the same tree: whatever is not quite ordinary is left to
//! git.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::batch::Linked;
use super::scratch::{Scratch, owned};
use crate::git::TreeWork;
use crate::git::trees::snapshot::Snapshot;

/// What is found without git, once it is known to be what git finds. None: git has to.
#[track_caller]
pub(super) fn found(linked: &Linked<'_>, dropped: &[&str], furnished: &[&str]) -> Option<Snapshot> {
    let (dropped, furnished) = (owned(dropped), owned(furnished));
    let work = TreeWork { tree: &linked.path, base: &linked.base, dropped: &dropped, furnished: &furnished };
    let state = linked.git.state_of(&linked.path).unwrap();
    let pristine = linked.git.pristine(&linked.path);
    let plain = pristine.as_deref().and_then(|pristine| linked.git.snapshot_plainly(&work, &state, pristine));
    if let Some(plain) = &plain {
        assert_eq!(*plain, linked.git.snapshot_by_git(&work, &state, pristine.as_deref()).unwrap());
    }
    plain
}

/// What changed, as letters and paths; none if git has to find it.
#[track_caller]
fn told(linked: &Linked<'_>, dropped: &[&str], furnished: &[&str]) -> Option<Vec<String>> {
    let touched = found(linked, dropped, furnished)?.touched();
    assert_eq!((touched.dropped, touched.left_out), (Vec::new(), Vec::new()));
    let letter = |change: &crate::git::Change| format!("{:?} {}", change.kind, change.path);
    Some(touched.changes.iter().map(letter).collect())
}

#[track_caller]
fn check(set_up: impl Fn(&Scratch), work: impl Fn(&Linked<'_>), expected: Option<&[&str]>) {
    let scratch = Scratch::new();
    set_up(&scratch);
    let linked = Linked::new(&scratch, "1.1");
    work(&linked);
    assert_eq!(told(&linked, &[], &[]), expected.map(owned));
}

/// In a repository with nothing special about it.
#[track_caller]
fn check_work(work: impl Fn(&Linked<'_>), expected: Option<&[&str]>) {
    check(|_| {}, work, expected);
}

fn committed(path: &'static str, content: &'static str) -> impl Fn(&Scratch) {
    move |scratch| {
        scratch.repository.write(path, content);
        scratch.repository.commit_all("more");
    }
}

fn set(name: &'static str, value: &'static str) -> impl Fn(&Scratch) {
    move |scratch| drop(scratch.repository.git(&["config", name, value]))
}

fn remove(linked: &Linked<'_>, path: &str) {
    let path = linked.path.join(path);
    fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).unwrap();
}

fn make_executable(linked: &Linked<'_>, path: &str) {
    fs::set_permissions(linked.path.join(path), fs::Permissions::from_mode(0o755)).unwrap();
}

fn ordinary(linked: &Linked<'_>) {
    linked.write("one", "changed\n");
    linked.write("new/deep/file", "new\n");
}

const ORDINARY: Option<&[&str]> = Some(&["Added new/deep/file", "Modified one"]);

#[test]
fn ordinary_work_is_found_without_git() {
    check_work(|_| {}, Some(&[]));
    check_work(ordinary, ORDINARY);
    check_work(|linked| make_executable(linked, "one"), Some(&["Modified one"]));
    check_work(|linked| remove(linked, "one"), Some(&["Deleted one"]));
    check_work(|linked| remove(linked, "deep"), Some(&["Deleted deep/three"]));
    let empty = |linked: &Linked<'_>| {
        ["one", "two", "deep/three"].iter().for_each(|path| remove(linked, path));
    };
    check_work(empty, Some(&["Deleted deep/three", "Deleted one", "Deleted two"]));
    let rename = |linked: &Linked<'_>| {
        fs::rename(linked.path.join("deep"), linked.path.join("else")).unwrap();
        make_executable(linked, "else/three");
    };
    check_work(rename, Some(&["Deleted deep/three", "Added else/three"]));
    check_work(|linked| linked.write("one", "one\n"), Some(&[]));
    check_work(|linked| fs::create_dir_all(linked.path.join("deep/empty/still")).unwrap(), Some(&[]));
    check_work(|linked| linked.write("new", vec![b'\r'; 5000]), Some(&["Added new"]));
    check_work(|linked| linked.write("a b~", ""), Some(&["Added a b~"]));
}

#[test]
fn no_git_is_started_for_it() {
    let scratch = Scratch::new();
    let (git, count) = scratch.traced_git();
    let mut linked = Linked::new(&scratch, "1.1");
    linked.git = git;
    linked.git.add_tree(&linked.path, &linked.base).unwrap();
    linked.git.learn_to_commit();
    ordinary(&linked);
    linked.git.start_standing();
    let commit = linked.pack();
    assert_eq!((count("\"add\""), count("\"write-tree\"")), (0, 0));
    scratch.repository.git(&["fsck", "--strict"]);
    assert_eq!(linked.packed(&commit), ["A new/deep/file", "M one"]);
    let state = linked.git.state_of(&linked.path).unwrap();
    let names = fs::read_dir(state).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().contains("tillgreen")));
}

#[test]
fn an_index_that_is_not_the_first_is_left_to_git() {
    let gits: [&[&str]; 8] = [
        &["add", "--all"],
        &["add", "--intent-to-add", "new"],
        &["commit", "-qam", "mine"],
        &["update-index", "--assume-unchanged", "one"],
        &["update-index", "--skip-worktree", "one"],
        &["update-index", "--chmod=+x", "two"],
        &["update-index", "--split-index"],
        &["rm", "-q", "--cached", "two"],
    ];
    for words in gits {
        let work = |linked: &Linked<'_>| {
            ordinary(linked);
            linked.agent(words);
        };
        check_work(work, None);
    }
    check_work(
        |linked| fs::write(linked.git.state_of(&linked.path).unwrap().join("index"), "").unwrap(),
        None,
    );
    let replace = |linked: &Linked<'_>| {
        let index = linked.git.state_of(&linked.path).unwrap().join("index");
        fs::rename(&index, index.with_extension("old")).unwrap();
        symlink(index.with_extension("old"), index).unwrap();
    };
    check_work(replace, None);
}

/// Agents ask git how things stand, which then writes down what files look like.
#[test]
fn an_index_that_tells_of_the_same_files_will_do() {
    let gits: [&[&str]; 5] = [
        &["status"],
        &["diff", "--stat"],
        &["update-index", "--refresh", "-q"],
        &["update-index", "--index-version", "4"],
        &["update-index", "--force-untracked-cache"],
    ];
    for words in gits {
        let work = |linked: &Linked<'_>| {
            linked.try_agent(words);
            ordinary(linked);
            linked.try_agent(words);
        };
        check_work(work, ORDINARY);
    }
}

/// What an agent makes of history changes nothing about the files.
#[test]
fn the_base_is_what_counts() {
    let scratch = Scratch::new();
    let mut linked = Linked::new(&scratch, "1.1");
    let index = linked.git.state_of(&linked.path).unwrap().join("index");
    let first = fs::read(&index).unwrap();
    linked.agent(&["commit", "-q", "--allow-empty", "-m", "mine"]);
    linked.agent(&["checkout", "-q", "-b", "other"]);
    ordinary(&linked);
    // What git made of the index on the way is undone.
    fs::write(index, first).unwrap();
    assert_eq!(told(&linked, &[], &[]), ORDINARY.map(owned));
    scratch.repository.write("two", "2\n");
    scratch.repository.commit_all("second");
    linked.base = linked.git.head().unwrap().unwrap();
    assert_eq!(told(&linked, &[], &[]), None, "the tree was made of another commit");
}

#[test]
fn what_is_no_ordinary_file_is_left_to_git() {
    check_work(|linked| symlink("one", linked.path.join("link")).unwrap(), None);
    check_work(|linked| symlink("deep", linked.path.join("link")).unwrap(), None);
    let link = |linked: &Linked<'_>| {
        fs::rename(linked.path.join("deep"), linked.path.with_extension("deep")).unwrap();
        symlink(linked.path.with_extension("deep"), linked.path.join("deep")).unwrap();
    };
    check_work(link, None);
    let whole = |linked: &Linked<'_>| {
        fs::rename(&linked.path, linked.path.with_extension("away")).unwrap();
        symlink(linked.path.with_extension("away"), &linked.path).unwrap();
    };
    check_work(whole, None);
    check_work(
        |linked| nix::unistd::mkfifo(&linked.path.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap(),
        None,
    );
    check_work(|linked| linked.write("inner/.git", ""), None);
    check_work(|linked| linked.write("inner/.GIT/x", ""), None);
    check_work(|linked| linked.agent(&["init", "-q", "inner"]), None);
    check_work(|linked| linked.write("git~1", ""), None);
    check_work(|linked| linked.write("é", ""), None);
    check_work(|linked| linked.write("a\nb", ""), None);
    check_work(|linked| fs::write(linked.path.join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap(), None);
    let folder = |linked: &Linked<'_>| {
        remove(linked, "one");
        linked.write("one/file", "");
    };
    check_work(folder, None);
    let file = |linked: &Linked<'_>| {
        remove(linked, "deep");
        linked.write("deep", "");
    };
    check_work(file, None);
    check_work(|linked| linked.write("new", vec![b'a'; 1024 * 1024 + 1]), None);
    check_work(
        |linked| (0..9).for_each(|name| linked.write(&format!("n{name}"), vec![b'a'; 1024 * 1024])),
        None,
    );
    check_work(|linked| linked.write(&format!("{}file", "a/".repeat(101)), ""), None);
    check(|scratch| symlink("one", scratch.repository.root().join("l")).unwrap(), |_| {}, Some(&[]));
    let linked_before = |scratch: &Scratch| {
        symlink("one", scratch.repository.root().join("l")).unwrap();
        scratch.repository.commit_all("link");
    };
    check(linked_before, |_| {}, None);
}

#[test]
fn a_file_or_folder_that_cannot_be_read_is_left_to_git() {
    if nix::unistd::geteuid().is_root() {
        return;
    }
    for path in ["one", "deep"] {
        let scratch = Scratch::new();
        let linked = Linked::new(&scratch, "1.1");
        fs::set_permissions(linked.path.join(path), fs::Permissions::from_mode(0o000)).unwrap();
        assert_eq!(told(&linked, &[], &[]), None, "{path}");
        fs::set_permissions(linked.path.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[test]
fn what_is_stored_otherwise_than_it_is_on_disk_is_left_to_git() {
    let settings = [
        ("core.autocrlf", "true"),
        ("core.fileMode", "false"),
        ("core.ignoreCase", "true"),
        ("core.sparseCheckout", "true"),
        ("core.safecrlf", "true"),
        ("core.sharedRepository", "group"),
        ("extensions.worktreeConfig", "true"),
        ("includeIf.onbranch:x.path", "x"),
        ("core.excludesFile", "relative"),
    ];
    for (name, value) in settings {
        check(set(name, value), ordinary, None);
    }
    check(set("core.autocrlf", "input"), ordinary, ORDINARY);
    check(set("core.autocrlf", "input"), |linked| linked.write("one", "a\r\n"), None);
    check(committed(".gitattributes", "* text=auto\n"), ordinary, ORDINARY);
    check(committed(".gitattributes", "* text=auto\n"), |linked| linked.write("one", "a\r\n"), None);
    check(committed(".gitattributes", "* ident\n"), |linked| linked.write("one", "$Id$\n"), None);
    check(committed(".gitattributes", "x working-tree-encoding=utf-16\n"), |_| {}, None);
    check(committed("lines", "a\r\n"), ordinary, ORDINARY);
    for path in [".gitattributes", "deep/.gitattributes", "new/.gitattributes"] {
        check_work(|linked| linked.write(path, ""), None);
    }
    check(committed(".gitignore", ".gitattributes\n"), |linked| linked.write(".gitattributes", ""), None);
    check(committed(".gitattributes", "* text=auto\n"), |linked| remove(linked, ".gitattributes"), None);
    check(committed(".gitattributes", ""), |linked| linked.write(".gitattributes", "* text\n"), None);
    check(committed(".gitattributes", ""), |linked| linked.write(".gitattributes", ""), Some(&[]));
    check_work(|linked| linked.write(".gitmodules", ""), None);
    let own = |scratch: &Scratch| {
        fs::write(scratch.repository.root().join(".git/info/attributes"), "* text=auto\n").unwrap();
    };
    check(own, ordinary, ORDINARY);
    check(own, |linked| linked.write("one", "a\r\n"), None);
}

#[test]
fn what_may_be_ignored_is_left_to_git() {
    let build = |linked: &Linked<'_>| {
        ordinary(linked);
        linked.write("target/debug/x", "");
        linked.write("target/inner/.git", "");
        symlink("/", linked.path.join("target/link")).unwrap();
    };
    for patterns in
        ["target/\n", "/target\n", "target", "tar*\n# !target\n", "*\n!one\n", "target\n!target/debug\n"]
    {
        let expected = if patterns.starts_with("*\n") { None } else { ORDINARY };
        check(committed(".gitignore", patterns), build, expected);
    }
    for patterns in ["target/*\n", "[t]arget\n", "target\n!targ*\n", "/a/../target", "**/target"] {
        check(committed(".gitignore", patterns), build, None);
    }
    check_work(build, None);
    check(committed("target/kept", ""), build, None);
    check(committed("target/kept", ""), ordinary, ORDINARY);
    let new_rules = |linked: &Linked<'_>| {
        build(linked);
        linked.write(".gitignore", "/target\n");
    };
    check_work(new_rules, Some(&["Added .gitignore", "Added new/deep/file", "Modified one"]));
    check(committed(".gitignore", "*.log\n"), |linked| linked.write("deep/a.log", ""), Some(&[]));
    check(committed(".gitignore", "*.log\n"), |linked| linked.write("a.log/b", ""), Some(&[]));
    check(committed(".gitignore", "deep/*.log\n"), |linked| linked.write("deep/a.log", ""), None);
    check(committed("deep/.gitignore", "/a\n"), |linked| linked.write("deep/a", ""), Some(&[]));
    check(committed("deep/.gitignore", "/a\n"), |linked| linked.write("a", ""), Some(&["Added a"]));
    let forget_rules = |linked: &Linked<'_>| {
        remove(linked, "deep/.gitignore");
        linked.write("deep/a", "");
    };
    check(
        committed("deep/.gitignore", "a\n"),
        forget_rules,
        Some(&["Deleted deep/.gitignore", "Added deep/a"]),
    );
    check_work(|linked| symlink("one", linked.path.join(".gitignore")).unwrap(), None);
    check_work(|linked| fs::create_dir(linked.path.join(".gitignore")).unwrap(), None);
}

#[test]
fn patterns_of_the_repository_and_of_people_count() {
    let in_home = |scratch: &Scratch, path: &str, text: &str| {
        let home = scratch.repository.root().with_file_name("home").join(path);
        fs::create_dir_all(home.parent().unwrap()).unwrap();
        fs::write(home, text).unwrap();
    };
    let write = |linked: &Linked<'_>| {
        linked.write("deep/a.log", "");
        linked.write("deep/a.txt", "");
    };
    let own = |scratch: &Scratch| {
        fs::write(scratch.repository.root().join(".git/info/exclude"), "*.log\n").unwrap();
    };
    check(own, write, Some(&["Added deep/a.txt"]));
    check(|scratch| in_home(scratch, ".config/git/ignore", "*.log\n"), write, Some(&["Added deep/a.txt"]));
    let set_up = |scratch: &Scratch| {
        in_home(scratch, ".config/git/ignore", "*.txt\n");
        in_home(scratch, "mine", "*.log\n");
        scratch.repository.git(&["config", "core.excludesFile", "~/mine"]);
    };
    check(set_up, write, Some(&["Added deep/a.txt"]));
    let make_odd = |linked: &Linked<'_>| {
        write(linked);
        let file = linked.scratch.repository.root().with_file_name("home").join("mine");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
    };
    check(set_up, make_odd, None);
}

#[test]
fn what_is_not_to_come_back_stays_out() {
    let scratch = Scratch::new();
    for path in ["specs/tasks.md", "specs/other.md", ".progress-task-1"] {
        scratch.repository.write(path, "before\n");
    }
    scratch.repository.git(&["add", "--force", "--all"]);
    scratch.repository.git(&["commit", "-qm", "more"]);
    let linked = Linked::new(&scratch, "1.1");
    let (dropped, furnished) = (["specs/tasks.md", "specs/new.md"], ["cache", "deep/settings/"]);
    ordinary(&linked);
    linked.write("specs/tasks.md", "changed\n");
    linked.write("specs/new.md", "new\n");
    linked.write(".progress-task-1", "changed\n");
    linked.write(".progress-task-2", "new\n");
    linked.write(".tillgreen/x", "new\n");
    linked.write("deep/settings/.git/x", "copied\n");
    symlink(scratch.repository.root(), linked.path.join("cache")).unwrap();
    let told = || told(&linked, &dropped, &furnished);
    assert_eq!(told(), ORDINARY.map(owned));
    remove(&linked, "specs");
    remove(&linked, ".progress-task-1");
    assert_eq!(told(), Some(owned(&["Added new/deep/file", "Modified one", "Deleted specs/other.md"])));
    linked.write("specs", "a file in place of a folder\n");
    assert_eq!(told(), None);
    for odd in ["", "./a", "a//b", "/"] {
        assert!(found(&linked, &[odd], &[]).is_none(), "{odd}");
    }
}

#[test]
fn times_that_are_set_back_hide_nothing() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    super::pristine::age(&linked);
    assert_eq!(told(&linked, &[], &[]), Some(owned(&["Added last"])), "by which the tree has aged");
    let file = linked.path.join("one");
    super::pristine::quietly(&file, || fs::write(&file, "1ne\n").unwrap());
    assert_eq!(told(&linked, &[], &[]), Some(owned(&["Added last", "Modified one"])));
    // Nor does an index that tells of a file as it is by now.
    super::pristine::forge(&linked, "one");
    assert_eq!(told(&linked, &[], &[]), Some(owned(&["Added last", "Modified one"])));
    assert_eq!(linked.packed(&linked.pack()), ["A last", "M one"]);
}

#[test]
fn a_watcher_of_files_is_not_asked() {
    let work = |linked: &Linked<'_>| {
        let watcher = linked.path.with_extension("watcher");
        testkit::write_executable(&watcher, "#!/bin/sh\nprintf 'token\\0'\n");
        linked.agent(&["config", "core.fsmonitor", watcher.to_str().unwrap()]);
        ordinary(linked);
    };
    check_work(work, ORDINARY);
}

#[test]
fn a_large_tree_is_left_to_git() {
    let set_up = |scratch: &Scratch| {
        (0..20_001).for_each(|number| scratch.repository.write(&format!("many/{number}"), ""));
        scratch.repository.commit_all("many");
    };
    check(set_up, ordinary, None);
}

/// Somebody puts a link in place of a folder, again and again, while the tree is walked through.
#[test]
fn a_folder_that_becomes_a_link_in_the_middle_leads_nowhere() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let (outside, aside) = (scratch.notes().join("outside"), scratch.notes().join("aside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret\n").unwrap();
    let folder = linked.path.join("deep");
    let work = TreeWork { tree: &linked.path, base: &linked.base, dropped: &[], furnished: &[] };
    let (state, pristine) =
        (linked.git.state_of(&linked.path).unwrap(), linked.git.pristine(&linked.path).unwrap());
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| swap(&folder, &aside, &outside));
        while !swapping.is_finished() {
            let Some(found) = linked.git.snapshot_plainly(&work, &state, &pristine) else { continue };
            let is_outside = |path: &std::ffi::OsString| path.as_bytes().ends_with(b"secret");
            assert!(!found.changes.iter().any(|change| is_outside(&change.path)));
        }
    });
}

fn swap(folder: &Path, aside: &Path, outside: &Path) {
    for _ in 0..2000 {
        fs::rename(folder, aside).unwrap();
        symlink(outside, folder).unwrap();
        fs::remove_file(folder).unwrap();
        fs::rename(aside, folder).unwrap();
    }
}
