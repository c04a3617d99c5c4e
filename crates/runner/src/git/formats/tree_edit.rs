//! Trees in which some files are new, go, or become others and all else stays: only the folders on the way to them are
//! written.

use std::collections::BTreeMap;

use super::raw_change::Entry;
use super::tree_object::{TreeObject, folder_record, record};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// A file in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct TreeFile {
    /// As a tree has it.
    pub(in crate::git) mode: &'static str,
    pub(in crate::git) object: Oid,
}

/// What a file is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::git) struct Edit {
    /// None: it is new.
    before: Option<TreeFile>,
    /// None: it goes.
    after: Option<TreeFile>,
}

impl Edit {
    /// Another content, in a file of this mode that may be new.
    pub(in crate::git) fn content(mode: &'static str, before: Option<Oid>, after: Oid) -> Edit {
        let file = |object| TreeFile { mode, object };
        Edit { before: before.map(file), after: Some(file(after)) }
    }

    /// From one file to another. None is none; at least one of them is there.
    pub(in crate::git) fn between(before: Option<TreeFile>, after: Option<TreeFile>) -> Edit {
        Edit { before, after }
    }

    /// Whether a tree has the file that is meant.
    fn applies_to(&self, entry: &Entry) -> bool {
        let is_that = |file: &TreeFile| entry.mode == file.mode && entry.oid == file.object.as_str();
        self.before.as_ref().is_some_and(is_that)
    }

    /// What a folder has of it then; nothing if it goes.
    fn record(&self, name: &[u8]) -> Vec<u8> {
        let file = self.after.as_ref();
        file.map(|file| record(file.mode.as_bytes(), name, &file.object)).unwrap_or_default()
    }

    /// How many bytes the names of objects have.
    fn width(&self) -> Option<usize> {
        self.after.as_ref().or(self.before.as_ref()).map(|file| file.object.width())
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
        self.edit_folder(Some(tree), b"", edits, &mut edited)??;
        Some(edited)
    }

    /// The inner none: nothing is left in a folder, which git then does not have. The topmost is there also without a file.
    fn edit_folder(
        &self,
        name: Option<&Oid>,
        path: &[u8],
        edits: &Edits<'_>,
        edited: &mut Vec<EditedFolder>,
    ) -> Option<Option<Oid>> {
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
                    let after = self.edit_folder(Some(&folder), &path, &edits, edited)?;
                    after.map(|after| item.record_with(&after)).unwrap_or_default()
                }
                (false, Some(edit), None) => {
                    edit.applies_to(&item.entry()).then(|| edit.record(item.name))?
                }
                // A folder is where a file is to be, or the other way round.
                (true | false, _, _) => return None,
            };
            records.extend(record);
        }
        // What is to be edited and not there has to be new.
        for (name, edit) in files {
            records.extend(edit.before.is_none().then(|| edit.record(name))?);
        }
        for (name, edits) in below {
            let path = [path, name, b"/"].concat();
            let after = self.edit_folder(None, &path, &edits, edited)?;
            records.extend(after.map(|after| folder_record(name, &after)).unwrap_or_default());
        }
        if records.is_empty() && !path.is_empty() {
            return Some(None);
        }
        let after = self.store_tree(records, edits.values().next()?.width()?)?;
        edited.push(EditedFolder { path: path.to_vec(), before, after: after.clone() });
        Some(Some(after))
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
