//! A note of the git process that is running, in a file that outlives this program: after a crash it tells our own
//! leftover lock files from those of others.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

const PREFIX: &str = "git-child-";

/// Where a note goes and which repository it is about: several working trees may share a folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotePlace<'a> {
    pub(super) folder: &'a Path,
    pub(super) git_dir: &'a Path,
}

/// A process, told apart from later ones with the same number by its start time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) pid: u32,
    /// Clock ticks since boot, as in `/proc/PID/stat`.
    started: u64,
    boot: String,
    git_dir: PathBuf,
}

/// A note on disk.
#[derive(Debug)]
pub(super) struct ChildNote {
    file: PathBuf,
}

impl ChildNote {
    /// Notes a process that was just started. None if that is not possible: the command is not worth failing for
    /// it, only a leftover lock would then need a person.
    pub(super) fn write(place: NotePlace<'_>, pid: u32) -> Option<ChildNote> {
        ChildNote::write_as(place, pid, &pid.to_string())
    }

    /// Notes this process itself, in place of one that it is about to start. Each thread has a note of its own: another
    /// is not to take it away.
    pub(super) fn stand_in(place: NotePlace<'_>) -> Option<ChildNote> {
        let pid = std::process::id();
        ChildNote::write_as(place, pid, &format!("{pid}-{:?}", thread::current().id()))
    }

    fn write_as(place: NotePlace<'_>, pid: u32, name: &str) -> Option<ChildNote> {
        let noted = Noted::of(pid, place.git_dir)?;
        let text = serde_json::to_vec(&noted).ok()?;
        let file = place.folder.join(format!("{PREFIX}{name}.json"));
        fs::write(&file, text).ok()?;
        Some(ChildNote { file })
    }

    /// The command has ended in an orderly way.
    pub(super) fn remove(self) {
        // A leftover note names a process that is gone; it can only say that a lock is ours, and there is none.
        let _ = fs::remove_file(&self.file);
    }

    /// The processes that were noted for this repository and did not end in an orderly way.
    pub(super) fn read_all(place: NotePlace<'_>) -> Vec<(ChildNote, Noted)> {
        let Ok(entries) = fs::read_dir(place.folder) else { return Vec::new() };
        let files = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
        files
            .filter_map(|entry| {
                let noted: Noted = serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?;
                (noted.git_dir == place.git_dir).then(|| (ChildNote { file: entry.path() }, noted))
            })
            .collect()
    }

    pub(super) fn modified(&self) -> Option<SystemTime> {
        fs::metadata(&self.file).and_then(|metadata| metadata.modified()).ok()
    }
}

impl Noted {
    /// A process at work in a repository; none if there is no such process.
    pub(super) fn of(pid: u32, git_dir: &Path) -> Option<Noted> {
        Some(Noted { pid, started: start_time(pid)?, boot: boot_id(), git_dir: git_dir.to_owned() })
    }

    /// Whether it is another process than this one, and still there.
    pub(super) fn is_another(&self) -> bool {
        self.pid != std::process::id() && self.is_alive()
    }

    /// Whether this very process is still there. A zombie is not: it holds nothing any more.
    pub(super) fn is_alive(&self) -> bool {
        self.boot == boot_id() && start_time(self.pid) == Some(self.started)
    }
}

/// None: no such process, or only its remains.
fn start_time(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, also spaces and parentheses: fields count from the last one.
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    match *fields.first()? {
        "Z" | "X" => None,
        _ => fields.get(19)?.parse().ok(),
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
