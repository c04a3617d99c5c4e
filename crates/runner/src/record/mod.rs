//! Records of what is done: the work is committed, the box ticked; and what lies beside the journal for people and
//! other tools, all of which can be made again from the state.

pub(crate) mod done;
pub(crate) mod projections;

mod progress;
mod retry_log;
mod retry_state;
mod state_file;
mod state_md;

pub(crate) use progress::{Completed, Progress, learnings_in};
pub(crate) use retry_log::RetryLog;
pub(crate) use retry_state::RetryState;
pub use state_file::{Problem as StateFileProblem, StateFileError};
pub(crate) use state_file::{StateFile, recovery_mode};
pub(crate) use state_md::note_skipped;
