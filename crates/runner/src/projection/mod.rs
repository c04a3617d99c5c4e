//! What is written beside the journal for people and other tools. All of it can be made again from the state.

mod progress;
mod retry;
mod skipped;
mod state_file;

pub(crate) use progress::{Completed, Progress, learnings_in};
pub(crate) use retry::{RetryLog, RetryState};
pub(crate) use skipped::note_skipped;
pub use state_file::{Problem as StateFileProblem, StateFileError};
pub(crate) use state_file::{StateFile, recovery_mode};
