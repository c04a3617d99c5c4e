//! What the agent of a linked working tree did to its index alone. What is on disk and not ignored is the work: of what was only
//! taken out, `git rm --cached`, nothing comes, which is told; a repository that was added and is plain files by now is those.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::snapshot::TreeWork;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::formats::index_file::IndexFile;
use crate::git::formats::raw_change::{RawChange, lies_in};

/// The index of a tree as its agent left it.
#[derive(Debug, Default)]
pub(super) struct IndexAsLeft(Option<Vec<u8>>);

impl IndexAsLeft {
    /// Of a copy of it, before all that is there is put into that.
    pub(super) fn read(index: &ScratchIndex<'_>) -> Self {
        match fs::read(index.file()) {
            // One that is not there holds nothing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self(Some(Vec::new())),
            content => Self(content.ok()),
        }
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

    /// What was not in it and is in the same index now, without being new. Of an index that only git can
    /// read nothing is told.
    pub(super) fn lacked(
        &self,
        index: &ScratchIndex<'_>,
        work: &TreeWork<'_>,
        changes: &[RawChange],
    ) -> Vec<String> {
        let (Some(before), Ok(after)) = (&self.0, fs::read(index.file())) else { return Vec::new() };
        let width = work.base.width();
        let is_empty = before.is_empty();
        let (before, after) = (IndexFile::parse(before, width), IndexFile::parse(&after, width));
        let Some(after) = after.filter(|_| is_empty || before.is_some()) else { return Vec::new() };
        let is_another = |change: &RawChange| change.old.is_gitlink() != change.new.is_gitlink();
        let new = changes.iter().filter(|change| change.old.is_absent() || is_another(change));
        let new: BTreeSet<&[u8]> = new.map(|change| change.path.as_bytes()).collect();
        let is_apart =
            |name: &[u8]| new.contains(name) || lies_in(name, work.dropped) || lies_in(name, work.furnished);
        let mut known =
            before.iter().flat_map(|index| &index.entries).map(|entry| entry.name.as_ref()).peekable();
        let mut lacked = Vec::new();
        for name in after.entries.iter().map(|entry| entry.name.as_ref()) {
            while known.next_if(|known| *known < name).is_some() {}
            if known.peek() != Some(&name) && !is_apart(name) {
                lacked.push(OsStr::from_bytes(name).to_string_lossy().into_owned());
            }
        }
        lacked
    }
}
