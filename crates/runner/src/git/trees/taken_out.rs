//! Files of a linked working tree that its agent only took out of the index, `git rm --cached`. What is on disk and not ignored
//! is the work, so nothing comes of it; it is told.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
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
        Self(fs::read(index.file()).ok())
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
        let (before, after) = (IndexFile::parse(before, width), IndexFile::parse(&after, width));
        let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
        let new = changes.iter().filter(|change| change.old.is_absent());
        let new: BTreeSet<&[u8]> = new.map(|change| change.path.as_bytes()).collect();
        let is_apart =
            |name: &[u8]| new.contains(name) || lies_in(name, work.dropped) || lies_in(name, work.furnished);
        let mut known = before.entries.iter().map(|entry| entry.name.as_ref()).peekable();
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
