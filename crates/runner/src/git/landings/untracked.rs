//! Files that work no longer tracks and that are to stay on disk, as after `git rm --cached` and a line in `.gitignore`.
//! Git tells them apart from deleted ones only by looking at the tree that they were untracked in: where they are still
//! there, the project keeps its own.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::landed_files::is_file_in;
use super::landing::Applied;
use super::landing_note::LandingNote;
use crate::git::calls::process::{self, Call};
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::customs::check_ignore::{answered, asked};
use crate::git::error::GitError;
use crate::git::raw_change::{RawChange, index_info, names};
use crate::git::repository::Git;

impl Git {
    /// After work was applied: what it no longer tracks and has still on disk is written again.
    pub fn keep_untracked(&self, tree: &Path, applied: Applied) -> Result<Applied, GitError> {
        let Applied::Done { paths, stamps, revived } = applied else { return Ok(applied) };
        let Some(note) = LandingNote::read(self.git_dir())? else {
            return Ok(Applied::Done { paths, stamps, revived });
        };
        let mut kept = self.differences(&note.head, &note.tree)?;
        kept.retain(|change| {
            is_deleted(change) && is_file_in(tree, &change.path) && !self.is_file(&change.path)
        });
        let ignored = self.ignored_now(kept.iter().map(|change| change.path.as_os_str()))?;
        kept.retain(|change| ignored.contains(&change.path));
        if kept.is_empty() {
            return Ok(Applied::Done { paths, stamps, revived });
        }
        let index = ScratchIndex::empty(self, self.root(), self.git_dir());
        index.set(index_info(kept.iter().map(|change| (change.path.as_os_str(), &change.old))))?;
        let stdin = names(kept.iter().map(|change| change.path.as_os_str()));
        index.run(&["checkout-index", "-z", "--stdin"], stdin)?.success()?;
        let stamps = stamps.renewed(self.root(), &kept.iter().map(|change| &change.path).collect());
        Ok(Applied::Done { paths, stamps, revived })
    }

    /// The paths among what a landing deletes that are still on disk and ignored: they were kept.
    pub(in crate::git) fn kept_untracked(
        &self,
        changes: &[RawChange],
    ) -> Result<BTreeSet<OsString>, GitError> {
        let kept = changes.iter().filter(|change| is_deleted(change) && self.is_file(&change.path));
        self.ignored_now(kept.map(|change| change.path.as_os_str()))
    }

    /// The paths among these that git would ignore if it did not track them.
    fn ignored_now<'a>(
        &self,
        paths: impl Iterator<Item = &'a OsStr>,
    ) -> Result<BTreeSet<OsString>, GitError> {
        let stdin = asked(paths);
        if stdin.is_empty() {
            return Ok(BTreeSet::new());
        }
        let call = Call { stdin, ..self.call(&["check-ignore", "--no-index", "-z", "--stdin"]) };
        let ended = process::run(call)?;
        // It ends with 1 where none is ignored.
        let listing = if ended.code == Some(1) { Vec::new() } else { ended.success()? };
        Ok(answered(&listing).collect())
    }
}

fn is_deleted(change: &RawChange) -> bool {
    change.new.is_absent() && !change.old.is_gitlink()
}
