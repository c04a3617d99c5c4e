//! A tree as git stores it: what lies in one folder, in git's own order, in which a folder's name ends in a slash.

use std::cmp::Ordering;

use super::loose_object::Kind;
use super::raw_change::Entry;
use crate::git::history::{Oid, digits};
use crate::git::repository::Git;

/// The mode of a folder.
const FOLDER: &[u8] = b"40000";

/// One folder.
#[derive(Debug, Clone, Default)]
pub(in crate::git) struct TreeObject {
    content: Vec<u8>,
    /// How many bytes the name of an object has.
    width: usize,
}

/// What is in it under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) struct Item<'a> {
    pub(in crate::git) name: &'a [u8],
    mode: &'a [u8],
    object: &'a [u8],
}

impl TreeObject {
    /// The tree that a name stands for; none if it has to be asked for otherwise.
    pub(in crate::git) fn read(git: &Git, name: &str) -> Option<(Oid, TreeObject)> {
        let (oid, content) = git.read_tree_object(name)?;
        let width = oid.width();
        Some((oid, TreeObject { content, width }))
    }

    /// The folder of these records, which may be in any order. None: they are none.
    pub(in crate::git) fn of(records: Vec<u8>, width: usize) -> Option<TreeObject> {
        let tree = TreeObject { content: records, width };
        let mut items = tree.items()?;
        if items.is_sorted_by(|one, other| one.order(other).is_lt()) {
            return Some(tree);
        }
        items.sort_by(Item::order);
        let content = items.iter().flat_map(Item::record).collect();
        Some(TreeObject { content, width })
    }

    /// What is in it, in order. None if it cannot be read.
    pub(in crate::git) fn items(&self) -> Option<Vec<Item<'_>>> {
        let mut items = Vec::new();
        let mut rest = self.content.as_slice();
        while !rest.is_empty() {
            let space = rest.iter().position(|byte| *byte == b' ')?;
            let (mode, after) = (rest.get(..space)?, rest.get(space + 1..)?);
            let end = after.iter().position(|byte| *byte == 0)?;
            let (name, after) = (after.get(..end)?, after.get(end + 1..)?);
            let object = after.get(..self.width)?;
            rest = after.get(self.width..)?;
            items.push(Item { name, mode, object });
        }
        Some(items)
    }
}

impl Item<'_> {
    pub(in crate::git) fn is_folder(&self) -> bool {
        self.mode == FOLDER
    }

    /// The name of the object, in digits.
    pub(in crate::git) fn object(&self) -> String {
        digits(self.object)
    }

    /// The same as a diff tells it.
    pub(in crate::git) fn entry(&self) -> Entry {
        Entry { mode: format!("{:0>6}", String::from_utf8_lossy(self.mode)), oid: self.object() }
    }

    /// The same as it is stored.
    pub(in crate::git) fn record(&self) -> Vec<u8> {
        joined(self.mode, self.name, self.object)
    }

    /// The same with another object.
    pub(in crate::git) fn record_with(&self, object: &Oid) -> Vec<u8> {
        record(self.mode, self.name, object)
    }

    /// A line of `ls-tree -z`.
    fn line(&self) -> Vec<u8> {
        let mode = format!("{:0>6}", String::from_utf8_lossy(self.mode));
        [mode.as_bytes(), b" ", self.kind(), b" ", self.object().as_bytes(), b"\t", self.name, b"\0"].concat()
    }

    fn kind(&self) -> &'static [u8] {
        match self.mode {
            FOLDER => b"tree",
            b"160000" => b"commit",
            _ => b"blob",
        }
    }

    /// Git's order.
    pub(in crate::git) fn order(&self, other: &Item<'_>) -> Ordering {
        let end = |item: &Item<'_>| item.is_folder().then_some(b'/');
        self.name.iter().copied().chain(end(self)).cmp(other.name.iter().copied().chain(end(other)))
    }
}

impl Git {
    /// Stores a folder with these records, of objects that are known to be there.
    pub(in crate::git) fn store_tree(&self, records: Vec<u8>, width: usize) -> Option<Oid> {
        let tree = TreeObject::of(records, width)?;
        let Some(oid) = self.store_object(Kind::Tree, &tree.content, width) else {
            return self.write_tree_object(&tree.lines()?);
        };
        self.remember_tree(&oid, tree.content);
        Some(oid)
    }

    /// The same where git is to look whether they are.
    pub(in crate::git) fn store_doubtful_tree(&self, records: Vec<u8>, width: usize) -> Option<Oid> {
        let tree = TreeObject::of(records, width)?;
        let oid = self.write_tree_object(&tree.lines()?)?;
        self.recent_objects().put(Kind::Tree, &oid, &tree.content, None);
        Some(oid)
    }
}

impl TreeObject {
    /// As `ls-tree -z` tells it.
    fn lines(&self) -> Option<Vec<u8>> {
        Some(self.items()?.iter().flat_map(Item::line).collect())
    }
}

/// What a folder has of a folder in it.
pub(in crate::git) fn folder_record(name: &[u8], tree: &Oid) -> Vec<u8> {
    record(FOLDER, name, tree)
}

/// What it has of anything else, by its mode as a number. None: no tree has such a thing.
pub(in crate::git) fn file_record(mode: u32, object: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let mode: &[u8] = match mode {
        0o100_644 => b"100644",
        0o100_755 => b"100755",
        0o120_000 => b"120000",
        0o160_000 => b"160000",
        _ => return None,
    };
    Some(joined(mode, name, object))
}

/// What it has of whatever has this mode.
pub(in crate::git) fn record(mode: &[u8], name: &[u8], object: &Oid) -> Vec<u8> {
    joined(mode, name, &object.bytes())
}

fn joined(mode: &[u8], name: &[u8], object: &[u8]) -> Vec<u8> {
    [mode, b" ", name, b"\0", object].concat()
}
