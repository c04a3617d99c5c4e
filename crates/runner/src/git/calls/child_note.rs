//! A note of the git process that is running, in a file that outlives this program: after a crash it tells our own
//! leftover lock files from those of others.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

const PREFIX: &str = "git-child-";
/// What a note begins with that is about nobody any more.
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

/// Where a note goes and which repository it is about: several working trees may share a folder.
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
    /// How long the file is.
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

    /// Whether it is of this very program.
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

/// What the names of this very program's notes begin with.
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

    /// Whether it is another process than this one, and still there.
    pub(in crate::git) fn is_another(&self) -> bool {
        self.pid != std::process::id() && self.is_alive()
    }

    /// Whether this very process is still there. A zombie is not: it holds nothing any more.
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

/// Whether nobody has this number any more, which stands in the name of a file that its owner was writing.
pub(in crate::git) fn is_gone(pid: &str) -> bool {
    !Path::new("/proc").join(pid).exists()
}
