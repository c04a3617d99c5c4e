//! A task that a red check or a review asks for.

use plan::TaskId;
use serde::{Deserialize, Serialize};

/// A task that the pull request asks for. Its texts are other people's: they are made harmless before they enter
/// a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The task's id.
    pub id: TaskId,
    /// The thing that asks for it.
    pub origin: Origin,
    /// A line that says what it is about.
    pub summary: String,
    /// The end of the log, or what the thread says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The file that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Further files that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_files: Vec<String>,
    /// The commit that it was asked for at.
    pub head: String,
}

/// The thing that asks for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A red check.
    Check {
        /// Its label.
        check: String,
        /// The step of it that failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// Where people can read about it.
        url: String,
    },
    /// A review thread.
    Thread {
        /// Its identity.
        thread: String,
        /// The comment that is the latest one.
        comment: String,
        /// The author.
        author: String,
    },
    /// A review as a whole.
    Review {
        /// Its identity.
        review: String,
        /// The author.
        author: String,
    },
}

/// A check that is to be run again or whose log is to be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRef {
    /// Its label.
    pub label: String,
    /// The identity that tells this run of it from another one.
    pub id: String,
    /// The workflow run that it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Where people can read about it.
    #[serde(default)]
    pub url: String,
    /// The check's own words in a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

impl Request {
    /// The task's title.
    pub fn title(&self) -> String {
        let summary = plan::summary(&self.summary);
        match &self.origin {
            Origin::Check { check, .. } => {
                let about = if summary.is_empty() { plan::summary(check) } else { summary };
                format!("Fix CI failure: {about}")
            }
            Origin::Thread { author, .. } | Origin::Review { author, .. } => {
                format!("Address review: {} - {summary}", plan::summary(author))
            }
        }
    }
}
