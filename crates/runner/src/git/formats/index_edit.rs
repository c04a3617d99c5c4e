//! An index in which some files are put, new ones among them, and that says the same otherwise. What git notes in it of
//! the folders is kept up to date: without that it would have to put together all of them. As with one that is patched,
//! its time is to stay the old one, so that git looks again into all files that it would have looked into before.

use std::collections::BTreeMap;
use std::fs::Metadata;

use super::cached_tree::CachedFolder;
use super::checksum::checksum;
use super::index_file::{HEADER_BYTES, IndexEntry, IndexFile, MODE, STAT_BYTES};
use super::index_patch::stat;
use super::tree_edit::EditedFolder;
use crate::git::history::Oid;

/// What may follow the files besides the folders. It saves time with large indexes only, and git does without.
const DISPENSABLE: [&[u8]; 2] = [b"EOIE", b"IEOT"];

/// The format of an index in which files are told of each by itself, and nothing odd of any.
const PLAIN_VERSION: u32 = 2;

/// Names of this length and longer ones are told by their end alone.
const NAME_BYTES_TOLD_MAX: usize = 0xfff;

/// A file as an index is to have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Put {
    numbers: [u8; STAT_BYTES],
    object: Vec<u8>,
}

impl Put {
    /// A file of this mode that looks like this on disk and has this content.
    pub(in crate::git) fn new(mode: u32, metadata: &Metadata, object: &Oid) -> Option<Put> {
        let mut numbers = stat(metadata);
        numbers.get_mut(MODE)?.copy_from_slice(&mode.to_be_bytes());
        Some(Put { numbers, object: object.bytes() })
    }

    /// The same of one that nobody has looked at.
    pub(in crate::git) fn unseen(mode: u32, object: &Oid) -> Option<Put> {
        let mut numbers = [0; STAT_BYTES];
        numbers.get_mut(MODE)?.copy_from_slice(&mode.to_be_bytes());
        Some(Put { numbers, object: object.bytes() })
    }

    fn record(&self, name: &[u8]) -> Vec<u8> {
        let told = u16::try_from(name.len().min(NAME_BYTES_TOLD_MAX)).unwrap_or_default();
        let mut record = [&self.numbers[..], &self.object, &told.to_be_bytes()[..], name].concat();
        record.resize((record.len() / 8 + 1) * 8, 0);
        record
    }
}

/// Files by their paths.
pub(in crate::git) type Puts<'a> = BTreeMap<&'a [u8], Put>;

/// The content of an index with some files put, and the folders that thereby become others. None: git has to.
pub(in crate::git) fn with_files(
    content: &[u8],
    index: &IndexFile<'_>,
    puts: &Puts<'_>,
    folders: &[EditedFolder],
) -> Option<Vec<u8>> {
    let is_known = |name: &&[u8]| DISPENSABLE.contains(name);
    // In the newest format, names lean on the ones before.
    if index.version > 3 || !index.extensions.iter().all(is_known) {
        return None;
    }
    let width = puts.values().next()?.object.len();
    let mut new = content.get(..HEADER_BYTES)?.to_vec();
    let added: Vec<&[u8]> = puts.keys().copied().filter(|name| index.find(name).is_none()).collect();
    let count = u32::try_from(index.entries.len() + added.len()).ok()?;
    new.get_mut(8..HEADER_BYTES)?.copy_from_slice(&count.to_be_bytes());
    extend_with_entries(&mut new, content, index, puts)?;
    if let Some(tree) = &index.tree {
        new.extend(noted_folders(Some(tree), added, folders)?);
    }
    let has_sum = content.get(content.len().checked_sub(width)?..)?.iter().any(|byte| *byte != 0);
    let sum = if has_sum { checksum(&[&new], width)? } else { vec![0; width] };
    new.extend_from_slice(&sum);
    Some(new)
}

/// The content of an index with just these files, and what git notes of the folders that they are in. None: there is no
/// file.
pub(in crate::git) fn index_of(puts: &Puts<'_>, noted: &[u8]) -> Option<Vec<u8>> {
    let width = puts.values().next()?.object.len();
    let mut new = b"DIRC".to_vec();
    new.extend_from_slice(&PLAIN_VERSION.to_be_bytes());
    new.extend_from_slice(&u32::try_from(puts.len()).ok()?.to_be_bytes());
    puts.iter().for_each(|(name, put)| new.extend(put.record(name)));
    new.extend_from_slice(noted);
    let sum = checksum(&[&new], width)?;
    new.extend_from_slice(&sum);
    Some(new)
}

/// What git notes of folders: of those that were known, which may have become others, and those that came with what is
/// added. None: they are not what they were taken for.
pub(in crate::git) fn noted_folders(
    cached: Option<&CachedFolder<'_>>,
    added: Vec<&[u8]>,
    folders: &[EditedFolder],
) -> Option<Vec<u8>> {
    let folders = folders.iter().map(|folder| (folder.path.as_slice(), folder)).collect();
    let mut data = Vec::new();
    Folders { folders, added }.extend(&mut data, cached, (b"", b""))?;
    let size = u32::try_from(data.len()).ok()?;
    Some([b"TREE", &size.to_be_bytes()[..], &data].concat())
}

/// All files in git's order.
fn extend_with_entries(
    new: &mut Vec<u8>,
    content: &[u8],
    index: &IndexFile<'_>,
    puts: &Puts<'_>,
) -> Option<()> {
    let mut waiting = puts.iter().peekable();
    for entry in &index.entries {
        while let Some((name, put)) = waiting.next_if(|(name, _)| **name < entry.name.as_ref()) {
            new.extend(put.record(name));
        }
        match waiting.next_if(|(name, _)| **name == entry.name.as_ref()) {
            Some((name, put)) => new.extend(put.record(name)),
            None => new.extend_from_slice(whole(content, entry)?),
        }
    }
    waiting.for_each(|(name, put)| new.extend(put.record(name)));
    Some(())
}

fn whole<'a>(content: &'a [u8], entry: &IndexEntry<'_>) -> Option<&'a [u8]> {
    content.get(entry.place..entry.end)
}

/// What becomes of the folders.
struct Folders<'a> {
    folders: BTreeMap<&'a [u8], &'a EditedFolder>,
    added: Vec<&'a [u8]>,
}

impl Folders<'_> {
    /// Adds the record of a folder, and those of all below it. None: it is not what it was taken for.
    fn extend(
        &self,
        data: &mut Vec<u8>,
        cached: Option<&CachedFolder<'_>>,
        (path, name): (&[u8], &[u8]),
    ) -> Option<()> {
        let known = self.known(cached, path)?;
        let cached = cached.map_or(&[][..], |cached| &cached.folders);
        let new = self.new_below(cached, path);
        data.extend_from_slice(name);
        data.push(0);
        let count = cached.len() + new.len();
        match known {
            Some((entries, tree)) => {
                data.extend_from_slice(format!("{entries} {count}\n").as_bytes());
                data.extend(tree.bytes());
            }
            None => data.extend_from_slice(format!("-1 {count}\n").as_bytes()),
        }
        for folder in cached {
            self.extend(data, Some(folder), (&[path, folder.name, b"/"].concat(), folder.name))?;
        }
        new.into_iter().try_for_each(|name| self.extend(data, None, (&[path, name, b"/"].concat(), name)))
    }

    /// How many files are in a folder, and its tree. The inner none: git does not know either.
    fn known(&self, cached: Option<&CachedFolder<'_>>, path: &[u8]) -> Option<Option<(usize, Oid)>> {
        let added = || self.added.iter().filter(|name| name.starts_with(path)).count();
        let before = cached.map(|cached| cached.known);
        match (before, self.folders.get(path)) {
            (Some(Some(known)), None) => Some(Some((known.entries, known.tree()?))),
            (Some(Some(known)), Some(edited)) => {
                let is_that = known.tree() == edited.before;
                is_that.then(|| Some((known.entries + added(), edited.after.clone())))
            }
            (Some(None), _) => Some(None),
            (None, Some(edited)) => edited.before.is_none().then(|| Some((added(), edited.after.clone()))),
            (None, None) => None,
        }
    }

    /// The names of folders in a folder that come with what is added.
    fn new_below(&self, cached: &[CachedFolder<'_>], path: &[u8]) -> Vec<&[u8]> {
        let edited = self.folders.values().filter(|folder| folder.before.is_none());
        let names = edited.filter_map(|folder| {
            let name = folder.path.strip_prefix(path)?.strip_suffix(b"/")?;
            (!name.is_empty() && !name.contains(&b'/')).then_some(name)
        });
        names.filter(|name| cached.iter().all(|cached| cached.name != *name)).collect()
    }
}
