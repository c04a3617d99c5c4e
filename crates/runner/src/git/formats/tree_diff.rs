//! What differs between two trees. Folders that are the same are not looked into, so it takes as long as there is to
//! tell.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::raw_change::{Entry, RawChange};
use super::tree_object::{Item, TreeObject};
use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Two folders to compare, and where they lie; none is an empty one.
struct Pair {
    place: Vec<u8>,
    old: Option<String>,
    new: Option<String>,
}

impl Git {
    /// What differs between two commits or trees, in the order of the paths.
    pub(in crate::git) fn differences(&self, from: &Oid, to: &Oid) -> Result<Vec<RawChange>, GitError> {
        if let Some(changes) = self.compare(from, to) {
            return Ok(changes);
        }
        let diff = ["diff-tree", "-r", "--raw", "-z", "--no-renames", from.as_str(), to.as_str(), "--"];
        RawChange::parse_all(process::run(self.call(&diff))?)
    }

    fn compare(&self, from: &Oid, to: &Oid) -> Option<Vec<RawChange>> {
        let whole = Pair {
            place: Vec::new(),
            old: Some(from.as_str().to_owned()),
            new: Some(to.as_str().to_owned()),
        };
        let (mut changes, mut pairs) = (Vec::new(), vec![whole]);
        while let Some(pair) = pairs.pop() {
            self.compare_folders(&pair, &mut changes, &mut pairs)?;
        }
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Some(changes)
    }

    fn compare_folders(
        &self,
        pair: &Pair,
        changes: &mut Vec<RawChange>,
        pairs: &mut Vec<Pair>,
    ) -> Option<()> {
        let read = |name: &Option<String>| match name {
            Some(name) => TreeObject::read(self, name).map(|(_, tree)| tree),
            None => Some(TreeObject::default()),
        };
        let (old, new) = (read(&pair.old)?, read(&pair.new)?);
        for (old, new) in aligned(&old.items()?, &new.items()?) {
            if old == new {
                continue;
            }
            let Some(item) = old.or(new) else { continue };
            let place = [pair.place.as_slice(), item.name].concat();
            if item.is_folder() {
                let [old, new] = [old, new].map(|item| item.map(|item| item.object()));
                pairs.push(Pair { place: [&place, &b"/"[..]].concat(), old, new });
            } else {
                let absent = || Entry::absent(item.object().len());
                let [old, new] = [old, new].map(|item| item.map_or_else(absent, |item| item.entry()));
                changes.push(RawChange { path: OsString::from_vec(place), old, new });
            }
        }
        Some(())
    }
}

/// What lies under the same name on both sides, side by side. A file and a folder of one name are two things.
fn aligned<'a>(old: &[Item<'a>], new: &[Item<'a>]) -> Vec<(Option<Item<'a>>, Option<Item<'a>>)> {
    let (mut old, mut new) = (old.iter().copied().peekable(), new.iter().copied().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) => old.order(new),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return pairs,
        };
        pairs.push((old.next_if(|_| order.is_le()), new.next_if(|_| order.is_ge())));
    }
}
