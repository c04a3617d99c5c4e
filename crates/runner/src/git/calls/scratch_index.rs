//! An index beside the real one: trees are put together in it while the index that people and agents use stays as it
//! is.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::child_note::is_gone;
use super::process::{self, Call, Ended, Environment};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// How long a command over a whole tree may take: huge files, slow filters.
pub(in crate::git) const TREE_DEADLINE: Duration = Duration::from_secs(600);

/// New files are written also where a sparse checkout leaves out what is there already: whoever made them needs them.
pub(in crate::git) const UNSPARSE: [&str; 2] = ["-c", "core.sparseCheckout=false"];

const PREFIX: &str = "tillgreen-index-";

/// What the project's own index is about to become.
pub(in crate::git) const NEXT: &str = "tillgreen-next-index";

/// An index of its own over a working tree. It is removed when it is no longer used.
#[derive(Debug)]
pub(in crate::git) struct ScratchIndex<'a> {
    git: &'a Git,
    dir: PathBuf,
    file: PathBuf,
    environment: Environment,
}

impl<'a> ScratchIndex<'a> {
    /// Over the working tree `dir` with its state in `git_dir`, begun as a copy of the index there: what that knows
    /// of files on disk saves reading them again. Nothing in `dir` says where the repository is, since an agent may
    /// have changed what does.
    pub(in crate::git) fn copy(
        git: &'a Git,
        dir: &Path,
        git_dir: &Path,
    ) -> Result<ScratchIndex<'a>, GitError> {
        let scratch = ScratchIndex::empty(git, dir, git_dir);
        copy_index(&git_dir.join("index"), &scratch.file)?;
        Ok(scratch)
    }

    /// The same with nothing in it.
    pub(in crate::git) fn empty(git: &'a Git, dir: &Path, git_dir: &Path) -> ScratchIndex<'a> {
        sweep(git_dir);
        let file = git_dir.join(format!("{PREFIX}{}", std::process::id()));
        let mut environment = git.environment().clone();
        let variables = [("GIT_DIR", git_dir), ("GIT_WORK_TREE", dir), ("GIT_INDEX_FILE", &file)];
        environment.extend(variables.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        ScratchIndex { git, dir: dir.to_owned(), file, environment }
    }

    /// Over the main working tree, as a copy of its index. Hooks run with it find their surroundings as usual.
    pub(in crate::git) fn of_main(git: &'a Git) -> Result<ScratchIndex<'a>, GitError> {
        let mut scratch = ScratchIndex::copy(git, git.root(), git.git_dir())?;
        scratch.environment = git.environment().clone();
        scratch.environment.push(("GIT_INDEX_FILE".into(), scratch.file.clone().into()));
        Ok(scratch)
    }

    /// What the project's own is to become, as a copy of it; where somebody has removed that, as what is checked out.
    pub(in crate::git) fn next(git: &'a Git) -> Result<ScratchIndex<'a>, GitError> {
        let file = git.git_dir().join(NEXT);
        let mut environment = git.environment().clone();
        environment.push(("GIT_INDEX_FILE".into(), file.clone().into()));
        let next = ScratchIndex { git, dir: git.root().to_owned(), file, environment };
        if !copy_index(&git.git_dir().join("index"), &next.file)? && !git.has_no_files()? {
            next.read_tree("HEAD")?;
        }
        Ok(next)
    }

    /// Where it is.
    pub(in crate::git) fn file(&self) -> &Path {
        &self.file
    }

    /// A call that works on this index and reads `stdin`.
    pub(in crate::git) fn call(&self, list: &[&str], stdin: Vec<u8>) -> Call<'_> {
        let call = self.git.locking_call(list, stdin);
        Call { dir: &self.dir, environment: &self.environment, deadline: TREE_DEADLINE, ..call }
    }

    /// Runs such a call.
    pub(in crate::git) fn run(&self, list: &[&str], stdin: Vec<u8>) -> Result<Ended, GitError> {
        process::run(self.call(list, stdin))
    }

    /// Makes it hold exactly this tree, keeping what is known of files that are the same.
    pub(in crate::git) fn read_tree(&self, tree: &str) -> Result<(), GitError> {
        // With a merge of one tree, a sparse checkout's patterns apply; entries in conflict are dropped.
        let ended = self.run(&["read-tree", "--reset", tree], Vec::new())?;
        ended.success().map(drop)
    }

    /// Sets single entries.
    pub(in crate::git) fn set(&self, lines: Vec<u8>) -> Result<(), GitError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.run(&["update-index", "-z", "--index-info"], lines)?.success().map(drop)
    }

    /// The tree that it holds.
    pub(in crate::git) fn write_tree(&self) -> Result<Oid, GitError> {
        Oid::printed(self.run(&["write-tree"], Vec::new())?)
    }
}

impl Drop for ScratchIndex<'_> {
    fn drop(&mut self) {
        // One that stays is swept away by the next.
        let _ = fs::remove_file(&self.file);
    }
}

/// Copies an index; one that is not there is empty. Tells whether it was there.
pub(in crate::git) fn copy_index(index: &Path, to: &Path) -> Result<bool, GitError> {
    match copy_as_old(index, to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Somebody may have died and left one.
            let _ = fs::remove_file(to);
            Ok(false)
        }
        Err(error) => Err(GitError::io("copy", index)(error)),
    }
}

/// Copies an index with its time. By that git knows which files may have been changed in the same moment without looking
/// any different, and reads them.
pub(in crate::git) fn copy_as_old(index: &Path, to: &Path) -> io::Result<()> {
    let time = fs::metadata(index)?.modified()?;
    fs::copy(index, to)?;
    File::options().write(true).open(to)?.set_modified(time)
}

/// Removes those that a killed program left, with their locks.
pub(in crate::git) fn sweep(git_dir: &Path) {
    let Ok(entries) = fs::read_dir(git_dir) else { return };
    for entry in entries.flatten() {
        if is_left_behind(&entry.file_name().to_string_lossy()) {
            // It is of no use to anybody; one that cannot be removed is in nobody's way.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file is one of ours and whoever made it is gone. The name holds the process's number.
fn is_left_behind(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else { return false };
    let pid = rest.split('.').next().unwrap_or_default();
    pid == std::process::id().to_string() || is_gone(pid)
}
