//! Trees whose work git cannot take in: they are never removed. Before another is made in its place, such a tree is moved
//! to where nobody looks for work, as it is.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::GitError;
use crate::offstage::Site;
use crate::remnant::free_place;
use crate::tree_notes::remnants_file;

/// Why no agent can start in a tree.
#[derive(Debug)]
pub(crate) enum Unready {
    /// There is no tree to be had.
    NoTree(GitError),
    /// What lies in its place cannot be taken over, for a reason that passes. Nothing was changed.
    Held {
        /// The tree that it lies in.
        tree: PathBuf,
        error: GitError,
    },
}

impl From<GitError> for Unready {
    fn from(error: GitError) -> Self {
        Self::NoTree(error)
    }
}

impl Site {
    /// What becomes of a tree whose work could not be packed. Where its files are the reason, it is moved out of the way,
    /// which is told.
    pub(crate) fn strand(&self, error: GitError) -> Result<Option<String>, Unready> {
        let held = |error: GitError| Unready::Held { tree: self.tree.clone(), error };
        if error.is_of_surroundings() {
            return Err(held(error));
        }
        let told = |place: PathBuf| {
            let (tree, place) = (self.tree.display(), place.display());
            format!("what is in {tree} cannot be taken over: {error}; all of it is kept in {place}")
        };
        Ok(self.move_aside().map_err(held)?.map(told))
    }

    /// The same for one that is known to hold what cannot be taken over.
    pub(crate) fn strand_unreadable(&self) -> Result<Option<String>, Unready> {
        if self.remnants().unreadable.is_none() {
            return Ok(None);
        }
        let held = |error: GitError| Unready::Held { tree: self.tree.clone(), error };
        let told = |place: PathBuf| {
            format!("what the attempt before left could not be read and is kept in {}", place.display())
        };
        Ok(self.move_aside().map_err(held)?.map(told))
    }

    /// Moves the tree to a place of its own, and has git forget it. None: it is not there.
    pub(crate) fn move_aside(&self) -> Result<Option<PathBuf>, GitError> {
        let place = free_place(&self.tree);
        let is_there = fs::symlink_metadata(&self.tree).is_ok();
        if is_there {
            move_folder(&self.tree, &place).map_err(GitError::io("move away", &self.tree))?;
        }
        self.git.remove_tree(&self.tree)?;
        // What was noted goes with it; it is not always there.
        let _ = fs::remove_file(remnants_file(&self.tree));
        Ok(is_there.then_some(place))
    }
}

/// Moves a folder, also if an agent took away the right to do so.
fn move_folder(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let rights = fs::symlink_metadata(from)?.permissions().mode();
            fs::set_permissions(from, fs::Permissions::from_mode(rights | 0o700))?;
            fs::rename(from, to)
        }
        ended @ (Ok(()) | Err(_)) => ended,
    }
}
