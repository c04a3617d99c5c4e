//! Trackers: the tools whose tasks can be taken over, and how a source of theirs is named.

use std::fmt;
use std::path::Path;

use super::{Listing, beads, github, prd, task_master};
use crate::yaml::read_yaml_leniently;

/// A tool whose tasks can be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracker {
    /// task-master's `tasks.json`.
    TaskMaster,
    /// `prd.json`.
    Prd,
    /// The issues of beads.
    Beads,
    /// Issues at GitHub.
    GitHub,
}

/// Where the tasks of a plan come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A file, by its path from the project's root.
    File(String),
    /// Issues with a label.
    Label(String),
    /// Issues of a milestone.
    Milestone(String),
}

/// The origin of a plan, as its front matter tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Where its tasks come from.
    pub address: Address,
    /// The branch that the source named.
    pub branch: Option<String>,
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It is not JSON.
    #[error("it is not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, and not what such files hold.
    #[error("{0} was expected in it")]
    NotThis(&'static str),
}

const LABEL: &str = "github:label=";
const MILESTONE: &str = "github:milestone=";
/// The keys of the front matter.
pub(super) const FROM_KEY: &str = "imported_from";
pub(super) const BRANCH_KEY: &str = "imported_branch";

impl Address {
    /// Reads an address; none where it is one of GitHub's that names nothing, or no line.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        if text.chars().any(char::is_control) {
            return None;
        }
        let named = |name: &str| Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        if let Some(label) = text.strip_prefix(LABEL) {
            return named(label).map(Self::Label);
        }
        if let Some(milestone) = text.strip_prefix(MILESTONE) {
            return named(milestone).map(Self::Milestone);
        }
        (!text.is_empty() && !text.starts_with("github:")).then(|| Self::File(text.to_owned()))
    }

    /// The tracker that it belongs to, as far as its name tells.
    #[must_use]
    pub fn tracker(&self, text: &str) -> Tracker {
        let Self::File(path) = self else { return Tracker::GitHub };
        if Path::new(path).extension().is_some_and(|extension| extension == "jsonl") {
            Tracker::Beads
        } else if text.contains("\"userStories\"") {
            Tracker::Prd
        } else {
            Tracker::TaskMaster
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => formatter.write_str(path),
            Self::Label(label) => write!(formatter, "{LABEL}{label}"),
            Self::Milestone(milestone) => write!(formatter, "{MILESTONE}{milestone}"),
        }
    }
}

impl Tracker {
    /// Its name, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskMaster => "task-master",
            Self::Prd => "prd.json",
            Self::Beads => "beads",
            Self::GitHub => "GitHub",
        }
    }

    /// Reads what a source lists.
    ///
    /// # Errors
    /// The text is not what the tracker writes.
    pub fn read(self, text: &str) -> Result<Listing, SourceError> {
        match self {
            Self::TaskMaster => task_master::read(text),
            Self::Prd => prd::read(text),
            Self::Beads => beads::read(text),
            Self::GitHub => github::read(text),
        }
    }
}

impl Imported {
    /// The origin of a plan; none where it was not taken over from anywhere.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("---")?;
        let head = &rest[..rest.find("\n---")?];
        if !head.contains(FROM_KEY) {
            return None;
        }
        let (value, _) = read_yaml_leniently(head.trim_start_matches(['\r', '\n']));
        let word = |key: &str| value.get(key).and_then(crate::Value::text).filter(|word| !word.is_empty());
        Some(Self { address: Address::read(&word(FROM_KEY)?)?, branch: word(BRANCH_KEY) })
    }
}
