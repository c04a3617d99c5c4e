//! The project's index while a git of ours writes it. One that somebody removes in just that moment is an empty one to git,
//! which then writes an index of nothing but our own paths: all other files would be staged to be deleted. What was there
//! before is put back.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;

use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::scratch_index::NEXT;
use crate::git::error::GitError;
use crate::git::formats::index_file::{IndexEntry, IndexFile};
use crate::git::formats::index_patch::write_as_old;
use crate::git::repository::Git;

/// How often something is done again under which the index was removed.
const AGAIN_MAX: usize = 3;

/// What an index has that is one with another file beside it, which holds the rest.
const SPLIT: &[u8] = b"link";

/// What the index was before git was to write it.
#[derive(Debug)]
pub(in crate::git) struct KeptIndex<'a> {
    git: &'a Git,
    /// None: it is something odd, or there need not be one.
    before: Option<(Vec<u8>, Metadata)>,
    width: usize,
}

impl<'a> KeptIndex<'a> {
    /// The one that is there; one that is missing is made anew.
    pub(in crate::git) fn of(git: &'a Git) -> Result<KeptIndex<'a>, GitError> {
        git.mend_index()?;
        let width = git.head()?.map_or(0, |head| head.width());
        Ok(KeptIndex { git, before: git.index_on_disk(), width })
    }

    /// Whether all that was in it besides these paths is gone.
    pub(in crate::git) fn is_lost(&self, paths: &BTreeSet<&OsStr>) -> bool {
        let parse = |content| IndexFile::parse(content, self.width).filter(|index| !is_split(index));
        let is_other = |entry: &IndexEntry<'_>| !paths.contains(OsStr::from_bytes(&entry.name));
        let has_others = |index: &IndexFile<'_>| index.entries.iter().any(is_other);
        let before = self.before.as_ref().and_then(|(content, _)| parse(content));
        before.is_some_and(|before| has_others(&before))
            && match fs::read(self.git.git_dir().join("index")) {
                Ok(content) => parse(&content).is_some_and(|index| !has_others(&index)),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            }
    }

    /// Puts it back.
    pub(in crate::git) fn put_back(&self) -> Result<(), GitError> {
        let Some((content, metadata)) = &self.before else { return Ok(()) };
        let mut lock = IndexLock::take(self.git)?;
        let next = self.git.git_dir().join(NEXT);
        write_as_old(content, metadata, &next).map_err(GitError::io("write", &next))?;
        lock.put(&next)?;
        lock.keep();
        Ok(())
    }
}

impl Git {
    /// Has a git change the index at these paths, which can be done again at any moment.
    pub(in crate::git) fn keeping_index<T>(
        &self,
        paths: &BTreeSet<&OsStr>,
        deed: impl Fn() -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        for _ in 0..AGAIN_MAX {
            let kept = KeptIndex::of(self)?;
            let done = deed();
            if !kept.is_lost(paths) {
                return done;
            }
            kept.put_back()?;
        }
        Err(self.removed_time_and_again())
    }
}

fn is_split(index: &IndexFile<'_>) -> bool {
    index.extensions.contains(&SPLIT)
}
