//! Everything that the program asks of the `git` program. The user's configuration, hooks and credentials apply,
//! which is why it is the program and not a library.
//!
//! When to commit what, and what a commit means to a run, is decided elsewhere.

mod call;
mod commit;
mod config;
mod copy;
mod diff;
mod exclude;
mod fast_forward;
mod history;
mod hooks;
mod index;
mod merge;
mod parallelism;
mod refs;
mod remote;
mod repository;
mod snapshot;
mod status;
mod worktree;

#[cfg(test)]
mod tests;

pub use call::error::GitError;
pub use call::process::COMMIT_DEADLINE;
pub(crate) use call::process::LOCATION_VARIABLES;
pub use call::stopping::is_interrupted;
pub(crate) use call::stopping::{LastWait, end_all, end_all_and_exit, interrupt, say_through};
pub use commit::{Commit, Staging, Text};
pub use config::ConfigFiles;
pub use diff::{DiffExtent, Paths};
pub use fast_forward::{FastForward, Join};
pub use history::{Missing, Oid, WayBack};
pub use merge::Conflict;
pub use parallelism::{Parallelism, Reason};
pub use refs::{Keep, References};
pub(crate) use remote::JOIN;
pub use remote::Joined;
pub use repository::{Git, MINIMUM_VERSION};
pub use snapshot::{Left, Place};
pub use status::{Change, ChangeKind, Status};
pub(crate) use worktree::{Shown, Tracked, remove_folder};
