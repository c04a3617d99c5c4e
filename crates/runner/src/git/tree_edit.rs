//! Trees in which some files get another content and all else stays: only the folders on the way to them are written.

use std::collections::BTreeMap;

use super::history::Oid;
use super::repository::Git;
use super::tree_object::{TreeObject, folder_record};

/// What a file is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// As a tree has it.
    pub(super) mode: &'static str,
    pub(super) before: Oid,
    pub(super) after: Oid,
}

/// A folder that was written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EditedFolder {
    pub(super) path: Vec<u8>,
    pub(super) before: Oid,
    pub(super) after: Oid,
}

/// Edits by the paths of the files, from some folder on.
pub(super) type Edits<'a> = BTreeMap<&'a [u8], &'a Edit>;

impl Git {
    /// The folders of a tree that become others by some edits, the topmost last. None: a file is not what it is taken to be,
    /// or git has to do it.
    pub(super) fn edit_tree(&self, tree: &Oid, edits: &Edits<'_>) -> Option<Vec<EditedFolder>> {
        let mut edited = Vec::new();
        self.edit_folder(tree, b"", edits, &mut edited)?;
        Some(edited)
    }

    fn edit_folder(
        &self,
        name: &Oid,
        path: &[u8],
        edits: &Edits<'_>,
        edited: &mut Vec<EditedFolder>,
    ) -> Option<Oid> {
        let (before, tree) = TreeObject::read(self, name.as_str())?;
        let mut below = by_folder(edits);
        let (mut records, mut left) = (Vec::new(), edits.keys().filter(|path| !path.contains(&b'/')).count());
        for item in tree.items()? {
            if item.is_folder() {
                let Some(edits) = below.remove(item.name) else {
                    records.extend(item.record());
                    continue;
                };
                let path = [path, item.name, b"/"].concat();
                let folder = self.edit_folder(&Oid::parse(&item.object())?, &path, &edits, edited)?;
                records.extend(folder_record(item.name, &folder));
            } else if let Some(edit) = edits.get(item.name) {
                let entry = item.entry();
                if entry.mode != edit.mode || entry.oid != edit.before.as_str() {
                    return None;
                }
                records.extend(item.record_with(&edit.after));
                left = left.checked_sub(1)?;
            } else {
                records.extend(item.record());
            }
        }
        // All that is to be edited has to be there.
        (below.is_empty() && left == 0).then_some(())?;
        let after = self.store_tree(records, before.width())?;
        edited.push(EditedFolder { path: path.to_vec(), before, after: after.clone() });
        Some(after)
    }
}

/// The edits in the folders of a folder, each from there on.
fn by_folder<'a>(edits: &Edits<'a>) -> BTreeMap<&'a [u8], Edits<'a>> {
    let mut below: BTreeMap<&[u8], Edits<'a>> = BTreeMap::new();
    for (path, edit) in edits {
        if let Some(length) = path.iter().position(|byte| *byte == b'/')
            && let (Some(folder), Some(rest)) = (path.get(..length), path.get(length + 1..))
        {
            below.entry(folder).or_default().insert(rest, edit);
        }
    }
    below
}
