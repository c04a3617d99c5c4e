use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use testkit::write_executable;

use crate::git::call::locks::{ChildNote, NotePlace, Notes};
use crate::git::call::process::OF_RUN;
use crate::git::tests::scratch::Scratch;
use crate::git::{GitError, Keep};

fn lock(scratch: &Scratch) -> std::path::PathBuf {
    scratch.repository.root().join(".git/index.lock")
}

fn note(scratch: &Scratch, pid: u32) {
    let notes = Notes::new(&scratch.notes());
    let place = NotePlace { notes: &notes, git_dir: &scratch.repository.root().join(".git") };
    ChildNote::write(place, pid).unwrap();
}

/// Notes a process that then dies.
fn note_dead_process(scratch: &Scratch) {
    let mut child = Command::new("sleep").arg("600").spawn().unwrap();
    note(scratch, child.id());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_lock_of_another_is_an_error_with_a_hint() {
    let scratch = Scratch::new();
    scratch.git().clear_stale_lock().unwrap();
    fs::write(lock(&scratch), "").unwrap();
    let error = scratch.git().clear_stale_lock().unwrap_err();
    assert!(matches!(&error, GitError::Locked { file } if *file == lock(&scratch)), "{error}");
    assert!(error.hint().unwrap().contains("index.lock"));
    assert!(lock(&scratch).exists());
}

#[test]
fn the_lock_of_our_git_that_died_is_removed() {
    let scratch = Scratch::new();
    note_dead_process(&scratch);
    fs::write(lock(&scratch), "").unwrap();
    scratch.git().clear_stale_lock().unwrap();
    assert!(!lock(&scratch).exists());
    // The note is used up: a lock from now on is not ours.
    fs::write(lock(&scratch), "").unwrap();
    assert!(scratch.git().clear_stale_lock().is_err());
}

/// Git is killed while it has the lock of all packed references.
#[test]
fn the_lock_of_our_git_that_died_deleting_a_reference_is_removed() {
    let scratch = Scratch::new();
    let (git, keep) = (scratch.git(), Keep::new("demo", "1.1"));
    git.keep(&keep, &git.head().unwrap().unwrap()).unwrap();
    scratch.repository.git(&["pack-refs", "--all"]);
    let hook = scratch.repository.root().join(".git/hooks/reference-transaction");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let packed = scratch.repository.root().join(".git/packed-refs.lock");
    let seen = scratch.repository.root().join(".git/seen");
    let look = format!("test -e '{}' && : > '{}'", packed.display(), seen.display());
    write_executable(&hook, &format!("#!/bin/sh\ntest $1 = prepared || exit 0\n{look}\nkill -9 $PPID\n"));
    assert!(git.drop_kept(&keep).is_err());
    fs::remove_file(&hook).unwrap();
    assert!(seen.exists(), "it had the lock");
    git.clear_stale_lock().unwrap();
    assert!(!packed.exists());
    git.drop_kept(&keep).unwrap();
    let kept = scratch.repository.git(&["for-each-ref", "refs/tillgreen"]);
    assert_eq!(kept, "");
}

#[test]
fn what_this_program_does_at_the_same_time_is_no_leftover() {
    let scratch = Scratch::new();
    note(&scratch, std::process::id());
    fs::write(lock(&scratch), "").unwrap();
    assert!(matches!(scratch.git().clear_stale_lock(), Err(GitError::Locked { .. })));
    assert!(lock(&scratch).exists());
}

#[test]
fn an_index_that_our_git_left_behind_its_commit_catches_up() {
    let scratch = Scratch::new();
    let index = scratch.repository.root().join(".git/index");
    scratch.repository.write("staged.txt", "by a person\n");
    scratch.repository.git(&["add", "staged.txt"]);
    scratch.repository.write("old.txt", "one\n");
    scratch.commit(&["old.txt"], "one").unwrap();
    let before = fs::read(&index).unwrap();
    scratch.repository.write("old.txt", "two\n");
    scratch.repository.write("new.txt", "new\n");
    scratch.commit(&["old.txt", "new.txt"], "two").unwrap();
    fs::write(&index, before).unwrap();
    note_dead_process(&scratch);
    fs::write(lock(&scratch), "").unwrap();
    scratch.git().clear_stale_lock().unwrap();
    assert_eq!(scratch.repository.dirt(), ["A  staged.txt"]);
}

#[test]
fn a_lock_older_than_our_git_is_not_ours() {
    let scratch = Scratch::new();
    fs::write(lock(&scratch), "").unwrap();
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(lock(&scratch)).unwrap().set_modified(long_ago).unwrap();
    note_dead_process(&scratch);
    assert!(matches!(scratch.git().clear_stale_lock(), Err(GitError::Locked { .. })));
    assert!(lock(&scratch).exists());
}

#[test]
fn our_git_that_outlived_us_is_waited_for() {
    let scratch = Scratch::new();
    let script = "sleep 0.3; rm -f \"$1\"";
    fs::write(lock(&scratch), "").unwrap();
    let mut git = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(lock(&scratch))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    note(&scratch, git.id());
    let waiting = thread::spawn(move || git.wait());
    scratch.git().clear_stale_lock().unwrap();
    assert!(!lock(&scratch).exists());
    waiting.join().unwrap().unwrap();
}

#[test]
fn a_commit_waits_a_moment_for_anothers_lock() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    fs::write(lock(&scratch), "").unwrap();
    let file = lock(&scratch);
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(150));
        fs::remove_file(file)
    });
    scratch.commit(&["one"], "work").unwrap().unwrap();
    other.join().unwrap().unwrap();
}

#[test]
fn a_commit_gives_up_on_a_lock_that_stays() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    fs::write(lock(&scratch), "").unwrap();
    let error = scratch.commit(&["one"], "work").unwrap_err();
    assert!(matches!(&error, GitError::Locked { file } if *file == lock(&scratch)), "{error}");
}

#[test]
fn the_lock_of_a_git_that_was_killed_is_removed_at_once() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.hook("pre-commit", "kill -KILL $PPID");
    let error = scratch.commit(&["one"], "work").unwrap_err();
    assert!(matches!(error, GitError::Failed { code: None, .. }), "{error}");
    assert!(error.to_string().ends_with("killed by signal 9"), "{error}");
    assert!(!lock(&scratch).exists());
}

#[test]
fn the_note_of_another_working_tree_counts_for_nothing() {
    let scratch = Scratch::new();
    scratch.repository.git(&["worktree", "add", "-q", "../linked"]);
    note_dead_process(&scratch);
    let linked = scratch.discover(&scratch.repository.root().with_file_name("linked")).unwrap().unwrap();
    fs::write(linked.git_dir().join("index.lock"), "").unwrap();
    let linked = linked.with_notes(&scratch.notes());
    assert!(matches!(linked.clear_stale_lock(), Err(GitError::Locked { .. })));
    scratch.git().clear_stale_lock().unwrap();
}

#[test]
fn a_commit_notes_its_process_while_it_runs() {
    let scratch = Scratch::new();
    scratch.repository.write("one", "changed\n");
    scratch.hook(
        "pre-commit",
        &format!("cat '{}'/git-child-* >noted; echo; echo $PPID >pid", scratch.notes().display()),
    );
    scratch.commit(&["one"], "work").unwrap().unwrap();
    let (noted, pid) = (scratch.repository.read("noted"), scratch.repository.read("pid"));
    assert!(noted.starts_with(&format!("{{\"pid\":{},", pid.trim_end())), "{noted}");
    assert_eq!(fs::read_dir(scratch.notes()).unwrap().count(), 0);
}

#[test]
fn a_note_is_used_again_and_counts_only_while_its_process_runs() {
    let scratch = Scratch::new();
    let notes = Notes::new(&scratch.notes());
    let git_dir = scratch.repository.root().join(".git");
    let place = NotePlace { notes: &notes, git_dir: &git_dir };
    let count = || fs::read_dir(scratch.notes()).unwrap().count();
    for _ in 0..3 {
        let note = ChildNote::write(place, std::process::id()).unwrap();
        assert_eq!((ChildNote::read_all(place).len(), count()), (1, 1));
        note.end(place);
        assert_eq!((ChildNote::read_all(place).len(), count()), (0, 1));
    }
    drop(notes);
    assert_eq!(count(), 0);
}

#[test]
fn what_a_program_that_died_left_about_nobody_goes() {
    let scratch = Scratch::new();
    let left = scratch.notes().join("git-child-1-2-3.json");
    fs::write(&left, "-\"pid\":1}").unwrap();
    scratch.git().clear_stale_lock().unwrap();
    assert!(!left.exists());
}

#[test]
fn locks_of_references_are_removed_where_they_are_ours() {
    let scratch = Scratch::new();
    let root = scratch.repository.root().join(".git");
    let (packed, own) = (root.join("packed-refs.lock"), root.join("refs/tillgreen/demo/1.1.lock"));
    let make = || {
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        fs::write(&packed, "").unwrap();
        fs::write(&own, "").unwrap();
    };
    make();
    scratch.git().clear_stale_lock().unwrap();
    assert!(packed.exists() && !own.exists(), "the first may be anybody's");
    fs::remove_file(&packed).unwrap();
    note_dead_process(&scratch);
    make();
    scratch.git().clear_stale_lock().unwrap();
    assert!(!packed.exists() && !own.exists());
}

#[test]
fn our_git_that_was_not_noted_yet_is_waited_for() {
    let scratch = Scratch::new();
    let bin = tempfile::tempdir().unwrap();
    let git = bin.path().join("git");
    write_executable(&git, "#!/bin/sh\n: > \"$2\"; sleep 0.3; rm -f \"$1\"\n");
    fs::write(lock(&scratch), "").unwrap();
    // Its parent is gone when anybody looks.
    let mut parent = Command::new("sh");
    let script = "\"$1\" \"$2\" \"$3\" & while ! test -e \"$3\"; do sleep 0.01; done";
    parent.args(["-c", script, "sh"]).arg(&git).arg(lock(&scratch)).arg(bin.path().join("began"));
    parent.env(OF_RUN, scratch.notes()).stdin(Stdio::null());
    assert!(parent.status().unwrap().success());
    scratch.git().clear_stale_lock().unwrap();
    assert!(!lock(&scratch).exists());
}

/// A repository whose references are in tables. None where git knows no such thing.
fn with_reftable() -> Option<(Scratch, std::path::PathBuf)> {
    let scratch = Scratch::new();
    // Not every version takes them over.
    fs::remove_dir_all(scratch.repository.root().join(".git/logs")).unwrap();
    if !scratch.repository.try_git(&["refs", "migrate", "--ref-format=reftable"]).status.success() {
        eprintln!("skipped: this git does not keep references in tables");
        return None;
    }
    let lock = scratch.repository.root().join(".git/reftable/tables.list.lock");
    Some((scratch, lock))
}

#[test]
fn the_lock_of_all_references_is_removed_where_it_is_ours() {
    let Some((scratch, lock)) = with_reftable() else { return };
    note_dead_process(&scratch);
    fs::write(&lock, "").unwrap();
    scratch.git().clear_stale_lock().unwrap();
    assert!(!lock.exists());
    fs::write(&lock, "").unwrap();
    let error = scratch.git().clear_stale_lock().unwrap_err();
    assert!(error.hint().unwrap().contains("tables.list.lock"), "{error}");
    assert!(lock.exists());
}

#[test]
fn the_lock_of_all_references_is_told_by_its_name() {
    let Some((scratch, lock)) = with_reftable() else { return };
    scratch.repository.write("one", "changed\n");
    fs::write(&lock, "").unwrap();
    let error = scratch.commit(&["one"], "one").unwrap_err();
    assert!(matches!(&error, GitError::Locked { file } if *file == lock), "{error}");
    let head = scratch.git().head().unwrap().unwrap();
    let error = scratch.git().keep(&Keep::new("demo", "1.1"), &head).unwrap_err();
    assert!(matches!(&error, GitError::Locked { file } if *file == lock), "{error}");
    fs::remove_file(&lock).unwrap();
    assert!(scratch.commit(&["one"], "one").unwrap().is_some());
}
