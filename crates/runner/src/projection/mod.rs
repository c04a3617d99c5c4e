//! What is written beside the journal for people and other tools. All of it can be made again from the state.

mod progress;
mod state_file;

pub(crate) use progress::{Progress, learnings_in};
pub(crate) use state_file::StateFile;
pub use state_file::{Problem as StateFileProblem, StateFileError};
