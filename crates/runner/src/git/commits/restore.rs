//! Putting paths back as they were in a commit, for attempts that begin from a clean tree.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::commit::is_inside;
use crate::git::calls::process::{self, pathspecs};
use crate::git::error::GitError;
use crate::git::history::revision;
use crate::git::repository::Git;

impl Git {
    /// Makes these paths what they are in that commit, in the index and on disk; those that it does not have are
    /// deleted. Repositories inside this one (paths ending in a slash) are left alone.
    pub fn restore(&self, head: &str, paths: &[String]) -> Result<(), GitError> {
        let head = revision(head)?;
        if let Some(path) = paths.iter().find(|path| !is_inside(path)) {
            return Err(GitError::Unacceptable { what: "a path", value: path.clone() });
        }
        let paths: BTreeSet<&str> =
            paths.iter().map(String::as_str).filter(|path| !path.ends_with('/')).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", head];
        let stdin = pathspecs(paths.iter().copied());
        self.run_locking(|| self.locking_call(&reset, stdin.clone()))?.success()?;
        let tree = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", head];
        let listing = process::run(self.call(&tree))?.success()?;
        let committed: BTreeSet<&[u8]> = listing.split(|byte| *byte == 0).collect();
        let (kept, new): (Vec<_>, Vec<_>) =
            paths.iter().partition(|path| committed.contains(path.as_bytes()));
        for path in new {
            delete(self.root(), Path::new(path))?;
        }
        self.check_out(&kept)
    }

    fn check_out(&self, paths: &[&str]) -> Result<(), GitError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut names = Vec::new();
        for path in paths {
            names.extend_from_slice(path.as_bytes());
            names.push(0);
        }
        let check_out = ["checkout-index", "--force", "--index", "-z", "--stdin"];
        self.run_locking(|| self.locking_call(&check_out, names.clone()))?.success().map(drop)
    }
}

/// Deletes a file and the folders that this leaves empty, never through a symbolic link.
pub(in crate::git) fn delete(root: &Path, path: &Path) -> Result<(), GitError> {
    let file = root.join(path);
    let folders = || path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    if folders().any(|folder| root.join(folder).is_symlink()) {
        return Ok(());
    }
    match fs::symlink_metadata(&file) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => fs::remove_file(&file).map_err(GitError::io("delete", &file))?,
        Err(error) if is_absence(&error) => {}
        Err(source) => return Err(GitError::io("look at", &file)(source)),
    }
    for folder in folders() {
        // The first folder that is not empty ends it; that is the usual case and no error.
        if fs::remove_dir(root.join(folder)).is_err() {
            break;
        }
    }
    Ok(())
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
