//! Packing the work of a linked working tree into one commit on top of its base, kept alive by a reference until it
//! has landed.

use super::keep::Keep;
use super::snapshot::{Snapshot, Touched, TreeWork};
use crate::git::calls::process;
use crate::git::commits::commit::{Commit, full_message, lacks_identity};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// What a tree came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The commit.
    pub commit: Oid,
    /// What changed and cannot come back.
    pub left_out: Vec<String>,
}

impl Git {
    /// Packs the work of a linked tree. None: nothing changed. Doing it again gives another commit with the same
    /// content, and the reference then keeps that one.
    ///
    /// No hook runs and nothing is signed here; that happens where the work lands.
    pub fn pack(
        &self,
        work: &TreeWork<'_>,
        message: &str,
        trailer: (&str, &str),
        keep: &Keep,
    ) -> Result<Option<Packed>, GitError> {
        let (touched, commit) = self.pack_touched(work, message, trailer, keep)?;
        Ok(commit.map(|commit| Packed { commit, left_out: touched.left_out }))
    }

    /// The same, telling what changed.
    pub fn pack_touched(
        &self,
        work: &TreeWork<'_>,
        message: &str,
        trailer: (&str, &str),
        keep: &Keep,
    ) -> Result<(Touched, Option<Oid>), GitError> {
        let request = Commit { trailer: Some(trailer), ..Commit::new(&[], message) };
        let message = full_message(&request)?;
        self.pack_once(work, &message, keep)
    }

    fn pack_once(
        &self,
        work: &TreeWork<'_>,
        message: &str,
        keep: &Keep,
    ) -> Result<(Touched, Option<Oid>), GitError> {
        let snapshot = self.snapshot(work)?;
        if snapshot.changes.is_empty() {
            return Ok((snapshot.touched(), None));
        }
        let commit = self.commit_tree(work, &snapshot.tree, message.to_owned())?;
        self.keep_submodules(&snapshot, keep)?;
        self.keep(keep, &commit)?;
        Ok((snapshot.touched(), Some(commit)))
    }

    fn commit_tree(&self, work: &TreeWork<'_>, tree: &Oid, message: String) -> Result<Oid, GitError> {
        let list = ["commit-tree", tree.as_str(), "-p", work.base.as_str(), "-F", "-"];
        let ended = process::run(self.locking_call(&list, message.into_bytes()))?;
        if lacks_identity(&ended.stderr) {
            return Err(GitError::NoIdentity { root: self.root().to_owned() });
        }
        Oid::printed(ended)
    }

    /// Commits that the agent made in submodules are kept there.
    fn keep_submodules(&self, snapshot: &Snapshot, keep: &Keep) -> Result<(), GitError> {
        for change in snapshot.changes.iter().filter(|change| change.new.is_gitlink()) {
            self.keep_in(&self.root().join(&change.path), keep.reference(), &change.new.oid)?;
        }
        Ok(())
    }
}
