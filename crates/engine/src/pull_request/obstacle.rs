//! The obstacles that keep the lifecycle from going on until a person has done something about them.

use serde::{Deserialize, Serialize};

/// The obstacle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// The project is not a git repository.
    NoRepository,
    /// The repository has no remote.
    NoRemote,
    /// The remote is not one that has pull requests.
    NotAForge {
        /// The remote's name.
        remote: String,
        /// Its address.
        url: String,
    },
    /// The forge has no such repository, or does not show it to this login.
    NoSuchRepository {
        /// `OWNER/NAME`.
        repository: String,
    },
    /// The repository on the forge has no commits, so that there is nothing to merge into.
    NoBase {
        /// `OWNER/NAME`.
        repository: String,
    },
    /// The forge's program is missing or too old.
    NoProgram {
        /// The trouble with it.
        reason: String,
    },
    /// Nobody is logged in, or the login is not accepted.
    NoLogin {
        /// The message.
        detail: String,
    },
    /// The login may not do this.
    NotPermitted {
        /// The message.
        detail: String,
    },
    /// No branch is checked out.
    Detached,
    /// The branch that is checked out is the one that pull requests are merged into.
    DefaultBranch {
        /// Its name.
        branch: String,
    },
    /// The branch does not accept the push.
    Protected {
        /// Its name.
        branch: String,
        /// The message.
        detail: String,
    },
    /// Somebody replaced commits of the branch that had been pushed.
    Rewritten {
        /// Its name.
        branch: String,
    },
    /// The branch has nothing that its base does not have.
    NothingToPropose {
        /// Its name.
        branch: String,
        /// The base.
        base: String,
    },
    /// The commits of the other side do not go together with those that are here.
    Conflict {
        /// The branch on the other side.
        with: String,
        /// The remote, or the address, that it is on.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        from: String,
    },
    /// Somebody closed the pull request.
    Closed {
        /// Its number.
        number: u64,
        /// Where it is.
        url: String,
    },
    /// Somebody merged the pull request before everything was in it.
    MergedWithout {
        /// Its number.
        number: u64,
        /// Where it is.
        url: String,
    },
    /// A check was cancelled, and cancelled again.
    Cancelled {
        /// Which.
        checks: Vec<String>,
        /// Where the pull request is.
        url: String,
    },
    /// Checks that the pull request had are gone, and none is left or it would be merged without them.
    ChecksGone {
        /// Which.
        checks: Vec<String>,
        /// Where the pull request is.
        url: String,
    },
    /// Somebody wants changes and does not say which.
    Wordless {
        /// The reviewers.
        reviewers: Vec<String>,
        /// Where the pull request is.
        url: String,
    },
    /// The forge does not merge it.
    NotMerged {
        /// Where it is.
        url: String,
        /// The message.
        detail: String,
    },
    /// The forge refused something else.
    Refused {
        /// The command.
        command: String,
        /// The message.
        detail: String,
    },
}
