use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::Keep;

#[test]
fn a_tree_holds_the_commit_and_main_stays_clean() {
    let scratch = Scratch::new();
    scratch.hook("post-checkout", "touch \"$(git rev-parse --git-common-dir)/ran\"");
    let linked = Linked::new(&scratch, "1.1");
    assert_eq!(fs::read_to_string(linked.path.join("deep/three")).unwrap(), "deep/three\n");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(!scratch.repository.has(".git/ran"), "hooks for checkouts are for people's");
    linked.git.remove_tree(&linked.path).unwrap();
    linked.git.remove_tree(&linked.path).unwrap();
    assert_eq!(scratch.repository.git(&["worktree", "list"]).lines().count(), 1);
    assert!(!linked.path.exists());
}

#[test]
fn what_stands_at_the_path_is_removed_first() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("left", "by an earlier one");
    fs::remove_file(linked.path.join(".git")).unwrap();
    let again = Linked::new(&scratch, "1.1");
    assert!(!again.path.join("left").exists());
    again.agent(&["status"]);
    fs::remove_dir_all(&again.path).unwrap();
    fs::write(&again.path, "a file").unwrap();
    Linked::new(&scratch, "1.1").agent(&["status"]);
    assert_eq!(scratch.repository.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn links_are_removed_and_never_followed_and_other_trees_stay() {
    let scratch = Scratch::new();
    scratch.repository.git(&["worktree", "add", "-q", "../others"]);
    fs::remove_dir_all(scratch.repository.root().with_file_name("others")).unwrap();
    let linked = Linked::new(&scratch, "1.1");
    let outside = scratch.repository.root().with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), "").unwrap();
    symlink(&outside, linked.path.join("link")).unwrap();
    linked.write("closed/file", "");
    fs::set_permissions(linked.path.join("closed"), fs::Permissions::from_mode(0o500)).unwrap();
    linked.git.remove_tree(&linked.path).unwrap();
    assert!(outside.join("precious").exists() && !linked.path.exists());
    assert!(scratch.repository.git(&["worktree", "list"]).contains("others"), "it may lie on another disk");
}

#[test]
fn many_are_made_at_once() {
    let scratch = Scratch::new();
    let (git, base) = (scratch.git(), scratch.git().head().unwrap().unwrap());
    let folder = scratch.repository.root().join(".tillgreen/demo/trees");
    let paths: Vec<_> = (0..12).map(|number| folder.join(format!("{number:02}"))).collect();
    thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| git.add_tree(path, &base).unwrap());
        }
    });
    assert!(paths.iter().all(|path| path.join("deep/three").exists()));
    assert_eq!(git.trees_in(&folder).unwrap(), paths);
    thread::scope(|scope| {
        for path in &paths {
            scope.spawn(|| git.remove_tree(path).unwrap());
        }
    });
    assert_eq!(scratch.repository.git(&["worktree", "list"]).lines().count(), 1);
    assert!(git.trees_in(&folder).unwrap().is_empty());
}

#[test]
fn the_work_is_what_the_files_are_whatever_happened_to_history() {
    let scratch = Scratch::new();
    let check = |key: &str, act: &dyn Fn(&Linked<'_>)| {
        let linked = Linked::new(&scratch, key);
        linked.write("one", "changed\n");
        act(&linked);
        linked.write("new", "");
        assert_eq!(linked.packed(&linked.pack()), ["A new", "M one"], "{key}");
    };
    check("plain", &|_| {});
    check("committed", &|linked| linked.agent(&["commit", "-qam", "mine"]));
    check("branch", &|linked| linked.agent(&["checkout", "-q", "-b", "other"]));
    check("amended", &|linked| linked.agent(&["commit", "-q", "--amend", "-am", "rewritten"]));
    check("reset", &|linked| {
        linked.agent(&["commit", "-qam", "mine"]);
        linked.agent(&["reset", "-q", "--soft", "HEAD~"]);
    });
    check("merge", &|linked| {
        linked.agent(&["commit", "-qam", "mine"]);
        linked.agent(&["checkout", "-q", "-b", "side", "HEAD~"]);
        linked.agent(&["commit", "-q", "--allow-empty", "-m", "side"]);
        linked.agent(&["merge", "-q", "--no-edit", "@{-1}"]);
    });
    check("locked", &|linked| {
        let state = linked.git.state_of(&linked.path).unwrap();
        fs::write(state.join("index.lock"), "").unwrap();
    });
    check("no link", &|linked| fs::remove_file(linked.path.join(".git")).unwrap());
    check("broken index", &|linked| {
        let state = linked.git.state_of(&linked.path).unwrap();
        fs::write(state.join("index"), "nonsense").unwrap();
    });
    check("no index", &|linked| {
        fs::remove_file(linked.git.state_of(&linked.path).unwrap().join("index")).unwrap();
    });
}

#[test]
fn a_tree_that_git_forgot_is_a_clear_error() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    fs::remove_file(linked.path.join(".git")).unwrap();
    scratch.repository.git(&["worktree", "prune", "--expire=now"]);
    let error = linked.try_pack(&[], &[]).unwrap_err().to_string();
    assert!(error.contains("git no longer knows this working tree"), "{error}");
}

#[test]
fn dropped_own_and_furnished_paths_stay_behind() {
    let scratch = Scratch::new();
    scratch.repository.write("specs/demo/tasks.md", "- [ ] 1.1\n");
    scratch.repository.commit_all("spec");
    let linked = Linked::new(&scratch, "1.1");
    linked.write("specs/demo/tasks.md", "- [x] 1.1\n");
    linked.write(".progress-task-1.1.md", "");
    linked.write("cache/deep/file", "");
    linked.write("one", "changed\n");
    linked.agent(&["add", "--force", "--all"]);
    linked.agent(&["commit", "-qm", "all of it"]);
    let touched = linked.touched(&["specs/demo/tasks.md"], &["cache/"]);
    assert_eq!(touched.dropped, ["specs/demo/tasks.md"]);
    assert_eq!(touched.changes.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["one"]);
    let packed = linked.try_pack(&["specs/demo/tasks.md"], &["cache/"]).unwrap().unwrap();
    assert_eq!(linked.packed(&packed.commit), ["M one"]);
    linked.write("one", "one\n");
    assert_eq!(linked.try_pack(&["specs/demo/tasks.md"], &["cache/"]).unwrap(), None);
}

#[test]
fn all_kinds_of_files_come_back() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let odd = std::ffi::OsStr::from_bytes(b"no\xfftext");
    fs::write(linked.path.join(odd), "bytes").unwrap();
    for name in ["-dash", " space ", "new\nline", ":(top)x", "a*", "\"q\""] {
        linked.write(name, name);
    }
    fs::set_permissions(linked.path.join("one"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(linked.path.join("two")).unwrap();
    fs::remove_dir_all(linked.path.join("deep")).unwrap();
    symlink("one", linked.path.join("deep")).unwrap();
    linked.write("two/now/a/folder", "");
    linked.write("big", vec![7; 3_000_000]);
    linked.land();
    let root = scratch.repository.root();
    assert_eq!(fs::read(root.join(odd)).unwrap(), b"bytes");
    assert_eq!(scratch.repository.read("new\nline"), "new\nline");
    assert_eq!(fs::read_link(root.join("deep")).unwrap(), std::path::Path::new("one"));
    assert!(fs::metadata(root.join("one")).unwrap().permissions().mode() & 0o100 != 0);
    assert!(root.join("two/now/a/folder").is_file());
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(scratch.repository.subjects(), ["first", "work of 1.1"]);
}

#[test]
fn repositories_inside_are_left_out_and_said() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.agent(&["init", "-q", "empty"]);
    linked.agent(&["init", "-q", "inner"]);
    linked.agent(&["-C", "inner", "commit", "-q", "--allow-empty", "-m", "x"]);
    linked.write("one", "changed\n");
    let packed = linked.try_pack(&[], &[]).unwrap().unwrap();
    assert_eq!(linked.packed(&packed.commit), ["M one"]);
    assert_eq!(packed.left_out, ["empty/", "inner"]);
}

#[test]
fn ignored_files_that_an_agent_added_on_purpose_come_back() {
    let scratch = Scratch::new();
    scratch.repository.write(".gitignore", "*.o\n");
    scratch.repository.commit_all("ignore");
    let linked = Linked::new(&scratch, "1.1");
    linked.write("junk.o", "");
    linked.write("meant.o", "");
    linked.agent(&["add", "--force", "meant.o"]);
    assert_eq!(linked.packed(&linked.pack()), ["A meant.o"]);
}

#[test]
fn references_keep_the_work_until_they_are_dropped() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "demo/1.1#2");
    linked.write("one", "changed\n");
    let commit = linked.pack();
    linked.git.remove_tree(&linked.path).unwrap();
    scratch.repository.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(linked.git.kept(&linked.keep()).unwrap(), Some(commit));
    linked.git.drop_all_kept("other").unwrap();
    assert!(linked.git.kept(&linked.keep()).unwrap().is_some());
    linked.git.drop_all_kept("demo").unwrap();
    assert_eq!(linked.git.kept(&linked.keep()).unwrap(), None);
}

#[test]
fn trees_that_were_deleted_by_hand_are_forgotten_and_others_are_not() {
    let scratch = Scratch::new();
    let (git, base) = (scratch.git(), scratch.git().head().unwrap().unwrap());
    let own = scratch.repository.root().join(".tillgreen");
    let (gone, there) = (own.join("demo/trees/1.1"), own.join("demo/trees/1.2"));
    let others = scratch.repository.root().with_file_name("others");
    for tree in [&gone, &there, &others] {
        git.add_tree(tree, &base).unwrap();
    }
    fs::remove_dir_all(&gone).unwrap();
    fs::remove_dir_all(&others).unwrap();
    git.forget_gone_trees(&own).unwrap();
    let known = scratch.repository.git(&["worktree", "list", "--porcelain"]);
    let is_known = |tree: &std::path::Path| known.contains(&tree.display().to_string());
    assert_eq!([&gone, &there, &others].map(|tree| is_known(tree)), [false, true, true], "{known}");
}

#[test]
fn kept_work_that_nobody_knows_of_is_put_aside() {
    let scratch = Scratch::new();
    let (git, head) = (scratch.git(), scratch.git().head().unwrap().unwrap());
    let keeps = ["1.1", "1.2"].map(|key| Keep::new("demo", key));
    let other = Keep::new("demonstration", "1.1");
    keeps.iter().chain([&other]).for_each(|keep| git.keep(keep, &head).unwrap());
    let known = keeps.iter().take(1).cloned().collect();
    let aside = git.set_kept_aside("demo", &known).unwrap();
    assert_eq!(aside, [format!("refs/tillgreen-left/demo/1.2-{}", &head.as_str()[..12])]);
    assert_eq!(git.kept(&keeps[0]).unwrap(), Some(head.clone()));
    assert_eq!((git.kept(&keeps[1]).unwrap(), git.kept(&other).unwrap()), (None, Some(head)));
    assert!(scratch.repository.try_git(&["rev-parse", "--verify", &aside[0]]).status.success());
    assert_eq!(git.set_kept_aside("demo", &known).unwrap(), [""; 0]);
}
