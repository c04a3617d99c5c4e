//! From flags, `tillgreen.toml` and the unfinished run to the settings of a run.

mod agent;
mod agent_table;
mod amount;
mod cast;
mod choices;
mod duration;
mod file;
mod known;
mod launch;
mod live;
mod paths;
mod pull_request;
mod resolve;
mod word;

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;

pub(crate) use agent::{Programs, program_of};
pub(crate) use amount::spell_dollars;
pub(crate) use cast::named;
pub(crate) use choices::{Choices, limit};
pub(crate) use file::{FILE_NAME, FileSettings};
pub(crate) use known::{KNOWN, Known, how_to_install};
pub(crate) use launch::from_launch;
pub(crate) use live::LiveReader;
pub(crate) use resolve::{Attendance, Mode, Resolved, Sources, Start, beside, resolve};
