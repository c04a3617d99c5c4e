//! An index that somebody removed or broke. Git takes one that is missing for an empty one, in which all files are staged
//! to be deleted: nothing is looked at or committed on top of that, and whoever is told can have git make it anew.

use std::fs;
use std::io::ErrorKind;

use super::calls::process;
use super::error::GitError;
use super::repository::Git;

impl Git {
    /// Refuses a project whose index is missing.
    pub(in crate::git) fn refuse_without_index(&self) -> Result<(), GitError> {
        let file = self.git_dir().join("index");
        match fs::symlink_metadata(&file) {
            // Without a file there need not be one.
            Err(error) if error.kind() == ErrorKind::NotFound && !self.has_no_files()? => {
                Err(GitError::NoIndex { file, reason: "is missing" })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Refuses a project whose index is missing, or one that git cannot read.
    pub fn refuse_broken_index(&self) -> Result<(), GitError> {
        self.refuse_without_index()?;
        // Git reads all of it to find nothing.
        let ended = process::run(self.call(&["ls-files", "--", ":(top,literal).git"]))?;
        let file = self.git_dir().join("index");
        if ended.is_success() { Ok(()) } else { Err(GitError::NoIndex { file, reason: "is broken" }) }
    }

    /// True if nothing is checked out of which an index could tell.
    pub(in crate::git) fn has_no_files(&self) -> Result<bool, GitError> {
        let Some(head) = self.head()? else { return Ok(true) };
        let listing = process::run(self.call(&["ls-tree", "--name-only", head.as_str()]))?.success()?;
        Ok(listing.is_empty())
    }
}
