use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::journal::{LockError, RunLock, holder};

/// A process that holds the lock as another program would, having written this name.
fn hold(path: &Path, name: &str) -> Child {
    let script =
        "exec 9>>\"$1\"; flock 9; printf '%s' \"$2\" >\"$1\"; echo locked; exec sleep 600 >/dev/null";
    let mut child = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(path)
        .arg(name)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    child
}

#[test]
fn a_lock_is_held_once_and_names_its_holder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    assert_eq!(holder(&path).unwrap(), None);
    let lock = RunLock::acquire(&path).unwrap();
    assert_eq!(lock.path(), path);
    let found = holder(&path).unwrap().unwrap();
    assert_eq!(found.pid, std::process::id());
    assert!(!found.command.is_empty());
    match RunLock::acquire(&path).unwrap_err() {
        LockError::Held { holder, .. } => assert_eq!(holder, found),
        error @ (LockError::HeldByUnknown { .. } | LockError::Io { .. }) => panic!("{error}"),
    }
    drop(lock);
    assert_eq!(holder(&path).unwrap(), None);
    drop(RunLock::acquire(&path).unwrap());
}

#[test]
fn the_lock_ends_with_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    let name = format!(
        "{{\"pid\":{},\"started\":\"2024-01-02T03:04:05Z\",\"command\":\"other\"}}",
        std::process::id()
    );
    let mut other = hold(&path, &name);
    let error = RunLock::acquire(&path).unwrap_err().to_string();
    assert!(error.contains("(`other`) since 2024-01-02T03:04:05Z"), "{error}");
    assert_eq!(holder(&path).unwrap().unwrap().command, "other");
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(holder(&path).unwrap(), None);
    RunLock::acquire(&path).unwrap();
}

#[test]
fn a_holder_without_a_name_is_still_a_holder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    let mut other = hold(&path, "{\"pid\":");
    assert!(matches!(RunLock::acquire(&path), Err(LockError::HeldByUnknown { .. })));
    assert!(matches!(holder(&path), Err(LockError::HeldByUnknown { .. })));
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_name_that_a_crash_left_behind_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    fs::write(&path, "{\"pid\":1,\"started\":\"2024-01-02T03:04:05Z\",\"command\":\"crashed\"}").unwrap();
    assert_eq!(holder(&path).unwrap(), None);
    let _lock = RunLock::acquire(&path).unwrap();
    assert_eq!(holder(&path).unwrap().unwrap().pid, std::process::id());
}

#[test]
fn asking_never_makes_an_acquire_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.lock");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| (0..300).for_each(|_| drop(holder(&path).unwrap())));
        while !asking.is_finished() {
            drop(RunLock::acquire(&path).unwrap());
        }
    });
}

#[test]
fn a_lock_that_cannot_be_made_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let error = RunLock::acquire(&folder.path().join("no/such/run.lock")).unwrap_err();
    assert!(error.to_string().starts_with("cannot open "), "{error}");
    assert_eq!(holder(&folder.path().join("no/such/run.lock")).unwrap(), None);
}
