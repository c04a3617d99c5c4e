//! Files of work that changed after it was verified. What was verified is what is committed: the files are moved away for
//! the moment of the commit, and lie there as they were afterwards. And where the work goes out of the project again, what
//! was made of its files besides is kept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use super::error::GitError;
use super::history::Oid;
use super::landed_files::Left;
use super::landing_note::LandingNote;
use super::merge::Merge;
use super::raw_change::{RawChange, index_info};
use super::repository::Git;
use super::scratch_index::ScratchIndex;
use super::stamps::Stamps;

/// Files that were moved away for the moment, and what is in their place.
#[derive(Debug)]
pub struct Since {
    paths: Vec<OsString>,
    left: Left,
    stamps: Stamps,
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

    /// Makes these files what they are in a tree, and moves away what they have become since. None if they are the same.
    pub fn set_back(&self, tree: &Oid, paths: &[String]) -> Result<Option<Since>, GitError> {
        self.set_back_to(tree, &paths.iter().map(OsString::from).collect())
    }

    /// The same for the files of the landing that is under way: they are what was applied and verified.
    pub fn set_landing_back(&self, stamps: Option<&Stamps>) -> Result<Option<Since>, GitError> {
        let is_untouched = stamps.is_some_and(|stamps| stamps.hold(self.root()));
        let Some(note) = LandingNote::read(self.git_dir())?.filter(|_| !is_untouched) else {
            return Ok(None);
        };
        if self.head()?.as_ref() != Some(&note.head) {
            return Ok(None);
        }
        let changes = self.differences(&note.head, &note.tree)?;
        let files = self.rewritten(&changes, &self.before(&note, &changes)?)?;
        self.set_back_to(&note.tree, &files.into_iter().collect())
    }

    fn set_back_to(&self, tree: &Oid, paths: &BTreeSet<OsString>) -> Result<Option<Since>, GitError> {
        let Some(on_disk) = self.tree_with(paths.iter().map(OsString::as_os_str))? else { return Ok(None) };
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
        Ok(left.map(|left| Since { paths: there, left, stamps }))
    }

    fn write_files(&self, changes: &[RawChange]) -> Result<(), GitError> {
        let files = changes.iter().filter(|change| !change.new.is_absent());
        let index = ScratchIndex::empty(self, self.root(), self.git_dir());
        index.set(index_info(files.map(|change| (change.path.as_os_str(), &change.new))))?;
        index.run(&["checkout-index", "--force", "--all", "--quiet"], Vec::new())?.success().map(drop)
    }

    /// Puts the files there again. What somebody wrote in their place meanwhile stays, and they are left where they are.
    pub fn bring_since(&self, since: Since) -> Result<Option<Left>, GitError> {
        if !since.stamps.hold(self.root()) {
            return Ok(Some(since.left));
        }
        for path in &since.paths {
            let (from, to) = (since.left.folder.join(path), self.root().join(path));
            to.parent().map_or(Ok(()), fs::create_dir_all).map_err(GitError::io("create", &to))?;
            fs::rename(&from, &to)
                .or_else(|_| fs::copy(&from, &to).map(drop))
                .map_err(GitError::io("write", &to))?;
        }
        // All that it holds is back, or a copy.
        let _ = fs::remove_dir_all(&since.left.folder);
        // Whatever else is kept beside it keeps the folder above.
        let _ = since.left.folder.parent().map(fs::remove_dir);
        Ok(None)
    }

    /// Whether a commit is there, in the history or not.
    pub fn has_commit(&self, commit: &Oid) -> bool {
        self.tree_of(commit).is_some()
    }

    /// Before a landing goes out of the project: moves away what its files hold besides the work itself, which is told as
    /// the commit that it was made on and its own.
    pub fn keep_besides(&self, (base, work): (&Oid, &Oid)) -> Result<Option<Left>, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(None) };
        if self.landed(&note.head, (&note.trailer.0, &note.trailer.1))?.is_some() {
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
