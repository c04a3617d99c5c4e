//! Reading a run's record without taking part in it: for `status`, `log` and the like.

use std::path::{Path, PathBuf};

use engine::{Event, Impossible, State};

use crate::journal::{JournalError, read};
use crate::project::PlanFile;

/// Why a record is of no use.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal holds an event that cannot have happened.
    #[error("the journal at {} contradicts itself", path.display())]
    Impossible {
        /// Which journal.
        path: PathBuf,
        /// What cannot have happened.
        source: Impossible,
    },
}

/// The state of a plan's run, or none if it was never run. `each` sees every event in passing.
pub fn load(file: &PlanFile, each: impl FnMut(&Event)) -> Result<Option<State>, RecordError> {
    load_at(&file.journal(), each)
}

/// The same for a journal that may be kept anywhere.
pub(crate) fn load_at(path: &Path, mut each: impl FnMut(&Event)) -> Result<Option<State>, RecordError> {
    if !path.exists() {
        return Ok(None);
    }
    let mut state = State::default();
    let mut impossible = None;
    read(path, |_, event: Event| {
        if impossible.is_none() {
            impossible = state.apply(&event).err();
            each(&event);
        }
    })?;
    match impossible {
        Some(source) => Err(RecordError::Impossible { path: path.to_owned(), source }),
        None => Ok(state.opened().is_some().then_some(state)),
    }
}
