//! From flags, `tillgreen.toml` and the unfinished run to the settings of a run.

mod agents;
mod file;
mod keyword;
mod layer;
mod live;
mod notify;
mod origins;
mod path_list;
mod pull_request;
mod recorded;
mod resolve;
mod units;

#[cfg(test)]
mod page;
#[cfg(test)]
mod tests;

pub(crate) use agents::{KNOWN_AGENTS, KnownAgent, Programs, find_agent, how_to_install, program_of};
pub use file::settings_problem;
pub(crate) use file::{FILE_NAME, FileSettings};
pub(crate) use layer::{SettingsLayer, limit, nonblank};
pub(crate) use live::LiveReader;
pub(crate) use origins::{CommandOrigin, of_plan, of_settings};
pub(crate) use pull_request::PullRequestLayer;
pub(crate) use recorded::{apply_recorded, from_recorded};
pub(crate) use resolve::{
    Attendance, Mode, ProofSettings, Resolved, Sources, parallel_settings, proof_settings, resolve,
};
pub(crate) use units::{format_dollars, parse_dollars, parse_duration, parse_tokens};
