//! Appending to `retry.log` and `retry.jsonl`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::{Event, State};
use jiff::Timestamp;

use super::entry::{Entry, entry};
use super::retention;

/// The two logs of a project.
#[derive(Debug)]
pub(crate) struct RetryLog {
    text: PathBuf,
    objects: PathBuf,
}

impl RetryLog {
    /// The logs in a folder, pruned.
    pub(crate) fn open(folder: &Path, now: Timestamp) -> io::Result<Self> {
        let log = Self { text: folder.join("retry.log"), objects: folder.join("retry.jsonl") };
        retention::prune(&log.text, &log.objects, now)?;
        Ok(log)
    }

    /// Logs an event, given the state after it.
    pub(crate) fn write(&self, event: &Event, state: &State) -> io::Result<()> {
        self.append(&entry(event, state))
    }

    /// Logs the last event before a crash, if the crash came before the log did.
    pub(crate) fn catch_up(&self, event: &Event, state: &State) -> io::Result<()> {
        let entry = entry(event, state);
        let Some(last) = entry.objects.last() else { return Ok(()) };
        let known = fs::read_to_string(&self.objects).unwrap_or_default();
        if known.lines().next_back() == Some(last.to_string().as_str()) {
            return Ok(());
        }
        self.append(&entry)
    }

    fn append(&self, entry: &Entry) -> io::Result<()> {
        if entry.lines.is_empty() && entry.objects.is_empty() {
            return Ok(());
        }
        let lines: String = entry.lines.iter().map(|line| format!("{line}\n")).collect();
        let objects: String = entry.objects.iter().map(|object| format!("{object}\n")).collect();
        append(&self.text, &lines)?;
        append(&self.objects, &objects)
    }
}

/// One write for all, so that readers never see half a line.
fn append(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
