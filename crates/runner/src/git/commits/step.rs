//! What is checked out goes back from a commit of ours, or ahead to it again, while the files stay as they are. The index
//! goes with it, under git's own lock and ahead of the history: whoever commits in that moment neither takes along what
//! goes nor undoes what comes.

use std::thread;
use std::time::{Duration, Instant};

use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{RawChange, index_info};
use crate::git::repository::Git;

/// How long to wait for others who are about to commit: their hooks may take a moment, and their editors for ever.
const OTHERS_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

impl Git {
    /// What is checked out goes back from a commit that is not what was verified to the one before it, and these of its
    /// changes go out of the index. It is not done if somebody committed on top.
    pub(in crate::git) fn step_back(
        &self,
        (commit, before): (&Oid, &Oid),
        changes: &[&RawChange],
    ) -> Result<bool, GitError> {
        if self.head()?.as_ref() != Some(commit) {
            return Ok(false);
        }
        let mut lock = match self.lock_to_step() {
            // Somebody's editor is open for a commit on top of it, which then fails. The index follows later.
            Err(GitError::Locked { .. }) => None,
            lock => lock?,
        };
        if let Some(lock) = &mut lock {
            let next = ScratchIndex::next(self)?;
            next.set(index_info(changes.iter().map(|change| (change.path.as_os_str(), &change.old))))?;
            // What differs on disk is the work itself, and no failure.
            next.run(&["update-index", "-q", "--refresh"], Vec::new())?;
            self.outwait_commits();
            if self.head()?.as_ref() != Some(commit) {
                return Ok(false);
            }
            lock.put(next.file())?;
        }
        let why = "tillgreen: taken back, to be verified again";
        let back = ["update-ref", "-m", why, "HEAD", before.as_str(), commit.as_str()];
        let ended = self.run_locking(|| self.locking_call(&back, Vec::new()))?;
        if ended.is_success() || self.head()?.as_ref() == Some(before) {
            lock.into_iter().for_each(IndexLock::keep);
            return Ok(true);
        }
        // Nobody's commit is in the way where it is still checked out.
        if self.head()?.as_ref() == Some(commit) { Err(ended.into_failure()) } else { Ok(false) }
    }

    /// The other way round, once what the hook made is verified. It is not done if somebody committed meanwhile.
    pub(in crate::git) fn step_ahead(&self, (before, commit): (&Oid, &Oid)) -> Result<bool, GitError> {
        let mut lock = self.lock_to_step()?;
        if let Some(lock) = &mut lock {
            self.lead(lock, (before, commit))?;
        }
        let why = "tillgreen: taken in again, now that it is verified";
        let ahead = ["update-ref", "-m", why, "HEAD", commit.as_str(), before.as_str()];
        let ended = self.run_locking(|| self.locking_call(&ahead, Vec::new()))?;
        if ended.is_success() {
            lock.into_iter().for_each(IndexLock::keep);
        }
        Ok(ended.is_success())
    }

    /// None: a hook wants to be told of what the index becomes, which only git does. The index then follows.
    fn lock_to_step(&self) -> Result<Option<IndexLock<'_>>, GitError> {
        if self.has_hook("post-index-change") { Ok(None) } else { IndexLock::take(self).map(Some) }
    }

    /// Waits a little for others who had begun to commit before the lock was taken. They may have read the index with the
    /// commit in it that is to go, and mean to commit on what was there before it: that would then be so again. Who begins
    /// later meets the lock.
    fn outwait_commits(&self) {
        let give_up = Instant::now() + OTHERS_PATIENCE;
        for commit in self.commits_of_others() {
            while commit.exists() && Instant::now() < give_up {
                thread::sleep(LOOK_AGAIN);
            }
        }
    }
}
