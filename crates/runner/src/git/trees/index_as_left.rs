//! What the agent of a linked working tree did to its index alone. What is on disk and not ignored is the work: of what was only
//! taken out, `git rm --cached`, nothing comes, which is told; a repository that was added and is plain files by now is those.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::snapshot::TreeWork;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::raw_change::{Entry, RawChange, index_info, lies_in};
use crate::tree::is_own;

/// The index of a tree as its agent left it.
#[derive(Debug, Default)]
pub(super) struct IndexAsLeft(Option<Vec<(OsString, Entry)>>);

impl IndexAsLeft {
    /// Of a copy of it, before all that is there is put into that.
    pub(super) fn read(index: &ScratchIndex<'_>) -> Result<Self, GitError> {
        entries_of(index).map(|entries| Self(Some(entries)))
    }

    fn entries(&self) -> impl Iterator<Item = &(OsString, Entry)> {
        self.0.iter().flatten()
    }

    /// Folders that it holds as repositories and that are none any more: somebody added such a one, and then made plain files
    /// of it. Where there is nothing in the folder, it may be a submodule that is not checked out.
    pub(super) fn emptied_links(&self, work: &TreeWork<'_>) -> Vec<OsString> {
        let links = self.entries().filter(|(_, entry)| entry.is_gitlink()).map(|(name, _)| name);
        let holds_files = |link: &&OsString| {
            let folder = work.tree.join(link);
            let has_files = fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some());
            has_files && fs::symlink_metadata(folder.join(".git")).is_err()
        };
        links.filter(holds_files).cloned().collect()
    }

    /// Puts the files in it that are there into another index. What is in them is still to be read.
    pub(super) fn put_files(&self, index: &ScratchIndex<'_>, work: &TreeWork<'_>) -> Result<(), GitError> {
        match index.set(self.files(work)) {
            // Names that git would not have are not of git's making.
            Err(error @ GitError::Failed { code: Some(_), .. }) if !error.is_of_surroundings() => Ok(()),
            put => put,
        }
    }

    fn files(&self, work: &TreeWork<'_>) -> Vec<u8> {
        let files = self.entries().filter(|(name, entry)| {
            let is_apart = is_own(&name.to_string_lossy())
                || lies_in(name.as_bytes(), work.dropped)
                || lies_in(name.as_bytes(), work.furnished);
            let is_there = || fs::symlink_metadata(work.tree.join(name)).is_ok_and(|found| !found.is_dir());
            !entry.is_gitlink() && !is_apart && is_there()
        });
        index_info(files.map(|(name, entry)| (name.as_os_str(), entry)))
    }

    /// What was not in it and is in the same index now, without being new.
    pub(super) fn lacked(
        &self,
        index: &ScratchIndex<'_>,
        work: &TreeWork<'_>,
        changes: &[RawChange],
    ) -> Result<Vec<String>, GitError> {
        if self.0.is_none() {
            return Ok(Vec::new());
        }
        let is_another = |change: &RawChange| change.old.is_gitlink() != change.new.is_gitlink();
        let new = changes.iter().filter(|change| change.old.is_absent() || is_another(change));
        let new: BTreeSet<&OsStr> = new.map(|change| change.path.as_os_str()).collect();
        let is_apart = |name: &OsStr| {
            let bytes = name.as_bytes();
            new.contains(name) || lies_in(bytes, work.dropped) || lies_in(bytes, work.furnished)
        };
        let known: BTreeSet<&OsStr> = self.entries().map(|(name, _)| name.as_os_str()).collect();
        let now = entries_of(index)?.into_iter().map(|(name, _)| name);
        let missing = now.filter(|name| !known.contains(name.as_os_str()) && !is_apart(name));
        Ok(missing.map(|name| name.to_string_lossy().into_owned()).collect())
    }
}

/// What is in an index, in the order of the names. What is in conflict in it is there more than once.
fn entries_of(index: &ScratchIndex<'_>) -> Result<Vec<(OsString, Entry)>, GitError> {
    let listing = index.run(&["ls-files", "--stage", "-z"], Vec::new())?.success()?;
    Ok(listing.split(|byte| *byte == 0).filter_map(entry_in).collect())
}

/// A record of `ls-files --stage`.
fn entry_in(record: &[u8]) -> Option<(OsString, Entry)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(record.get(..tab)?).ok()?.split(' ');
    let (mode, oid) = (words.next()?.to_owned(), words.next()?.to_owned());
    Some((OsStr::from_bytes(record.get(tab + 1..)?).to_owned(), Entry { mode, oid }))
}
