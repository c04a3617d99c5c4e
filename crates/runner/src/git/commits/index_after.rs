//! The index after a commit of some paths. Git makes such a commit from an index of its own, in which hooks work as well: of
//! what they put in besides, the index that people use knows nothing, and the next commit would take it out again.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::split_names;
use crate::git::repository::Git;

impl Git {
    /// Further paths of a commit, which hooks have put there, are in the index what they are in HEAD, unless somebody staged
    /// something else there.
    pub(in crate::git) fn follow_hook(&self, commit: &Oid, paths: &BTreeSet<&OsStr>) -> Result<(), GitError> {
        if !self.has_commit_hook() {
            return Ok(());
        }
        let before = self.parent_of(commit)?;
        let made = self.differences(&before, commit)?.into_iter().map(|change| change.path);
        let further = made.filter(|path| !paths.contains(path.as_os_str()));
        self.catch_up((&before, commit), further.collect())
    }

    /// After a commit that somebody has committed on top of already: its paths are in the index what they are in HEAD.
    pub(in crate::git) fn follow_below(&self, commit: &Oid) -> Result<(), GitError> {
        let before = self.parent_of(commit)?;
        let paths = self.differences(&before, commit)?.into_iter().map(|change| change.path).collect();
        self.catch_up((&before, commit), paths)
    }

    /// After a commit that a hook made something else of than was meant, and that somebody has committed on top of: git
    /// leaves in the index what was meant, and the next commit would undo what the hook did. If theirs did so already, the
    /// files are what they committed.
    pub(in crate::git) fn follow_changed(&self, meant: &Oid, commit: &Oid) -> Result<(), GitError> {
        let made = self.differences(meant, commit)?;
        self.catch_up((meant, commit), made.iter().map(|change| change.path.clone()).collect())?;
        let Some(head) = self.head()? else { return Ok(()) };
        let now: BTreeSet<OsString> =
            self.differences(meant, &head)?.into_iter().map(|change| change.path).collect();
        let undone = made.into_iter().filter(|change| !now.contains(&change.path));
        let undone = undone.map(|change| (change.path, change.new)).collect();
        let edited = self.unlike(&undone)?;
        let untouched = undone.keys().filter(|path| !edited.contains(*path));
        let untouched: Vec<String> = untouched.filter_map(|path| path.to_str().map(str::to_owned)).collect();
        self.restore(head.as_str(), &untouched)
    }

    /// Makes paths of a commit in the index what they are in HEAD if they are still what they were before it: otherwise
    /// somebody staged something else there.
    fn catch_up(
        &self,
        (before, commit): (&Oid, &Oid),
        mut paths: BTreeSet<OsString>,
    ) -> Result<(), GitError> {
        if paths.is_empty() || self.head()?.as_ref() != Some(commit) && !self.contains(commit.as_str())? {
            return Ok(());
        }
        let staged = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", before.as_str(), "--"];
        for path in split_names(&process::run(self.call(&staged))?.success()?) {
            paths.remove(&path);
        }
        self.unstage(&paths)
    }

    /// Names of files that were only meant to be added, and are not: a hook refused the commit.
    pub(in crate::git) fn forget_intent(&self, paths: &BTreeSet<&OsStr>) -> Result<(), GitError> {
        let meant = ["diff-files", "--name-only", "-z", "--diff-filter=A", "--"];
        let meant = process::run(self.call(&meant))?.success()?;
        self.unstage(&split_names(&meant).filter(|path| paths.contains(path.as_os_str())).collect())
    }
}
