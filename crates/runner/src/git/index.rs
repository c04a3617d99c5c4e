//! An index of our own over a place. It stays from one look to the next, so that git reads only files that changed, and
//! nothing that somebody does to the index there is in it. The index that people use is refused where it is missing or
//! broken: git takes a missing one for an empty one, in which all files are staged to be deleted.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call, Ended, Environment};
use crate::git::history::Oid;
use crate::git::repository::{DURABLY, Git};
use crate::git::snapshot::{Place, remove_if_there};

/// The time for a command over a whole work tree: huge files, slow filters.
pub(in crate::git) const TREE_DEADLINE: Duration = Duration::from_secs(600);

/// Such an index.
#[derive(Debug)]
pub(in crate::git) struct OwnIndex<'a> {
    git: &'a Git,
    dir: &'a Path,
    /// The folder with the state of the work tree.
    state: PathBuf,
    file: &'a Path,
    environment: Environment,
}

impl<'a> OwnIndex<'a> {
    pub(in crate::git) fn new(git: &'a Git, place: &'a Place, state: &Path) -> OwnIndex<'a> {
        let mut environment = git.environment().clone();
        let variables =
            [("GIT_DIR", state), ("GIT_WORK_TREE", &*place.root), ("GIT_INDEX_FILE", &*place.index)];
        environment.extend(variables.map(|(name, value)| (OsString::from(name), OsString::from(value))));
        OwnIndex { git, dir: &place.root, state: state.to_owned(), file: &place.index, environment }
    }

    /// Begins anew with what the index there says now; without one, with what is checked out.
    pub(in crate::git) fn begin(&self) -> Result<(), GitError> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        self.unlock()?;
        let theirs = self.state.join("index");
        match copy_as_old(&theirs, self.file) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                remove_if_there(self.file)?;
                self.read_head()
            }
            Err(error) => Err(GitError::io("copy", &theirs)(error)),
        }
    }

    /// Goes on with what it held before, if it was begun.
    pub(in crate::git) fn continue_or_begin(&self) -> Result<(), GitError> {
        if self.file.exists() { self.unlock() } else { self.begin() }
    }

    /// A git that was killed may have left its lock; nobody else uses this index.
    fn unlock(&self) -> Result<(), GitError> {
        let mut lock = self.file.as_os_str().to_owned();
        lock.push(".lock");
        remove_if_there(Path::new(&lock))
    }

    fn read_head(&self) -> Result<(), GitError> {
        let ended = self.run(&["read-tree", "--reset", "HEAD"], Vec::new())?;
        // Before the first commit there is nothing.
        if ended.is_success() || self.git.head()?.is_none() { Ok(()) } else { Err(ended.into_failure()) }
    }

    /// Runs a call that works on this index and reads `stdin`.
    pub(in crate::git) fn run(&self, list: &[&str], stdin: Vec<u8>) -> Result<Ended, GitError> {
        let call = self.git.locking_call(&[&DURABLY[..], list].concat(), stdin);
        let environment = &self.environment;
        process::run(Call { dir: self.dir, environment, deadline: TREE_DEADLINE, ..call })
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

/// Copies an index with its time. By that git knows which files may have been changed in the same moment without looking
/// any different, and reads them.
fn copy_as_old(index: &Path, to: &Path) -> io::Result<()> {
    let time = fs::metadata(index)?.modified()?;
    fs::copy(index, to)?;
    File::options().write(true).open(to)?.set_modified(time)
}

impl Git {
    /// Refuses a project whose index is missing.
    pub(in crate::git) fn refuse_without_index(&self) -> Result<(), GitError> {
        let file = self.git_dir().join("index");
        match fs::symlink_metadata(&file) {
            // Without a file there need not be one.
            Err(error) if error.kind() == ErrorKind::NotFound && !self.has_no_files()? => {
                Err(GitError::NoIndex { file, reason: "is missing" })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Refuses a project whose index is missing, or one that git cannot read.
    pub fn refuse_broken_index(&self) -> Result<(), GitError> {
        self.refuse_without_index()?;
        // Git reads all of it to find nothing.
        let ended = process::run(self.call(&["ls-files", "--", ":(top,literal).git"]))?;
        let file = self.git_dir().join("index");
        if ended.is_success() { Ok(()) } else { Err(GitError::NoIndex { file, reason: "is broken" }) }
    }

    /// True if nothing is checked out of which an index could tell.
    pub(in crate::git) fn has_no_files(&self) -> Result<bool, GitError> {
        let Some(head) = self.head()? else { return Ok(true) };
        let listing = process::run(self.call(&["ls-tree", "--name-only", head.as_str()]))?.success()?;
        Ok(listing.is_empty())
    }
}
