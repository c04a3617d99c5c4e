//! Linked working trees: made, filled, furnished, looked at, packed and removed.

pub(super) mod carry;
pub(super) mod embed;
pub(super) mod furnish;
pub(super) mod hidden;
pub(super) mod ignored;
pub(super) mod index_as_left;
pub(super) mod inside;
pub(super) mod keep;
pub(super) mod orphan;
pub(super) mod pack;
pub(super) mod parallelism;
pub(super) mod snapshot;
pub(super) mod submodule_places;
pub(super) mod submodules;
pub(super) mod uncommitted;
pub(super) mod unsaved;
pub(super) mod worktree;
