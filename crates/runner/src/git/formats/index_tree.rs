//! Which tree an index holds, read from the index itself: git notes there what it would write, as long as that is known,
//! and what is not known of it can be put together from the rest. Asking git costs a process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::cached_tree::{CachedFolder, DEPTH_MAX};
use super::index_file::{IndexEntry, IndexFile};
use super::tree_object::{file_record, folder_record};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// The tree that an index holds, its objects' names being as long as this one's. None: it does not say.
pub(in crate::git) fn held(index: &Path, like: &Oid) -> Option<Oid> {
    let content = fs::read(index).ok()?;
    IndexFile::parse(&content, like.width())?.tree?.known?.tree()
}

/// A folder and the entries that are in it.
struct Place<'a> {
    entries: &'a [IndexEntry<'a>],
    /// How much of their names is the path of the folder.
    start: usize,
    cached: Option<&'a CachedFolder<'a>>,
    /// How many bytes the name of an object has.
    width: usize,
}

impl Git {
    /// Writes the tree that an index holds, as `write-tree` does: of the folders in which something changed. None: git
    /// has to.
    pub(in crate::git) fn write_tree_of(&self, index: &Path, like: &Oid) -> Option<Oid> {
        let content = fs::read(index).ok()?;
        let index = IndexFile::parse(&content, like.width())?;
        let is_plain = |entry: &IndexEntry<'_>| !entry.is_in_conflict() && !entry.is_intended();
        if !index.entries.iter().all(is_plain) {
            return None;
        }
        let whole =
            Place { entries: &index.entries, start: 0, cached: index.tree.as_ref(), width: like.width() };
        let tree = self.write_folder(&whole, DEPTH_MAX)?;
        // What is noted may be of an object that nobody has.
        self.read_tree_object(tree.as_str()).map(|_| tree)
    }

    fn write_folder(&self, place: &Place<'_>, depth: usize) -> Option<Oid> {
        if let Some(known) = place.cached.and_then(|cached| cached.known)
            && known.entries == place.entries.len()
        {
            return known.tree();
        }
        let noted = place.cached.map_or(&[][..], |cached| &cached.folders);
        let noted: BTreeMap<&[u8], &CachedFolder<'_>> =
            noted.iter().map(|folder| (folder.name, folder)).collect();
        let (mut records, mut entries) = (Vec::new(), place.entries);
        while let Some(entry) = entries.first() {
            let name = entry.name.get(place.start..).filter(|name| !name.is_empty())?;
            match name.iter().position(|byte| *byte == b'/') {
                None => {
                    records.extend(file_record(entry.mode, entry.object, name)?);
                    entries = entries.get(1..)?;
                }
                Some(length) => {
                    let (name, path) = (name.get(..length)?, entry.name.get(..=place.start + length)?);
                    let cached = noted.get(name).copied();
                    let (below, rest) = entries.split_at_checked(below(entries, path, cached))?;
                    let folder = Place { entries: below, start: path.len(), cached, width: place.width };
                    let tree = self.write_folder(&folder, depth.checked_sub(1)?)?;
                    records.extend(folder_record(name, &tree));
                    entries = rest;
                }
            }
        }
        self.store_doubtful_tree(records, place.width)
    }
}

/// How many entries, of those from the first in a folder on, are in it. What is noted saves looking at each.
fn below(entries: &[IndexEntry<'_>], path: &[u8], cached: Option<&CachedFolder<'_>>) -> usize {
    let is_in = |entry: &IndexEntry<'_>| entry.name.starts_with(path);
    let noted = cached.and_then(|cached| cached.known).map(|known| known.entries);
    let is_right = |count: &usize| {
        let last = count.checked_sub(1).and_then(|last| entries.get(last));
        last.is_some_and(is_in) && !entries.get(*count).is_some_and(is_in)
    };
    noted.filter(is_right).unwrap_or_else(|| entries.partition_point(is_in))
}
