//! Files that git was told not to look at: assumed to be unchanged, or not meant to be on disk. In a working tree of a task
//! nobody but its agent says so, and what is in the files counts all the same. Only of files that a sparse checkout leaves
//! out is it git itself that says so.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::git::calls::process;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::raw_change::names;
use crate::git::repository::Git;

/// Lists the files of an index with what git was told of them.
const LISTING: [&str; 3] = ["ls-files", "-v", "-z"];

/// Where git keeps what a sparse checkout leaves out.
const SPARSE: &str = "info/sparse-checkout";

/// Has git look at every file in an index over a working tree whose state is kept in `state`.
pub(in crate::git) fn look_at_all(
    index: &ScratchIndex<'_>,
    (tree, state): (&Path, &Path),
) -> Result<(), GitError> {
    let mut disk = Disk::of(tree, state);
    let listing = index.run(&LISTING, Vec::new())?.success()?;
    let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
    for record in listing.split(|byte| *byte == 0) {
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
    /// The files of the project that git was told not to look at, but for those that a sparse checkout leaves out.
    pub fn hidden(&self) -> Result<BTreeSet<OsString>, GitError> {
        let mut disk = Disk::of(self.root(), self.git_dir());
        let listing = process::run(self.call(&LISTING))?.success()?;
        let mut hidden = BTreeSet::new();
        for record in listing.split(|byte| *byte == 0) {
            let Some(([tag, b' '], name)) = record.split_first_chunk() else { continue };
            let is_skipped = tag.eq_ignore_ascii_case(&b'S');
            if (tag.is_ascii_lowercase() || is_skipped) && !(is_skipped && disk.leaves_out(name)) {
                hidden.insert(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(hidden)
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
