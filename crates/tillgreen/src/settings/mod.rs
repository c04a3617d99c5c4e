//! From flags, `tillgreen.toml` and the unfinished run to the settings of a run.

mod agent;
mod choices;
mod duration;
mod file;
mod launch;
mod pull_request;
mod resolve;
mod suggest;
mod word;

#[cfg(test)]
mod tests;

pub(crate) use agent::{KNOWN, Known, Programs, program_of};
pub(crate) use choices::Choices;
pub(crate) use file::{FILE_NAME, FileSettings};
pub(crate) use launch::from_launch;
pub(crate) use resolve::{Attendance, Mode, Resolved, Sources, Start, resolve};
