//! What the agent of a linked working tree did to its index alone. What is on disk and not ignored is the work: of what was only
//! taken out, `git rm --cached`, nothing comes, which is told; a repository that was added and is plain files by now is those.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::snapshot::TreeWork;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::formats::index_file::IndexFile;
use crate::git::formats::raw_change::{Entry, RawChange, index_info, lies_in};
use crate::git::history::Oid;
use crate::tree::is_own;

/// The index of a tree as its agent left it.
#[derive(Debug, Default)]
pub(super) struct IndexAsLeft(Option<Vec<u8>>);

impl IndexAsLeft {
    /// Of the file, or of a copy of it before all that is there is put into that.
    pub(super) fn read(file: &Path) -> Self {
        Self(fs::read(file).ok())
    }

    /// Folders that it holds as repositories and that are none any more: somebody added such a one, and then made plain files
    /// of it. Where there is nothing in the folder, it may be a submodule that is not checked out.
    pub(super) fn emptied_links(&self, work: &TreeWork<'_>) -> Vec<OsString> {
        let index = self.0.as_ref().and_then(|content| IndexFile::parse(content, work.base.width()));
        let entries = index.iter().flat_map(|index| &index.entries);
        let links = entries.filter(|entry| entry.is_gitlink()).map(|entry| OsStr::from_bytes(&entry.name));
        let holds_files = |link: &&OsStr| {
            let folder = work.tree.join(link);
            let has_files = fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some());
            has_files && fs::symlink_metadata(folder.join(".git")).is_err()
        };
        links.filter(holds_files).map(OsStr::to_owned).collect()
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
        let index = self.0.as_ref().and_then(|content| IndexFile::parse(content, work.base.width()));
        let entries = index.iter().flat_map(|index| &index.entries);
        let files = entries.filter(|entry| !entry.is_gitlink()).filter_map(|entry| {
            let name = OsStr::from_bytes(&entry.name);
            let is_apart = is_own(&name.to_string_lossy())
                || lies_in(&entry.name, work.dropped)
                || lies_in(&entry.name, work.furnished);
            let is_there = || fs::symlink_metadata(work.tree.join(name)).is_ok_and(|found| !found.is_dir());
            let oid = Oid::from_bytes(entry.object).filter(|_| !is_apart && is_there())?;
            Some((name, Entry { mode: format!("{:o}", entry.mode), oid: oid.to_string() }))
        });
        let files: Vec<(&OsStr, Entry)> = files.collect();
        index_info(files.iter().map(|(name, entry)| (*name, entry)))
    }

    /// Lines that take out of another index what is not in it.
    pub(super) fn gaps(&self, index: &ScratchIndex<'_>, work: &TreeWork<'_>) -> Vec<u8> {
        let absent = Entry::absent(work.base.as_str().len());
        let missing = self.missing_in(index, work.base.width());
        index_info(missing.iter().map(|name| (name.as_os_str(), &absent)))
    }

    /// What is in another index and not in it. Of an index that only git can read nothing is told.
    fn missing_in(&self, index: &ScratchIndex<'_>, width: usize) -> Vec<OsString> {
        let (Some(before), Ok(after)) = (&self.0, fs::read(index.file())) else { return Vec::new() };
        let (Some(before), Some(after)) = (IndexFile::parse(before, width), IndexFile::parse(&after, width))
        else {
            return Vec::new();
        };
        let mut known = before.entries.iter().map(|entry| entry.name.as_ref()).peekable();
        let mut missing = Vec::new();
        for name in after.entries.iter().map(|entry| entry.name.as_ref()) {
            while known.next_if(|known| *known < name).is_some() {}
            if known.peek() != Some(&name) {
                missing.push(OsStr::from_bytes(name).to_owned());
            }
        }
        missing
    }

    /// What was not in it and is in the same index now, without being new.
    pub(super) fn lacked(
        &self,
        index: &ScratchIndex<'_>,
        work: &TreeWork<'_>,
        changes: &[RawChange],
    ) -> Vec<String> {
        let is_another = |change: &RawChange| change.old.is_gitlink() != change.new.is_gitlink();
        let new = changes.iter().filter(|change| change.old.is_absent() || is_another(change));
        let new: BTreeSet<&OsStr> = new.map(|change| change.path.as_os_str()).collect();
        let is_apart = |name: &OsStr| {
            let bytes = name.as_bytes();
            new.contains(name) || lies_in(bytes, work.dropped) || lies_in(bytes, work.furnished)
        };
        let missing = self.missing_in(index, work.base.width()).into_iter();
        missing.filter(|name| !is_apart(name)).map(|name| name.to_string_lossy().into_owned()).collect()
    }
}
