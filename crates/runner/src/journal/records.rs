//! Reading records without taking part in a run: one run's, for `status`, `log` and the like, and every record of a
//! project, for `stats`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use engine::{Event, History, Impossible, State};

use crate::journal::{JournalError, read};
use crate::project::{PlanFile, Project};

/// The end of an archived journal's name; the time at which it was put aside comes before it.
const ARCHIVED: &str = "-journal.jsonl";

/// The journal of a run, wherever it is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordFile {
    /// The name of the plan, as far as the name of the program's folder for it tells.
    pub plan: String,
    /// The place: the archive, or the one that the run goes on from.
    pub place: RecordPlace,
    /// The journal.
    pub path: PathBuf,
}

/// The place of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordPlace {
    /// Put aside by a fresh start.
    Archive,
    /// The one that the next run goes on from.
    Current,
}

/// A folder of records cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}", path.display())]
pub struct RecordsError {
    /// The folder.
    pub path: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// Every journal of a project, by plan, oldest first.
pub fn records(project: &Project) -> Result<Vec<RecordFile>, RecordsError> {
    let mut records = Vec::new();
    for home in entries(&project.root().join(".tillgreen"))? {
        let plan = plan_name(&home);
        let current = home.join("journal.jsonl");
        if current.is_file() {
            records.push(RecordFile { plan: plan.clone(), place: RecordPlace::Current, path: current });
        }
        let is_archived =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ARCHIVED));
        for path in entries(&home.join("archive"))?.into_iter().filter(is_archived) {
            records.push(RecordFile { plan: plan.clone(), place: RecordPlace::Archive, path });
        }
    }
    records.sort();
    Ok(records)
}

/// A run's state and history, or none if the journal holds no run.
pub fn review(path: &Path) -> Result<Option<(State, History)>, RecordError> {
    let mut history = History::default();
    let state = load_at(path, |event| history.record(event))?;
    Ok(state.map(|state| (state, history)))
}

/// The entries of a folder; none if there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, RecordsError> {
    let unreadable = |source| RecordsError { path: folder.to_owned(), source };
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| entry.map(|entry| entry.path()).map_err(unreadable)).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// `specs-auth` is the folder of the spec `auth`.
fn plan_name(home: &Path) -> String {
    let name = home.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix("specs-").unwrap_or(&name).to_owned()
}

/// The reason why a record is of no use.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal holds an event that cannot have happened.
    #[error("the journal at {} contradicts itself", path.display())]
    Impossible {
        /// The journal.
        path: PathBuf,
        /// The event that cannot have happened.
        source: Impossible,
    },
}

/// The state of a plan's run, or none if it was never run. `each` sees every event in passing.
pub fn load(file: &PlanFile, each: impl FnMut(&Event)) -> Result<Option<State>, RecordError> {
    load_at(&file.journal(), each)
}

/// Loads a journal that may be kept anywhere.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_journal_is_found_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::discover(folder.path()).unwrap();
        assert_eq!(records(&project).unwrap(), [], "nothing was run here");
        for file in [
            "specs-b/journal.jsonl",
            "specs-b/archive/20260127T000000000Z-journal.jsonl",
            "specs-b/archive/20260126T000000000Z-journal.jsonl",
            "specs-b/archive/20260126T000000000Z-ralph-state.json",
            "specs-a/lock",
            "plan/journal.jsonl",
            "logs/retry.log",
        ] {
            let path = folder.path().join(".tillgreen").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        fs::write(folder.path().join(".tillgreen/stray"), "").unwrap();
        let found: Vec<String> = records(&project)
            .unwrap()
            .iter()
            .map(|record| {
                format!("{} {:?} {}", record.plan, record.place, record.path.file_name().unwrap().display())
            })
            .collect();
        assert_eq!(
            found,
            [
                "b Archive 20260126T000000000Z-journal.jsonl",
                "b Archive 20260127T000000000Z-journal.jsonl",
                "b Current journal.jsonl",
                "plan Current journal.jsonl",
            ]
        );
    }

    #[test]
    fn a_journal_without_a_run_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(review(&folder.path().join("journal.jsonl")).unwrap().is_none());
        let path = folder.path().join("other.jsonl");
        fs::write(&path, "not a journal\n").unwrap();
        assert!(review(&path).is_err());
    }
}
