//! What somebody did to the project's index alone. What is on disk and not ignored is the work, in a work tree and here: what
//! only the index says is not. Left there, it would be in the next commit of anybody's.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use super::whole_commit::STAGED;
use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::raw_change::{RawChange, names};
use crate::git::repository::Git;
use crate::git::status::{Change, ChangeKind};
use crate::tree::is_own;

impl Change {
    /// Whether the index may say something here that the disk does not: it differs from the last commit, and the disk does
    /// from it, or it lacks what may be there.
    pub fn may_be_of_index_only(&self, root: &Path) -> bool {
        // A repository that was added and has become plain files is one to the index still.
        let is_folder = || fs::symlink_metadata(root.join(&self.path)).is_ok_and(|found| found.is_dir());
        let is_new_folder = || self.kind == ChangeKind::Added && is_folder();
        self.staged && (self.unstaged || self.kind == ChangeKind::Deleted || is_new_folder())
    }
}

impl Git {
    /// Has the index say of these paths what is on disk, as adding all that is not ignored would have it. What was taken out
    /// of it and is still there is in it again; tells which. The program's own files are in nobody's index.
    pub fn follow_disk(&self, paths: &BTreeSet<&str>) -> Result<Vec<String>, GitError> {
        if self.head()?.is_none() {
            return Ok(Vec::new());
        }
        let staged = RawChange::parse_all(process::run(self.call(&STAGED))?)?;
        let staged = staged.iter().filter(|change| paths.contains(change.shown().as_str()));
        let (mut taken_out, mut unstaged, mut other) = (Vec::new(), BTreeSet::new(), Vec::new());
        for change in staged {
            let is_there = self.is_file(&change.path) || self.is_repository(&change.path);
            if change.new.is_absent() {
                taken_out.extend(self.is_as_it_was(change).then_some(change.path.as_os_str()));
            } else if change.old.is_absent() && (!is_there || is_own(&change.shown())) {
                unstaged.insert(change.path.clone());
            } else if is_there {
                other.push(change.path.as_os_str());
            }
        }
        let ignored = self.ignored_and_untracked(&taken_out)?;
        taken_out.retain(|path| !ignored.contains(*path));
        unstaged.extend(taken_out.iter().map(OsString::from));
        self.unstage(&unstaged)?;
        if !other.is_empty() {
            let update = ["update-index", "-z", "--stdin"];
            let stdin = names(other);
            self.run_locking(|| self.locking_call(&update, stdin.clone()))?.success()?;
        }
        Ok(taken_out.into_iter().map(|path| path.to_string_lossy().into_owned()).collect())
    }

    /// Whether there is still, as far as that is to be seen from outside, what a commit has.
    fn is_as_it_was(&self, change: &RawChange) -> bool {
        if change.old.is_gitlink() { self.is_repository(&change.path) } else { self.is_file(&change.path) }
    }

    /// Whether a folder of the project is a repository of its own. A link to one is a link.
    pub(crate) fn is_repository(&self, path: &OsStr) -> bool {
        let folder = self.root().join(path);
        fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir()) && folder.join(".git").exists()
    }
}
