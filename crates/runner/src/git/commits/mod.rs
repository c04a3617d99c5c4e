//! Commits in the project itself, with the user's hooks, and ways back from them.

pub(super) mod commit;
pub(super) mod restore;
pub(super) mod way_back;
