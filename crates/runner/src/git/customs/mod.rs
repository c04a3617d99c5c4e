//! What a repository is set up to do: settings, attributes, what it ignores, and how files and commits come out by that.

pub(super) mod check_ignore;
pub(super) mod configuration;
pub(super) mod exclude;
pub(super) mod habits;
pub(super) mod misdirection;
pub(super) mod own_customs;
