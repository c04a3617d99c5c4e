//! The pull request as a look at it shows it.

/// The moment of a look: what it shows may depend on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The how manieth commit of the branch was pushed, from 1.
    pub push: usize,
    /// The how manieth look at that commit it is, from 1.
    pub look: usize,
    /// How often the failed jobs were run again at that commit.
    pub reruns: usize,
    /// How many answers were given in threads.
    pub answers: usize,
    /// How often somebody was asked for a review.
    pub requests: usize,
}

/// Everything that a look shows besides the commit.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The checks.
    pub checks: Vec<Check>,
    /// The reviews.
    pub reviews: Vec<Review>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// `MERGEABLE`, `CONFLICTING` or `UNKNOWN`.
    pub mergeable: &'static str,
    /// `CLEAN`, `BEHIND`, `DIRTY`, `BLOCKED` and so on.
    pub merge_state: &'static str,
}

impl Default for Sight {
    fn default() -> Self {
        Self {
            checks: vec![Check::passed("build")],
            reviews: Vec::new(),
            threads: Vec::new(),
            mergeable: "MERGEABLE",
            merge_state: "CLEAN",
        }
    }
}

/// A check.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// `COMPLETED`, `IN_PROGRESS`, `QUEUED`.
    pub status: &'static str,
    /// `SUCCESS`, `FAILURE` and so on.
    pub conclusion: &'static str,
    /// True if the base requires it.
    pub required: bool,
    /// The log of its only step.
    pub log: String,
    /// True if it is a status that another service reports, and no job.
    pub external: bool,
}

impl Check {
    /// One that is green.
    pub fn passed(name: &'static str) -> Self {
        Self {
            name,
            status: "COMPLETED",
            conclusion: "SUCCESS",
            required: false,
            log: String::new(),
            external: false,
        }
    }

    /// One that is red.
    pub fn failed(name: &'static str, log: &str) -> Self {
        Self { conclusion: "FAILURE", log: log.to_owned(), ..Self::passed(name) }
    }

    /// One that ended in another way.
    pub fn ended(name: &'static str, conclusion: &'static str) -> Self {
        Self { conclusion, ..Self::passed(name) }
    }

    /// One that has not ended.
    pub fn pending(name: &'static str) -> Self {
        Self { status: "IN_PROGRESS", conclusion: "", ..Self::passed(name) }
    }
}

/// A review.
#[derive(Clone, Debug)]
pub struct Review {
    /// Its author.
    pub author: &'static str,
    /// `APPROVED`, `CHANGES_REQUESTED` and so on.
    pub state: &'static str,
    /// Its text.
    pub body: &'static str,
    /// When, as a date that sorts.
    pub at: &'static str,
    /// The how manieth commit of the branch it is about, from 1.
    pub push: usize,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its identity.
    pub id: &'static str,
    /// True if a person resolved it.
    pub resolved: bool,
    /// The file.
    pub path: &'static str,
    /// The line.
    pub line: u64,
    /// Authors and texts; answers of the program are added.
    pub comments: Vec<(&'static str, String)>,
}
