//! What an agent in the project itself did to git's index alone: files taken out of it that are still there, others put into
//! it that are not. In a work tree that is never part of the work, so it is not here either; what a person staged before stays.

use std::collections::BTreeSet;
use std::time::SystemTime;

use engine::{Baseline, FileState};
use plan::TaskId;

use crate::driver::Driver;
use crate::error::RunError;
use crate::git::{Git, Status};
use crate::neighbours::without_others;
use crate::traces::listed;
use crate::tree::{is_own, words};

impl Driver<'_> {
    /// What an attempt in the project itself changed, once the index says of it what is on disk.
    pub(crate) fn touched_here(
        &mut self,
        id: &TaskId,
        baseline: &Baseline,
        since: SystemTime,
    ) -> Result<Vec<FileState>, RunError> {
        let Some(git) = self.tree.git() else { return Ok(Vec::new()) };
        self.uncover_hidden(id)?;
        let mut status = git.status()?;
        let suspects = self.suspects((id, since), &status, baseline);
        if !suspects.is_empty() {
            self.settle_index(id, git, &suspects);
            status = git.status()?;
        }
        let (touched, uncovered) = self.tree.touched(status, baseline, since)?;
        self.tell_uncovered(id, &uncovered);
        Ok(without_others(&self.state, id, since, touched))
    }

    /// The paths of which the index may say what the disk does not, and which nobody else has to do with.
    fn suspects(
        &self,
        (id, since): (&TaskId, SystemTime),
        status: &Status,
        baseline: &Baseline,
    ) -> BTreeSet<String> {
        let opened = self.state.opened().map(|opened| opened.dirty.as_slice()).unwrap_or_default();
        let before: BTreeSet<&String> = baseline.dirty.iter().chain(opened).collect();
        let found = status.changes.iter().filter(|change| {
            let is_own = change.staged && is_own(&change.path);
            is_own || change.may_be_of_index_only(self.project.root()) && !self.tree.is_ours(&change.path)
        });
        let found = found.filter(|change| !before.contains(&change.path));
        let found = found
            .map(|change| FileState { path: change.path.clone(), state: words(change.kind).to_owned() })
            .collect();
        without_others(&self.state, id, since, found).into_iter().map(|file| file.path).collect()
    }

    /// Where git is locked by somebody, or fails otherwise, what is staged stays as it is.
    fn settle_index(&mut self, id: &TaskId, git: &Git, paths: &BTreeSet<String>) {
        match git.follow_disk(&paths.iter().map(String::as_str).collect()) {
            Ok(taken_out) => self.tell_of_taken_out(id, &taken_out),
            Err(error) => {
                self.note_of(
                    id,
                    format!("what task {id} did to git's index could not be undone: {}", error.told()),
                );
            }
        }
    }

    /// Says what was taken out of an index and is part of the project all the same.
    pub(crate) fn tell_of_taken_out(&mut self, id: &TaskId, files: &[String]) {
        if !files.is_empty() {
            self.note_of(id, format!(
                "task {id} took files out of git's index that are still there and not ignored; they stay in git: {}",
                listed(files)
            ));
        }
    }
}
