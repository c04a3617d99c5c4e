//! People who commit while a commit of ours that a hook changed goes out of the history and comes in again.

use std::fs;

use super::batch::{Linked, TRAILER};
use super::scratch::Scratch;
use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::{Applied, Commit, Dropped, Landed, Oid};

const TIDY: &str = "echo made >made; echo tidy >one; git add made one";

/// Work that a hook made something else of, as it is committed.
fn committed(linked: &Linked<'_>) -> Oid {
    linked.write("one", "changed\n");
    linked.scratch.hook("pre-commit", TIDY);
    linked.apply(&linked.pack());
    match linked.commit() {
        Landed::Changed(commit) => commit,
        other @ (Landed::Done(_) | Landed::Nothing | Landed::Moved) => panic!("{other:?}"),
    }
}

/// A person commits what is staged.
fn commit_of_a_person(scratch: &Scratch) -> Vec<String> {
    scratch.repository.write("mine", "");
    scratch.repository.git(&["add", "mine"]);
    scratch.repository.git(&["commit", "-q", "--no-verify", "-m", "mine"]);
    scratch.last_commit()
}

#[test]
fn work_that_was_taken_back_is_in_nobodys_commit() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let made = committed(&linked);
    assert!(linked.git.take_back_landing(&made).unwrap().is_some());
    assert_eq!(commit_of_a_person(&scratch), ["A mine"]);
    linked.git.drop_landing().unwrap();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn work_in_the_project_that_was_taken_back_is_in_nobodys_commit() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let before = git.head().unwrap().unwrap();
    scratch.hook("pre-commit", TIDY);
    scratch.repository.write("one", "changed\n");
    let paths = ["one".to_owned()];
    let commit = git.commit(&Commit::new(&paths, "work")).unwrap().unwrap();
    note_index_at_each_step(&scratch);
    assert!(git.take_back(&before, &commit, &paths).unwrap().is_out);
    assert_eq!(differing(&scratch), "");
    assert_eq!(commit_of_a_person(&scratch), ["A mine"]);
}

/// Notes, whenever what is checked out has just become something else, what the index holds otherwise.
fn note_index_at_each_step(scratch: &Scratch) {
    let look = "test \"$1\" = committed && git diff-index --cached --name-only HEAD >> \
                \"$(git rev-parse --git-dir)/differing\"; exit 0";
    scratch.hook("reference-transaction", look);
}

fn differing(scratch: &Scratch) -> String {
    scratch.repository.read(".git/differing")
}

#[test]
fn the_index_goes_ahead_of_the_history_in_both_directions() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let made = committed(&linked);
    note_index_at_each_step(&scratch);
    linked.git.take_back_landing(&made).unwrap();
    assert_eq!(differing(&scratch), "", "going back");
    let Applied::Done { stamps, .. } = linked.apply(&made) else { panic!("it is what the hook made") };
    assert_eq!(linked.git.adopt_landing(&made, Some(&stamps)).unwrap(), Some(made));
    assert_eq!(differing(&scratch), "", "coming in again");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn what_a_hook_made_in_the_project_comes_in_again_with_the_index() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let before = git.head().unwrap().unwrap();
    scratch.hook("pre-commit", TIDY);
    scratch.repository.write("one", "changed\n");
    let paths = ["one".to_owned()];
    let commit = git.commit(&Commit::new(&paths, "work")).unwrap().unwrap();
    git.take_back(&before, &commit, &paths).unwrap();
    note_index_at_each_step(&scratch);
    assert!(git.take_in_again(&commit).unwrap());
    assert_eq!(differing(&scratch), "");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

/// Somebody is quicker than whoever looks at what the hook made. What git leaves in the index of a commit by name is what
/// was there before the hook, and who commits all that is staged commits that.
#[test]
fn a_commit_on_top_leaves_nothing_behind_of_what_the_hook_had_changed() {
    for (which, content) in [("-- mine", "tidy\n"), ("", "changed\n")] {
        let scratch = Scratch::new();
        let linked = Linked::new(&scratch, "1.1");
        linked.write("one", "changed\n");
        scratch.hook("pre-commit", TIDY);
        let on_top = "test -n \"$ON_TOP\" && exit; export ON_TOP=1; \
                      echo mine >mine; git add mine; git commit --quiet --no-verify -m mine";
        scratch.hook("post-commit", &format!("{on_top} {which}"));
        linked.apply(&linked.pack());
        assert_eq!(linked.commit(), Landed::Moved, "{which}");
        assert_eq!(scratch.repository.dirt(), Vec::<String>::new(), "{which}");
        assert_eq!(scratch.repository.read("one"), content, "{which}");
    }
}

/// The same where the git that committed outlived the program, which looks at it when it is started again.
#[test]
fn a_commit_on_top_of_what_a_git_made_that_outlived_the_program_leaves_nothing_behind() {
    for which in ["-- mine", ""] {
        let scratch = Scratch::new();
        let linked = Linked::new(&scratch, "1.1");
        linked.write("one", "changed\n");
        scratch.hook("pre-commit", TIDY);
        linked.apply(&linked.pack());
        let message = format!("work of 1.1\n\n{TRAILER}: 1.1");
        scratch.repository.git(&["commit", "-q", "-m", &message, "--", "one"]);
        scratch.repository.write("mine", "");
        scratch.repository.git(&["add", "mine"]);
        let mine = ["commit", "-q", "--no-verify", "-m", "mine"];
        scratch.repository.git(&[&mine[..], &which.split_whitespace().collect::<Vec<_>>()].concat());
        assert!(matches!(linked.git.drop_landing().unwrap(), Dropped::Committed(_)), "{which}");
        assert_eq!(scratch.repository.dirt(), Vec::<String>::new(), "{which}");
    }
}

#[test]
fn a_commit_goes_back_also_while_somebody_has_the_lock() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    let made = committed(&linked);
    let lock = scratch.repository.root().join(".git/index.lock");
    fs::write(&lock, "").unwrap();
    assert_eq!(linked.git.take_back_landing(&made).unwrap().as_ref(), Some(&linked.base));
    fs::remove_file(lock).unwrap();
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

/// All who commit write their message into one file, and may read another's.
#[test]
fn a_commit_of_a_persons_with_parts_of_our_message_stays() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    scratch.hook("post-commit", "true");
    let packed = linked.pack();
    linked.apply(&packed);
    scratch.repository.write("mine", "");
    scratch.repository.git(&["add", "mine"]);
    scratch.repository.git(&["commit", "-q", "-m", &format!("mine\n\n{TRAILER}: 1.1"), "--", "mine"]);
    assert_eq!(linked.commit(), Landed::Moved);
    assert!(matches!(linked.apply(&packed), Applied::Done { .. }));
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.subjects(), ["first", "mine", "work of 1.1"]);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}

#[test]
fn a_commit_of_ours_with_the_message_of_a_person_is_made_again() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    let once = "test -e .git/once && exit; touch .git/once; echo mine >.git/COMMIT_EDITMSG";
    // It runs after git has written the message and before it reads it again.
    let editor = format!("#!/bin/sh\n{once}\n");
    let hook = scratch.repository.root().join(".git/hooks/prepare-commit-msg");
    testkit::write_executable(&hook, &editor);
    scratch.hook("post-commit", "rm -f .git/hooks/prepare-commit-msg");
    let packed = linked.pack();
    linked.apply(&packed);
    assert_eq!(linked.commit(), Landed::Moved);
    assert!(matches!(linked.apply(&packed), Applied::Done { .. }));
    assert!(matches!(linked.commit(), Landed::Done(_)));
    assert_eq!(scratch.repository.subjects(), ["first", "work of 1.1"]);
}

#[test]
fn an_empty_message_is_somebody_elses_doing_and_git_is_asked_again() {
    let scratch = Scratch::new();
    let once = "test -e .git/once && exit; touch .git/once; : >\"$1\"";
    scratch.hook("commit-msg", once);
    scratch.repository.write("one", "changed\n");
    assert!(scratch.commit(&["one"], "work").unwrap().is_some());
    assert_eq!(scratch.repository.subjects(), ["first", "work"]);
}

#[test]
fn what_a_program_put_into_the_index_before_it_died_is_in_nobodys_commit() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let index = scratch.repository.root().join(".git/index");
    let before = fs::read(&index).unwrap();
    scratch.repository.write("one", "work\n");
    let next = ScratchIndex::next(&git).unwrap();
    next.run(&["add", "one"], Vec::new()).unwrap().success().unwrap();
    let mut lock = IndexLock::take(&git).unwrap();
    lock.put(next.file()).unwrap();
    std::mem::forget(lock);
    assert_ne!(fs::read(&index).unwrap(), before);
    let lock = index.with_extension("lock");
    git.settle_index(&lock).unwrap();
    assert_eq!(fs::read(&index).unwrap(), before);
}

#[test]
fn what_a_program_put_into_the_index_stays_where_the_history_followed() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let index = scratch.repository.root().join(".git/index");
    scratch.repository.write("one", "work\n");
    let next = ScratchIndex::next(&git).unwrap();
    next.run(&["add", "one"], Vec::new()).unwrap().success().unwrap();
    let tree = next.write_tree().unwrap();
    let mut lock = IndexLock::take(&git).unwrap();
    lock.put(next.file()).unwrap();
    std::mem::forget(lock);
    let commit = scratch.repository.git(&["commit-tree", "-p", "HEAD", "-m", "work", tree.as_str()]);
    scratch.repository.git(&["update-ref", "HEAD", commit.trim()]);
    let lock = index.with_extension("lock");
    git.settle_index(&lock).unwrap();
    fs::remove_file(lock).unwrap();
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
}
