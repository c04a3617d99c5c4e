//! The things that the lifecycle waits for while it watches.

use serde::{Deserialize, Serialize};

/// The thing that is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Awaited {
    /// The forge has not taken notice of the push yet.
    Head,
    /// Checks that have not ended.
    Checks {
        /// How many have not.
        pending: usize,
        /// How many there are.
        total: usize,
        /// Some of those that have not.
        names: Vec<String>,
    },
    /// Any check at all.
    FirstCheck,
    /// Somebody who allows checks to run.
    Approval {
        /// Which checks.
        names: Vec<String>,
    },
    /// Somebody who resolves threads or reviews again.
    Review {
        /// How many threads are not resolved.
        threads: usize,
        /// The reviewers who say no.
        reviewers: Vec<String>,
    },
    /// The forge works out whether it can be merged.
    Mergeability,
    /// All is green, but more checks may be about to appear.
    MoreChecks,
    /// All is green, but the forge does not allow the merge.
    Allowance,
    /// The forge merges it as soon as its turn comes.
    MergeQueue,
}

impl Awaited {
    /// True if this is the same thing as another, whatever the details.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// True if this is over in a moment or not at all, so that the next look may come soon.
    pub(crate) fn is_brief(&self) -> bool {
        match self {
            Self::MoreChecks | Self::Allowance => true,
            Self::Head
            | Self::Checks { .. }
            | Self::FirstCheck
            | Self::Approval { .. }
            | Self::Review { .. }
            | Self::Mergeability
            | Self::MergeQueue => false,
        }
    }

    /// In words.
    pub fn text(&self) -> String {
        match self {
            Self::Head => "the forge to take notice of the push".to_owned(),
            Self::Checks { pending, total, names } => {
                format!("{pending} of {total} checks: {}", listed(names, *pending))
            }
            Self::FirstCheck => "a first check to appear".to_owned(),
            Self::Approval { names } => format!("somebody to allow {}", listed(names, names.len())),
            Self::Review { threads, reviewers } => review_text(*threads, reviewers),
            Self::Mergeability => "the forge to work out whether it can be merged".to_owned(),
            Self::MoreChecks => "more checks that may be about to appear".to_owned(),
            Self::Allowance => "the forge to allow the merge".to_owned(),
            Self::MergeQueue => "the forge to merge it, which it has agreed to".to_owned(),
        }
    }
}

fn review_text(threads: usize, reviewers: &[String]) -> String {
    let threads = match threads {
        0 => None,
        1 => Some("1 thread to be resolved".to_owned()),
        more => Some(format!("{more} threads to be resolved")),
    };
    let again =
        (!reviewers.is_empty()).then(|| format!("{} to review again", listed(reviewers, reviewers.len())));
    threads.into_iter().chain(again).collect::<Vec<_>>().join(" and ")
}

fn listed(names: &[String], total: usize) -> String {
    let shown = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    match total.saturating_sub(names.len().min(5)) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
