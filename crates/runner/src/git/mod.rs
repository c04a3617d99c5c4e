//! Everything that the program asks of the `git` program. The user's configuration, hooks and credentials apply,
//! which is why it is the program and not a library.
//!
//! When to commit what, and what a commit means to a run, is decided elsewhere.

mod child_note;
mod commit;
mod error;
mod exclude;
mod history;
mod process;
mod remote;
mod repository;
mod restore;
mod stale_lock;
mod status;

#[cfg(test)]
mod tests;

pub use commit::{COMMIT_DEADLINE, Commit, Staging};
pub use error::GitError;
pub use history::Oid;
pub use remote::Joined;
pub use repository::{Git, MINIMUM_VERSION};
pub use status::{Change, ChangeKind, Status};
