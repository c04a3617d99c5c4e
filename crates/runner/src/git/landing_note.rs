//! A note in git's own folder that work is being landed: whoever finds it knows which paths may be half changed, and
//! what they were before.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::child_note::Noted;
use super::error::GitError;
use super::history::Oid;

/// A landing that has begun and is neither committed nor taken back, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LandingNote {
    pub(super) trailer: (String, String),
    /// What was checked out before.
    pub(super) head: Oid,
    /// The joined tree.
    pub(super) tree: Oid,
    /// Who is at it. Another run, of another plan, may share the working tree.
    pub(super) owner: Option<Noted>,
}

impl LandingNote {
    pub(super) fn read(git_dir: &Path) -> Result<Option<LandingNote>, GitError> {
        let file = place(git_dir);
        let text = match fs::read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(GitError::io("read", &file)(source)),
        };
        let note: LandingNote =
            serde_json::from_slice(&text).map_err(|error| GitError::io("understand", &file)(error.into()))?;
        if let Some(owner) = note.owner.as_ref().filter(|owner| owner.is_another()) {
            let reason = format!("another run, process {}, is landing work in its working tree", owner.pid);
            return Err(GitError::Unusable { dir: git_dir.to_owned(), reason });
        }
        Ok(Some(note))
    }

    /// Durable before the first file is changed.
    pub(super) fn write(&self, git_dir: &Path) -> Result<(), GitError> {
        let file = place(git_dir);
        self.write_to(&file).map_err(GitError::io("write", &file))
    }

    fn write_to(&self, file: &Path) -> io::Result<()> {
        let beside = file.with_extension("new");
        let mut new = File::create(&beside)?;
        new.write_all(&serde_json::to_vec(self)?)?;
        new.sync_all()?;
        fs::rename(beside, file)?;
        file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }

    pub(super) fn remove(git_dir: &Path) -> Result<(), GitError> {
        let file = place(git_dir);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(GitError::io("remove", &file)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn place(git_dir: &Path) -> PathBuf {
    git_dir.join("tillgreen-landing.json")
}
