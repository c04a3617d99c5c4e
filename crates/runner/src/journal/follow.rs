//! Following a journal while another process writes it: each poll reads only what was added since the last.
//! When to poll is the caller's business.

use std::fs::{File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::journal::error::JournalError;
use crate::journal::line::Seq;
use crate::journal::read::{Lines, Place};

/// A reader that remembers how far it has read. It works while the file does not exist yet, and begins again when
/// the file is replaced, as by a fresh start.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    following: Option<Following>,
}

#[derive(Debug)]
struct Following {
    file: File,
    place: Place,
}

/// The result of a poll.
#[derive(Debug)]
pub enum News<E> {
    /// Events that came after those of the last poll; often none.
    More(Vec<(Seq, E)>),
    /// The file was replaced since the last poll: these are the new file's events, from its first.
    Replaced(Vec<(Seq, E)>),
}

impl Follower {
    /// Follows the journal at `path` from its first event. Nothing is opened yet.
    pub fn new(path: &Path) -> Follower {
        Follower { path: path.to_owned(), following: None }
    }

    /// The events that were added since the last poll.
    pub fn poll<E: DeserializeOwned>(&mut self) -> Result<News<E>, JournalError> {
        let current = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            // Between the archiving of a journal and the start of the next there is no file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(News::More(Vec::new())),
            Err(source) => {
                return Err(JournalError::Io { action: "look at", path: self.path.clone(), source });
            }
        };
        let replaced = match &self.following {
            Some(following) => {
                following.is_gone(&current).map_err(JournalError::io("look at", &self.path))?
            }
            None => false,
        };
        if replaced {
            self.following = None;
        }
        let events = self.read_on()?;
        Ok(if replaced { News::Replaced(events) } else { News::More(events) })
    }

    fn read_on<E: DeserializeOwned>(&mut self) -> Result<Vec<(Seq, E)>, JournalError> {
        if self.following.is_none() {
            let file = File::open(&self.path).map_err(JournalError::io("open", &self.path))?;
            self.following = Some(Following { file, place: Place::START });
        }
        let Some(following) = &mut self.following else { return Ok(Vec::new()) };
        let mut file = &following.file;
        file.seek(SeekFrom::Start(following.place.offset)).map_err(JournalError::io("read", &self.path))?;
        let mut lines = Lines::new(&self.path, file, following.place);
        let mut events = Vec::new();
        while let Some(event) = lines.next_event()? {
            events.push(event);
        }
        following.place = lines.place();
        Ok(events)
    }
}

impl Following {
    /// True if the file now at the path is another one, or one that lost lines already read.
    fn is_gone(&self, current: &Metadata) -> io::Result<bool> {
        let open = self.file.metadata()?;
        let same = open.dev() == current.dev() && open.ino() == current.ino();
        Ok(!same || current.len() < self.place.offset)
    }
}

impl<E> News<E> {
    /// The events, whichever file they came from.
    pub fn into_events(self) -> Vec<(Seq, E)> {
        match self {
            News::More(events) | News::Replaced(events) => events,
        }
    }
}
