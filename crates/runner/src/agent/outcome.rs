//! How an agent ended by its own account, before anybody reads what its final message claims.

use engine::{Session, Usage};

use super::trouble::Trouble;

/// What an agent's output amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// How it ended.
    pub conclusion: Conclusion,
    /// Its final message.
    pub message: String,
    /// The session that it can be taken up again by.
    pub session: Option<Session>,
    /// What this attempt used.
    pub usage: Usage,
}

/// How an agent ended by its own account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// Its final event was never seen.
    #[default]
    Cut,
    /// Its final event says that all went well.
    Finished,
    /// Its final event says that all went well, and yet it was not permitted something it tried.
    Denied(String),
    /// It says that it could not go on.
    Trouble(Trouble),
    /// It has no events: its exit code and its output are all there is.
    Plain,
}
