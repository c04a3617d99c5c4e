//! Files that were there before an attempt and that git ignored until the attempt changed what git ignores. They look
//! new and are not: nobody but their owner knows what they are for, so they are neither committed nor taken back. The
//! same goes for files that had changes before the run began.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use engine::Baseline;
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{ChangeKind, Git, GitError, RULES, Status};
use crate::tree::{Tree, changed_since};

/// How many are named.
const TOLD_MAX: usize = 10;

impl Tree<'_> {
    /// Those files among what differs now. What the attempt wrote to is its work, whoever ignored it before.
    pub(crate) fn uncovered(
        &self,
        git: &Git,
        (status, baseline): (&Status, &Baseline),
        since: SystemTime,
    ) -> Result<BTreeSet<String>, GitError> {
        let known: BTreeSet<&str> = baseline.dirty.iter().map(String::as_str).collect();
        let removed = status.changes.iter().filter(|change| change.kind == ChangeKind::Deleted);
        // What somebody took out of the index was tracked, not ignored.
        let known: BTreeSet<&str> = removed.map(|change| change.path.as_str()).chain(known).collect();
        let is_old = |path: &str| changed_since(&git.root().join(path), since) == Some(false);
        let new = status.changes.iter().filter(|change| change.kind == ChangeKind::Untracked);
        let new = new.map(|change| &change.path).filter(|path| !known.contains(path.as_str()));
        let old: Vec<String> = new.filter(|path| !self.is_ours(path) && is_old(path)).cloned().collect();
        let Some(before) = baseline.head.as_ref().filter(|_| !old.is_empty()) else {
            return Ok(BTreeSet::new());
        };
        let mut found = git.ignored_by(before, &old)?;
        if rules_are_lost(git, baseline, since) {
            let stood = |path: &&String| has_stood_still(git.root(), path, since);
            found.extend(old.iter().filter(stood).cloned());
        }
        Ok(found)
    }
}

impl Driver<'_> {
    /// Says which files suddenly look new.
    pub(crate) fn tell_uncovered(&mut self, id: &TaskId, files: &BTreeSet<String>) {
        if files.is_empty() {
            return;
        }
        self.note_of(id, format!(
            "{} were ignored by git until task {id} changed that; they are not part of its work and stay uncommitted",
            some_of(files)
        ));
    }

    /// Says which files of a task's work had changes before the run began: whose these are cannot be told apart any more,
    /// so nobody commits them.
    pub(crate) fn tell_of_mixed_work(&mut self, id: &TaskId) {
        let (Some(task), Some(opened)) = (self.state.task(id), self.state.opened()) else { return };
        let mixed = opened.dirty.iter().filter(|path| !task.is_isolated() && task.touched.contains(*path));
        let mixed: BTreeSet<String> = mixed.cloned().collect();
        if !mixed.is_empty() {
            self.note_of(
                id,
                format!(
                    "what task {id} changed in {} stays uncommitted: there were changes before the run began",
                    some_of(&mixed)
                ),
            );
        }
    }
}

/// Their names, or those of the first of them.
fn some_of(files: &BTreeSet<String>) -> String {
    let named: Vec<&str> = files.iter().take(TOLD_MAX).map(String::as_str).collect();
    let more = match files.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// Whether the rules from before the attempt are in no commit: somebody had changed them, or keeps them elsewhere, and
/// they changed again.
fn rules_are_lost(git: &Git, baseline: &Baseline, since: SystemTime) -> bool {
    let is_rules = |path: &String| Path::new(path).file_name().is_some_and(|name| name == RULES);
    baseline.dirty.iter().any(is_rules) || changed_since(&git.own_rules(), since) == Some(true)
}

/// Whether a file is for sure where it was: a folder that is moved takes files along which look no different.
fn has_stood_still(root: &Path, path: &str, since: SystemTime) -> bool {
    let mut folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.all(|folder| changed_since(&root.join(folder), since) == Some(false))
}
