//! Git's lock on the project's index, held by this program. While it is held nobody stages or commits anything, so that a
//! commit through another index and the project's own index change together. As with a commit by git, the index goes
//! ahead of the history: whoever sees the new commit finds it in the index.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use super::child_note::ChildNote;
use super::scratch_index::copy_as_old;
use super::stale_lock::LOCK_WAITS;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// What the index was before.
pub(in crate::git) const BEFORE: &str = "tillgreen-before-index";

/// The lock. It is let go of when this is dropped.
#[derive(Debug)]
pub(in crate::git) struct IndexLock<'a> {
    git: &'a Git,
    lock: PathBuf,
    /// By which it is known for ours, should the program die.
    note: Option<ChildNote>,
    /// What was there before another index was put in place, until that is to stay.
    before: Option<PathBuf>,
}

impl<'a> IndexLock<'a> {
    /// Takes it, waiting a little for another git that has it.
    pub(in crate::git) fn take(git: &'a Git) -> Result<IndexLock<'a>, GitError> {
        let note = git.note_place().and_then(|place| ChildNote::write(place, std::process::id()));
        let lock = git.git_dir().join("index.lock");
        match create(&lock) {
            Ok(()) => Ok(IndexLock { git, lock, note, before: None }),
            Err(error) => {
                note.zip(git.note_place()).into_iter().for_each(|(note, place)| note.end(place));
                let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
                Err(if is_taken {
                    GitError::Locked { file: lock }
                } else {
                    GitError::io("create", &lock)(error)
                })
            }
        }
    }

    fn index(&self) -> PathBuf {
        self.git.git_dir().join("index")
    }

    /// Puts another index in place, for the time being: as long as what is checked out is what is checked out now.
    pub(in crate::git) fn put(&mut self, index: &Path) -> Result<(), GitError> {
        let before = self.git.git_dir().join(BEFORE);
        let head = self.git.head()?;
        let put = || {
            let is_there = match twin(&self.index(), &before) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                linked => linked.map(|()| true)?,
            };
            if is_there {
                fs::write(&self.lock, head.as_ref().map_or("", Oid::as_str))?;
            }
            fs::rename(index, self.index()).map(|()| is_there)
        };
        let is_there = put().map_err(GitError::io("replace", &self.index()))?;
        self.before = is_there.then_some(before);
        Ok(())
    }

    /// What was put in place stays.
    pub(in crate::git) fn keep(mut self) {
        if let Some(before) = self.before.take() {
            // One that stays is overwritten by the next.
            let _ = fs::remove_file(before);
        }
    }
}

impl Git {
    /// Puts the index back that was there before, where a program died after it had put another one in place and before
    /// the history followed. Nobody else has the lock yet: whoever takes it next commits what is in the index.
    pub(in crate::git) fn settle_index(&self, lock: &Path) -> Result<(), GitError> {
        let (index, before) = (self.git_dir().join("index"), self.git_dir().join(BEFORE));
        let told = fs::read_to_string(lock).ok().and_then(|told| Oid::parse(&told));
        if told.is_none() || self.head()? != told || !before.exists() {
            return Ok(());
        }
        fs::rename(&before, &index).map_err(GitError::io("replace", &index))
    }
}

impl Drop for IndexLock<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            // Should it stay as it is, the note of the landing tells what to put back.
            let _ = fs::rename(before, self.index());
        }
        let _ = fs::remove_file(&self.lock);
        self.note.take().zip(self.git.note_place()).into_iter().for_each(|(note, place)| note.end(place));
    }
}

fn create(lock: &Path) -> io::Result<()> {
    for wait in LOCK_WAITS {
        match File::create_new(lock) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => thread::sleep(wait),
            ended @ (Ok(_) | Err(_)) => return ended.map(drop),
        }
    }
    File::create_new(lock).map(drop)
}

/// The same file under another name, or where that cannot be, a copy.
pub(in crate::git) fn twin(file: &Path, other: &Path) -> io::Result<()> {
    match fs::remove_file(other) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::hard_link(file, other).or_else(|_| copy_as_old(file, other))
}
