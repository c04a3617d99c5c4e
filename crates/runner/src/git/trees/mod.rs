//! Linked working trees, and references that keep work.

pub(super) mod keep;
pub(super) mod orphan;
pub(super) mod parallelism;
pub(super) mod worktree;
