//! Reading a journal line by line, holding one line at a time. Nothing here writes, and nothing here needs the
//! lock: a line that is still being written looks the same as a torn one and ends the reading.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::journal::error::{JournalError, LineProblem};
use crate::journal::line::{self, Header, LINE_BYTES_MAX, Seq};

/// The end of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadEnd {
    /// The number of events that were read.
    pub events: u64,
    /// The number of bytes after the last whole line: a line being written right now, or one torn by a crash.
    pub unfinished_bytes: u64,
}

/// Reads every whole event of a journal, in order. Needs no lock; a journal that is being written is fine.
pub fn read<E: DeserializeOwned>(path: &Path, each: impl FnMut(Seq, E)) -> Result<ReadEnd, JournalError> {
    read_from(path, File::open(path).map_err(JournalError::io("open", path))?, each)
}

/// Reads the same from elsewhere; errors name the path.
pub fn read_from<E: DeserializeOwned>(
    path: &Path,
    source: impl Read,
    mut each: impl FnMut(Seq, E),
) -> Result<ReadEnd, JournalError> {
    let mut lines = Lines::new(path, source, Place::START);
    let mut events = 0;
    while let Some((seq, event)) = lines.next_event()? {
        events += 1;
        each(seq, event);
    }
    let unfinished_bytes = lines.unfinished().len() as u64;
    Ok(ReadEnd { events, unfinished_bytes })
}

/// A place between two lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Bytes before it.
    pub(super) offset: u64,
    /// Whole lines before it.
    pub(super) lines: u64,
    /// The number of the event that comes next.
    pub(super) next: Seq,
}

impl Place {
    pub(super) const START: Place = Place { offset: 0, lines: 0, next: Seq::FIRST };
}

/// The lines of a journal, checked one after the other.
pub(super) struct Lines<R> {
    path: PathBuf,
    source: BufReader<R>,
    place: Place,
    buffer: Vec<u8>,
}

enum Raw {
    Whole,
    Unfinished,
}

impl<R: Read> Lines<R> {
    /// `source` must stand at `place`.
    pub(super) fn new(path: &Path, source: R, place: Place) -> Lines<R> {
        let source = BufReader::with_capacity(64 * 1024, source);
        Lines { path: path.to_owned(), source, place, buffer: Vec::new() }
    }

    /// The next event; none at the end or before an unfinished line.
    pub(super) fn next_event<E: DeserializeOwned>(&mut self) -> Result<Option<(Seq, E)>, JournalError> {
        if self.place.lines == 0 && !self.pass_header()? {
            return Ok(None);
        }
        if let Raw::Unfinished = self.fill()? {
            return if self.has_other_end() { Err(self.damaged(LineProblem::End)) } else { Ok(None) };
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let text = line::decode(line, self.place.next).map_err(|problem| self.damaged(problem))?;
        let event = serde_json::from_slice(text).map_err(|source| self.unknown(source))?;
        let seq = self.place.next;
        self.advance();
        self.place.next = seq.next();
        Ok(Some((seq, event)))
    }

    /// True if a whole event is followed by something else than its newline: no write that was cut short leaves that.
    fn has_other_end(&self) -> bool {
        self.buffer.split_last().is_some_and(|(_, line)| line::decode(line, self.place.next).is_ok())
    }

    /// The place after the last whole line.
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// After the last event: what stands behind it without a newline.
    pub(super) fn unfinished(&self) -> &[u8] {
        &self.buffer
    }

    /// False: the header is not finished yet, as after a crash at the very first write.
    fn pass_header(&mut self) -> Result<bool, JournalError> {
        let whole = matches!(self.fill()?, Raw::Whole);
        if !whole && line::header().starts_with(&self.buffer) {
            return Ok(false);
        }
        match line::parse_header(self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer)) {
            Header::Ours => {}
            Header::Newer(found) => {
                let path = self.path.clone();
                return Err(JournalError::NewerVersion { path, found, supported: line::VERSION });
            }
            Header::Older(found) => {
                let path = self.path.clone();
                return Err(JournalError::OlderVersion { path, found, supported: line::VERSION });
            }
            Header::Foreign => return Err(JournalError::NotAJournal { path: self.path.clone() }),
        }
        self.advance();
        Ok(true)
    }

    fn fill(&mut self) -> Result<Raw, JournalError> {
        self.buffer.clear();
        // One byte more than allowed tells a line that is too long from one that just fits.
        let mut limited = self.source.by_ref().take(LINE_BYTES_MAX as u64 + 1);
        match limited.read_until(b'\n', &mut self.buffer) {
            Err(source) => Err(JournalError::Io { action: "read", path: self.path.clone(), source }),
            Ok(_) if self.buffer.len() > LINE_BYTES_MAX => {
                Err(self.damaged(LineProblem::TooLong { bytes_max: LINE_BYTES_MAX }))
            }
            Ok(_) if self.buffer.ends_with(b"\n") => Ok(Raw::Whole),
            Ok(_) => Ok(Raw::Unfinished),
        }
    }

    fn advance(&mut self) {
        self.place.offset += self.buffer.len() as u64;
        self.place.lines += 1;
        self.buffer.clear();
    }

    fn damaged(&self, problem: LineProblem) -> JournalError {
        let line = self.place.lines + 1;
        JournalError::Damaged { path: self.path.clone(), line, offset: self.place.offset, problem }
    }

    fn unknown(&self, source: serde_json::Error) -> JournalError {
        JournalError::UnknownEvent { path: self.path.clone(), line: self.place.lines + 1, source }
    }
}

/// The folder that holds a file; the current one for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Makes a new name in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
