//! Everything that the program asks of the forge, through the `gh` program and `git push`: the user's login and
//! credentials apply. What it means for the run is decided by the engine.
//!
//! Each job looks before it acts, so that doing it again after a crash changes nothing: a pull request is found by
//! its branch, an answer by the mark that it carries, a check that was run again by the number of its attempts.
//! Nothing here forces a push, and nothing pushes to the branch that pull requests are merged into.

mod call;
mod command;
mod description;
mod issues;
mod jobs;
mod logs;
mod look;
mod proposal;
mod publish;
mod remote;
mod setback;
mod start;
mod survey;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use call::{CallContext, Caller, Stopper};
pub(crate) use command::ForgeCommand;
pub use description::description;
pub(crate) use issues::{close_issue, issues};
pub use proposal::outline;
pub use setback::{MINIMUM_VERSION, missing};
pub use survey::foresee;
pub(crate) use survey::{Survey, Surveyed};
