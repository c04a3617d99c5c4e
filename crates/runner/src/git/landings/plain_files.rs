//! Files that are put into the project without starting a git, where git would do nothing but write them down: regular
//! ones, stored as they are, in place of nothing or of what the commit before has there. Everything else is left to git.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use crate::git::commits::commit::is_inside;
use crate::git::customs::conversion::{ATTRIBUTES, Conversion, attributes_on_the_way};
use crate::git::error::GitError;
use crate::git::formats::checksum::checksum;
use crate::git::formats::index_edit::{Put, Puts, with_files};
use crate::git::formats::index_file::{IndexEntry, IndexFile};
use crate::git::formats::index_patch::{has_stat, write_as_old};
use crate::git::formats::raw_change::{Entry, RawChange};
use crate::git::formats::tree_edit::EditedFolder;
use crate::git::formats::tree_object::TreeObject;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// More files at once, and larger ones, are worth starting a git.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// A file that is to be written.
struct PlainFile<'a> {
    path: &'a OsStr,
    /// As an index has it.
    mode: u32,
    object: Oid,
    content: Vec<u8>,
    /// Whether another one is there.
    is_there: bool,
}

impl Git {
    /// Puts the files of a landing into the project, and what it then is into the index of the landing. None: nothing was
    /// changed, and git has to.
    pub(in crate::git) fn put_plainly(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
    ) -> Result<Option<LandingIndex<'_>>, GitError> {
        let Some((content, metadata)) = self.index_on_disk() else { return Ok(None) };
        let Some(index) = IndexFile::parse(&content, note.head.width()) else { return Ok(None) };
        let Some((files, folders)) = self.plan_files(note, changes, &index) else { return Ok(None) };
        // That the index can be written is tried out before anything else is.
        let mut puts = Puts::new();
        for file in &files {
            puts.extend(Put::new(file.mode, &metadata, &file.object).map(|put| (file.path.as_bytes(), put)));
        }
        if with_files(&content, &index, &puts, &folders).is_none() {
            return Ok(None);
        }
        // Whatever fails from here on leaves files behind that the note tells of.
        for file in &files {
            let written = file.write(self.root()).and_then(|written| written.metadata());
            let written = written.map_err(GitError::io("write", &self.root().join(file.path)))?;
            puts.extend(Put::new(file.mode, &written, &file.object).map(|put| (file.path.as_bytes(), put)));
        }
        let landing = LandingIndex::fresh(self);
        let edited = with_files(&content, &index, &puts, &folders).unwrap_or_default();
        write_as_old(&edited, &metadata, landing.file()).map_err(GitError::io("write", landing.file()))?;
        Ok(Some(landing))
    }

    /// What to write, and the folders that become others by that. None: not all of it is plain.
    fn plan_files<'a>(
        &self,
        note: &LandingNote,
        changes: &'a [RawChange],
        index: &IndexFile<'_>,
    ) -> Option<(Vec<PlainFile<'a>>, Vec<EditedFolder>)> {
        if changes.len() > FILES_MAX || !self.habit().writes_plainly || !self.commits_plainly() {
            return None;
        }
        // The index is the commit before and nothing else, so that nobody's staged changes are in it.
        let held = index.tree.as_ref()?.known?.tree()?;
        (held == self.tree_of(&note.head).ok()? && index.entries.iter().all(IndexEntry::is_ordinary))
            .then_some(())?;
        let files = changes.iter().map(|change| self.plan_file(change, index)).collect::<Option<Vec<_>>>()?;
        let mut folders = Vec::new();
        let paths: Vec<&[u8]> = files.iter().map(|file| file.path.as_bytes()).collect();
        self.changed_folders((Some(&held), &note.tree), b"", &paths, &mut folders)?;
        Some((files, folders))
    }

    fn plan_file<'a>(&self, change: &'a RawChange, index: &IndexFile<'_>) -> Option<PlainFile<'a>> {
        let (path, name) = (change.path.as_os_str(), change.path.as_bytes());
        let mode = mode_of(&change.new)?;
        is_inside(path.to_str()?).then_some(())?;
        self.is_written_as_stored(path, index).then_some(())?;
        self.has_way_to(path).then_some(())?;
        let is_there = !change.old.is_absent();
        if is_there {
            let entry = index.find(name)?;
            let is_that =
                entry.mode == mode_of(&change.old)? && entry.object == Oid::parse(&change.old.oid)?.bytes();
            (is_that && self.is_unchanged(path, entry)).then_some(())?;
        } else {
            index.has_room_for(name).then_some(())?;
            let found = fs::symlink_metadata(self.root().join(path));
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound).then_some(())?;
        }
        let object = Oid::parse(&change.new.oid)?;
        let content = self.read_blob(&object, FILE_BYTES_MAX)?;
        Some(PlainFile { path, mode, object, content, is_there })
    }

    /// Whether attributes leave a file as it is. On the way out those count that the index has.
    fn is_written_as_stored(&self, path: &OsStr, index: &IndexFile<'_>) -> bool {
        let is_known = |name: Vec<u8>| {
            index.find(&name).is_none_or(|entry| {
                let found = fs::symlink_metadata(self.root().join(OsStr::from_bytes(&name)));
                found.is_ok_and(|metadata| has_stat(&metadata, entry.stat))
            })
        };
        let path = Path::new(path);
        let is_attributes = path.file_name() == Some(OsStr::new(ATTRIBUTES));
        let leaves = |conversion: Conversion| conversion.leaves(self.root(), path);
        !is_attributes && attributes_on_the_way(path).all(is_known) && self.conversion().is_some_and(leaves)
    }

    /// Whether the folders on the way to a file are folders, or not there at all.
    fn has_way_to(&self, path: &OsStr) -> bool {
        let mut folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        folders.all(|folder| match fs::symlink_metadata(self.root().join(folder)) {
            Ok(metadata) => metadata.is_dir(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        })
    }

    /// Whether a file on disk is for sure the one that an index has.
    fn is_unchanged(&self, path: &OsStr, entry: &IndexEntry<'_>) -> bool {
        let file = self.root().join(path);
        let is_fit = |metadata: &fs::Metadata| {
            let is_executable = metadata.permissions().mode() & 0o100 != 0;
            let fits = usize::try_from(metadata.len()).is_ok_and(|bytes| bytes <= FILE_BYTES_MAX);
            metadata.is_file() && fits && is_executable == (entry.mode == 0o100_755)
        };
        let content = fs::symlink_metadata(&file).ok().filter(is_fit).and_then(|_| fs::read(&file).ok());
        content.is_some_and(|content| {
            let header = format!("blob {}\0", content.len());
            checksum(&[header.as_bytes(), &content], entry.object.len()).as_deref() == Some(entry.object)
        })
    }

    /// The folders on the way to some files, by the trees that they are before and after.
    fn changed_folders(
        &self,
        (before, after): (Option<&Oid>, &Oid),
        path: &[u8],
        files: &[&[u8]],
        folders: &mut Vec<EditedFolder>,
    ) -> Option<()> {
        let old = match before {
            Some(before) => TreeObject::read(self, before.as_str())?.1,
            None => TreeObject::default(),
        };
        let (old, new) = (old.items()?, TreeObject::read(self, after.as_str())?.1);
        for item in new.items()?.iter().filter(|item| item.is_folder()) {
            let below = [path, item.name, b"/"].concat();
            if files.iter().any(|file| file.starts_with(&below)) {
                let before = old.iter().find(|old| old.is_folder() && old.name == item.name);
                let before = before.and_then(|item| Oid::parse(&item.object()));
                self.changed_folders(
                    (before.as_ref(), &Oid::parse(&item.object())?),
                    &below,
                    files,
                    folders,
                )?;
            }
        }
        folders.push(EditedFolder { path: path.to_vec(), before: before.cloned(), after: after.clone() });
        Some(())
    }
}

impl PlainFile<'_> {
    /// Writes it, as git does: in place of another one a new one is made.
    fn write(&self, root: &Path) -> io::Result<File> {
        let path = root.join(self.path);
        if self.is_there {
            fs::remove_file(&path)?;
        } else if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).create(folder)?;
        }
        let mode = if self.mode == 0o100_755 { 0o777 } else { 0o666 };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        file.write_all(&self.content)?;
        Ok(file)
    }
}

/// The mode of a regular file as an index has it.
fn mode_of(entry: &Entry) -> Option<u32> {
    match entry.mode.as_str() {
        "100644" => Some(0o100_644),
        "100755" => Some(0o100_755),
        _ => None,
    }
}
