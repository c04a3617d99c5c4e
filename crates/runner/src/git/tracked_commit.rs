//! Commits of files that git knows already, without starting a git: their content, the trees on the way to them and the
//! commit are written here, and the index is changed in place. Index and history change together, under git's
//! own lock. Whatever is not quite ordinary is left to git.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::conversion::{attributes_on_the_way, is_plain};
use super::error::GitError;
use super::history::Oid;
use super::index_file::{BYTES_MAX, IndexEntry, IndexFile};
use super::index_lock::IndexLock;
use super::index_patch::{Patch, write_as_old};
use super::loose_object::Kind;
use super::plain_commit::Plain;
use super::repository::Git;
use super::scratch_index::NEXT;
use super::stamps::Stamp;
use super::tree_edit::{Edit, Edits};

/// More files at once are left to git, which is worth its start then.
const FILES_MAX: usize = 16;

/// Larger files are left to git.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A file whose content is stored.
struct Stored<'a> {
    path: &'a [u8],
    metadata: Metadata,
    /// Where in the index it stands.
    place: usize,
    edit: Edit,
}

impl Git {
    /// Commits these files. None: git has to, or there is nothing to commit.
    pub(super) fn commit_tracked(
        &self,
        paths: &BTreeSet<&OsStr>,
        message: &str,
    ) -> Result<Option<Oid>, GitError> {
        if paths.len() > FILES_MAX || !self.knows_how_to_commit() || !self.commits_plainly() {
            return Ok(None);
        }
        let Some(conversion) = self.conversion() else { return Ok(None) };
        let spares =
            |path: &&OsStr| self.is_ordinary_file(path) && conversion.spares(self.root(), Path::new(path));
        if !paths.iter().all(spares) || self.is_tidying_due() {
            return Ok(None);
        }
        let mut lock = IndexLock::take(self)?;
        let Some(head) = self.head()? else { return Ok(None) };
        let Some((tree, next)) = self.prepare_tracked(&head, paths) else { return Ok(None) };
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
    fn is_ordinary_file(&self, path: &OsStr) -> bool {
        let metadata = |path: &Path| fs::symlink_metadata(self.root().join(path));
        let mut folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        metadata(Path::new(path)).is_ok_and(|file| file.is_file() && file.len() <= FILE_BYTES_MAX)
            && folders.all(|folder| metadata(folder).is_ok_and(|folder| folder.is_dir()))
    }

    /// Stores all but the commit: the tree that it is to have, and the index to go with it.
    fn prepare_tracked(&self, head: &Oid, paths: &BTreeSet<&OsStr>) -> Option<(Oid, PathBuf)> {
        let index_file = self.git_dir().join("index");
        let old = fs::symlink_metadata(&index_file).ok()?;
        let fits = old.is_file() && usize::try_from(old.len()).is_ok_and(|bytes| bytes <= BYTES_MAX);
        let mut content = fits.then(|| fs::read(&index_file)).and_then(Result::ok)?;
        let (tree, patch) = {
            let index = IndexFile::parse(&content, head.width())?;
            self.edit_tracked(head, &index, paths)?
        };
        patch.apply(&mut content, head.width())?;
        let next = self.git_dir().join(NEXT);
        write_as_old(&content, &old, &next).ok()?;
        Some((tree, next))
    }

    fn edit_tracked(
        &self,
        head: &Oid,
        index: &IndexFile<'_>,
        paths: &BTreeSet<&OsStr>,
    ) -> Option<(Oid, Patch)> {
        if index.entries.iter().any(IndexEntry::is_in_conflict) {
            return None;
        }
        let files: Vec<Stored<'_>> =
            paths.iter().map(|path| self.store(index, path)).collect::<Option<_>>()?;
        let edits: Edits<'_> = files.iter().map(|file| (file.path, &file.edit)).collect();
        let edited = self.edit_tree(head, &edits)?;
        let whole = edited.last().filter(|whole| whole.before != whole.after)?;
        let mut patch = Patch::default();
        files.iter().for_each(|file| patch.file(file.place, &file.metadata, &file.edit.after));
        patch.folders(index, &edited)?;
        Some((whole.after.clone(), patch))
    }

    /// Stores the content of a file that an index has.
    fn store<'a>(&self, index: &IndexFile<'_>, path: &'a OsStr) -> Option<Stored<'a>> {
        let entry = index.find(path.as_bytes()).filter(|entry| entry.is_ordinary())?;
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
        (number == entry.mode).then_some(())?;
        let content = fs::read(&file).ok().filter(|content| is_plain(content))?;
        let after = self.store_object(Kind::Blob, &content, entry.object.len())?;
        // What is stored is what is there.
        (Stamp::of(&file) == stamp).then_some(())?;
        let edit = Edit { mode, before: Oid::from_bytes(entry.object)?, after };
        Some(Stored { path: path.as_bytes(), metadata, place: entry.place, edit })
    }
}

/// The mode that git gives a file, as an index has it and as a tree has it.
fn mode_of(metadata: &Metadata) -> (u32, &'static str) {
    let is_executable = metadata.permissions().mode() & 0o100 != 0;
    if is_executable { (0o100_755, "100755") } else { (0o100_644, "100644") }
}
