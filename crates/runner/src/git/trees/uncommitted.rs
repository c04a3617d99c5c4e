//! What is not committed inside a submodule, in the main working tree and in linked ones alike: the files are what counts,
//! and of the index only which new files are meant to stay.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::snapshot::repositories_without_commit;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::hindrance::unreadable;
use crate::git::raw_change::{Entry, RawChange, index_info};
use crate::git::repository::Git;
use crate::git::status::Change;

/// What differs, once all that is there is in an index.
#[derive(Debug, Default)]
pub(super) struct Uncommitted {
    pub(super) changes: Vec<RawChange>,
    /// Those of them that are new and that somebody has added.
    meant: Vec<OsString>,
    /// Repositories of their own, which are in no commit.
    pub(super) repositories: Vec<String>,
}

impl Uncommitted {
    /// Puts all that is there into a copy of a submodule's index, and tells what it comes to.
    pub(super) fn find(index: &ScratchIndex<'_>, submodule: &Path) -> Result<Self, GitError> {
        let as_left = index.run(&["ls-files", "-z"], Vec::new())?.stdout;
        let add = ["-c", "core.safecrlf=false", "add", "--all", "--sparse", "--ignore-errors", "--", ":/"];
        // A repository inside stays out; all else is in.
        let ended = index.run(&add, Vec::new())?;
        let unreadable = unreadable(&ended.stderr, |_| true);
        if !unreadable.is_empty() {
            let below = |path: &String| format!("{}/{path}", submodule.display());
            return Err(GitError::Unreadable { paths: unreadable.iter().map(below).collect() });
        }
        let mut repositories = repositories_without_commit(&ended).unwrap_or_default();
        if !ended.is_success() {
            let failure = ended.into_failure();
            if failure.is_of_surroundings() {
                return Err(failure);
            }
        }
        let diff = ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "HEAD", "--"];
        let changes = RawChange::parse_all(index.run(&diff, Vec::new())?)?;
        let is_repository = |change: &RawChange| change.new.is_gitlink() && change.old.is_absent();
        let (nested, changes): (Vec<RawChange>, Vec<RawChange>) =
            changes.into_iter().partition(is_repository);
        let absent = Entry::absent(nested.first().map_or(0, |change| change.new.oid.len()));
        index.set(index_info(nested.iter().map(|change| (change.path.as_os_str(), &absent))))?;
        repositories.extend(nested.iter().map(RawChange::shown));
        let below = |path: &String| format!("{}/{}", submodule.display(), path.trim_end_matches('/'));
        let repositories = repositories.iter().map(below).collect();
        Ok(Self { meant: meant(&as_left, &changes), changes, repositories })
    }

    /// Whether there is anything.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.repositories.is_empty()
    }

    /// The changes, of which a new one is staged if somebody has added it.
    pub(super) fn told(&self) -> Vec<Change> {
        let told = |change: &RawChange| Change { staged: self.meant.contains(&change.path), ..change.told() };
        self.changes.iter().map(told).collect()
    }
}

/// The new files among the names in an index.
fn meant(listing: &[u8], changes: &[RawChange]) -> Vec<OsString> {
    let known: BTreeSet<&[u8]> = listing.split(|byte| *byte == 0).collect();
    let new = changes.iter().filter(|change| change.old.is_absent());
    let is_known = |change: &&RawChange| known.contains(change.path.as_bytes());
    new.filter(is_known).map(|change| change.path.clone()).collect()
}

impl Git {
    /// Where the repository of a submodule of the main working tree is, as that says itself.
    pub(super) fn store_of(&self, main: &Path) -> PathBuf {
        let link = main.join(".git");
        match fs::read_to_string(&link) {
            Ok(text) => main.join(text.trim_end().trim_start_matches("gitdir: ")),
            Err(_) => link,
        }
    }
}
