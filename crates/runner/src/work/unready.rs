//! What keeps a slot from being ready. None of it is a failure of the task.

use std::path::PathBuf;

use crate::git::GitError;

/// Why a slot cannot be worked in.
#[derive(Debug)]
pub(crate) enum Unready {
    /// Git cannot make it, or cannot show the commit in it.
    NoTree(GitError),
    /// The set-up command failed.
    SetUp {
        /// The command.
        command: String,
        /// What it printed.
        output: String,
        /// How it ended.
        reason: String,
    },
    /// There is too little space left where trees lie.
    LowDisk {
        /// Where.
        folder: PathBuf,
        /// How much is left.
        free_bytes: u64,
        /// How much is wanted.
        wanted_bytes: u64,
    },
    /// The run is to end.
    Interrupted,
}

impl std::fmt::Display for Unready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}
