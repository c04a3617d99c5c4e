//! The one writer of a journal. Events are on the disk when `settle` returns: those that follow each other at once share the
//! wait for it. A write that fails leaves the file as it was, so that the caller may try again once the disk has room.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::journal::error::JournalError;
use crate::journal::line::{self, LINE_BYTES_MAX, Seq};
use crate::journal::lock::{Holder, RunLock};
use crate::journal::read::{Lines, Place, folder_of, sync_folder};

/// The writer of a journal. Take the `RunLock` first: two writers would be noticed only when reading.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The length up to which everything is whole.
    length: u64,
    next: Seq,
    tail: Tail,
    durability: Durability,
    lock: Option<RunLock>,
}

/// The bytes behind the good length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    Clean,
    /// Bytes of a write that failed and could not be cut off yet.
    Dirty,
}

/// The durability of all that is whole: a loss of power may undo what is not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    Settled,
    Pending,
}

/// The result of opening a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The number of events that were replayed.
    pub events: u64,
    /// The torn last line that was cut off, if there was one.
    pub torn: Option<Torn>,
}

/// A last line that a crash cut short. It was never acknowledged, so nothing that happened is lost with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The number of bytes that were cut off.
    pub bytes: u64,
    /// The file that keeps them.
    pub kept_in: PathBuf,
}

impl Journal {
    /// Opens or creates a journal and replays every event. A torn last line is moved into a file beside the
    /// journal; anything else that is wrong is refused and leaves the file untouched.
    pub fn open<E: DeserializeOwned>(
        path: &Path,
        mut each: impl FnMut(E),
    ) -> Result<(Journal, Opened), JournalError> {
        let file = open_file(path)?;
        let mut lines = Lines::new(path, &file, Place::START);
        let mut events = 0;
        while let Some((_, event)) = lines.next_event()? {
            events += 1;
            each(event);
        }
        let place = lines.place();
        let torn = keep_torn(path, lines.unfinished())?;
        let tail = if torn.is_some() { Tail::Dirty } else { Tail::Clean };
        let mut journal = Journal {
            path: path.to_owned(),
            file,
            length: place.offset,
            next: place.next,
            tail,
            durability: Durability::Settled,
            lock: None,
        };
        journal.trim().map_err(JournalError::io("cut the torn last line of", path))?;
        if journal.length == 0 {
            journal.begin()?;
        }
        Ok((journal, Opened { events, torn }))
    }

    /// Keeps the lock for as long as the journal is open.
    pub(crate) fn guarded_by(mut self, lock: RunLock) -> Journal {
        self.lock = Some(lock);
        self
    }

    /// The holder of the lock: this process.
    pub(crate) fn holder(&self) -> Option<&Holder> {
        self.lock.as_ref().map(RunLock::holder)
    }

    /// Adds an event; it is durable once the journal is settled. After an error the journal is as before the call.
    pub fn append<E: Serialize>(&mut self, event: &E) -> Result<Seq, JournalError> {
        let path = || self.path.clone();
        let line =
            line::encode(self.next, event).map_err(|source| JournalError::Encode { path: path(), source })?;
        if line.len() > LINE_BYTES_MAX {
            let bytes = line.len();
            return Err(JournalError::TooLarge { path: path(), bytes, bytes_max: LINE_BYTES_MAX });
        }
        self.put(&line).map_err(JournalError::io("append to", &self.path))?;
        let seq = self.next;
        self.next = seq.next();
        Ok(seq)
    }

    /// Makes all events durable that were added. Nothing may be done about an event before.
    pub fn settle(&mut self) -> Result<(), JournalError> {
        if self.durability == Durability::Pending {
            self.file.sync_data().map_err(JournalError::io("sync", &self.path))?;
            self.durability = Durability::Settled;
        }
        Ok(())
    }

    /// The number that the next event will get.
    pub fn next_seq(&self) -> Seq {
        self.next
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the header of a new file and makes the file's name durable.
    fn begin(&mut self) -> Result<(), JournalError> {
        self.put(line::header()).map_err(JournalError::io("write the header of", &self.path))?;
        self.settle()?;
        let folder = folder_of(&self.path);
        sync_folder(folder).map_err(JournalError::io("sync the folder", folder))
    }

    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        self.reinstate()?;
        self.trim()?;
        self.tail = Tail::Dirty;
        // One write call for a whole line; `write_all` goes on only to learn why a call was cut short.
        if let Err(error) = self.file.write_all(line) {
            // The error of the write is the one to report. Should cutting fail as well, the tail stays marked
            // and the next append cuts it first.
            let _ = self.trim();
            return Err(error);
        }
        self.tail = Tail::Clean;
        self.durability = Durability::Pending;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Writes the file anew where somebody deleted it: to an agent, `git clean -fdx` is housekeeping. What is open is
    /// still whole. Should another journal stand in its place by now, this one is not continued.
    fn reinstate(&mut self) -> io::Result<()> {
        if self.file.metadata()?.nlink() > 0 {
            return Ok(());
        }
        let folder = folder_of(&self.path);
        fs::create_dir_all(folder)?;
        let new = beside(&self.path, ".new");
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&new)?;
        file.set_len(0)?;
        self.file.rewind()?;
        io::copy(&mut (&self.file).take(self.length), &mut file)?;
        file.sync_all()?;
        fs::hard_link(&new, &self.path)?;
        fs::remove_file(&new)?;
        sync_folder(folder)?;
        self.tail = Tail::Clean;
        self.durability = Durability::Settled;
        self.file = file;
        self.lock.as_mut().map_or(Ok(()), RunLock::reinstate)
    }

    /// Cuts off what stands behind the good length.
    fn trim(&mut self) -> io::Result<()> {
        if self.tail == Tail::Dirty {
            self.file.set_len(self.length)?;
            self.file.sync_data()?;
            self.tail = Tail::Clean;
        }
        Ok(())
    }
}

fn open_file(path: &Path) -> Result<File, JournalError> {
    OpenOptions::new().read(true).append(true).create(true).open(path).map_err(JournalError::io("open", path))
}

/// Copies the torn bytes into a file beside the journal, durably, before they are cut off. Each torn line becomes
/// a line of that file.
fn keep_torn(path: &Path, bytes: &[u8]) -> Result<Option<Torn>, JournalError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let kept_in = beside(path, ".torn");
    let error = |source| JournalError::Io { action: "keep a torn line in", path: kept_in.clone(), source };
    let mut file = OpenOptions::new().append(true).create(true).open(&kept_in).map_err(error)?;
    let line = [bytes, b"\n"].concat();
    file.write_all(&line).and_then(|()| file.sync_all()).map_err(error)?;
    sync_folder(folder_of(path)).map_err(error)?;
    Ok(Some(Torn { bytes: bytes.len() as u64, kept_in }))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
