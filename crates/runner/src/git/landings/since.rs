//! Files of work that changed after it was verified. What was verified is what is committed: the files are moved away for
//! the moment of the commit, and lie there as they were afterwards. And where the work goes out of the project again, what
//! was made of its files besides is kept.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;

use super::landing_note::LandingNote;
use super::merge::Merge;
use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::commits::put_back::Left;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{RawChange, index_info};
use crate::git::repository::Git;
use crate::git::stamps::Stamps;

/// Files that were moved away for the moment, and what is in their place.
#[derive(Debug)]
pub struct Since {
    left: Left,
    stamps: Stamps,
}

/// How making files what they were came out.
#[derive(Debug)]
pub enum SetBack {
    /// They are, and so they were.
    Unchanged,
    /// They are, and this was moved away.
    Done(Since),
    /// Somebody writes or commits them in this very moment. They are as they were left.
    Busy,
}

impl Since {
    /// Which files, for people to read.
    pub fn files(&self) -> &[String] {
        &self.left.paths
    }
}

impl Git {
    /// What is checked out, with these files as they are on disk; none if git cannot tell.
    pub fn tree_of_work(&self, paths: &[String]) -> Result<Option<Oid>, GitError> {
        if self.head()?.is_none() {
            return Ok(None);
        }
        self.tree_with(paths.iter().filter(|path| !path.ends_with('/')).map(AsRef::as_ref))
    }

    /// Makes these files what they are in a tree, and moves away what they have become since. Nobody has committed since a
    /// certain commit was checked out, or it is not done: what somebody has committed is not to be older again.
    pub fn set_back(&self, (head, tree): (&Oid, &Oid), paths: &[String]) -> Result<SetBack, GitError> {
        self.set_back_to((head, tree), &paths.iter().map(OsString::from).collect())
    }

    /// The same for the files of the landing that is under way: they are what was applied and verified.
    pub fn set_landing_back(&self, stamps: Option<&Stamps>) -> Result<SetBack, GitError> {
        let is_untouched = stamps.is_some_and(|stamps| stamps.hold(self.root()));
        let Some(note) = LandingNote::read(self.git_dir())?.filter(|_| !is_untouched) else {
            return Ok(SetBack::Unchanged);
        };
        if self.head()?.as_ref() != Some(&note.head) {
            return Ok(SetBack::Unchanged);
        }
        let changes = self.differences(&note.head, &note.tree)?;
        let files = self.rewritten(&changes, &self.before(&note, &changes)?)?;
        self.set_back_to((&note.head, &note.tree), &files.into_iter().collect())
    }

    fn set_back_to(
        &self,
        (head, tree): (&Oid, &Oid),
        paths: &BTreeSet<OsString>,
    ) -> Result<SetBack, GitError> {
        let Some(on_disk) = self.tree_with(paths.iter().map(OsString::as_os_str))? else {
            return Ok(SetBack::Unchanged);
        };
        let mut changes = self.differences(&on_disk, tree)?;
        changes.retain(|change| {
            paths.contains(&change.path) && !change.old.is_gitlink() && !change.new.is_gitlink()
        });
        let there = changes.iter().filter(|change| !change.old.is_absent());
        let there: Vec<OsString> = there.map(|change| change.path.clone()).collect();
        let mut left = None;
        self.set_aside(there.iter().cloned(), &mut left)?;
        self.write_files(&changes)?;
        let stamps = Stamps::of(self.root(), there.iter());
        let since = left.map(|left| Since { left, stamps });
        if self.is_set_back((head, tree), &changes)? {
            return Ok(since.map_or(SetBack::Unchanged, SetBack::Done));
        }
        since.map_or(Ok(None), |since| self.bring_since(since)).map(|_| SetBack::Busy)
    }

    /// Whether these files are what they should be and nobody has committed, or is about to commit what they were before.
    fn is_set_back(&self, (head, tree): (&Oid, &Oid), changes: &[RawChange]) -> Result<bool, GitError> {
        let _lock = match IndexLock::take(self) {
            Err(GitError::Locked { .. }) => return Ok(false),
            lock => lock?,
        };
        let paths: BTreeSet<&OsStr> = changes.iter().map(|change| change.path.as_os_str()).collect();
        let Some(on_disk) = self.tree_with(paths.iter().copied())? else { return Ok(false) };
        let is_other = |change: &RawChange| paths.contains(change.path.as_os_str());
        Ok(self.head()?.as_ref() == Some(head) && !self.differences(&on_disk, tree)?.iter().any(is_other))
    }

    fn write_files(&self, changes: &[RawChange]) -> Result<(), GitError> {
        let files = changes.iter().filter(|change| !change.new.is_absent());
        let index = ScratchIndex::empty(self, self.root(), self.git_dir());
        index.set(index_info(files.map(|change| (change.path.as_os_str(), &change.new))))?;
        // Without force: what somebody wrote since stays. Whether the files are there shows whether it worked.
        index.run(&["checkout-index", "--all", "--quiet"], Vec::new()).map(drop)
    }

    /// Puts the files there again. What somebody wrote in their place meanwhile stays, and they are left where they are.
    pub fn bring_since(&self, since: Since) -> Result<Option<Left>, GitError> {
        let (back, stay) = since.stamps.parted(self.root());
        for path in back {
            let (from, to) = (since.left.folder.join(path), self.root().join(path));
            to.parent().map_or(Ok(()), fs::create_dir_all).map_err(GitError::io("create", &to))?;
            fs::rename(&from, &to)
                .or_else(|_| fs::copy(&from, &to).map(drop))
                .map_err(GitError::io("write", &to))?;
        }
        if !stay.is_empty() {
            let paths = stay.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            return Ok(Some(Left { paths, ..since.left }));
        }
        // All that it holds is back, or a copy.
        let _ = fs::remove_dir_all(&since.left.folder);
        // Whatever else is kept beside it keeps the folder above.
        let _ = since.left.folder.parent().map(fs::remove_dir);
        Ok(None)
    }

    /// Whether a commit is there, in the history or not.
    pub fn has_commit(&self, commit: &Oid) -> bool {
        self.tree_of(commit).is_ok()
    }

    /// Before a landing goes out of the project: moves away what its files hold besides the work itself, which is told as
    /// the commit that it was made on and its own.
    pub fn keep_besides(&self, (base, work): (&Oid, &Oid)) -> Result<Option<Left>, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(None) };
        if self.landed_as_noted(&note)?.is_some() {
            return Ok(None);
        }
        let landed = self.differences(&note.head, &note.tree)?;
        let other = match self.merge(base, &note.head, work)? {
            Merge::Clean(alone) => self.differences(&alone, &note.tree)?,
            Merge::Conflict(_) => landed.clone(),
        };
        let landed: BTreeSet<&OsString> = landed.iter().map(|change| &change.path).collect();
        let other = other.iter().filter(|change| landed.contains(&change.path) && !change.new.is_gitlink());
        let mut left = None;
        let files = other.map(|change| change.path.clone()).filter(|path| self.is_file(path));
        self.set_aside(files.collect::<Vec<_>>(), &mut left)?;
        Ok(left)
    }
}
