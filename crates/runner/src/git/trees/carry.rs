//! Bringing packed work into a linked working tree that stands at a newer commit, and telling what came in between.

use std::path::Path;

use crate::git::calls::process::{self, Call};
use crate::git::calls::scratch_index::UNSPARSE;
use crate::git::error::GitError;
use crate::git::formats::raw_change::RawChange;
use crate::git::history::Oid;
use crate::git::landings::merge::{Conflict, Merge};
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
        let switch = [&UNSPARSE[..], &["read-tree", "-m", "-u", head.as_str(), merged.as_str()]].concat();
        process::run(Call { dir: tree, ..self.locking_call(&switch, Vec::new()) })?.success()?;
        self.carry_submodules(tree, (head, &merged))?;
        Ok(None)
    }

    /// Commits that an agent made in submodules are checked out there, or the next look would find the old ones; so would
    /// it find submodules that an agent removed.
    fn carry_submodules(&self, tree: &Path, (head, merged): (&Oid, &Oid)) -> Result<(), GitError> {
        if !self.root().join(".gitmodules").exists() {
            return Ok(());
        }
        let diff = ["diff-tree", "-r", "--raw", "-z", "--no-renames", head.as_str(), merged.as_str(), "--"];
        for change in RawChange::parse_all(process::run(self.call(&diff))?)? {
            let dir = tree.join(&change.path);
            if change.old.is_gitlink() && !change.new.is_gitlink() && dir.join(".git").exists() {
                self.remove_tree(&dir)?;
            }
            if change.new.is_gitlink() && dir.join(".git").exists() {
                let reset = ["reset", "--quiet", "--hard", &change.new.oid];
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
