//! Plans of trackers that cannot be run in place: what a source lists, the `tasks.md` that is made of it, and the smallest
//! edit by which the source says that a task is done. Text in, values and edits out; how the text is had is for others.

mod beads;
mod block;
mod github;
mod json;
mod listing;
mod merge;
mod prd;
mod task_master;
mod tracker;

pub use block::write;
pub use github::issue_number;
pub use listing::{Group, Item, LeftOut, Listing};
pub use merge::{Known, Merged, merge};
pub use tracker::{Address, Imported, SourceError, Tracker};
