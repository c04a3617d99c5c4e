//! Bringing packed work into a linked working tree that stands at a newer commit, and telling what came in between.

use std::path::Path;

use crate::git::calls::process::{self, Call};
use crate::git::calls::scratch_index::UNSPARSE;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::landings::merge::{Conflict, Merge};
use crate::git::raw_change::RawChange;
use crate::git::repository::Git;

/// How many commits are told of.
const TOLD_MAX: &str = "--max-count=20";

impl Git {
    /// Puts the changes between `base` and `commit` into a linked working tree at `head`, uncommitted. Where they do
    /// not fit, nothing is changed and the conflict is given back.
    pub fn carry_over(
        &self,
        tree: &Path,
        (base, commit): (&Oid, &Oid),
        head: &Oid,
    ) -> Result<Option<Conflict>, GitError> {
        let merged = match self.merge(base, head, commit)? {
            Merge::Clean(merged) => merged,
            Merge::Conflict(conflict) => return Ok(Some(conflict)),
        };
        let links = self.changed_links(head, &merged)?;
        // Those that an agent removed go first: the next look would find them, and folders may come in their places.
        for link in links.iter().filter(|link| !link.new.is_gitlink()) {
            let dir = tree.join(&link.path);
            if dir.join(".git").exists() {
                self.remove_tree(&dir)?;
            }
        }
        let switch = [&UNSPARSE[..], &["read-tree", "-m", "-u", head.as_str(), merged.as_str()]].concat();
        process::run(Call { dir: tree, ..self.locking_call(&switch, Vec::new()) })?.success()?;
        self.carry_submodules(tree, &links)?;
        Ok(None)
    }

    /// What differs between two commits in submodules.
    fn changed_links(&self, head: &Oid, merged: &Oid) -> Result<Vec<RawChange>, GitError> {
        if !self.root().join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let diff = ["diff-tree", "-r", "--raw", "-z", "--no-renames", head.as_str(), merged.as_str(), "--"];
        let mut changes = RawChange::parse_all(process::run(self.call(&diff))?)?;
        changes.retain(|change| change.old.is_gitlink() || change.new.is_gitlink());
        Ok(changes)
    }

    /// Commits that an agent made in submodules are checked out there, or the next look would find the old ones.
    fn carry_submodules(&self, tree: &Path, links: &[RawChange]) -> Result<(), GitError> {
        for link in links.iter().filter(|link| link.new.is_gitlink()) {
            let dir = tree.join(&link.path);
            if dir.join(".git").exists() {
                let reset = ["reset", "--quiet", "--hard", &link.new.oid];
                process::run(Call { dir: &dir, ..self.locking_call(&reset, Vec::new()) })?.success()?;
            }
        }
        Ok(())
    }

    /// The commits since another one, a line each, the newest first.
    pub fn told_since(&self, base: &Oid) -> Result<Vec<String>, GitError> {
        let range = format!("{base}..HEAD");
        let log = ["log", "--no-show-signature", "--no-color", "--format=%h %s", TOLD_MAX, &range, "--"];
        let stdout = process::run(self.call(&log))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).lines().map(str::to_owned).collect())
    }
}
