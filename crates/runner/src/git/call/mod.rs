//! Running the program `git`: one call, its end, what its errors mean, and locks that it may leave.

pub(super) mod error;
pub(super) mod locks;
pub(super) mod process;
pub(super) mod stopping;
