//! How a commit comes back into the history of what is checked out, without costing anybody another one.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// How many steps of a branch's own record are looked at.
const STEPS_MAX: usize = 100;

/// What is missing, and what is known of where it was.
#[derive(Debug, Clone, Copy)]
pub struct Missing<'a> {
    /// The commit that is not in the history.
    pub commit: &'a Oid,
    /// One on top of it that was checked out, if any is known.
    pub known: Option<&'a Oid>,
    /// The branch that was checked out then.
    pub branch: Option<&'a str>,
}

/// What to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WayBack {
    /// It is on a branch, and another one is checked out.
    CheckOut(String),
    /// What is checked out is a part of its history.
    Reset(Oid),
    /// What is checked out has commits of its own, which would be gone.
    Merge(Oid),
}

impl Git {
    /// How the commit, with all that came on top of it, is had again.
    pub fn way_back(&self, missing: Missing<'_>) -> Result<WayBack, GitError> {
        if let Some(branch) = self.branch_with(&missing)? {
            return Ok(WayBack::CheckOut(branch));
        }
        let newest = self.newest_with(&missing)?;
        let is_part = self.is_ancestor("HEAD", newest.as_str())?;
        Ok(if is_part { WayBack::Reset(newest) } else { WayBack::Merge(newest) })
    }

    /// Another branch that has the commit; that from before, if it is one of them.
    fn branch_with(&self, missing: &Missing<'_>) -> Result<Option<String>, GitError> {
        let list =
            ["for-each-ref", "--format=%(refname)", "--contains", missing.commit.as_str(), "refs/heads"];
        let listing = process::run(self.call(&list))?;
        let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
        let now = self.branch()?;
        let names = listing.lines().filter_map(|line| line.strip_prefix("refs/heads/"));
        // Somebody may paste it into a shell.
        let names: Vec<&str> = names.filter(|name| is_plain(name) && now.as_deref() != Some(name)).collect();
        let before = missing.branch.filter(|name| names.contains(name));
        Ok(before.or(names.first().copied()).map(str::to_owned))
    }

    /// The youngest commit that was checked out and has this one in its history. What came after the work tells that it
    /// is done, and is missing without it.
    fn newest_with(&self, missing: &Missing<'_>) -> Result<Oid, GitError> {
        let branch = missing.branch.filter(|name| is_plain(name) && !name.contains(".."));
        let branch = branch.map(|name| self.common_dir().join("logs/refs/heads").join(name));
        let records = branch.into_iter().chain([self.git_dir().join("logs/HEAD")]);
        let candidates = records.flat_map(steps).chain(missing.known.cloned());
        let mut seen = BTreeSet::new();
        for candidate in candidates.filter(|candidate| seen.insert(candidate.clone())) {
            if self.is_ancestor(missing.commit.as_str(), candidate.as_str())? {
                return Ok(candidate);
            }
        }
        Ok(missing.commit.clone())
    }
}

/// What a branch was moved to, the latest first. Some keep no such record.
fn steps(record: PathBuf) -> Vec<Oid> {
    let record = fs::read(record).unwrap_or_default();
    let record = String::from_utf8_lossy(&record);
    let lines = record.lines().rev().take(STEPS_MAX);
    lines.filter_map(|line| Oid::parse(line.split(' ').nth(1)?)).collect()
}

fn is_plain(name: &str) -> bool {
    !name.starts_with('-')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./+".contains(&byte))
}
