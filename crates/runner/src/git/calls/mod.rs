//! Running the `git` program: processes that are started, asked, waited for and ended, and the notes and locks that they leave.

pub(super) mod child_note;
pub(super) mod earlier;
pub(super) mod listening;
pub(super) mod lock_holder;
pub(super) mod own_index;
pub(super) mod process;
pub(super) mod stale_lock;
pub(super) mod stopping;
