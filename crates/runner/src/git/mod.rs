//! Everything that the program asks of the `git` program. The user's configuration, hooks and credentials apply,
//! which is why it is the program and not a library.
//!
//! When to commit what, and what a commit means to a run, is decided elsewhere.
//!
//! - `snapshot`, `work`: what lies in a place, as a tree and as a commit;
//! - `landing`, `merge`: how work comes in;
//! - `trees`: linked working trees, and references that keep work;
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
mod landing;
mod merge;
mod raw_change;
mod references;
mod remote;
mod repository;
mod slot_tree;
mod snapshot;
mod stamps;
mod status;
mod trees;
mod work;

#[cfg(test)]
mod tests;

pub use calls::process::COMMIT_DEADLINE;
pub(crate) use calls::process::LOCATION_VARIABLES;
pub(crate) use calls::stopping::{
    LastWait, end_all, end_all_and_exit, interrupt, is_interrupted, say_through,
};
pub use commits::commit::{Commit, Staging};
pub use commits::way_back::{Missing, WayBack};
pub use customs::own_customs::OwnCustoms;
pub use diff::DiffExtent;
pub use difference::Paths;
pub use error::GitError;
pub use history::Oid;
pub use landing::{FastForward, Join, Text};
pub use merge::Conflict;
pub use references::References;
pub(crate) use remote::JOIN;
pub use remote::Joined;
pub use repository::{Git, MINIMUM_VERSION};
pub(crate) use slot_tree::{Shown, Tracked, remove_folder};
pub use snapshot::{Left, Place};
pub use status::{Change, ChangeKind, Status};
pub use trees::keep::Keep;
pub use trees::parallelism::{Parallelism, Reason};
