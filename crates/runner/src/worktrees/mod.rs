//! Work trees beside the project in which agents work: *slots*, linked work trees that are reused from task to task,
//! and the *landing tree*, in which no agent ever works. They lie outside the project, because tools look into parent
//! folders for dependencies and would test the project's files there.
//!
//! Who works in which slot, and what becomes of it, is left to others.

mod canary;
mod copies;
mod detect;
mod editable;
mod environment;
mod location;
mod missing;
mod on_disk;
mod scan;
mod setup;
mod slots;
mod stamp;

#[cfg(test)]
mod tests;

pub(crate) use canary::{Canary, Verdict, canary};
pub(crate) use detect::setting;
pub use detect::{Proposal, propose_setup};
pub(crate) use editable::loads_project;
pub use environment::Variables;
pub(crate) use environment::{environment, relocated};
pub(crate) use missing::{BroughtBy, lacking, lacking_packages, missing, uninstalled};
pub use on_disk::{
    CleanError, PlanTrees, TreeOnDisk, in_words as bytes_in_words, kept_references, remove_trees,
    trees_on_disk,
};
pub(crate) use setup::{SET_UP_DEADLINE, SetUpRunner};
pub use slots::Worktrees;
pub(crate) use slots::{LANDING, PROOF, Slots, Unready};
pub(crate) use stamp::is_manifest_name;
