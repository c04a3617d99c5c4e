//! Lock files that a git left behind. One of ours that died is cleaned up after; anybody else's is reported.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::child_note::{ChildNote, Noted};
use super::process::COMMIT_DEADLINE;
use super::process::{self, Ended, OF_RUN, pathspecs};
use crate::git::error::GitError;
use crate::git::repository::Git;

/// How often and how long to wait for another git to let go of the index. An editor's git takes milliseconds.
pub(in crate::git) const LOCK_WAITS: [Duration; 5] = [
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(400),
    Duration::from_millis(800),
];

/// Commands that go on in the background.
const HOUSEKEEPING: [&[u8]; 4] = [b"maintenance", b"gc", b"repack", b"pack-objects"];

/// The lock of all references, where they are kept as tables.
const REFTABLE_LOCK: &str = "reftable/tables.list.lock";

/// What is written while packed references change, and their lock.
const PACKED_REFERENCES: [&str; 2] = ["packed-refs.new", "packed-refs.lock"];

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// How long gits of others are waited for: one that tidies up after a commit works on for a moment in the background.
const OTHERS_PATIENCE: Duration = Duration::from_secs(5);

impl Git {
    /// Removes locks that a git of ours left when it died, as known from the notes. A git of
    /// ours that still runs, having outlived the program, is waited for and in the end killed. Any other lock is an
    /// error if it stays.
    pub fn clear_stale_lock(&self) -> Result<(), GitError> {
        let mut noted = self.note_place().map(ChildNote::read_all).unwrap_or_default();
        // What this program does at the same time, in other threads, it sees to the end itself.
        noted.retain(|(note, process)| !(note.is_own() && process.is_alive()));
        noted.iter().for_each(|(_, process)| outwait(process, COMMIT_DEADLINE));
        self.outwait_orphans(COMMIT_DEADLINE);
        let mut removed = Vec::new();
        for lock in self.locks(&noted).into_iter().filter(|lock| lock.exists()) {
            let ours = noted.iter().any(|(note, _)| is_younger(&lock, note));
            if !ours && outwait_lock(&lock) {
                continue;
            }
            if !ours || !self.is_left_alone() {
                return Err(GitError::Locked { file: lock });
            }
            remove(&lock)?;
            removed.push(lock);
        }
        self.clear_reference_locks(&noted)?;
        if removed.contains(&self.git_dir().join("index.lock")) {
            self.catch_up_index()?;
        }
        noted.into_iter().for_each(|(note, _)| note.remove());
        Ok(())
    }

    /// The lock that a git could not take, if it ended because of one.
    pub(in crate::git) fn lock_met(&self, ended: &Ended) -> Option<PathBuf> {
        // With references in tables git does not name the file.
        let is_reftable = !ended.is_success() && ended.stderr.contains("cannot lock references");
        let store = || is_reftable.then(|| self.common_dir().join(REFTABLE_LOCK));
        locked_file(ended).map(PathBuf::from).or_else(store)
    }

    /// Git moves the branch first and the index after it. One that died in between leaves an index in which the
    /// paths of the new commit are staged to be undone: the next commit of a person's would do so.
    fn catch_up_index(&self) -> Result<(), GitError> {
        if self.head()?.is_none() {
            return Ok(());
        }
        let last = [
            "diff-tree",
            "--root",
            "--no-commit-id",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "HEAD",
            "--",
        ];
        let committed = process::run(self.call(&last))?.success()?;
        let committed: BTreeSet<&[u8]> = committed.split(|byte| *byte == 0).collect();
        let status = self.status()?;
        let behind = status.changes.iter().filter(|change| change.staged).map(|change| change.path.as_str());
        let behind: BTreeSet<&str> = behind.filter(|path| committed.contains(path.as_bytes())).collect();
        if behind.is_empty() {
            return Ok(());
        }
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD"];
        process::run(self.locking_call(&reset, pathspecs(&behind)))?.success().map(drop)
    }

    /// Locks of references. Others' are in nobody's way before something is deleted, and are told of then.
    fn clear_reference_locks(&self, noted: &[(ChildNote, Noted)]) -> Result<(), GitError> {
        let is_ours = |file: &PathBuf| noted.iter().any(|(note, _)| is_younger(file, note));
        // Nobody else but runs of ours has to do with these.
        let mut locks = locks_below(&self.common_dir().join("refs/tillgreen"));
        // What whoever has the lock was writing goes before it: git fails over that as well.
        let packed = PACKED_REFERENCES.map(|name| self.common_dir().join(name));
        if packed.last().is_some_and(is_ours) {
            locks.extend(packed.into_iter().filter(is_ours));
        }
        if locks.is_empty() || !self.is_left_alone() {
            return Ok(());
        }
        // A run of another plan has references of its own, and a git that works nowhere to set them.
        outwait_locks(&mut locks);
        locks.iter().try_for_each(remove)
    }

    /// The locks that committing takes.
    fn locks(&self, noted: &[(ChildNote, Noted)]) -> Vec<PathBuf> {
        let names = ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "AUTO_MERGE.lock"];
        let mut locks: Vec<PathBuf> = names.into_iter().map(|name| self.git_dir().join(name)).collect();
        let head = fs::read_to_string(self.git_dir().join("HEAD")).unwrap_or_default();
        if let Some(branch) = head.trim_end().strip_prefix("ref: ").filter(|name| !name.contains("..")) {
            locks.push(self.common_dir().join(format!("{branch}.lock")));
        }
        // Where all references are in one store, it has one lock, and a linked working tree has another.
        let stores: BTreeSet<&Path> = BTreeSet::from([self.common_dir(), self.git_dir()]);
        locks.extend(stores.into_iter().map(|store| store.join(REFTABLE_LOCK)));
        // The index of a commit of some paths only; its name holds the process's number.
        let partial = |process: &Noted| self.git_dir().join(format!("next-index-{}.lock", process.pid));
        locks.extend(noted.iter().map(|(_, process)| partial(process)));
        locks
    }

    /// Waits for gits that another process of this run started.
    fn outwait_orphans(&self, patience: Duration) {
        self.orphans().iter().for_each(|orphan| outwait(orphan, patience));
    }

    /// Gits that another process of this run started. One that was started in the very moment in which the program was
    /// killed is in no note.
    pub(in crate::git) fn orphans(&self) -> Vec<Noted> {
        let Some(place) = self.note_place() else { return Vec::new() };
        let is_orphan = |git: &PathBuf| is_marked(git, place.notes.folder()) && !is_child(git);
        let orphans = gits().filter(is_orphan).filter_map(|git| pid_in(&git));
        orphans.filter_map(|pid| Noted::of(pid, place.git_dir)).collect()
    }

    /// Whether nobody's git works in this tree, or soon does no longer.
    fn is_left_alone(&self) -> bool {
        let give_up = Instant::now() + OTHERS_PATIENCE;
        while self.is_git_running() {
            if Instant::now() >= give_up {
                return false;
            }
            thread::sleep(LOOK_AGAIN);
        }
        true
    }

    /// Whether somebody's git works in this tree right now: the lock could be that one's.
    fn is_git_running(&self) -> bool {
        let is_here =
            |git: PathBuf| fs::read_link(git.join("cwd")).is_ok_and(|folder| folder.starts_with(self.root()));
        gits().any(is_here)
    }
}

/// The folders of all processes called git.
pub(in crate::git) fn gits() -> impl Iterator<Item = PathBuf> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|process| process.path());
    processes
        .filter(|process| fs::read_to_string(process.join("comm")).is_ok_and(|name| name.trim_end() == "git"))
}

pub(in crate::git) fn pid_in(process: &Path) -> Option<u32> {
    process.file_name()?.to_str()?.parse().ok()
}

/// Whether a process was started for a run with this folder of notes, and is meant to end.
pub(in crate::git) fn is_marked(process: &Path, notes: &Path) -> bool {
    let marker = [OF_RUN.as_bytes(), b"=", notes.as_os_str().as_bytes()].concat();
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    let command = fs::read(process.join("cmdline")).unwrap_or_default();
    // Housekeeping and daemons go on by themselves and take none of these locks.
    let stays = |word: &[u8]| HOUSEKEEPING.contains(&word) || word.ends_with(b"daemon");
    environment.split(|byte| *byte == 0).any(|variable| variable == marker)
        && !command.split(|byte| *byte == 0).any(stays)
}

/// Whether a process is a child of this one, and thus waited for.
pub(in crate::git) fn is_child(process: &Path) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    let parent = stat.rsplit_once(')').and_then(|(_, fields)| fields.split_whitespace().nth(1)?.parse().ok());
    parent == Some(std::process::id())
}

fn locks_below(folder: &Path) -> Vec<PathBuf> {
    let mut locks = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "lock") {
                locks.push(path);
            }
        }
    }
    locks
}

/// A lock that is older than the process cannot be its own. File times are coarse, hence the second.
fn is_younger(lock: &PathBuf, note: &ChildNote) -> bool {
    let locked = fs::metadata(lock).and_then(|metadata| metadata.modified()).ok();
    match (locked, note.modified()) {
        (Some(locked), Some(noted)) => locked + Duration::from_secs(1) >= noted,
        (None, _) | (_, None) => false,
    }
}

/// Waits a little for whoever has a lock, which mostly takes milliseconds; whether it is gone.
fn outwait_lock(lock: &Path) -> bool {
    LOCK_WAITS.into_iter().any(|wait| {
        thread::sleep(wait);
        !lock.exists()
    })
}

/// The same for several at once: those that stay are left over.
fn outwait_locks(locks: &mut Vec<PathBuf>) {
    for wait in LOCK_WAITS {
        locks.retain(|lock| lock.exists());
        if !locks.is_empty() {
            thread::sleep(wait);
        }
    }
}

/// Waits for the end of a process that is not a child of this one, which cannot be waited for otherwise.
pub(in crate::git) fn outwait(process: &Noted, patience: Duration) {
    if process.pid == std::process::id() {
        return;
    }
    let give_up = Instant::now() + patience;
    while process.is_alive() && Instant::now() < give_up {
        thread::sleep(LOOK_AGAIN);
    }
    let Some(group) = i32::try_from(process.pid).ok().filter(|_| process.is_alive()) else { return };
    // It leads a group of its own; that it ended in this very moment is what is wanted.
    let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
}

fn remove(lock: &PathBuf) -> Result<(), GitError> {
    match fs::remove_file(lock) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(GitError::io("remove", lock)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The lock file that git could not create.
pub(in crate::git) fn locked_file(ended: &Ended) -> Option<String> {
    if ended.is_success() {
        return None;
    }
    let line = ended.stderr.lines().find(|line| line.contains(".lock': File exists"))?;
    let (before, _) = line.split_once(".lock': File exists")?;
    let (_, path) = before.split_once('\'')?;
    Some(format!("{path}.lock"))
}
