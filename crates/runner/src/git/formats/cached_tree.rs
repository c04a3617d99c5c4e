//! What git notes in an index of the trees that it would write: a record for each folder, with the tree's name as long as
//! nothing below it has changed.

use super::cursor::Cursor;
use crate::git::history::Oid;

/// Deeper folders are not looked at.
pub(in crate::git) const DEPTH_MAX: usize = 200;

/// A folder.
#[derive(Debug)]
pub(in crate::git) struct CachedFolder<'a> {
    /// The last part of its path.
    pub(in crate::git) name: &'a [u8],
    /// What is known of it; none since something in it changed.
    pub(in crate::git) known: Option<Known<'a>>,
    pub(in crate::git) folders: Vec<CachedFolder<'a>>,
}

/// What is known of a folder.
#[derive(Debug, Clone, Copy)]
pub(in crate::git) struct Known<'a> {
    /// How many entries of the index it has, those of folders below included.
    pub(in crate::git) entries: usize,
    /// Where in the index the name of the tree stands.
    pub(in crate::git) place: usize,
    object: &'a [u8],
}

impl Known<'_> {
    /// The tree.
    pub(in crate::git) fn tree(&self) -> Option<Oid> {
        Oid::from_bytes(self.object)
    }
}

impl<'a> CachedFolder<'a> {
    /// Reads the records, which stand at this place of the index, from the topmost folder on.
    pub(in crate::git) fn parse(data: &'a [u8], place: usize, width: usize) -> Option<CachedFolder<'a>> {
        let mut records = Records { rest: Cursor { bytes: data, place }, width };
        records.folder(DEPTH_MAX)
    }

    /// The folder of a path from this one; none where nothing is noted of it.
    pub(in crate::git) fn at(&self, path: &[u8]) -> Option<&CachedFolder<'a>> {
        let mut names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        names.try_fold(self, |folder, name| folder.folders.iter().find(|below| below.name == name))
    }
}

struct Records<'a> {
    rest: Cursor<'a>,
    width: usize,
}

impl<'a> Records<'a> {
    /// The name, how many entries, how many folders, the tree if there is a number of entries; then the folders.
    fn folder(&mut self, depth: usize) -> Option<CachedFolder<'a>> {
        let name = self.rest.until(0)?;
        let counts = std::str::from_utf8(self.rest.until(b'\n')?).ok()?;
        let (entries, count) = counts.split_once(' ')?;
        let count: usize = count.parse().ok()?;
        let known = if entries.starts_with('-') {
            None
        } else {
            let (entries, place) = (entries.parse().ok()?, self.rest.place);
            Some(Known { entries, place, object: self.rest.take(self.width)? })
        };
        let mut folders = Vec::new();
        for _ in 0..count {
            folders.push(self.folder(depth.checked_sub(1)?)?);
        }
        Some(CachedFolder { name, known, folders })
    }
}
