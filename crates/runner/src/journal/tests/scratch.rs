//! A journal in a temporary folder, with events of a kind of its own.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::journal::{Journal, JournalError, Opened, Seq, read};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    Note(String),
    Count { number: u64 },
}

pub(super) fn note(text: &str) -> Event {
    Event::Note(text.to_owned())
}

pub(super) struct Scratch {
    folder: TempDir,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        Scratch { folder: tempfile::tempdir().unwrap() }
    }

    /// A journal with these events in it.
    pub(super) fn with(events: &[Event]) -> Scratch {
        let scratch = Scratch::new();
        let (mut journal, _) = Journal::open(&scratch.path(), |_: Event| {}).unwrap();
        for event in events {
            journal.append(event).unwrap();
        }
        scratch
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("journal.jsonl")
    }

    pub(super) fn torn_path(&self) -> PathBuf {
        self.folder.path().join("journal.jsonl.torn")
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    pub(super) fn set(&self, bytes: &[u8]) {
        fs::write(self.path(), bytes).unwrap();
    }

    pub(super) fn open(&self) -> Result<(Journal, Opened, Vec<Event>), JournalError> {
        let mut events = Vec::new();
        let (journal, opened) = Journal::open(&self.path(), |event| events.push(event))?;
        Ok((journal, opened, events))
    }

    pub(super) fn read(&self) -> Result<Vec<(Seq, Event)>, JournalError> {
        let mut events = Vec::new();
        read(&self.path(), |seq, event| events.push((seq, event)))?;
        Ok(events)
    }
}
