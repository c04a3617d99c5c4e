//! Joining trees where no path is changed on both sides: then no file needs to be read. Everything else is left to git.
//! That includes all that has to do with moved files and folders: whatever one side moves is gone from its place, which is
//! a change there, and matters only if the other side changed that place as well.

use std::collections::BTreeMap;

use crate::git::formats::tree_object::{Item, TreeObject, folder_record};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Deeper folders are left to git as well.
const DEPTH_MAX: usize = 200;

/// One name in the three trees.
#[derive(Default, Clone, Copy)]
struct Three<'a> {
    base: Option<Item<'a>>,
    ours: Option<Item<'a>>,
    theirs: Option<Item<'a>>,
}

impl Git {
    /// The tree that has the changes of both sides since their base; none if that is not plain.
    pub(in crate::git) fn merge_plainly(&self, base: &Oid, ours: &Oid, theirs: &Oid) -> Option<Oid> {
        let names = [base, ours, theirs].map(|oid| Some(oid.as_str().to_owned()));
        self.merge_folders(names, DEPTH_MAX)
    }

    fn merge_folders(&self, names: [Option<String>; 3], depth: usize) -> Option<Oid> {
        let [base, ours, theirs] = names.map(|name| match name {
            Some(name) => TreeObject::read(self, &name),
            None => Some((Oid::parse(&"0".repeat(40))?, TreeObject::default())),
        });
        let ((base, base_tree), (ours, our_tree), (theirs, their_tree)) = (base?, ours?, theirs?);
        if base == ours {
            return Some(theirs);
        }
        if base == theirs {
            return Some(ours);
        }
        if ours == theirs {
            return None;
        }
        let mut result = BTreeMap::new();
        for (key, three) in together([&base_tree, &our_tree, &their_tree])? {
            if let Some(record) = self.merge_one(three, depth)? {
                // A file and a folder of the same name: a conflict.
                if result.insert(key.0, record).is_some() {
                    return None;
                }
            }
        }
        // A folder that became empty is gone, which its own folder has to know.
        (!result.is_empty()).then_some(())?;
        self.store_tree(result.into_values().collect::<Vec<_>>().concat(), theirs.width())
    }

    /// What becomes of one name, as a record of the new tree. The outer none: not plain.
    fn merge_one(&self, three: Three<'_>, depth: usize) -> Option<Option<Vec<u8>>> {
        let Three { base, ours, theirs } = three;
        if base == ours {
            return Some(theirs.map(|item| item.record()));
        }
        if base == theirs {
            return Some(ours.map(|item| item.record()));
        }
        // What is gone from both may have been moved elsewhere by either.
        let (ours, theirs) = (ours?, theirs?);
        if ours == theirs && !ours.is_folder() {
            return Some(Some(ours.record()));
        }
        // The same for what is gone from two folders that are the same.
        if ours == theirs || !ours.is_folder() || depth == 0 {
            return None;
        }
        let names = [base, Some(ours), Some(theirs)].map(|item| item.map(|item| item.object()));
        let tree = self.merge_folders(names, depth - 1)?;
        Some(Some(folder_record(ours.name, &tree)))
    }
}

/// All names in three trees. A file and a folder of one name are two things.
fn together<'a>(trees: [&'a TreeObject; 3]) -> Option<BTreeMap<(&'a [u8], bool), Three<'a>>> {
    let mut all: BTreeMap<(&[u8], bool), Three<'_>> = BTreeMap::new();
    let [base, ours, theirs] = trees.map(TreeObject::items);
    base?
        .into_iter()
        .for_each(|item| all.entry((item.name, item.is_folder())).or_default().base = Some(item));
    ours?
        .into_iter()
        .for_each(|item| all.entry((item.name, item.is_folder())).or_default().ours = Some(item));
    theirs?
        .into_iter()
        .for_each(|item| all.entry((item.name, item.is_folder())).or_default().theirs = Some(item));
    Some(all)
}
