//! Commits in the project itself where hooks may make something else of what is committed than was verified. What they
//! made is taken back, verified where it lies, and then taken in as it is.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use super::commit::{Commit, Staging, acceptable};
use super::put_back::Left;
use super::whole_commit::has_new_mode;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{RawChange, names};
use crate::git::repository::Git;

/// What became of a commit that was to be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBack {
    /// Whether it is no longer in the history of what is checked out.
    pub is_out: bool,
    /// What was in its files besides.
    pub left: Option<Left>,
}

impl Git {
    /// The tree that a commit of these paths comes to unless somebody changes something on the way. None where nobody
    /// would, or where it cannot be told.
    pub fn tree_to_be(&self, request: &Commit<'_>) -> Result<Option<Oid>, GitError> {
        if !self.has_commit_hook() || self.head()?.is_none() {
            return Ok(None);
        }
        let paths = acceptable(request)?;
        match request.staging {
            Staging::Whole => self.whole_tree(&paths).map(Some),
            Staging::Add | Staging::AddSeen | Staging::Skip => self.tree_with(paths.iter().copied()),
        }
    }

    /// The tree that is checked out with these paths as they are on disk; none if git cannot tell.
    pub(in crate::git) fn tree_with<'a>(
        &self,
        paths: impl Iterator<Item = &'a OsStr>,
    ) -> Result<Option<Oid>, GitError> {
        let index = ScratchIndex::of_main(self)?;
        index.read_tree("HEAD")?;
        let paths = names(paths);
        let put = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        if !index.run(&put, paths)?.is_success() {
            return Ok(None);
        }
        index.write_tree().map(Some)
    }

    /// What a commit of these paths was made on, if a hook made something else of it than was meant. That somebody committed
    /// in between is no hook's doing: their commits are below it, and what they hold is not looked at.
    pub fn changed_by_hook(
        &self,
        request: &Commit<'_>,
        (commit, meant): (&Oid, &Oid),
    ) -> Result<Option<Oid>, GitError> {
        if self.tree_of(commit)? == *meant {
            return Ok(None);
        }
        let Some(parent) = self.commit_before(commit)? else { return Ok(None) };
        let paths = acceptable(request)?;
        let is_of_it = |change: &RawChange| paths.contains(change.path.as_os_str());
        let is_other = self.differences(meant, commit)?.iter().any(is_of_it)
            || !self.differences(&parent, commit)?.iter().all(is_of_it);
        Ok(is_other.then_some(parent))
    }

    /// Takes a commit of these paths back that was made on top of another. The files are then what it holds of them;
    /// what a hook left otherwise in them is moved away, and told. Where somebody has committed on top it stays, and the
    /// files are what is checked out.
    pub fn take_back(&self, before: &Oid, commit: &Oid, paths: &[String]) -> Result<TakenBack, GitError> {
        let made = self.differences(before, commit)?;
        let mut all: BTreeSet<OsString> =
            paths.iter().filter(|path| !path.ends_with('/')).map(OsString::from).collect();
        all.extend(made.iter().map(|change| change.path.clone()));
        // A mode that only the index may know stays in it until it is known what is on disk.
        let known_by_disk = made.iter().filter(|change| self.is_as_on_disk(change) && !has_new_mode(change));
        let is_out = self.step_back((commit, before), &known_by_disk.collect::<Vec<_>>())?;
        let there = if is_out { None } else { self.head()? };
        let there = there.as_ref().unwrap_or(commit);
        let on_disk = self.whole_tree(&all.iter().map(OsString::as_os_str).collect())?;
        let mut left = None;
        if self.tree_of(there)? != on_disk {
            let other = self.differences(&on_disk, there)?;
            let held = other.iter().filter(|change| !change.old.is_absent() && !change.old.is_gitlink());
            self.set_aside(held.map(|change| change.path.clone()), &mut left)?;
            let made = other.iter().filter(|change| !change.new.is_absent()).map(RawChange::shown);
            self.restore(there.as_str(), &made.collect::<Vec<_>>())?;
        }
        // What only the index knows stays in it: nothing else tells that it is meant.
        let known_by_index = made.iter().filter(|change| !self.is_as_on_disk(change));
        for change in known_by_index {
            all.remove(&change.path);
        }
        self.unstage(&all)?;
        Ok(TakenBack { is_out, left })
    }

    /// Takes a commit in again, if that is what the files are and what it was made on is checked out.
    pub fn take_in_again(&self, commit: &Oid) -> Result<bool, GitError> {
        let Some(before) = self.head()? else { return Ok(false) };
        if self.parent_of(commit)? != before {
            return Ok(false);
        }
        let paths: BTreeSet<OsString> =
            self.differences(&before, commit)?.into_iter().map(|change| change.path).collect();
        let on_disk = self.whole_tree(&paths.iter().map(OsString::as_os_str).collect())?;
        if self.tree_of(commit)? != on_disk {
            return Ok(false);
        }
        if !self.step_ahead((&before, commit))? {
            return Ok(false);
        }
        self.unstage(&paths)?;
        Ok(true)
    }
}
