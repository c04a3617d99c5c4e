//! Files that git was told not to look at: assumed to be unchanged, or not meant to be on disk. In a working tree of a task
//! nobody but its agent says so, and what is in the files counts all the same. Only of files that a sparse checkout leaves
//! out is it git itself that says so.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::pristine::{Pristine, to_read};
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::formats::index_file::IndexFile;
use crate::git::formats::index_patch::Patch;
use crate::git::formats::raw_change::names;
use crate::git::repository::Git;

/// Where git keeps what a sparse checkout leaves out.
const SPARSE: &str = "info/sparse-checkout";

/// Has git look at every file in an index over a working tree whose state is kept in `state`, and into all but those that
/// are known to be as they were. Names of objects have so many bytes in it.
pub(in crate::git) fn look_at_all(
    index: &ScratchIndex<'_>,
    (tree, state): (&Path, &Path),
    pristine: Option<&Pristine>,
    width: usize,
) -> Result<(), GitError> {
    let mut disk = Disk::of(tree, state);
    let mut has_changed =
        || change(index.file(), &mut disk, pristine, width).map_err(GitError::io("change", index.file()));
    if has_changed()? {
        return Ok(());
    }
    // One that could be read when its tree was made is one of an agent's making.
    if pristine.is_some() {
        make_whole(index)?;
        if has_changed()? {
            return Ok(());
        }
    }
    ask_git(index, &mut disk)
}

/// Does so by changing the index. False: only git can read it.
fn change(index: &Path, disk: &mut Disk<'_>, pristine: Option<&Pristine>, width: usize) -> io::Result<bool> {
    // One that is not there hides nothing.
    let Ok(mut content) = fs::read(index) else { return Ok(true) };
    let Some(read) = IndexFile::parse(&content, width) else { return Ok(false) };
    let mut patch = disk.uncover(&read);
    to_read(pristine, &read, disk.tree).into_iter().for_each(|place| patch.forget(place));
    let file = File::options().write(true).open(index)?;
    let old = file.metadata()?.modified()?;
    if !patch.is_empty() {
        patch.apply(&mut content, width).ok_or(io::ErrorKind::InvalidData)?;
        file.write_all_at(&content, 0)?;
    }
    // Git would look into all that were written in the second of this time or after that.
    file.set_modified(pristine.map_or(old, Pristine::after))?;
    Ok(true)
}

/// Has git write an index in one piece, with a file for every folder that stands in place of its files.
fn make_whole(index: &ScratchIndex<'_>) -> Result<(), GitError> {
    let settings = ["-c", "core.splitIndex=false", "-c", "index.sparse=false", "-c", "core.fsmonitor=false"];
    let update = ["update-index", "--no-split-index", "--force-write-index"];
    // One that git cannot read either is told of by whoever needs it.
    index.run(&[&settings[..], &update[..]].concat(), Vec::new()).map(drop)
}

/// The same by git, for an index that only git can read. One that git cannot read either is told of by whoever needs it.
fn ask_git(index: &ScratchIndex<'_>, disk: &mut Disk<'_>) -> Result<(), GitError> {
    let listing = index.run(&["ls-files", "-v", "-z"], Vec::new())?;
    if !listing.is_success() {
        return Ok(());
    }
    let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
    for record in listing.stdout.split(|byte| *byte == 0) {
        let Some(([tag, b' '], name)) = record.split_first_chunk() else { continue };
        if tag.is_ascii_lowercase() {
            assumed.push(OsStr::from_bytes(name));
        }
        if tag.eq_ignore_ascii_case(&b'S') && !disk.leaves_out(name) {
            skipped.push(OsStr::from_bytes(name));
        }
    }
    for (option, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
        if !paths.is_empty() {
            index.run(&["update-index", option, "-z", "--stdin"], names(paths))?.success()?;
        }
    }
    Ok(())
}

impl Git {
    /// The files of the project that git was told not to look at, but for those that a sparse checkout leaves out. None: only
    /// git itself can tell.
    pub fn hidden(&self) -> Option<BTreeSet<OsString>> {
        let content = fs::read(self.git_dir().join("index")).ok()?;
        let index = IndexFile::parse(&content, self.head().ok()??.width())?;
        let mut disk = Disk::of(self.root(), self.git_dir());
        let hidden = index.entries.iter().filter(|entry| entry.is_hidden());
        let hidden = hidden.filter(|entry| !(entry.is_skipped() && disk.leaves_out(&entry.name)));
        Some(hidden.map(|entry| OsStr::from_bytes(&entry.name).to_owned()).collect())
    }

    /// Has git look at files of the project again.
    pub fn uncover(&self, paths: &[OsString]) -> Result<(), GitError> {
        let stdin = names(paths.iter().map(OsString::as_os_str));
        for option in ["--no-assume-unchanged", "--no-skip-worktree"] {
            let update = ["update-index", option, "-z", "--stdin"];
            self.run_locking(|| self.locking_call(&update, stdin.clone()))?.success()?;
        }
        Ok(())
    }
}

/// What is there of a working tree.
struct Disk<'a> {
    tree: &'a Path,
    is_sparse: bool,
    /// The last folder that was found missing: what a sparse checkout leaves out is mostly whole folders.
    missing: Option<OsString>,
}

impl<'a> Disk<'a> {
    fn of(tree: &'a Path, state: &Path) -> Disk<'a> {
        Disk { tree, is_sparse: state.join(SPARSE).exists(), missing: None }
    }

    /// What makes git look at all that is hidden in an index.
    fn uncover(&mut self, index: &IndexFile<'_>) -> Patch {
        let mut patch = Patch::default();
        for entry in index.entries.iter().filter(|entry| entry.is_hidden()) {
            let is_left_out = entry.is_skipped() && self.leaves_out(&entry.name);
            let (place, flags) = if is_left_out { entry.skipped_only() } else { entry.uncovered() };
            patch.put(place, flags);
        }
        patch
    }

    /// Whether a file is not there because of a sparse checkout.
    fn leaves_out(&mut self, name: &[u8]) -> bool {
        if !self.is_sparse {
            return false;
        }
        let name = Path::new(OsStr::from_bytes(name));
        if self.missing.as_ref().is_some_and(|folder| name.starts_with(folder)) {
            return true;
        }
        let is_there = |path: &Path| fs::symlink_metadata(self.tree.join(path)).is_ok();
        if is_there(name) {
            return false;
        }
        let folders = name.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let missing = folders.take_while(|folder| !is_there(folder)).last();
        self.missing = missing.map(OsString::from);
        true
    }
}
