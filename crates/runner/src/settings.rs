//! Everything a run is told, with all defaults resolved. Where a value came from (flag, file, earlier run) is
//! the binary's business.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Rules, Toggle};

use crate::git::Furnishing;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine's policy.
    pub rules: Rules,
    /// Who does the work.
    pub agent: Agent,
    /// How long an attempt may take.
    pub attempt_timeout: Duration,
    /// How long an agent may stay silent.
    pub no_progress_timeout: Duration,
    /// How long a verify command may take.
    pub verify_timeout: Duration,
    /// How long a judging agent may take.
    pub review_timeout: Duration,
    /// Who ticks and commits.
    pub bookkeeping: Bookkeeping,
    /// What a change outside the task's files means.
    pub scope: Scope,
    /// Whether a verify that proves nothing is an error.
    pub strict: Toggle,
    /// Whether a failed attempt's changes are taken back before the next one.
    pub clean_retry: Toggle,
    /// Whether a dirty tree is accepted at the start of a new run.
    pub allow_dirty: Toggle,
    /// What the work trees of tasks that run side by side are given.
    pub furnishing: Furnishing,
    /// The command that has to be green at the very end.
    pub regression: Option<String>,
    /// What the pull request is like.
    pub pull_request: PullRequest,
    /// The settings as text, kept in the journal so that the run can be continued with them.
    pub launch: BTreeMap<String, String>,
}

/// What a pull request is like; how it is looked after is the engine's policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequest {
    /// Whether there is to be one; where nothing was said, the plan decides.
    pub wanted: Option<Toggle>,
    /// Its title; without one it is made from the plan's name.
    pub title: Option<String>,
    /// The branch that it is to be merged into; without one, the default branch.
    pub base: Option<String>,
    /// Whether it is created as a draft.
    pub draft: Toggle,
}

/// An agent that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The name it goes by.
    pub name: String,
    /// The command that is given to `sh -c`, the prompt coming on standard input.
    pub command: String,
}

/// Who ticks the box and commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bookkeeping {
    /// The program.
    Coordinator,
    /// The agent, and the program checks that it did.
    Agent,
}

/// What a change outside the task's files means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A warning.
    Warn,
    /// A rejection.
    Reject,
    /// Nothing.
    Off,
}
