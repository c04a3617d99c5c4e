//! A plan is written by an agent. That is a run of its own, of one task, in a copy of the project: a repository that
//! shares nothing with it but objects that are only read. So attempts, feedback, limits and the record are those of any
//! task, and the task's verify command is this program, which examines what was written.
//!
//! Nothing of the copy gets into the project but the one text that was examined, and that only if a person accepts it.

mod brief;
mod checks;
mod commands;
mod draft;
mod examine;
mod prompt;
mod trial;

pub use brief::{Brief, Wanted};
pub(crate) use draft::lock_among;
pub use draft::{Draft, PlanningError};
pub use examine::{Examined, ProposedPlan, examine};
pub(crate) use prompt::prompt;
#[cfg(test)]
pub(crate) use prompt::{PLANNER, PLANNER_OF_COMMANDS};
pub use trial::{Trial, Tried};
