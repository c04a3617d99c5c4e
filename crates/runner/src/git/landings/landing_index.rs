//! The index that a landing goes through. The project's own stays as it is until the work is committed: what nobody has
//! verified yet must not get into a commit that somebody else makes meanwhile.

use std::fs;
use std::path::PathBuf;

use crate::git::calls::index_lock::BEFORE;
use crate::git::calls::process::{self, Call, Environment};
use crate::git::calls::scratch_index::{NEXT, copy_index};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{RawChange, split_names};
use crate::git::repository::Git;
use crate::git::stamps::Stamps;

/// An index of a landing. It outlives whoever applies the work, for whoever commits it.
#[derive(Debug)]
pub(in crate::git) struct LandingIndex<'a> {
    git: &'a Git,
    file: PathBuf,
    environment: Environment,
}

impl<'a> LandingIndex<'a> {
    /// A new one, as a copy of the project's: what that knows of files on disk counts here as well.
    pub(in crate::git) fn begin(git: &'a Git) -> Result<LandingIndex<'a>, GitError> {
        let index = LandingIndex::at(git);
        index.remove();
        copy_index(&git.git_dir().join("index"), &index.file)?;
        Ok(index)
    }

    /// The one that is there.
    pub(in crate::git) fn found(git: &'a Git) -> Option<LandingIndex<'a>> {
        Some(LandingIndex::at(git)).filter(|index| index.file.exists())
    }

    /// Removes what is there of one.
    pub(in crate::git) fn sweep(git: &Git) {
        LandingIndex::at(git).remove();
    }

    fn at(git: &'a Git) -> LandingIndex<'a> {
        let file = git.git_dir().join("tillgreen-landing-index");
        let mut environment = git.environment().clone();
        environment.push(("GIT_INDEX_FILE".into(), file.clone().into()));
        LandingIndex { git, file, environment }
    }

    /// The variables that name it.
    pub(in crate::git) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// A call that works on this index.
    pub(in crate::git) fn call(&self, list: &[&str]) -> Call<'_> {
        Call { environment: &self.environment, ..self.git.locking_call(list, Vec::new()) }
    }

    /// Whether it holds this tree and nothing else.
    pub(in crate::git) fn holds(&self, tree: &Oid) -> bool {
        let ended = process::run(self.call(&["write-tree"]));
        ended.and_then(Oid::printed).is_ok_and(|found| found == *tree)
    }

    /// What files look like that were written with it. Somebody may have been quicker than this look: a file that is
    /// not what was written never looks the same.
    pub(in crate::git) fn stamps(&self, changes: &[RawChange]) -> Result<Stamps, GitError> {
        let stamps = Stamps::of(self.git.root(), changes.iter().map(|change| &change.path));
        let listing = process::run(self.call(&["diff-files", "--name-only", "-z"]))?.success()?;
        Ok(stamps.without(&split_names(&listing).collect()))
    }

    pub(in crate::git) fn remove(&self) {
        // It is of no use to anybody; one that cannot be removed is met by the next landing.
        let [next, before] = [NEXT, BEFORE].map(|name| self.git.git_dir().join(name));
        for file in [self.file.clone(), self.file.with_extension("lock"), next, before] {
            let _ = fs::remove_file(file);
        }
    }
}
