//! What an agent left uncommitted inside submodules of a linked working tree. The superproject's commit cannot hold it,
//! so it is kept as a commit of the submodule's own repository, which outlives the tree.

use std::fs;
use std::path::{Path, PathBuf};

use super::keep::Keep;
use super::submodules::Submodule;
use super::uncommitted::Uncommitted;
use crate::git::calls::process::{self, Call};
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::commits::commit::is_inside;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::RawChange;
use crate::git::repository::Git;
use crate::git::status::Change;

/// What is kept is nobody's commit: the submodule need not know who would make one.
const NOBODY: [&str; 4] = ["-c", "user.name=tillgreen", "-c", "user.email=tillgreen"];

/// How many files are named.
const FILES_TOLD_MAX: usize = 20;

/// What was left uncommitted in one submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    /// Where the submodule is.
    pub path: String,
    /// The commit of its repository that keeps it.
    pub commit: String,
    /// The first of the files.
    pub files: Vec<String>,
    /// Whether files that were there before changed, or new ones were added. If not, all are what a build may leave.
    pub is_changed: bool,
}

impl Git {
    /// Keeps what is uncommitted in the submodules of a linked tree, and tells what that is and which repositories of their
    /// own are in them. What a submodule ignores is not looked at.
    pub fn keep_inside(
        &self,
        tree: &Path,
        base: &Oid,
        keep: &Keep,
    ) -> Result<(Vec<Inside>, Vec<String>), GitError> {
        let (mut kept, mut repositories) = (Vec::new(), Vec::new());
        for submodule in self.submodules(base.as_str())? {
            let dir = tree.join(&submodule.path);
            // Where nothing is in the folder, it is no longer checked out there; a link in its place leads elsewhere.
            let is_there = fs::symlink_metadata(&dir).is_ok_and(|found| found.is_dir())
                && fs::read_dir(&dir).is_ok_and(|mut files| files.next().is_some());
            if let (true, Some(state)) = (is_there, self.state_inside(&dir)) {
                let index = ScratchIndex::copy(self, &dir, &state)?;
                let found = Uncommitted::find(&index, Path::new(&submodule.path))?;
                if !found.changes.is_empty() {
                    kept.push(self.keep_uncommitted(&submodule, &index, (&found, keep))?);
                }
                repositories.extend(found.repositories);
            }
        }
        Ok((kept, repositories))
    }

    /// Puts what was kept of a submodule into a linked tree that was made since, uncommitted again. False: it does not
    /// fit, and nothing is changed.
    pub fn carry_inside(&self, tree: &Path, inside: &Inside) -> Result<bool, GitError> {
        let (dir, commit) = (tree.join(&inside.path), Oid::parse(&inside.commit));
        let Some(commit) = commit.filter(|_| is_inside(&inside.path) && dir.join(".git").exists()) else {
            return Ok(false);
        };
        let run = |list: &[&str]| process::run(Call { dir: &dir, ..self.locking_call(list, Vec::new()) });
        let pick = [&NOBODY[..], &["cherry-pick", "--no-commit", commit.as_str()]].concat();
        if run(&pick)?.is_success() {
            // As it was left there, nothing of it is staged; new files that somebody had added are known again.
            run(&["reset", "--quiet"])?.success()?;
            if inside.is_changed && run(&["diff", "--quiet"])?.is_success() {
                run(&["add", "--intent-to-add", "--", ":/"])?.success()?;
            }
            return Ok(true);
        }
        run(&["reset", "--quiet", "--hard"])?.success()?;
        Ok(false)
    }

    /// What was kept of a submodule is in a tree again, and needs no reference of its own.
    pub fn release_inside(&self, inside: &Inside, keep: &Keep) -> Result<(), GitError> {
        let main = self.root().join(&inside.path);
        if !is_inside(&inside.path) || !main.join(".git").exists() {
            return Ok(());
        }
        // With something else there by now, or nothing, it is not this one's.
        let drop = ["update-ref", "-d", &keep.beside(), &inside.commit];
        process::run(Call { dir: &main, ..self.locking_call(&drop, Vec::new()) })?;
        Ok(())
    }

    /// What was kept of a submodule is in no tree: it stays whatever is kept there next.
    pub fn retain_inside(&self, inside: &Inside, keep: &Keep) -> Result<(), GitError> {
        let main = self.root().join(&inside.path);
        if !is_inside(&inside.path) || !main.join(".git").exists() {
            return Ok(());
        }
        let short = inside.commit.get(..12).unwrap_or(&inside.commit);
        self.keep_in(&main, &format!("{}-{short}", keep.beside()), &inside.commit)
    }

    fn keep_uncommitted(
        &self,
        submodule: &Submodule,
        index: &ScratchIndex<'_>,
        (found, keep): (&Uncommitted, &Keep),
    ) -> Result<Inside, GitError> {
        let tree = index.write_tree()?;
        let message = b"left uncommitted by an attempt".to_vec();
        let commit = [&NOBODY[..], &["commit-tree", tree.as_str(), "-p", "HEAD", "-F", "-"]].concat();
        let commit = Oid::printed(index.run(&commit, message)?)?;
        self.keep_in(&submodule.main, &keep.beside(), commit.as_str())?;
        Ok(Inside {
            path: submodule.path.to_string_lossy().into_owned(),
            commit: commit.as_str().to_owned(),
            files: found.changes.iter().take(FILES_TOLD_MAX).map(RawChange::shown).collect(),
            is_changed: found.told().iter().any(Change::is_meant),
        })
    }

    /// Where the state of a submodule's linked tree is kept. The tree itself is not asked: an agent can write there.
    fn state_inside(&self, dir: &Path) -> Option<PathBuf> {
        self.stores_of_submodules().iter().find_map(|store| super::worktree::state_in(store, dir))
    }
}
