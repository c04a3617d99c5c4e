//! Commits of a few files without starting a git: their content, the trees on the way to them and the commit are written
//! here, and the index is changed in place, or written anew where there are new files. Index and history change together,
//! under git's own lock. Whatever is not quite ordinary is left to git.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::commit::Staging;
use super::plain_commit::Plain;
use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::scratch_index::NEXT;
use crate::git::customs::conversion::{attributes_on_the_way, is_plain};
use crate::git::error::GitError;
use crate::git::formats::index_edit::{Put, Puts, with_files};
use crate::git::formats::index_file::{IndexEntry, IndexFile};
use crate::git::formats::index_patch::{Patch, write_as_old};
use crate::git::formats::loose_object::Kind;
use crate::git::formats::tree_edit::{Edit, EditedFolder, Edits};
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::stamps::Stamp;

/// More files at once are left to git, which is worth its start then.
const FILES_MAX: usize = 16;

/// Larger files are left to git.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A file whose content is stored.
struct Stored<'a> {
    path: &'a [u8],
    metadata: Metadata,
    /// Where in the index it stands; none if it is new.
    place: Option<usize>,
    edit: Edit,
    object: Oid,
}

/// What becomes of an index.
enum Next {
    /// Something in it changes.
    Patched(Patch),
    /// It is written anew.
    Edited(Vec<u8>),
}

impl Git {
    /// Commits these files. None: git has to, or there is nothing to commit.
    pub(in crate::git) fn commit_tracked(
        &self,
        paths: &BTreeSet<&OsStr>,
        message: &str,
        staging: Staging,
    ) -> Result<Option<Oid>, GitError> {
        if paths.len() > FILES_MAX || !self.knows_how_to_commit() || !self.commits_plainly() {
            return Ok(None);
        }
        let Some(conversion) = self.conversion() else { return Ok(None) };
        let spares =
            |path: &&OsStr| self.is_ordinary_file(path) && conversion.spares(self.root(), Path::new(path));
        if !paths.iter().all(spares) || self.is_tidying_due(1) {
            return Ok(None);
        }
        let mut lock = IndexLock::take(self)?;
        let Some(head) = self.head()? else { return Ok(None) };
        let Some((tree, next)) = self.prepare_tracked(&head, paths, staging) else { return Ok(None) };
        // A run of another plan that begins to land sweeps away what it takes for a leftover.
        if lock.put(&next).is_err() {
            return Ok(None);
        }
        match self.commit_plainly((&head, &tree), message)? {
            Plain::Done(commit) => {
                lock.keep();
                self.count_commit();
                Ok(Some(commit))
            }
            // The index becomes what it was.
            Plain::Overtaken | Plain::LeftToGit => Ok(None),
        }
    }

    /// Whether it is a file and no link leads to it.
    pub(in crate::git) fn is_ordinary_file(&self, path: &OsStr) -> bool {
        let metadata = |path: &Path| fs::symlink_metadata(self.root().join(path));
        let mut folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        metadata(Path::new(path)).is_ok_and(|file| file.is_file() && file.len() <= FILE_BYTES_MAX)
            && folders.all(|folder| metadata(folder).is_ok_and(|folder| folder.is_dir()))
    }

    /// Stores all but the commit: the tree that it is to have, and the index to go with it.
    fn prepare_tracked(
        &self,
        head: &Oid,
        paths: &BTreeSet<&OsStr>,
        staging: Staging,
    ) -> Option<(Oid, PathBuf)> {
        let (mut content, old) = self.index_on_disk()?;
        let (tree, next) = {
            let index = IndexFile::parse(&content, head.width())?;
            // Git ignores some files, and only git knows which.
            let is_new = |path: &&OsStr| index.find(path.as_bytes()).is_none();
            (staging == Staging::AddSeen || !paths.iter().any(is_new)).then_some(())?;
            self.edit_tracked(head, (&content, &index), paths)?
        };
        match next {
            Next::Patched(patch) => patch.apply(&mut content, head.width())?,
            Next::Edited(edited) => content = edited,
        }
        let next = self.git_dir().join(NEXT);
        write_as_old(&content, &old, &next).ok()?;
        Some((tree, next))
    }

    fn edit_tracked(
        &self,
        head: &Oid,
        (content, index): (&[u8], &IndexFile<'_>),
        paths: &BTreeSet<&OsStr>,
    ) -> Option<(Oid, Next)> {
        if index.entries.iter().any(IndexEntry::is_in_conflict) {
            return None;
        }
        let files: Vec<Stored<'_>> =
            paths.iter().map(|path| self.store(head.width(), index, path)).collect::<Option<_>>()?;
        let edits: Edits<'_> = files.iter().map(|file| (file.path, &file.edit)).collect();
        let edited = self.edit_tree(head, &edits)?;
        let whole = edited.last().filter(|whole| whole.before.as_ref() != Some(&whole.after))?;
        Some((whole.after.clone(), next(&files, (content, index), &edited)?))
    }

    /// Stores the content of a file.
    fn store<'a>(&self, width: usize, index: &IndexFile<'_>, path: &'a OsStr) -> Option<Stored<'a>> {
        let entry = index.find(path.as_bytes());
        let is_in_place = entry.map_or_else(|| index.has_room_for(path.as_bytes()), IndexEntry::is_ordinary);
        is_in_place.then_some(())?;
        // Attributes that are not on disk count as they are in the index.
        let is_hidden = |name: Vec<u8>| {
            index.find(&name).is_some() && !self.root().join(OsStr::from_bytes(&name)).exists()
        };
        if attributes_on_the_way(Path::new(path)).any(is_hidden) {
            return None;
        }
        let file = self.root().join(path);
        let stamp = Stamp::of(&file);
        let metadata = fs::symlink_metadata(&file).ok().filter(Metadata::is_file)?;
        let (number, mode) = mode_of(&metadata);
        // Whether new files can be run is not always told by the disk.
        (number == entry.map_or(NOT_EXECUTABLE.0, |entry| entry.mode)).then_some(())?;
        let content = fs::read(&file).ok().filter(|content| is_plain(content))?;
        let after = self.store_object(Kind::Blob, &content, width)?;
        // What is stored is what is there.
        (Stamp::of(&file) == stamp).then_some(())?;
        let before = match entry {
            Some(entry) => Some(Oid::from_bytes(entry.object)?),
            None => None,
        };
        let (place, edit) = (entry.map(|entry| entry.place), Edit::content(mode, before, after.clone()));
        Some(Stored { path: path.as_bytes(), metadata, place, edit, object: after })
    }
}

/// The index that goes with some files.
fn next(
    files: &[Stored<'_>],
    (content, index): (&[u8], &IndexFile<'_>),
    folders: &[EditedFolder],
) -> Option<Next> {
    let mut patch = Patch::default();
    for file in files {
        let Some(place) = file.place else { return edited(files, (content, index), folders) };
        patch.file(place, &file.metadata, &file.object);
    }
    patch.folders(index, folders)?;
    Some(Next::Patched(patch))
}

fn edited(
    files: &[Stored<'_>],
    (content, index): (&[u8], &IndexFile<'_>),
    folders: &[EditedFolder],
) -> Option<Next> {
    let mut puts = Puts::new();
    for file in files {
        puts.insert(file.path, Put::new(mode_of(&file.metadata).0, &file.metadata, &file.object)?);
    }
    with_files(content, index, &puts, folders).map(Next::Edited)
}

/// The modes of files, as an index has them and as a tree has them.
const EXECUTABLE: (u32, &str) = (0o100_755, "100755");
const NOT_EXECUTABLE: (u32, &str) = (0o100_644, "100644");

fn mode_of(metadata: &Metadata) -> (u32, &'static str) {
    let is_executable = metadata.permissions().mode() & 0o100 != 0;
    if is_executable { EXECUTABLE } else { NOT_EXECUTABLE }
}
