//! A note in git's own folder that work is being landed: whoever finds it knows which paths may be half changed, and
//! what they were before.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::git::calls::child_note::Noted;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// A landing that has begun and is neither committed nor taken back, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::git) struct LandingNote {
    pub(in crate::git) trailer: (String, String),
    /// What was checked out before.
    pub(in crate::git) head: Oid,
    /// The joined tree.
    pub(in crate::git) tree: Oid,
    /// Who is at it. Another run, of another plan, may share the working tree.
    pub(in crate::git) owner: Option<Noted>,
}

impl LandingNote {
    /// The landing that this program has under way. One whose owner is dead becomes its own; another run's is that
    /// run's business.
    pub(in crate::git) fn read(git_dir: &Path) -> Result<Option<LandingNote>, GitError> {
        let Some(note) = LandingNote::found(git_dir)?.filter(|note| note.of_another().is_none()) else {
            return Ok(None);
        };
        if note.owner.as_ref().is_some_and(Noted::is_alive) {
            return Ok(Some(note));
        }
        // Several may find it at the same time.
        let turn = take_turn(git_dir)?;
        let found = LandingNote::found(git_dir)?.filter(|note| note.of_another().is_none());
        let adopted = found.map(|note| LandingNote { owner: Noted::of(std::process::id(), git_dir), ..note });
        adopted.as_ref().map_or(Ok(()), |note| note.put(git_dir))?;
        drop(turn);
        Ok(adopted)
    }

    /// The process of another run that has a landing under way.
    pub(in crate::git) fn of_another(&self) -> Option<u32> {
        self.owner.as_ref().filter(|owner| owner.is_another()).map(|owner| owner.pid)
    }

    /// What is noted, whoever did so.
    pub(in crate::git) fn found(git_dir: &Path) -> Result<Option<LandingNote>, GitError> {
        let file = place(git_dir);
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(GitError::io("read", &file)(source)),
        };
        if text.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let note =
            serde_json::from_slice(&text).map_err(|error| GitError::io("understand", &file)(error.into()))?;
        Ok(Some(note))
    }

    /// Durable before the first file is changed. Another's stays: two never have a landing under way.
    pub(in crate::git) fn write(&self, git_dir: &Path) -> Result<(), GitError> {
        let turn = take_turn(git_dir)?;
        if let Some(pid) = LandingNote::found(git_dir)?.and_then(|note| note.of_another()) {
            let reason = format!("another run, process {pid}, is landing work in its working tree");
            return Err(GitError::Unusable { dir: git_dir.to_owned(), reason });
        }
        self.put(git_dir)?;
        drop(turn);
        Ok(())
    }

    fn put(&self, git_dir: &Path) -> Result<(), GitError> {
        let file = place(git_dir);
        self.write_to(&file).map_err(GitError::io("write", &file))
    }

    /// A file that was renamed and is then synced has its new name on the disk as well, by all file systems that keep a
    /// journal: one wait will do. Until then it may be empty after a loss of power, and nothing has been changed.
    fn write_to(&self, file: &Path) -> io::Result<()> {
        self.replace(file)?.sync_all()
    }

    fn replace(&self, file: &Path) -> io::Result<File> {
        let beside = file.with_extension("new");
        let mut new = File::create(&beside)?;
        new.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(beside, file)?;
        Ok(new)
    }

    pub(in crate::git) fn remove(git_dir: &Path) -> Result<(), GitError> {
        let file = place(git_dir);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(GitError::io("remove", &file)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

impl Git {
    /// The process of another run that has work half in this working tree.
    pub fn landing_of_another(&self) -> Result<Option<u32>, GitError> {
        Ok(LandingNote::found(self.git_dir())?.and_then(|note| note.of_another()))
    }
}

/// Nobody else writes a note meanwhile.
fn take_turn(git_dir: &Path) -> Result<Flock<File>, GitError> {
    let folder = File::open(git_dir).map_err(GitError::io("open", git_dir))?;
    Flock::lock(folder, FlockArg::LockExclusive)
        .map_err(|(_, error)| GitError::io("lock", git_dir)(error.into()))
}

fn place(git_dir: &Path) -> PathBuf {
    git_dir.join("tillgreen-landing.json")
}
