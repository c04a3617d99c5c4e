use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use testkit::write_executable;

use super::batch::Linked;
use super::scratch::{Scratch, owned};
use crate::git::{Applied, Commit, Git, Staging};

/// A git that somebody removes the index under just as it begins to do this, once.
fn meddled(scratch: &Scratch, deed: &str) -> (Git, PathBuf) {
    let folder = scratch.notes();
    let once = folder.join("once");
    let (program, real) = (folder.join("bin/git"), std::env::var("PATH").unwrap());
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in *' {deed} '*) mkdir '{}' 2>/dev/null && rm -f '{}';; esac\n\
         PATH='{real}' exec git \"$@\"\n",
        once.display(),
        scratch.repository.root().join(".git/index").display()
    );
    fs::create_dir(folder.join("bin")).unwrap();
    write_executable(&program, &script);
    let mut environment = scratch.environment();
    environment.retain(|(name, _)| name != "PATH");
    environment.push(("PATH".into(), format!("{}:{real}", folder.join("bin").display()).into()));
    (Git::discover_with(scratch.repository.root(), environment).unwrap().unwrap(), once)
}

/// The index is what is checked out, but for these lines.
#[track_caller]
fn expect(scratch: &Scratch, dirt: &[&str]) {
    assert_eq!(scratch.repository.dirt(), dirt);
    let deleted = scratch.repository.git(&["log", "--diff-filter=D", "--name-only", "--format="]);
    assert_eq!(deleted, "", "no commit deletes anything");
}

#[test]
fn an_index_that_is_missing_before_a_commit_is_made_anew_and_told_once() {
    for (hook, staging) in [
        (None, Staging::Add),
        (Some("pre-commit"), Staging::Add),
        (None, Staging::Whole),
        (Some("post-index-change"), Staging::Whole),
    ] {
        let scratch = Scratch::new();
        if let Some(hook) = hook {
            scratch.hook(hook, "exit 0");
        }
        scratch.repository.write("one", "changed\n");
        scratch.repository.write("new", "new\n");
        fs::remove_file(scratch.repository.root().join(".git/index")).unwrap();
        let (git, paths) = (scratch.git(), owned(&["one", "new"]));
        git.commit(&Commit { staging, ..Commit::new(&paths, "work") }).unwrap().unwrap();
        assert_eq!(scratch.last_commit(), ["A new", "M one"]);
        expect(&scratch, &[]);
        assert!(git.has_made_index_anew());
        assert!(!git.has_made_index_anew(), "it is told once");
    }
}

#[test]
fn an_index_that_is_removed_as_git_commits_is_put_back() {
    for (deed, staging) in [("add", Staging::Add), ("commit", Staging::Add), ("commit", Staging::Skip)] {
        let scratch = Scratch::new();
        scratch.hook("pre-commit", "exit 0");
        scratch.repository.write("two", "staged\n");
        scratch.repository.git(&["add", "two"]);
        scratch.repository.write("one", "changed\n");
        if staging == Staging::Add {
            scratch.repository.write("new", "new\n");
        }
        let (git, once) = meddled(&scratch, deed);
        let paths = owned(if staging == Staging::Add { &["one", "new"][..] } else { &["one"] });
        git.commit(&Commit { staging, ..Commit::new(&paths, "work") }).unwrap().unwrap();
        assert!(once.exists(), "it was removed");
        expect(&scratch, &["M  two"]);
    }
}

#[test]
fn an_index_that_is_removed_as_a_hook_refuses_is_put_back() {
    let scratch = Scratch::new();
    scratch.hook("pre-commit", "exit 1");
    scratch.repository.write("new", "new\n");
    let (git, once) = meddled(&scratch, "commit");
    git.commit(&Commit::new(&owned(&["new"]), "work")).unwrap_err();
    assert!(once.exists(), "it was removed");
    expect(&scratch, &["?? new"]);
}

#[test]
fn an_index_that_is_removed_as_git_changes_it_is_put_back_and_changed() {
    for deed in ["reset", "checkout-index"] {
        let scratch = Scratch::new();
        scratch.repository.write("one", "changed\n");
        scratch.repository.git(&["add", "one"]);
        let (git, once) = meddled(&scratch, deed);
        git.restore("HEAD", &owned(&["one"])).unwrap();
        assert!(once.exists(), "it was removed");
        expect(&scratch, &[]);
    }
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.repository.git(&["add", "one"]);
    let (git, once) = meddled(&scratch, "reset");
    git.unstage(&BTreeSet::from([OsString::from("one")])).unwrap();
    assert!(once.exists(), "it was removed");
    expect(&scratch, &[" M one"]);
}

/// It is listed as deleted and as new.
#[test]
fn a_file_that_was_only_taken_out_of_the_index_is_named_once() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    let work = linked.pack();
    scratch.repository.git(&["rm", "--quiet", "--cached", "one"]);
    assert_eq!(linked.apply(&work), Applied::Refused { paths: owned(&["one"]) });
}

/// In an index whose rest is in another file, few entries are nothing unusual.
#[test]
fn a_split_index_is_left_to_git() {
    let scratch = Scratch::new();
    scratch.hook("pre-commit", "exit 0");
    scratch.repository.git(&["config", "core.splitIndex", "true"]);
    scratch.repository.git(&["update-index", "--split-index"]);
    scratch.repository.write("one", "changed\n");
    scratch.repository.write("new", "new\n");
    scratch.commit(&["one", "new"], "work").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["A new", "M one"]);
    expect(&scratch, &[]);
}

/// The same where whole folders are one entry.
#[test]
fn an_index_of_folders_is_left_to_git() {
    let scratch = Scratch::new();
    scratch.hook("pre-commit", "exit 0");
    scratch.repository.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "deep"]);
    scratch.repository.write("one", "changed\n");
    scratch.commit(&["one"], "work").unwrap().unwrap();
    assert_eq!(scratch.last_commit(), ["M one"]);
    expect(&scratch, &[]);
}

#[test]
fn how_things_stand_is_told_of_an_index_that_is_there() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    fs::remove_file(scratch.repository.root().join(".git/index")).unwrap();
    let status = scratch.git().status().unwrap();
    let paths: Vec<&str> = status.changes.iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["one"]);
}
