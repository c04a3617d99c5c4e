//! An index that somebody removed or broke. Git takes one that is missing for an empty one, in which all files are staged to
//! be deleted; nothing comes in on top of that. Before a run begins it is named; later on one that is missing is made anew,
//! as `git reset` does.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::calls::index_lock::IndexLock;
use super::calls::scratch_index::ScratchIndex;
use super::error::GitError;
use super::formats::checksum::checksum;
use super::repository::Git;

/// What every index begins with.
const SIGNATURE: &[u8; 4] = b"DIRC";

/// What is told of one that is not there.
const MISSING: &str = "is missing";

/// How often one is made anew that somebody removes again.
const MENDED_MAX: usize = 5;

/// Whether an index was made anew of which nobody has been told.
#[derive(Debug, Default)]
pub(in crate::git) struct LostIndex {
    is_untold: AtomicBool,
}

impl LostIndex {
    pub(in crate::git) fn note(&self) {
        self.is_untold.store(true, Ordering::Relaxed);
    }
}

impl Git {
    /// Makes the project's index what is checked out, if it is missing.
    pub(crate) fn mend_index(&self) -> Result<(), GitError> {
        let is_missing = || {
            let found = fs::symlink_metadata(self.git_dir().join("index"));
            found.is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        if !is_missing() || self.has_no_files()? {
            return Ok(());
        }
        let mut lock = IndexLock::take(self)?;
        if is_missing() {
            let next = ScratchIndex::next(self)?;
            // What differs on disk is no failure.
            next.run(&["update-index", "-q", "--refresh"], Vec::new())?;
            lock.put(next.file())?;
            lock.keep();
        }
        Ok(())
    }

    /// Whether the index had to be made anew since this was last asked.
    pub(crate) fn has_made_index_anew(&self) -> bool {
        self.lost_index().is_untold.swap(false, Ordering::Relaxed)
    }

    /// Before anything comes in: the project's index is one, as far as its beginning tells. One that is missing is made anew.
    pub(in crate::git) fn expect_index(&self) -> Result<(), GitError> {
        for _ in 0..MENDED_MAX {
            self.mend_index()?;
            match self.refuse_without_index() {
                Err(GitError::NoIndex { reason: MISSING, .. }) => {}
                ended => return ended,
            }
        }
        Err(self.removed_time_and_again())
    }

    /// Somebody removes it whenever it was made anew.
    pub(in crate::git) fn removed_time_and_again(&self) -> GitError {
        GitError::NoIndex { file: self.git_dir().join("index"), reason: "is removed time and again" }
    }

    fn refuse_without_index(&self) -> Result<(), GitError> {
        let file = self.git_dir().join("index");
        let reason = match beginning(&file) {
            Ok(begin) if begin == *SIGNATURE => return Ok(()),
            Ok(_) => "is broken",
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::IsADirectory) => {
                "is broken"
            }
            // Without a file there need not be one.
            Err(error) if error.kind() == ErrorKind::NotFound && self.has_no_files()? => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => MISSING,
            Err(error) => return Err(GitError::io("read", &file)(error)),
        };
        Err(GitError::NoIndex { file, reason })
    }

    /// Before anything begins: the same, and all of it is what git wrote.
    pub fn refuse_broken_index(&self) -> Result<(), GitError> {
        self.refuse_without_index()?;
        let (Some(head), Some((content, _))) = (self.head()?, self.index_on_disk()) else { return Ok(()) };
        let (body, sum) = content.split_at(content.len().saturating_sub(head.width()));
        // Some leave the sum out.
        let is_whole = sum.iter().all(|byte| *byte == 0)
            || checksum(&[body], head.width()).is_none_or(|expected| expected == sum);
        let file = self.git_dir().join("index");
        if is_whole { Ok(()) } else { Err(GitError::NoIndex { file, reason: "is broken" }) }
    }

    /// Whether nothing is checked out of which an index could tell.
    pub(in crate::git) fn has_no_files(&self) -> Result<bool, GitError> {
        let Some(head) = self.head()? else { return Ok(true) };
        Ok(self.read_tree_object(head.as_str()).is_some_and(|(_, content)| content.is_empty()))
    }
}

fn beginning(file: &Path) -> io::Result<[u8; 4]> {
    let mut begin = [0; 4];
    File::open(file)?.read_exact(&mut begin)?;
    Ok(begin)
}
