//! Files that somebody took out of the index and left on disk as they were, `git rm --cached`. What is on disk and not ignored
//! is the work, so a commit has nothing of it; the index would delete them with the next commit of anybody's.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

use super::whole_commit::STAGED;
use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::formats::raw_change::RawChange;
use crate::git::repository::Git;
use crate::git::status::Change;

impl Git {
    /// After the work is committed: those of its paths that are still staged to be deleted although they are there are in
    /// the index again, as they are in the history. Tells which.
    pub fn stage_again(&self, changes: &[Change]) -> Result<Vec<String>, GitError> {
        let is_there = |path: &str| fs::symlink_metadata(self.root().join(path)).is_ok();
        let staged = changes.iter().filter(|change| change.staged && is_there(&change.path));
        let suspects: BTreeSet<&str> = staged.map(|change| change.path.as_str()).collect();
        if suspects.is_empty() {
            return Ok(Vec::new());
        }
        let staged = RawChange::parse_all(process::run(self.call(&STAGED))?)?.into_iter();
        let is_left =
            |change: &RawChange| change.new.is_absent() && suspects.contains(change.shown().as_str());
        let left: BTreeSet<OsString> = staged.filter(is_left).map(|change| change.path).collect();
        if !left.is_empty() {
            self.unstage(&left)?;
        }
        Ok(left.iter().map(|path| path.to_string_lossy().into_owned()).collect())
    }
}
