//! Files that are put into the project without starting a git, where git would do nothing but write them down: regular
//! ones, stored as they are, in place of nothing or of what the commit before has there. Everything else is left to git.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use crate::git::commits::commit::is_inside;
use crate::git::customs::conversion::{ATTRIBUTES, Conversion, attributes_on_the_way};
use crate::git::error::GitError;
use crate::git::formats::index_edit::{Put, Puts, with_files};
use crate::git::formats::index_file::{IndexEntry, IndexFile};
use crate::git::formats::index_patch::{has_stat, write_as_old};
use crate::git::formats::loose_object::Kind;
use crate::git::formats::raw_change::RawChange;
use crate::git::formats::tree_edit::EditedFolder;
use crate::git::formats::tree_object::TreeObject;
use crate::git::formats::working_file::{self, EXECUTABLE, blob_name, mode_of};
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::stamps::Stamp;

/// More files at once, and larger ones, are worth starting a git.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// A file that is to be written.
#[derive(Debug)]
struct PlainFile {
    path: OsString,
    /// As an index has it.
    mode: u32,
    object: Oid,
    content: Vec<u8>,
    /// What is there by now; none if nothing is.
    old: Option<Oid>,
}

/// Files that are to be put into the project, and what its index is to become by that.
#[derive(Debug)]
pub(in crate::git) struct PlainPut {
    files: Vec<PlainFile>,
    folders: Vec<EditedFolder>,
    /// The project's index, what that looked like before it was read, and what it looks like.
    index: Vec<u8>,
    main: Option<Stamp>,
    metadata: Metadata,
    /// Those that were written.
    written: BTreeMap<OsString, Put>,
}

impl Git {
    /// Puts the files of a landing into the project, and what it then is into the index of the landing. None: nothing was
    /// changed, and git has to.
    pub(in crate::git) fn put_plainly(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
    ) -> Result<Option<LandingIndex<'_>>, GitError> {
        let Some(mut put) = self.plan_plainly(note, changes) else { return Ok(None) };
        // Whatever fails from here on leaves files behind that the note tells of.
        self.put_files(&mut put, |_| true)?;
        self.put_index(&put).map(Some)
    }

    /// What is to be put where. None: not all of it is plain.
    pub(in crate::git) fn plan_plainly(&self, note: &LandingNote, changes: &[RawChange]) -> Option<PlainPut> {
        // What the project's own index looks like is noted before it is read: whoever stages something since is noticed.
        let main = Stamp::of(&self.git_dir().join("index"));
        let (content, metadata) = self.index_on_disk()?;
        let index = IndexFile::parse(&content, note.head.width())?;
        let (files, folders) = self.plan_files(note, changes, &index)?;
        // That the index can be written is tried out before anything else is.
        let put = |file: &PlainFile| Some((file.path.clone(), Put::new(file.mode, &metadata, &file.object)?));
        let all: BTreeMap<OsString, Put> = files.iter().filter_map(put).collect();
        with_files(&content, &index, &by_name(&all), &folders)?;
        Some(PlainPut { files, folders, index: content, main, metadata, written: BTreeMap::new() })
    }

    /// Writes some of the files.
    pub(in crate::git) fn put_files(
        &self,
        put: &mut PlainPut,
        is_wanted: impl Fn(&OsStr) -> bool,
    ) -> Result<(), GitError> {
        for file in put.files.iter().filter(|file| is_wanted(&file.path)) {
            let written = file.write(self.root()).and_then(|written| written.metadata());
            let written = written.map_err(GitError::io("write", &self.root().join(&file.path)))?;
            let put_there = Put::new(file.mode, &written, &file.object);
            put.written.extend(put_there.map(|written| (file.path.clone(), written)));
        }
        Ok(())
    }

    /// A file that is to be written and no longer can be: somebody has put something in its place since.
    pub(in crate::git) fn without_room(
        &self,
        put: &PlainPut,
        is_wanted: impl Fn(&OsStr) -> bool,
    ) -> Option<String> {
        let has_room = |file: &PlainFile| {
            let is_there = fs::symlink_metadata(self.root().join(&file.path)).is_ok();
            let is_as_before = match &file.old {
                Some(old) => self.content_on_disk(&file.path, old.width()).as_ref() == Some(old),
                None => !is_there,
            };
            is_as_before && self.has_way_to(&file.path)
        };
        let mut wanted = put.files.iter().filter(|file| is_wanted(&file.path));
        wanted.find(|file| !has_room(file)).map(|file| file.path.to_string_lossy().into_owned())
    }

    /// The content of a file as git would name it; none if there is no such file.
    pub(in crate::git) fn content_on_disk(&self, path: &OsStr, width: usize) -> Option<Oid> {
        let file = self.root().join(path);
        fs::symlink_metadata(&file).ok().filter(Metadata::is_file)?;
        blob_name(&fs::read(file).ok()?, width)
    }

    /// Writes the index of the landing, once all files are there.
    pub(in crate::git) fn put_index(&self, put: &PlainPut) -> Result<LandingIndex<'_>, GitError> {
        let landing = LandingIndex::made_of(self, put.main.clone());
        let width = put.files.first().map_or(0, |file| file.object.width());
        let edited = IndexFile::parse(&put.index, width)
            .and_then(|index| with_files(&put.index, &index, &by_name(&put.written), &put.folders));
        write_as_old(&edited.unwrap_or_default(), &put.metadata, landing.file())
            .map_err(GitError::io("write", landing.file()))?;
        Ok(landing)
    }

    /// Whether git would do nothing but write files down, and commit them.
    pub fn puts_plainly(&self) -> bool {
        self.habit().writes_plainly && self.commits_plainly()
    }

    /// What to write, and the folders that become others by that. None: not all of it is plain.
    fn plan_files(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
        index: &IndexFile<'_>,
    ) -> Option<(Vec<PlainFile>, Vec<EditedFolder>)> {
        if changes.len() > FILES_MAX || !self.puts_plainly() {
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

    fn plan_file(&self, change: &RawChange, index: &IndexFile<'_>) -> Option<PlainFile> {
        let (path, name) = (change.path.as_os_str(), change.path.as_bytes());
        let mode = mode_of(&change.new.mode)?;
        is_inside(path.to_str()?).then_some(())?;
        self.is_written_as_stored(path, index).then_some(())?;
        self.has_way_to(path).then_some(())?;
        let mut old = None;
        if !change.old.is_absent() {
            let (entry, object) = (index.find(name)?, Oid::parse(&change.old.oid)?);
            let is_that = entry.mode == mode_of(&change.old.mode)? && entry.object == object.bytes();
            (is_that && self.is_unchanged(path, entry)).then_some(())?;
            old = Some(object);
        } else {
            index.has_room_for(name).then_some(())?;
            let found = fs::symlink_metadata(self.root().join(path));
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound).then_some(())?;
        }
        let object = Oid::parse(&change.new.oid)?;
        let content = self.read_blob(&object, FILE_BYTES_MAX)?;
        self.recent_objects().put(Kind::Blob, &object, &content, None);
        Some(PlainFile { path: path.to_owned(), mode, object, content, old })
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
            metadata.is_file() && fits && is_executable == (entry.mode == EXECUTABLE)
        };
        let content = fs::symlink_metadata(&file).ok().filter(is_fit).and_then(|_| fs::read(&file).ok());
        let name = content.and_then(|content| blob_name(&content, entry.object.len()));
        name.is_some_and(|name| name.bytes() == entry.object)
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

impl PlainFile {
    /// Writes it, as git does: in place of another one a new one is made.
    fn write(&self, root: &Path) -> io::Result<File> {
        let path = root.join(&self.path);
        if self.old.is_some() {
            fs::remove_file(&path)?;
        } else if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).create(folder)?;
        }
        working_file::create(&path, self.mode, &self.content)
    }
}

fn by_name(puts: &BTreeMap<OsString, Put>) -> Puts<'_> {
    puts.iter().map(|(path, put)| (path.as_bytes(), put.clone())).collect()
}
