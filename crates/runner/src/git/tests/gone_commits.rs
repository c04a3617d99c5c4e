use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::batch::Linked;
use super::scratch::{Scratch, owned};
use crate::git::{Commit, Git, Landed};

/// Removes the objects of the last commit, as far as they are files of their own.
const AWAY: &str = "objects=$(git rev-parse --git-path objects)\n\
     for name in $(git rev-list --objects HEAD --not HEAD^ | cut -d ' ' -f 1); do\n\
     rm -f \"$objects/$(echo $name | cut -c 1-2)/$(echo $name | cut -c 3-)\"; done";

/// Commits a new file and a changed one, through git.
fn commit(git: &Git, scratch: &Scratch) {
    scratch.repository.write("one", "changed\n");
    scratch.repository.write("deep/new", "new\n");
    git.commit(&Commit::new(&owned(&["one", "deep/new"]), "work")).unwrap().unwrap();
}

#[track_caller]
fn expect(scratch: &Scratch) {
    assert_eq!(scratch.repository.git(&["log", "--format=%s"]), "work\nfirst\n");
    assert_eq!(scratch.last_commit(), ["A deep/new", "M one"]);
    assert_eq!(scratch.repository.dirt(), [""; 0]);
    scratch.repository.git(&["fsck", "--full", "--no-dangling", "--no-reflogs"]);
}

#[test]
fn what_git_committed_is_known_and_written_again() {
    let scratch = Scratch::new();
    scratch.hook("pre-commit", "exit 0");
    let git = scratch.git();
    commit(&git, &scratch);
    let root = scratch.repository.root();
    assert!(Command::new("sh").args(["-c", AWAY]).current_dir(root).status().unwrap().success());
    assert!(!scratch.repository.try_git(&["cat-file", "-e", "HEAD"]).status.success());
    git.hold_on_to_all();
    expect(&scratch);
}

/// Whatever of it is gone before anybody could read it.
#[test]
fn a_commit_that_is_gone_as_it_is_made_is_made_again() {
    let scratch = Scratch::new();
    let once = scratch.notes().join("once");
    scratch.hook("post-commit", &format!("mkdir '{}' 2>/dev/null || exit 0\n{AWAY}", once.display()));
    let git = scratch.git();
    commit(&git, &scratch);
    assert!(once.exists(), "it was gone");
    expect(&scratch);
}

/// The same of work that comes in, by the names of its files and through an index of its own.
#[test]
fn work_whose_commit_is_gone_as_it_is_made_is_committed_again() {
    for mode in [0o644, 0o755] {
        let scratch = Scratch::new();
        let once = scratch.notes().join("once");
        scratch.hook("post-commit", &format!("mkdir '{}' 2>/dev/null || exit 0\n{AWAY}", once.display()));
        scratch.repository.git(&["config", "core.fileMode", "false"]);
        let linked = Linked::new(&scratch, "1.1");
        linked.write("one", "changed\n");
        if mode == 0o755 {
            scratch.repository.git(&[
                "-C",
                &linked.path.display().to_string(),
                "update-index",
                "--chmod=+x",
                "one",
            ]);
        }
        linked.apply(&linked.pack());
        assert!(matches!(linked.commit(), Landed::Done(_)));
        assert!(once.exists(), "it was gone");
        assert_eq!(scratch.last_commit(), ["M one"]);
        assert_eq!(scratch.repository.dirt(), [""; 0]);
        scratch.repository.git(&["fsck", "--full", "--no-dangling", "--no-reflogs"]);
    }
}

/// What a person committed is not ours to take back.
#[test]
fn somebody_elses_commit_that_is_gone_stays_what_is_checked_out() {
    let scratch = Scratch::new();
    let once = scratch.notes().join("once");
    let theirs = format!(
        "mkdir '{}' 2>/dev/null || exit 0\ngit commit -q --no-verify --allow-empty -m theirs\n{AWAY}",
        once.display()
    );
    scratch.hook("post-commit", &theirs);
    scratch.repository.write("one", "changed\n");
    // What comes of it depends on how much of theirs can be read.
    let _ = scratch.git().commit(&Commit::new(&owned(&["one"]), "work"));
    let record = fs::read_to_string(scratch.repository.root().join(".git/logs/HEAD")).unwrap();
    assert!(!record.contains("taken back"), "{record}");
}

#[test]
fn work_whose_reference_leads_nowhere_does_not_keep_the_rest_from_being_set_aside() {
    let scratch = Scratch::new();
    let (one, two) = (Linked::new(&scratch, "1.1"), Linked::new(&scratch, "1.2"));
    one.write("one", "changed\n");
    two.write("two", "changed\n");
    let gone = one.pack();
    two.pack();
    let (folder, file) = gone.as_str().split_at(2);
    fs::remove_file(scratch.repository.root().join(".git/objects").join(folder).join(file)).unwrap();
    let aside = scratch.git().set_kept_aside("demo", &BTreeSet::new()).unwrap();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert!(aside[0].contains("1.2"), "{aside:?}");
}
