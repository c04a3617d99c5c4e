//! The way of work from a slot onto the user's branch: joined, committed and verified in the landing tree, then one
//! fast-forward; and what has to hold for that: the lock on the project, and a history that has all work before it.

pub(crate) mod history;
pub(crate) mod land;
pub(crate) mod project_lock;
