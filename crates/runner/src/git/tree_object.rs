//! A tree as git stores it: what lies in one folder, in git's own order, in which a folder's name ends in a slash.

use std::cmp::Ordering;

use super::history::{Oid, digits};
use super::raw_change::Entry;
use super::repository::Git;

/// The mode of a folder in what `ls-tree` tells.
const FOLDER: &[u8] = b"040000";

/// One folder.
#[derive(Debug, Clone, Default)]
pub(super) struct TreeObject {
    content: Vec<u8>,
    /// How many bytes the name of an object has.
    width: usize,
}

/// What is in it under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item<'a> {
    pub(super) name: &'a [u8],
    mode: &'a [u8],
    object: &'a [u8],
}

impl TreeObject {
    /// The tree that a name stands for; none if it has to be asked for otherwise.
    pub(super) fn read(git: &Git, name: &str) -> Option<(Oid, TreeObject)> {
        let (oid, content) = git.read_tree_object(name)?;
        let width = oid.as_str().len() / 2;
        Some((oid, TreeObject { content, width }))
    }

    /// What is in it, in order. None if it cannot be read.
    pub(super) fn items(&self) -> Option<Vec<Item<'_>>> {
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
    pub(super) fn is_folder(&self) -> bool {
        self.mode == b"40000"
    }

    /// The name of the object, in digits.
    pub(super) fn object(&self) -> String {
        digits(self.object)
    }

    /// The same as a diff tells it.
    pub(super) fn entry(&self) -> Entry {
        Entry { mode: format!("{:0>6}", String::from_utf8_lossy(self.mode)), oid: self.object() }
    }

    /// A line of `ls-tree -z`.
    pub(super) fn line(&self) -> Vec<u8> {
        line(self.mode, self.kind(), (self.object().as_bytes(), self.name))
    }

    /// The same with another object.
    pub(super) fn line_with(&self, object: &Oid) -> Vec<u8> {
        line(self.mode, self.kind(), (object.as_str().as_bytes(), self.name))
    }

    fn kind(&self) -> &'static [u8] {
        match self.mode {
            b"40000" => b"tree",
            b"160000" => b"commit",
            _ => b"blob",
        }
    }

    /// Git's order.
    pub(super) fn order(&self, other: &Item<'_>) -> Ordering {
        let end = |item: &Item<'_>| item.is_folder().then_some(b'/');
        self.name.iter().copied().chain(end(self)).cmp(other.name.iter().copied().chain(end(other)))
    }
}

/// A line of `ls-tree -z` for a folder.
pub(super) fn folder_line(name: &[u8], tree: &Oid) -> Vec<u8> {
    line(FOLDER, b"tree", (tree.as_str().as_bytes(), name))
}

/// A line of `ls-tree -z` for anything else, by its mode as a number. None: no tree has such a thing.
pub(super) fn file_line(mode: u32, object: &[u8], name: &[u8]) -> Option<Vec<u8>> {
    let (mode, kind): (&[u8], &[u8]) = match mode {
        0o100_644 => (b"100644", b"blob"),
        0o100_755 => (b"100755", b"blob"),
        0o120_000 => (b"120000", b"blob"),
        0o160_000 => (b"160000", b"commit"),
        _ => return None,
    };
    Some(line(mode, kind, (digits(object).as_bytes(), name)))
}

fn line(mode: &[u8], kind: &[u8], (object, name): (&[u8], &[u8])) -> Vec<u8> {
    [mode, b" ", kind, b" ", object, b"\t", name, b"\0"].concat()
}
