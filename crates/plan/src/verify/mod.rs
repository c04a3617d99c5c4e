//! Verifying a task, as its plan has it: commands that can be run, prose for somebody to judge, or nothing.
//!
//! When in doubt it is prose: prose never reaches a shell, and a command whose exit code says the opposite of
//! what the sentence around it asks for is worse than none.

mod classify;
mod command;
mod count;
mod in_text;
mod prose;

pub use classify::Verify;
pub(crate) use classify::{classify, classify_automated};
pub(crate) use command::is_program;
pub(crate) use in_text::{commands_in, is_check_alone};
