use std::fs;
use std::os::unix::fs::symlink;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::{Applied, Dropped, Landed, Left, Sight};

/// Work that changes, adds and removes a file, applied.
fn applied(scratch: &Scratch) -> Linked<'_> {
    let linked = Linked::new(scratch, "1.1");
    linked.write("one", "changed\n");
    linked.write("new/file", "new\n");
    fs::remove_file(linked.path.join("two")).unwrap();
    assert!(matches!(linked.apply(&linked.pack()), Applied::Done { .. }));
    linked
}

#[track_caller]
fn left(dropped: Dropped) -> Left {
    match dropped {
        Dropped::Kept(left) => left,
        other @ (Dropped::Nothing | Dropped::PutBack | Dropped::Committed(_)) => panic!("{other:?}"),
    }
}

#[test]
fn what_somebody_made_of_the_files_is_kept_when_they_are_put_back() {
    let scratch = Scratch::new();
    let (repository, linked) = (&scratch.repository, applied(&scratch));
    repository.write("one", "precious\n");
    repository.write("new/file", "more\n");
    repository.write("two", "again\n");
    let left = left(linked.git.drop_landing().unwrap());
    assert_eq!(left.paths, ["new/file", "one", "two"]);
    assert_eq!(left.folder, scratch.notes().join("left/files"));
    for (path, text) in [("one", "precious\n"), ("new/file", "more\n"), ("two", "again\n")] {
        assert_eq!(fs::read_to_string(left.folder.join(path)).unwrap(), text);
    }
    assert_eq!(repository.dirt(), Vec::<String>::new());
    assert!(!repository.has("new"));
    let again = applied(&scratch);
    repository.write("one", "again\n");
    let dropped = again.git.drop_landing().unwrap();
    assert!(matches!(&dropped, Dropped::Kept(left) if left.folder.ends_with("left/files-2")), "{dropped:?}");
}

#[test]
fn what_is_in_place_of_the_files_is_kept_as_well() {
    let scratch = Scratch::new();
    let repository = &scratch.repository;
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "changed\n");
    linked.write("deep/three", "changed\n");
    fs::remove_file(linked.path.join("two")).unwrap();
    linked.write("two/below", "new\n");
    linked.apply(&linked.pack());
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("three"), "not ours\n").unwrap();
    fs::remove_file(repository.root().join("one")).unwrap();
    repository.write("one/inside", "mine\n");
    repository.write("two/mine", "mine too\n");
    repository.write("two/below", "mine as well\n");
    fs::remove_dir_all(repository.root().join("deep")).unwrap();
    symlink(outside.path(), repository.root().join("deep")).unwrap();
    let left = left(linked.git.drop_landing().unwrap());
    assert_eq!(repository.dirt(), Vec::<String>::new());
    assert_eq!(left.paths, ["two/below", "deep", "one", "two"]);
    assert_eq!(fs::read_to_string(left.folder.join("two/below")).unwrap(), "mine as well\n");
    assert_eq!(fs::read_to_string(left.folder.join("one/inside")).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(left.folder.join("two-2/mine")).unwrap(), "mine too\n");
    assert_eq!(fs::read_to_string(outside.path().join("three")).unwrap(), "not ours\n");
}

#[test]
fn nothing_is_kept_of_what_is_known_or_gone() {
    let scratch = Scratch::new();
    let (repository, linked) = (&scratch.repository, applied(&scratch));
    repository.write("one", repository.read("one"));
    repository.git(&["checkout", "-q", "--", "two"]);
    fs::remove_dir_all(repository.root().join("new")).unwrap();
    assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!(repository.dirt(), Vec::<String>::new());
    assert!(!scratch.notes().join("left").exists());
}

#[test]
fn whoever_prunes_meanwhile_takes_nothing_away_and_nothing_is_held_on_to_afterwards() {
    let check = |end: &dyn Fn(&Linked<'_>)| {
        let scratch = Scratch::new();
        let linked = Linked::new(&scratch, "1.1");
        linked.write("one", "changed\n");
        let commit = linked.pack();
        // So that the joined tree is no commit's.
        scratch.repository.write("two", "meanwhile\n");
        scratch.commit(&["two"], "another").unwrap().unwrap();
        linked.apply(&commit);
        // An index that is not the project's own holds nothing.
        scratch.repository.git(&["gc", "--quiet", "--prune=now"]);
        end(&linked);
        // No other landing follows.
        assert_eq!(linked.git.drop_landing().unwrap(), Dropped::Nothing);
        let refs = scratch.repository.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen"]);
        assert_eq!(refs.trim(), linked.keep().reference());
        assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    };
    check(&|linked| assert!(matches!(linked.commit(), Landed::Done(_))));
    check(&|linked| assert_eq!(linked.git.drop_landing().unwrap(), Dropped::PutBack));
}

#[test]
fn a_reference_that_a_killed_program_left_goes_with_the_next_landing() {
    let scratch = Scratch::new();
    let linked = applied(&scratch);
    fs::remove_file(scratch.repository.root().join(".git/tillgreen-landing.json")).unwrap();
    scratch.repository.git(&["reset", "-q", "--hard"]);
    scratch.repository.git(&["clean", "-q", "-f", "-d"]);
    scratch.repository.write("one", "in the way\n");
    assert!(matches!(linked.apply(&linked.pack()), Applied::Refused { .. }));
    let refs = scratch.repository.git(&["for-each-ref", "--format=%(refname)", "refs/tillgreen"]);
    assert_eq!(refs.trim(), linked.keep().reference());
}

#[test]
fn a_look_shows_what_became_of_the_files() {
    let check = |person: &dyn Fn(&Scratch), is_taken_out: bool, is_committed: bool| {
        let scratch = Scratch::new();
        let linked = applied(&scratch);
        person(&scratch);
        let committed = is_committed.then(|| scratch.git().head().unwrap().unwrap());
        assert_eq!(linked.git.look_at_landing(None).unwrap(), Sight { committed, is_taken_out });
    };
    check(&|_| {}, false, false);
    check(&|scratch| scratch.repository.write("one", "formatted\n"), false, false);
    check(&|scratch| drop(scratch.repository.git(&["stash", "-q"])), true, false);
    check(&|scratch| drop(scratch.repository.git(&["checkout", "-q", "--", "two"])), true, false);
    check(&|scratch| fs::remove_dir_all(scratch.repository.root().join("new")).unwrap(), true, false);
    check(&|scratch| drop(scratch.repository.git(&["commit", "-q", "-a", "-m", "all"])), false, true);
    let other = |scratch: &Scratch| {
        scratch.repository.write("deep/three", "mine\n");
        scratch.commit(&["deep/three"], "mine").unwrap().unwrap();
    };
    check(&other, false, false);
}
