//! Errors that keep a run from starting, or from going on.

use std::io;
use std::path::PathBuf;

use engine::{Impossible, Obstacle, Refusal};
use plan::{Problem, TaskId};

use crate::git::GitError;
use crate::journal::{JournalError, LockError};
use crate::record::StateFileError;

/// An error that keeps a run from starting, or from going on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan file cannot be read.
    #[error("cannot read {}", path.display())]
    Plan {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The plan has no tasks.
    #[error("{} has no tasks", path.display())]
    EmptyPlan {
        /// The plan.
        path: PathBuf,
    },
    /// Lines that were meant as tasks cannot be read as such.
    #[error("{} has {} error{}", path.display(), problems.len(), if problems.len() == 1 { "" } else { "s" })]
    Malformed {
        /// The plan.
        path: PathBuf,
        /// The problems, with the file each is in and line numbers.
        problems: Vec<(PathBuf, Problem)>,
    },
    /// Tasks that no command can prove, where that was to be an error.
    #[error("no runnable verify command in task {}", list(tasks))]
    Unverifiable {
        /// The tasks.
        tasks: Vec<TaskId>,
    },
    /// The project has changes that are not the run's.
    #[error("the project has uncommitted changes: {}", shortened(paths))]
    Dirty {
        /// The paths.
        paths: Vec<String>,
    },
    /// Every task was to work in a work tree of its own, which cannot be.
    #[error("tasks cannot be isolated here: {reason}")]
    NotIsolated {
        /// The reason.
        reason: String,
    },
    /// Agents were to work in a sandbox, which cannot be had.
    #[error("there can be no sandbox here: {reason}")]
    NoSandbox {
        /// The reason.
        reason: String,
    },
    /// The directive has no effect. Nothing was recorded.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// A pull request was asked for that cannot be made here.
    #[error("the pull request that was asked for cannot be made")]
    NoPullRequest {
        /// The obstacle.
        obstacle: Obstacle,
    },
    /// The state file is of no use.
    #[error(transparent)]
    StateFile(#[from] StateFileError),
    /// Another run holds the plan.
    #[error("another run holds this plan")]
    Lock(#[from] LockError),
    /// The journal cannot be read or written.
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
    /// The journal does not hold all that happened.
    #[error("the journal at {} ends before what was done: attempts/{attempt} is not in it", path.display())]
    Incomplete {
        /// The journal.
        path: PathBuf,
        /// The name of the folder of an attempt that is not in it.
        attempt: String,
    },
    /// Git does not do what is needed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Something came in the way after the run had been started. What is done stays done.
    #[error(transparent)]
    Midway(Box<RunError>),
    /// A file of the run cannot be written.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl RunError {
    /// An error about a file.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

fn list(tasks: &[TaskId]) -> String {
    let names: Vec<String> = tasks.iter().map(ToString::to_string).collect();
    shortened(&names)
}

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
