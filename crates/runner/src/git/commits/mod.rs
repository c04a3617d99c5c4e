//! Commits in the project itself, with the user's hooks, and ways back from them.

pub(super) mod commit;
pub(super) mod hooked_commit;
pub(super) mod index_after;
pub(super) mod index_only;
pub(super) mod mixed_up;
pub(super) mod put_back;
pub(super) mod restore;
pub(super) mod step;
pub(super) mod way_back;
pub(super) mod whole_commit;
