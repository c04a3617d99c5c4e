//! Everything that the program asks of the `git` program. The user's configuration, hooks and credentials apply,
//! which is why it is the program and not a library.
//!
//! When to commit what, and what a commit means to a run, is decided elsewhere.
//!
//! Each folder leans on those below it:
//!
//! - `trees`, `landings`: linked working trees, and their work coming in;
//! - `commits`: those in the project itself;
//! - `customs`: what the repository is set up to do;
//! - `calls`: running the program.

mod broken_index;
mod calls;
mod commits;
mod customs;
mod diff;
mod difference;
mod error;
mod hindrance;
mod history;
mod landings;
mod raw_change;
mod references;
mod remote;
mod repository;
mod slot_tree;
mod stamps;
mod status;
mod trees;

#[cfg(test)]
mod tests;

pub use calls::process::COMMIT_DEADLINE;
pub(crate) use calls::process::LOCATION_VARIABLES;
pub(crate) use calls::stopping::{
    LastWait, end_all, end_all_and_exit, interrupt, is_interrupted, say_through,
};
pub use commits::commit::{Commit, Staging};
pub use commits::hooked_commit::TakenBack;
pub use commits::put_back::Left;
pub(crate) use commits::put_back::free_place;
pub use commits::way_back::{Missing, WayBack};
pub(crate) use customs::ignored_before::RULES;
pub use customs::own_customs::OwnCustoms;
pub use diff::DiffExtent;
pub use difference::Paths;
pub use error::GitError;
pub use history::Oid;
pub use landings::landed_files::Sight;
pub use landings::landing::{Applied, Dropped, Landing, Novelty};
pub use landings::landing_commit::Landed;
pub use landings::merge::Conflict;
pub use landings::since::{SetBack, Since};
pub use references::References;
pub(crate) use remote::JOIN;
pub use remote::Joined;
pub use repository::{Git, MINIMUM_VERSION};
pub(crate) use slot_tree::{Shown, Tracked, remove_folder};
pub use stamps::Stamps;
pub use status::{Change, ChangeKind, Status};
pub use trees::furnish::Furnishing;
pub use trees::inside::Inside;
pub use trees::keep::Keep;
pub use trees::pack::Packed;
pub use trees::parallelism::{Parallelism, Reason};
pub use trees::snapshot::{Touched, TreeWork};
pub use trees::unsaved::Unsaved;
