//! Everything that the program asks of the `git` program. The user's configuration, hooks and credentials apply,
//! which is why it is the program and not a library.
//!
//! When to commit what, and what a commit means to a run, is decided elsewhere.

mod anchor;
mod carry;
mod child_note;
mod commit;
mod error;
mod exclude;
mod furnish;
mod hindrance;
mod history;
mod hooked_commit;
mod ignored;
mod index_lock;
mod index_tree;
mod inside;
mod keep;
mod landed_files;
mod landing;
mod landing_commit;
mod landing_index;
mod landing_note;
mod link;
mod listening;
mod lock_holder;
mod merge;
mod obstacle;
mod orphan;
mod pack;
mod parallelism;
mod plain_commit;
mod process;
mod put_back;
mod raw_change;
mod references;
mod remote;
mod repository;
mod restore;
mod scratch_index;
mod since;
mod snapshot;
mod spare;
mod stale_lock;
mod stamps;
mod standing;
mod status;
mod submodules;
mod tree_diff;
mod tree_merge;
mod tree_object;
mod way_back;
mod worktree;

#[cfg(test)]
mod tests;

pub use commit::{COMMIT_DEADLINE, Commit, Staging};
pub use error::GitError;
pub use furnish::Furnishing;
pub use history::Oid;
pub use inside::Inside;
pub use keep::Keep;
pub use landed_files::{Left, Sight};
pub use landing::{Applied, Dropped, Landing, Novelty};
pub use landing_commit::Landed;
pub use merge::Conflict;
pub use pack::Packed;
pub use parallelism::{Parallelism, Reason};
pub(crate) use put_back::free_place;
pub use references::References;
pub(crate) use remote::JOIN;
pub use remote::Joined;
pub use repository::{Git, MINIMUM_VERSION};
pub use since::Since;
pub use snapshot::{Touched, TreeWork};
pub use spare::Pool;
pub use stamps::Stamps;
pub use status::{Change, ChangeKind, Status};
pub use way_back::{Missing, WayBack};
