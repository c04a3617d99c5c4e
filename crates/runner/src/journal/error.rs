//! Errors of a journal. Every variant names the file, and the line where there is one.

use std::io;
use std::path::{Path, PathBuf};

use crate::journal::line::Seq;

/// The reason why a journal could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused something: no permission, disk full, no such file.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed, as in "cannot append to FILE".
        action: &'static str,
        /// The file or folder it was tried on.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The first line is not a journal's header.
    #[error("{} is not a journal: its first line is not a journal header", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The journal was written by a newer program.
    #[error("{} has journal format {found}, this program reads format {supported}", path.display())]
    NewerVersion {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        found: u64,
        /// The version that this program reads.
        supported: u64,
    },
    /// The journal was written by an older program, whose events say too little to go on from.
    #[error("{} was written by an older program (journal format {found}, this one reads format {supported})", path.display())]
    OlderVersion {
        /// The file.
        path: PathBuf,
        /// The version in its header.
        found: u64,
        /// The version that this program reads.
        supported: u64,
    },
    /// A line was changed, lost or added after it had been written.
    #[error("{} is damaged at line {line} (byte {offset}): {problem}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, the header being the first.
        line: u64,
        /// The offset of the line, in bytes.
        offset: u64,
        /// The problem with it.
        problem: LineProblem,
    },
    /// A line is whole, but its event is none that this program knows.
    #[error("{} holds an event at line {line} that this program does not know", path.display())]
    UnknownEvent {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, the header being the first.
        line: u64,
        /// The error of the decoder.
        source: serde_json::Error,
    },
    /// An event could not be turned into JSON.
    #[error("cannot write an event of {} as JSON", path.display())]
    Encode {
        /// The journal it was meant for.
        path: PathBuf,
        /// The error of the encoder.
        source: serde_json::Error,
    },
    /// An event is too large for a line.
    #[error("an event of {bytes} bytes is too large for {}, which takes {bytes_max}", path.display())]
    TooLarge {
        /// The journal it was meant for.
        path: PathBuf,
        /// The bytes of its line.
        bytes: usize,
        /// The bytes that a line may have.
        bytes_max: usize,
    },
}

impl JournalError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
        let path = path.to_owned();
        move |source| JournalError::Io { action, path, source }
    }

    /// The kind of refusal by the operating system, if it is one: a full or read-only disk pauses a run where damage
    /// stops it.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            JournalError::Io { source, .. } => Some(source.kind()),
            JournalError::NotAJournal { .. }
            | JournalError::NewerVersion { .. }
            | JournalError::OlderVersion { .. }
            | JournalError::Damaged { .. }
            | JournalError::UnknownEvent { .. }
            | JournalError::Encode { .. }
            | JournalError::TooLarge { .. } => None,
        }
    }
}

/// The problem with one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    /// The line does not have the shape of a journal line.
    #[error("not a journal line")]
    Garbled,
    /// The event's text is not the one that was written.
    #[error("checksum {stated:08x} expected, {actual:08x} found")]
    Checksum {
        /// The checksum on the line.
        stated: u32,
        /// The checksum of the text as it stands.
        actual: u32,
    },
    /// An event is followed by something else than a line break.
    #[error("the line does not end where its event does")]
    End,
    /// A line is missing, doubled or out of order.
    #[error("event {expected} expected, {found} found")]
    Order {
        /// The number that should be here.
        expected: Seq,
        /// The number that is.
        found: Seq,
    },
    /// The line is longer than any that is ever written.
    #[error("longer than {bytes_max} bytes")]
    TooLong {
        /// The bytes that a line may have.
        bytes_max: usize,
    },
}
