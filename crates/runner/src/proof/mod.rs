//! The final proof: what is called done is shown once more, in a clean checkout of what is committed. A run takes it at its
//! end, and `prove` at any time.

mod difference;
mod done_task;
mod explain;
mod facts;
mod request;
mod take;

pub(crate) use difference::surroundings;
pub use request::{ProveError, ProveRequest, prove};
