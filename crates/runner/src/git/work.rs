//! Work as a commit of its own: packed on top of what it was made on, kept alive by a reference, and put into another place
//! that stands at a newer commit.

use std::path::Path;

use super::calls::process::{self, Call};
use super::commits::commit::{Commit, full_message, lacks_identity};
use super::error::GitError;
use super::history::Oid;
use super::merge::{Conflict, Merge};
use super::repository::{DURABLY, Git};
use super::trees::keep::Keep;

/// New files are written also where a sparse checkout leaves out what is there already: whoever made them needs them.
pub(super) const UNSPARSE: [&str; 2] = ["-c", "core.sparseCheckout=false"];

/// How many commits are told of.
const TOLD_MAX: &str = "--max-count=20";

impl Git {
    /// Packs a tree into a commit on top of its base, kept by a reference. No hook runs and nothing is signed here; that
    /// happens where the work comes in.
    pub fn pack(
        &self,
        (base, tree): (&Oid, &Oid),
        message: &str,
        trailer: (&str, &str),
        keep: &Keep,
    ) -> Result<Oid, GitError> {
        let message = full_message(&Commit { trailer: Some(trailer), ..Commit::new(&[], message) })?;
        let list = ["commit-tree", tree.as_str(), "-p", base.as_str(), "-F", "-"];
        let call = self.locking_call(&[&DURABLY[..], &list].concat(), message.into_bytes());
        let ended = process::run(call)?;
        if lacks_identity(&ended.stderr) {
            return Err(GitError::NoIdentity { root: self.root().to_owned() });
        }
        let commit = Oid::printed(ended)?;
        self.keep(keep, &commit)?;
        Ok(commit)
    }

    /// Puts the changes between `base` and `work` into a linked working tree at `head`, uncommitted. Where they do not
    /// fit, nothing is changed and the conflict is given back.
    pub fn carry_over(
        &self,
        tree: &Path,
        (base, work): (&Oid, &Oid),
        head: &Oid,
    ) -> Result<Option<Conflict>, GitError> {
        match self.merge(base, head, work)? {
            Merge::Clean(merged) => self.write_into(tree, (head, &merged)).map(|()| None),
            Merge::Conflict(conflict) => Ok(Some(conflict)),
        }
    }

    /// Makes a linked working tree that shows one commit or tree show another, files and index alike.
    pub(super) fn write_into(&self, tree: &Path, (from, to): (&Oid, &Oid)) -> Result<(), GitError> {
        let switch = [&UNSPARSE[..], &["read-tree", "--reset", "-u", from.as_str(), to.as_str()]].concat();
        process::run(Call { dir: tree, ..self.locking_call(&switch, Vec::new()) })?.success().map(drop)
    }

    /// The commits since another one, a line each, the newest first.
    pub fn told_since(&self, base: &Oid) -> Result<Vec<String>, GitError> {
        let range = format!("{base}..HEAD");
        let log = ["log", "--no-show-signature", "--no-color", "--format=%h %s", TOLD_MAX, &range, "--"];
        let stdout = process::run(self.call(&log))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).lines().map(str::to_owned).collect())
    }
}
