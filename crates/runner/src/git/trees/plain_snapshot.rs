//! What an agent made of a linked working tree, without starting a git: where its index still tells of the files that were
//! there when the tree was made, and all that is there are ordinary ones, the work is the files that are new, gone or other
//! than those. Everything else is left to git.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::pristine::Pristine;
use super::snapshot::{Snapshot, TreeWork};
use super::walk::{Found, FoundFile, MODULES, Walk, are_plain_places, is_attributes};
use crate::git::customs::conversion::{Conversion, is_plain};
use crate::git::formats::index_file::{IndexEntry, IndexFile};
use crate::git::formats::loose_object::Kind;
use crate::git::formats::raw_change::{Entry, RawChange, lies_in};
use crate::git::formats::tree_edit::{Edit, Edits, TreeFile};
use crate::git::formats::working_file::{EXECUTABLE, ORDINARY, blob_name, word_of};
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::tree::is_own;

/// More files in a tree are worth starting a git.
const ENTRIES_MAX: usize = 20_000;

/// No index of so many files is larger, unless their paths are very long.
const INDEX_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Files by their paths, before and after.
type Changes = BTreeMap<Vec<u8>, (Option<TreeFile>, Option<TreeFile>)>;

impl Git {
    /// The work in a tree whose state is kept in `state`. None: git has to.
    pub(in crate::git) fn snapshot_plainly(
        &self,
        work: &TreeWork<'_>,
        state: &Path,
        pristine: &Pristine,
    ) -> Option<Snapshot> {
        let file = state.join("index");
        let is_fit = |index: &Metadata| index.is_file() && index.len() <= INDEX_BYTES_MAX;
        fs::symlink_metadata(&file).ok().filter(is_fit)?;
        let content = fs::read(file).ok()?;
        let index =
            IndexFile::parse(&content, work.base.width()).filter(|index| pristine.has_names(index))?;
        let tree = self.base_in(&index, work)?;
        let habit = self.habit();
        let conversion = habit.conversion.filter(|_| habit.writes_plainly && habit.stores_plainly)?;
        let configuration = self.configuration().ok()??;
        configuration.is_for_all_trees().then_some(())?;
        let patterns = self.general_patterns(&configuration)?;
        let found = Walk::new(work, &index, pristine, patterns).through()?;
        let mut changes = gone(work, &index, &found)?;
        self.compare_files(work, &index, (found.files, &conversion), &mut changes)?;
        self.snapshot_of(&tree, changes)
    }

    /// The tree that the index holds, which is that of the base, where nothing but ordinary files is in it.
    fn base_in(&self, index: &IndexFile<'_>, work: &TreeWork<'_>) -> Option<Oid> {
        let is_file = |entry: &IndexEntry<'_>| entry.is_ordinary() && word_of(entry.mode).is_some();
        let is_fit = index.entries.len() <= ENTRIES_MAX
            && index.entries.iter().all(is_file)
            && index.find(MODULES.as_bytes()).is_none()
            && are_plain_places(work.furnished)
            && are_plain_places(work.dropped);
        let held = index.tree.as_ref()?.known?.tree()?;
        (is_fit && held == self.tree_of(work.base).ok()?).then_some(held)
    }

    /// Adds what has another content or mode than the index tells. Its content is stored.
    fn compare_files(
        &self,
        work: &TreeWork<'_>,
        index: &IndexFile<'_>,
        (files, conversion): (Vec<FoundFile>, &Conversion),
        changes: &mut Changes,
    ) -> Option<()> {
        // A walk finds none but those of the index.
        let has_attributes = index.entries.iter().any(|entry| is_attributes(&entry.name));
        let mut storage = Storage { conversion, tree: work.tree, has_attributes, folders: BTreeMap::new() };
        files.iter().all(|file| storage.keeps(file)).then_some(())?;
        let width = work.base.width();
        for file in files {
            let before = match file.entry {
                Some(number) => Some(file_of(index.entries.get(number)?)?),
                None => None,
            };
            let mode = word_of(if file.is_executable { EXECUTABLE } else { ORDINARY })?;
            let after = TreeFile { mode, object: blob_name(&file.content, width)? };
            if before.as_ref() == Some(&after) {
                continue;
            }
            // By other attributes, files may be stored otherwise that nobody touched.
            (!is_attributes(&file.path)).then_some(())?;
            if before.as_ref().is_none_or(|before| before.object != after.object) {
                self.store_object(Kind::Blob, &file.content, width)?;
            }
            changes.insert(file.path, (before, Some(after)));
        }
        Some(())
    }

    fn snapshot_of(&self, tree: &Oid, changes: Changes) -> Option<Snapshot> {
        let edits: BTreeMap<&[u8], Edit> = changes
            .iter()
            .map(|(path, (before, after))| (path.as_slice(), Edit::between(before.clone(), after.clone())))
            .collect();
        let edits: Edits<'_> = edits.iter().map(|(path, edit)| (*path, edit)).collect();
        let after = match edits.is_empty() {
            true => tree.clone(),
            false => self.edit_tree(tree, &edits)?.pop()?.after,
        };
        let absent = || Entry::absent(tree.as_str().len());
        let entry = |file: Option<TreeFile>| {
            let told =
                |file: TreeFile| Entry { mode: file.mode.to_owned(), oid: file.object.as_str().to_owned() };
            file.map_or_else(absent, told)
        };
        let change = |(path, (before, after)): (Vec<u8>, (Option<TreeFile>, Option<TreeFile>))| RawChange {
            path: OsString::from_vec(path),
            old: entry(before),
            new: entry(after),
        };
        let changes = changes.into_iter().map(change).collect();
        // What is dropped stays what it was, and nothing that was found has to be left out.
        let [dropped, left_out, taken_out] = [const { Vec::new() }; 3];
        Some(Snapshot { tree: after, changes, dropped, left_out, taken_out })
    }
}

/// The files of the index that are not there any more. None: git has to.
fn gone(work: &TreeWork<'_>, index: &IndexFile<'_>, found: &Found) -> Option<Changes> {
    let mut gone = Changes::new();
    for (entry, _) in index.entries.iter().zip(&found.are_there).filter(|(_, is_there)| !**is_there) {
        let name = entry.name.as_ref();
        // Attributes that are not on disk count as they are in the index.
        (!is_attributes(name)).then_some(())?;
        let is_wanted = !lies_in(name, work.furnished)
            && !lies_in(name, work.dropped)
            && !is_own(&String::from_utf8_lossy(name));
        if is_wanted {
            // Whoever lists a folder while a file in it is replaced may not see it.
            let looks = fs::symlink_metadata(work.tree.join(OsStr::from_bytes(name)));
            looks.is_err_and(|error| error.kind() == io::ErrorKind::NotFound).then_some(())?;
            gone.insert(name.to_vec(), (Some(file_of(entry)?), None));
        }
    }
    Some(gone)
}

/// A file as the tree has it.
fn file_of(entry: &IndexEntry<'_>) -> Option<TreeFile> {
    Some(TreeFile { mode: word_of(entry.mode)?, object: Oid::from_bytes(entry.object)? })
}

/// What becomes of the files of a tree when they are stored.
struct Storage<'a> {
    conversion: &'a Conversion,
    tree: &'a Path,
    /// Whether files in it say so. If not, it is the same in all folders.
    has_attributes: bool,
    /// What was found out, by folders.
    folders: BTreeMap<Vec<u8>, Kept>,
}

/// Which files are stored as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    All,
    Plain,
    None,
}

impl Storage<'_> {
    /// Whether a file is stored as it is.
    fn keeps(&mut self, file: &FoundFile) -> bool {
        let start = file.path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (folder, name) = file.path.split_at_checked(start).unwrap_or_default();
        let (folder, path) =
            if self.has_attributes { (folder, file.path.as_slice()) } else { (&b""[..], name) };
        let kept = self.folders.get(folder).copied().unwrap_or_else(|| self.kept(path));
        self.folders.entry(folder.to_vec()).or_insert(kept);
        kept == Kept::All || kept == Kept::Plain && is_plain(&file.content)
    }

    fn kept(&self, path: &[u8]) -> Kept {
        let path = Path::new(OsStr::from_bytes(path));
        if self.conversion.spares_any(self.tree, path) {
            return Kept::All;
        }
        if self.conversion.spares(self.tree, path) { Kept::Plain } else { Kept::None }
    }
}
