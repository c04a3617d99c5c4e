//! What the project will come to once work has come in that is still on its way: put together as a tree, without a change
//! in the project, and then in a linked working tree, so that it can be verified there.

use std::path::Path;

use super::landing_note::LandingNote;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::commits::restore::delete;
use crate::git::error::GitError;
use crate::git::formats::raw_change::{RawChange, index_info};
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::trees::snapshot::TreeWork;
use crate::tree::is_own;

impl Git {
    /// What a commit or tree becomes with the changes between `base` and `commit`; none where both change the same file.
    pub fn joined_plainly(&self, base: &Oid, head: &Oid, commit: &Oid) -> Option<Oid> {
        self.merge_plainly(base, head, commit)
    }

    /// Whether attributes of files differ between two commits or trees.
    pub fn changes_attributes(&self, before: &Oid, after: &Oid) -> Result<bool, GitError> {
        Ok(self.differences(before, after)?.iter().any(RawChange::is_attributes))
    }

    /// Makes the files of a linked working tree, which are those of a commit or tree, those of another. What is not to come
    /// back from there stays as it is. Whether that was possible.
    pub fn change_tree(&self, work: &TreeWork<'_>, from: &Oid, to: &Oid) -> Result<bool, GitError> {
        let mut changes = self.differences(from, to)?;
        changes.retain(|change| is_work(change, work));
        if changes.iter().any(|change| change.old.is_gitlink() || change.new.is_gitlink()) {
            return Ok(false);
        }
        let (gone, there): (Vec<&RawChange>, Vec<&RawChange>) =
            changes.iter().partition(|change| change.new.is_absent());
        for change in gone {
            delete(work.tree, Path::new(&change.path))?;
        }
        if there.is_empty() {
            return Ok(true);
        }
        let state = self.state_of(work.tree)?;
        let index = ScratchIndex::empty(self, work.tree, &state);
        index.set(index_info(there.iter().map(|change| (change.path.as_os_str(), &change.new))))?;
        Ok(index.run(&["checkout-index", "--force", "--all", "--quiet"], Vec::new())?.is_success())
    }

    /// Whether the files of a linked working tree are those of a tree, but for what is not to come back from there.
    pub fn tree_holds(&self, work: &TreeWork<'_>, tree: &Oid) -> Result<bool, GitError> {
        Ok(self.content_of(&TreeWork { base: tree, ..*work })? == *tree)
    }

    /// Whether what is half in the project makes it this tree, but for the files at some paths.
    pub fn lands_as(&self, tree: &Oid, apart: &[String]) -> Result<bool, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(false) };
        Ok(self.differences(tree, &note.tree)?.iter().all(|change| change.lies_in(apart)))
    }
}

fn is_work(change: &RawChange, work: &TreeWork<'_>) -> bool {
    !is_own(&change.shown()) && !change.lies_in(work.furnished) && !change.lies_in(work.dropped)
}
