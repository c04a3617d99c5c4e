//! Trees in which some files are new or get another content and all else stays: only the folders on the way to them are
//! written.

use std::collections::BTreeMap;

use super::raw_change::Entry;
use super::tree_object::{TreeObject, folder_record, record};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// What a file is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Edit {
    /// As a tree has it.
    pub(in crate::git) mode: &'static str,
    /// None: it is new.
    pub(in crate::git) before: Option<Oid>,
    pub(in crate::git) after: Oid,
}

impl Edit {
    /// Whether a tree has the file that is meant.
    fn applies_to(&self, entry: &Entry) -> bool {
        entry.mode == self.mode && self.before.as_ref().is_some_and(|before| entry.oid == before.as_str())
    }
}

/// A folder that was written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct EditedFolder {
    /// With a slash at its end; the topmost has none.
    pub(in crate::git) path: Vec<u8>,
    /// None: it is new.
    pub(in crate::git) before: Option<Oid>,
    pub(in crate::git) after: Oid,
}

/// Edits by the paths of the files, from some folder on.
pub(in crate::git) type Edits<'a> = BTreeMap<&'a [u8], &'a Edit>;

impl Git {
    /// The folders of a tree that become others by some edits, the topmost last. None: a file is not what it is taken to be,
    /// or git has to do it.
    pub(in crate::git) fn edit_tree(&self, tree: &Oid, edits: &Edits<'_>) -> Option<Vec<EditedFolder>> {
        let mut edited = Vec::new();
        self.edit_folder(Some(tree), b"", edits, &mut edited)?;
        Some(edited)
    }

    fn edit_folder(
        &self,
        name: Option<&Oid>,
        path: &[u8],
        edits: &Edits<'_>,
        edited: &mut Vec<EditedFolder>,
    ) -> Option<Oid> {
        let (before, tree) = match name {
            Some(name) => TreeObject::read(self, name.as_str()).map(|(oid, tree)| (Some(oid), tree))?,
            None => (None, TreeObject::default()),
        };
        let (mut files, mut below) = (in_folder(edits), by_folder(edits));
        let mut records = Vec::new();
        for item in tree.items()? {
            let (file, folder) = (files.remove(item.name), below.remove(item.name));
            let record = match (item.is_folder(), file, folder) {
                (_, None, None) => item.record(),
                (true, None, Some(edits)) => {
                    let path = [path, item.name, b"/"].concat();
                    let folder = Oid::parse(&item.object())?;
                    item.record_with(&self.edit_folder(Some(&folder), &path, &edits, edited)?)
                }
                (false, Some(edit), None) => {
                    edit.applies_to(&item.entry()).then(|| item.record_with(&edit.after))?
                }
                // A folder is where a file is to be, or the other way round.
                (true | false, _, _) => return None,
            };
            records.extend(record);
        }
        // What is to be edited and not there has to be new.
        for (name, edit) in files {
            records.extend(edit.before.is_none().then(|| record(edit.mode.as_bytes(), name, &edit.after))?);
        }
        for (name, edits) in below {
            let path = [path, name, b"/"].concat();
            records.extend(folder_record(name, &self.edit_folder(None, &path, &edits, edited)?));
        }
        let after = self.store_tree(records, edits.values().next()?.after.width())?;
        edited.push(EditedFolder { path: path.to_vec(), before, after: after.clone() });
        Some(after)
    }
}

/// The edits of files that are in a folder itself.
fn in_folder<'a>(edits: &Edits<'a>) -> Edits<'a> {
    edits.iter().filter(|(path, _)| !path.contains(&b'/')).map(|(path, edit)| (*path, *edit)).collect()
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
