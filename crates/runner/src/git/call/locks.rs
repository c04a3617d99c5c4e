//! Lock files of git's: who has one, and whether one that was left behind is of a git of ours that died, which is
//! cleaned up after. A note in a file that outlives the program tells ours from those of others.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::git::call::error::GitError;
use crate::git::call::process::{self, COMMIT_DEADLINE, Ended, OF_RUN, pathspecs};
use crate::git::repository::Git;

/// The waits for another git to let go of the index. An editor's git takes milliseconds.
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

/// The files that are written while packed references change, and their lock.
const PACKED_REFERENCES: [&str; 2] = ["packed-refs.new", "packed-refs.lock"];

const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The time that gits of others are waited for: one that tidies up after a commit works on for a moment in the
/// background.
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
        // Where all references are in one store, it has one lock, and a linked work tree has another.
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

    /// True if nobody's git works in this work tree, or soon does no longer.
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

    /// True if somebody's git works in this work tree right now: the lock could be that one's.
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

/// True if a process was started for a run with this folder of notes, and is meant to end.
pub(in crate::git) fn is_marked(process: &Path, notes: &Path) -> bool {
    let marker = [OF_RUN.as_bytes(), b"=", notes.as_os_str().as_bytes()].concat();
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    let command = fs::read(process.join("cmdline")).unwrap_or_default();
    // Housekeeping and daemons go on by themselves and take none of these locks.
    let stays = |word: &[u8]| HOUSEKEEPING.contains(&word) || word.ends_with(b"daemon");
    environment.split(|byte| *byte == 0).any(|variable| variable == marker)
        && !command.split(|byte| *byte == 0).any(stays)
}

/// True if a process is a child of this one, and thus waited for.
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

/// Waits for several locks at once: those that stay are left over.
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

/// Commands that take no lock and may stay for long, in a pager or in the background.
const READERS: [&str; 12] = [
    "blame",
    "cat-file",
    "credential-cache--daemon",
    "diff",
    "fsmonitor--daemon",
    "grep",
    "help",
    "log",
    "reflog",
    "shortlog",
    "show",
    "whatchanged",
];

/// Options of git itself that are followed by a value.
const WITH_VALUE: [&str; 2] = ["-C", "-c"];

/// The file with the message that an editor is opened for.
const MESSAGE: &str = "COMMIT_EDITMSG";

/// The state of the file with a commit's message when nobody was committing. Every commit writes it anew.
#[derive(Debug, Default)]
pub(in crate::git) struct Quiet {
    message: Mutex<Option<Stamp>>,
}

impl Git {
    /// The process that has the lock on the index of this work tree and is alive, for people to read. None: nobody has
    /// it, or nobody can be told from whom it is.
    pub fn lock_holder(&self) -> Option<String> {
        if !self.git_dir().join("index.lock").exists() {
            return None;
        }
        // Gits of this program are waited for where they are started; those in its work trees have an index of their own.
        let own = self.root().join(".tillgreen");
        let is_here = |git: &PathBuf| {
            let folder = fs::read_link(git.join("cwd")).unwrap_or_default();
            let is_in_git = folder.starts_with(self.git_dir());
            is_in_git || (folder.starts_with(self.root()) && !folder.starts_with(&own))
        };
        let mut others = gits().filter(|git| is_here(git) && self.is_others(git));
        others.find_map(|git| {
            let command = command_of(&git).filter(|command| !READERS.contains(&command.as_str()))?;
            Some(format!("process {} (git {command})", pid_in(&git)?))
        })
    }

    /// The process that writes the message of a commit in this work tree, for people to read, with the lock or without.
    /// Looking at all processes takes a while, so it is done only where such a message was written since.
    pub fn committing(&self) -> Option<String> {
        let message = Stamp::of(&self.git_dir().join(MESSAGE))?;
        let mut quiet = self.remembered().quiet.message.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.as_ref() == Some(&message) {
            return None;
        }
        let found = self.commits_of_others().into_iter().next();
        if found.is_none() {
            *quiet = Some(message);
        }
        Some(format!("process {} (git commit)", pid_in(&found?)?))
    }

    /// The processes by which others commit in this work tree, with the lock or without.
    pub(in crate::git) fn commits_of_others(&self) -> Vec<PathBuf> {
        self.gits_here("commit").filter(|git| self.is_others(git)).collect()
    }

    /// The process that rebases what is checked out in this work tree. One that waits for a conflict to be resolved is none.
    pub fn rebasing(&self) -> Option<String> {
        let is_half_done =
            ["rebase-merge", "rebase-apply"].iter().any(|name| self.git_dir().join(name).exists());
        let found = if is_half_done { self.gits_here("rebase").next() } else { None };
        Some(format!("process {} (git rebase)", pid_in(&found?)?))
    }

    fn gits_here(&self, command: &'static str) -> impl Iterator<Item = PathBuf> {
        // Wherever it is called, git goes to the top folder.
        let is_here =
            move |git: &PathBuf| fs::read_link(git.join("cwd")).is_ok_and(|folder| folder == self.root());
        let is_asked_for = move |git: &PathBuf| command_of(git).as_deref() == Some(command);
        gits().filter(move |git| is_here(git) && is_asked_for(git))
    }

    /// True if a git belongs to nobody of this run. One that outlived the program is waited for otherwise, and not
    /// without end.
    fn is_others(&self, git: &Path) -> bool {
        let is_of_run = || self.notes().is_some_and(|notes| is_marked(git, notes));
        !is_child(git) && !is_of_run()
    }
}

/// The command of a git.
fn command_of(process: &Path) -> Option<String> {
    let arguments = fs::read(process.join("cmdline")).ok()?;
    let arguments = String::from_utf8_lossy(&arguments).into_owned();
    let mut arguments = arguments.split('\0').skip(1).filter(|argument| !argument.is_empty());
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument) {
            arguments.next();
        } else if !argument.starts_with('-') {
            return Some(argument.to_owned());
        }
    }
    None
}

const PREFIX: &str = "git-child-";
/// The beginning of a note that is about nobody any more.
const ENDED: u8 = b'-';

/// The notes that this program makes in a folder. One that is about nobody any more is used again: a file of its own for
/// each git would cost the program more than all else that it does about it.
#[derive(Debug)]
pub(in crate::git) struct Notes {
    folder: PathBuf,
    /// Shared by the threads that run git at the same time.
    idle: Mutex<Vec<ChildNote>>,
}

impl Notes {
    pub(in crate::git) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), idle: Mutex::default() }
    }

    pub(in crate::git) fn folder(&self) -> &Path {
        &self.folder
    }

    fn take(&self) -> Option<ChildNote> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put_back(&self, note: ChildNote) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// A file that no other program uses at the same time, and none used before.
    fn create(&self) -> io::Result<ChildNote> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{}{number}.json", own_prefix()));
        Ok(ChildNote { file: File::create(&path)?, path, length: 0 })
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        for note in self.idle.get_mut().unwrap_or_else(PoisonError::into_inner) {
            // A leftover note says that it is about nobody.
            let _ = fs::remove_file(&note.path);
        }
    }
}

/// The place of a note, and the repository that it is about: several work trees may share a folder.
#[derive(Debug, Clone, Copy)]
pub(in crate::git) struct NotePlace<'a> {
    pub(in crate::git) notes: &'a Notes,
    pub(in crate::git) git_dir: &'a Path,
}

/// A process, told apart from later ones with the same number by its start time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::git) struct Noted {
    pub(in crate::git) pid: u32,
    /// Clock ticks since boot, as in `/proc/PID/stat`.
    started: u64,
    boot: String,
    git_dir: PathBuf,
}

/// A note on disk. It stays there when this is dropped.
#[derive(Debug)]
pub(in crate::git) struct ChildNote {
    file: File,
    path: PathBuf,
    /// The length of the file.
    length: usize,
}

impl ChildNote {
    /// Notes a process. None if that is not possible: the command is not worth failing for it, only a leftover lock
    /// would then need a person.
    pub(in crate::git) fn write(place: NotePlace<'_>, pid: u32) -> Option<ChildNote> {
        let mut note = place.notes.take().or_else(|| place.notes.create().ok())?;
        note.rewrite(place, pid)?;
        Some(note)
    }

    /// Notes another process in the place of this one, unless it has ended already.
    pub(in crate::git) fn rewrite(&mut self, place: NotePlace<'_>, pid: u32) -> Option<()> {
        let mut text = serde_json::to_vec(&Noted::of(pid, place.git_dir)?).ok()?;
        // What was there before and is longer must not show; blanks after the end mean nothing.
        text.resize(text.len().max(self.length), b' ');
        self.file.write_all_at(&text, 0).ok()?;
        self.length = text.len();
        Some(())
    }

    /// The command has ended in an orderly way.
    pub(in crate::git) fn end(self, place: NotePlace<'_>) {
        match self.file.write_all_at(&[ENDED], 0) {
            Ok(()) => place.notes.put_back(self),
            Err(_) => self.remove(),
        }
    }

    /// True if it is of this very program.
    pub(in crate::git) fn is_own(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(own_prefix()))
    }

    /// The note is used up.
    pub(in crate::git) fn remove(self) {
        // A leftover note names a process that is gone; it can only say that a lock is ours, and there is none.
        let _ = fs::remove_file(&self.path);
    }

    /// The processes that were noted for this repository and did not end in an orderly way. What other programs left
    /// that is about nobody goes.
    pub(in crate::git) fn read_all(place: NotePlace<'_>) -> Vec<(ChildNote, Noted)> {
        let Ok(entries) = fs::read_dir(&place.notes.folder) else { return Vec::new() };
        let notes = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
        let read = notes.filter_map(|entry| Self::read(entry.path()));
        read.filter(|(_, noted)| noted.git_dir == place.git_dir).collect()
    }

    fn read(path: PathBuf) -> Option<(ChildNote, Noted)> {
        let file = File::open(&path).ok()?;
        let mut text = Vec::new();
        (&file).read_to_end(&mut text).ok()?;
        let is_own = path.file_name()?.to_str()?.starts_with(own_prefix());
        if text.first() == Some(&ENDED) && !is_own {
            // It says the same as long as it is there.
            let _ = fs::remove_file(&path);
        }
        let noted = serde_json::from_slice(&text).ok()?;
        Some((ChildNote { file, path, length: text.len() }, noted))
    }

    pub(in crate::git) fn modified(&self) -> Option<SystemTime> {
        self.file.metadata().and_then(|metadata| metadata.modified()).ok()
    }
}

/// The prefix of this very program's notes.
fn own_prefix() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let pid = std::process::id();
        format!("{PREFIX}{pid}-{}-", start_time(pid).unwrap_or_default())
    })
}

impl Noted {
    /// A process at work in a repository; none if there is no such process.
    pub(in crate::git) fn of(pid: u32, git_dir: &Path) -> Option<Noted> {
        Some(Noted {
            pid,
            started: start_time(pid)?,
            boot: boot_id().to_owned(),
            git_dir: git_dir.to_owned(),
        })
    }

    /// True if it is another process than this one, and still there.
    pub(in crate::git) fn is_another(&self) -> bool {
        self.pid != std::process::id() && self.is_alive()
    }

    /// True if this very process is still there. A zombie is not: it holds nothing any more.
    pub(in crate::git) fn is_alive(&self) -> bool {
        self.boot == boot_id() && start_time(self.pid) == Some(self.started)
    }
}

/// None: no such process, or only its remains.
fn start_time(pid: u32) -> Option<u64> {
    // The fields of interest come early.
    let mut stat = [0; 512];
    let length = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
    let stat = String::from_utf8_lossy(stat.get(..length)?);
    // The name in parentheses may hold anything, also spaces and parentheses: fields count from the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    match fields.next()? {
        "Z" | "X" => None,
        _ => fields.nth(18)?.parse().ok(),
    }
}

fn boot_id() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    let read = || fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
    BOOT.get_or_init(read)
}

/// A file by its number, size and times. Whoever writes to it changes the last of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64, u64),
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some(Stamp {
            file: (metadata.dev(), metadata.ino(), metadata.size()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}
