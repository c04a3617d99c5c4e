//! The files of a landing under way, between being applied and being committed or taken back: what became of them, and
//! what of it is somebody's and must not be written over.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use super::landing_note::LandingNote;
use super::merge::Merge;
use crate::git::calls::process;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::commits::put_back::Left;
use crate::git::commits::put_back::{EDITED, free_place};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{Entry, RawChange, index_info, names, split_names};
use crate::git::repository::Git;
use crate::git::stamps::Stamps;
use crate::git::trees::keep::Keep;

/// What trees hold at some paths.
pub(in crate::git) type Entries = BTreeMap<OsString, Entry>;

/// What a look at a landing under way showed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sight {
    /// Somebody's commit that holds files of it as they were applied, or as somebody edited them since.
    pub committed: Option<Oid>,
    /// Whether files of it are again what is checked out: somebody took them out of the project.
    pub is_taken_out: bool,
}

impl Git {
    /// What became of a landing that was applied. Stamps from then save a closer look where nobody touched anything.
    pub fn look_at_landing(&self, stamps: Option<&Stamps>) -> Result<Sight, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(Sight::default()) };
        let is_moved = self.head()?.as_ref() != Some(&note.head);
        if !is_moved && stamps.is_some_and(|stamps| stamps.hold(self.root())) {
            return Ok(Sight::default());
        }
        let changes = self.differences(&note.head, &note.tree)?;
        let mut before = self.before(&note, &changes)?;
        let held = if is_moved { self.held(&note, &changes, &before)? } else { BTreeSet::new() };
        let committed = match held.first() {
            Some(path) => self.first_with(&note.head, path)?,
            None => None,
        };
        let kept = self.kept_untracked(&changes)?;
        for change in &changes {
            let is_as_applied = before.get(&change.path) == Some(&change.new);
            let stays = kept.contains(&change.path) || held.contains(&change.path);
            if change.new.is_gitlink() || is_as_applied || stays {
                before.remove(&change.path);
            }
        }
        let is_taken_out = self.unlike(&before)?.len() < before.len();
        Ok(Sight { committed, is_taken_out })
    }

    /// The files of a landing that what is checked out now holds: joining them with it would change nothing.
    fn held(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
        now: &Entries,
    ) -> Result<BTreeSet<OsString>, GitError> {
        let is_as_applied = |change: &&RawChange| now.get(&change.path) == Some(&change.new);
        let (held, other): (Vec<&RawChange>, Vec<&RawChange>) = changes.iter().partition(is_as_applied);
        let mut held: BTreeSet<OsString> = held.into_iter().map(|change| change.path.clone()).collect();
        let is_changed = |change: &&&RawChange| {
            now.get(&change.path).is_some_and(|entry| !entry.is_absent() && *entry != change.old)
        };
        let changed: Vec<&RawChange> = other.iter().filter(is_changed).copied().collect();
        if let (false, Some(head)) = (changed.is_empty(), self.head()?) {
            // Older gits join commits only.
            let list =
                ["commit-tree", note.tree.as_str(), "-p", note.head.as_str(), "-m", "half in the project"];
            let work = Oid::printed(process::run(self.locking_call(&list, Vec::new()))?)?;
            if let Merge::Clean(joined) = self.merge(&note.head, &head, &work)? {
                let missing = self.differences(&head, &joined)?;
                let missing: BTreeSet<&OsString> = missing.iter().map(|change| &change.path).collect();
                held.extend(
                    changed.iter().map(|change| &change.path).filter(|path| !missing.contains(path)).cloned(),
                );
            }
        }
        Ok(held)
    }

    /// The first commit since another one that changed a path.
    fn first_with(&self, since: &Oid, path: &OsStr) -> Result<Option<Oid>, GitError> {
        let range = format!("{since}..HEAD");
        let mut call = self.call(&["--literal-pathspecs", "rev-list", &range, "--"]);
        call.arguments.push(path.to_owned());
        let stdout = process::run(call)?.success()?;
        Ok(String::from_utf8_lossy(&stdout).lines().last().and_then(Oid::parse))
    }

    /// The files of a landing that are neither what was applied nor what was there before: somebody wrote them since, or
    /// the command that verified them.
    pub(in crate::git) fn rewritten(
        &self,
        changes: &[RawChange],
        before: &Entries,
    ) -> Result<Vec<OsString>, GitError> {
        let applied = changes.iter().map(|change| (change.path.clone(), change.new.clone())).collect();
        let unlike = self.unlike(&applied)?;
        let before = before.iter().filter(|(path, _)| unlike.contains(*path));
        let found = self.unlike(&before.map(|(path, entry)| (path.clone(), entry.clone())).collect())?;
        Ok(found.into_iter().filter(|path| self.is_file(path)).collect())
    }

    /// What the files of a landing have become since it was applied, as work of its own on top of what is checked out, and
    /// which of them changed. From now on that is what is half in the project; it holds on to the work that was kept until
    /// now. None if they are as they were.
    pub fn take_in_rewritten(
        &self,
        message: &str,
        stamps: Option<&Stamps>,
        keep: &Keep,
    ) -> Result<Option<(Oid, Vec<String>)>, GitError> {
        let is_untouched = stamps.is_some_and(|stamps| stamps.hold(self.root()));
        let Some(note) = LandingNote::read(self.git_dir())?.filter(|_| !is_untouched) else {
            return Ok(None);
        };
        let changes = self.differences(&note.head, &note.tree)?;
        let mut found = self.rewritten(&changes, &self.before(&note, &changes)?)?;
        let kept = self.kept_untracked(&changes)?;
        found.retain(|path| !kept.contains(path));
        if found.is_empty() || self.head()?.as_ref() != Some(&note.head) {
            return Ok(None);
        }
        let Some(tree) = self.tree_of_files(&note, &found)? else { return Ok(None) };
        let kept = self.kept(keep)?;
        let mut list = vec!["commit-tree", tree.as_str(), "-F", "-", "-p", note.head.as_str()];
        list.extend(kept.iter().flat_map(|kept| ["-p", kept.as_str()]));
        let commit = Oid::printed(process::run(self.locking_call(&list, message.as_bytes().to_vec()))?)?;
        self.anchor(&tree)?;
        LandingNote { tree, ..note }.write(self.git_dir())?;
        Ok(Some((commit, found.iter().map(|path| path.to_string_lossy().into_owned()).collect())))
    }

    /// The tree of a landing with some files as they are on disk.
    fn tree_of_files(&self, note: &LandingNote, files: &[OsString]) -> Result<Option<Oid>, GitError> {
        let index = ScratchIndex::of_main(self)?;
        index.read_tree(note.tree.as_str())?;
        let put = ["update-index", "-z", "--add", "--replace", "--stdin"];
        if !index.run(&put, names(files.iter().map(OsString::as_os_str)))?.is_success() {
            return Ok(None);
        }
        index.write_tree().map(Some)
    }

    /// What is to be written over at these paths and is no file there: a folder, or a file or link where a folder should
    /// be.
    pub(in crate::git) fn occupants<'a>(
        &self,
        paths: impl Iterator<Item = &'a OsString>,
    ) -> BTreeSet<OsString> {
        let kind = |path: &Path| fs::symlink_metadata(self.root().join(path)).ok();
        let occupant = |path: &'a OsString| {
            let folders: Vec<&Path> = Path::new(path).ancestors().skip(1).collect();
            let mut folders = folders.into_iter().rev().filter(|folder| !folder.as_os_str().is_empty());
            let blocked = folders.find(|folder| kind(folder).is_some_and(|found| !found.is_dir()));
            let is_folder = || kind(Path::new(path)).is_some_and(|found| found.is_dir());
            blocked.or_else(|| is_folder().then_some(Path::new(path)))
        };
        paths.filter_map(occupant).map(|path| path.as_os_str().to_owned()).collect()
    }

    /// Moves these out of the project, to where the run keeps what is somebody's.
    pub(in crate::git) fn set_aside(
        &self,
        paths: impl IntoIterator<Item = OsString>,
        left: &mut Option<Left>,
    ) -> Result<(), GitError> {
        for path in paths {
            let place = || self.notes().map_or_else(|| self.git_dir().join("tillgreen"), Path::to_owned);
            let left = left.get_or_insert_with(|| {
                let folder = free_place(&place().join("left/files"));
                Left { paths: Vec::new(), folder }
            });
            // A file of a folder may be there already when the folder follows.
            let (from, to) = (self.root().join(&path), free_place(&left.folder.join(&path)));
            relocate(&from, &to).map_err(GitError::io("move out of the way", &from))?;
            left.paths.push(path.to_string_lossy().into_owned());
        }
        Ok(())
    }

    /// The paths among these that are on disk not what is told, submodules apart.
    pub(in crate::git) fn unlike(&self, entries: &Entries) -> Result<BTreeSet<OsString>, GitError> {
        let (absent, there): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, entry)| entry.is_absent());
        let there: Vec<_> = there.into_iter().filter(|(_, entry)| !entry.is_gitlink()).collect();
        let absent = absent.into_iter().map(|(path, _)| path).filter(|path| self.is_file(path));
        let mut found: BTreeSet<OsString> = absent.cloned().collect();
        if !there.is_empty() {
            let index = ScratchIndex::empty(self, self.root(), self.git_dir());
            index.set(index_info(there.iter().map(|(path, entry)| (path.as_os_str(), *entry))))?;
            found.extend(split_names(&index.run(&EDITED, Vec::new())?.success()?));
        }
        Ok(found)
    }

    /// Whether something other than a folder is at a path, and not behind a link.
    pub(in crate::git) fn is_file(&self, path: &OsStr) -> bool {
        is_file_in(self.root(), path)
    }
}

/// The same below any folder.
pub(in crate::git) fn is_file_in(root: &Path, path: &OsStr) -> bool {
    let mut folders = Path::new(path).ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
    let is_behind_link = folders.any(|folder| root.join(folder).is_symlink());
    let found = || fs::symlink_metadata(root.join(path));
    !is_behind_link && found().is_ok_and(|found: Metadata| !found.is_dir())
}

fn relocate(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    match fs::rename(from, to) {
        // The run's own folder may be on another disk.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices && !from.is_symlink() => {
            fs::copy(from, to)?;
            fs::remove_file(from)
        }
        moved => moved,
    }
}
