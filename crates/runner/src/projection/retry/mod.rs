//! The retry protocol's files: `retry.log` for people, `retry.jsonl` for programs, `retry-state.json` for whoever
//! wants to know what is being retried right now.

mod entry;
mod log;
mod retention;
mod state;

pub(crate) use log::RetryLog;
pub(crate) use state::RetryState;
