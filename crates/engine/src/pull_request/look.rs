//! A pull request as one look at the forge shows it.

use serde::{Deserialize, Serialize};

/// Everything that one look shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The state: open, closed or merged.
    pub openness: Openness,
    /// The commit that its branch is at.
    pub head: String,
    /// How it stands to its base.
    pub merge: MergeState,
    /// Its checks.
    pub checks: Vec<Check>,
    /// Its reviews, in any order.
    pub reviews: Vec<Review>,
    /// Its review threads.
    pub threads: Vec<Thread>,
    /// The reviewers whose review is asked for and has not come yet.
    pub requested: Vec<String>,
}

/// The state of a pull request: open or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Openness {
    /// It is.
    Open,
    /// It was closed without being merged.
    Closed,
    /// It was merged.
    Merged,
}

/// How a pull request stands to its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeState {
    /// Nothing is in the way of merging.
    Fine,
    /// The forge does not allow it, such as for want of an approval.
    Blocked,
    /// The base has commits that the branch has to take in first.
    Behind,
    /// Both changed the same places.
    Conflicting,
    /// The forge has not worked it out yet.
    Unknown,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The label that tells it from the others: its name, with that of its workflow.
    pub label: String,
    /// Where it stands.
    pub state: CheckState,
    /// True if the base branch requires it.
    pub required: bool,
    /// The identity that tells this run of it from another one.
    pub id: String,
    /// The workflow run that it is part of, if it can be run again.
    pub run: Option<u64>,
    /// Where people can read about it.
    pub url: String,
    /// The check's own words in a line.
    pub summary: String,
}

/// Where a check stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Green, or left out on purpose.
    Passed,
    /// Not ended yet.
    Pending,
    /// Red.
    Failed,
    /// Ended by somebody before it came to a result.
    Cancelled,
    /// Somebody has to allow it first.
    NeedsApproval,
}

/// A review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// Its identity.
    pub id: String,
    /// The author.
    pub author: String,
    /// The verdict.
    pub state: ReviewState,
    /// The text.
    pub body: String,
    /// When, in a form that sorts.
    pub at: String,
    /// The commit that it is about; empty where that is not known.
    pub commit: String,
}

/// The verdict of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewState {
    /// Yes.
    Approved,
    /// No, as long as nothing changes.
    ChangesRequested,
    /// Taken back.
    Dismissed,
    /// Neither yes nor no.
    Commented,
    /// Still being written.
    Pending,
}

/// A review thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its identity.
    pub id: String,
    /// True if somebody called it resolved.
    pub resolved: bool,
    /// The file that it is about.
    pub path: String,
    /// The line there.
    pub line: Option<u64>,
    /// The last comment that is not an answer of ours.
    pub comment: String,
    /// The author of that.
    pub author: String,
    /// The text of that in a line.
    pub summary: String,
    /// The text of all comments, the oldest first.
    pub text: String,
}

impl Thread {
    /// True if somebody wrote in it.
    pub(crate) fn has_words_of(&self, author: &str) -> bool {
        let is_by = |line: &str| line.strip_prefix(author).is_some_and(|rest| rest.starts_with(": "));
        self.author == author || self.text.lines().any(is_by)
    }
}

impl Look {
    /// The review that counts of each author: the latest that says yes or no or was taken back. A mere comment
    /// does not take a no back.
    pub(crate) fn latest_reviews(&self) -> Vec<&Review> {
        let mut latest: std::collections::BTreeMap<&str, &Review> = std::collections::BTreeMap::new();
        for review in &self.reviews {
            if review.state == ReviewState::Commented {
                continue;
            }
            let known = latest.entry(&review.author).or_insert(review);
            if review.at >= known.at {
                *known = review;
            }
        }
        latest.into_values().collect()
    }

    /// The last word of each author who neither agreed nor disagreed, but wrote something.
    pub(crate) fn remarks(&self) -> Vec<&Review> {
        let mut last: std::collections::BTreeMap<&str, &Review> = std::collections::BTreeMap::new();
        for review in self.reviews.iter().filter(|review| !review.body.trim().is_empty() || is_word(review)) {
            let known = last.entry(&review.author).or_insert(review);
            if review.at >= known.at {
                *known = review;
            }
        }
        last.into_values().filter(|review| review.state == ReviewState::Commented).collect()
    }
}

/// True if a review says yes or no, or takes that back, with or without a text.
fn is_word(review: &Review) -> bool {
    review.state != ReviewState::Commented
}
