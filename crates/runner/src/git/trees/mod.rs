//! Linked working trees: made, filled, furnished, looked at, packed and removed.

pub(super) mod carry;
pub(super) mod embed;
pub(super) mod furnish;
pub(super) mod hidden;
pub(super) mod ignored;
pub(super) mod index_as_left;
pub(super) mod inside;
pub(super) mod keep;
pub(super) mod known_indexes;
pub(super) mod link;
pub(super) mod orphan;
pub(super) mod pack;
pub(super) mod parallelism;
pub(super) mod plain_snapshot;
pub(super) mod pristine;
pub(super) mod snapshot;
pub(super) mod spare;
pub(super) mod submodule_places;
pub(super) mod submodules;
pub(super) mod template;
pub(super) mod uncommitted;
pub(super) mod unsaved;
pub(super) mod walk;
pub(super) mod worktree;
