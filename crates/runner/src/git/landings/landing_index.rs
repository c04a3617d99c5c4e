//! The index that a landing goes through. The project's own stays as it is until the work is committed: what nobody has
//! verified yet must not get into a commit that somebody else makes meanwhile.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use crate::git::calls::index_lock::BEFORE;
use crate::git::calls::process::{self, Call, Environment};
use crate::git::calls::scratch_index::{NEXT, copy_index};
use crate::git::error::GitError;
use crate::git::formats::index_file::IndexFile;
use crate::git::formats::index_tree;
use crate::git::formats::raw_change::RawChange;
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::stamps::{Stamp, Stamps};

/// An index of a landing. It outlives whoever applies the work, for whoever commits it.
#[derive(Debug)]
pub(in crate::git) struct LandingIndex<'a> {
    git: &'a Git,
    file: PathBuf,
    environment: Environment,
    /// What the project's own looked like before this one was made of it.
    main: Option<Stamp>,
}

impl<'a> LandingIndex<'a> {
    /// A new one, as a copy of the project's: what that knows of files on disk counts here as well.
    pub(in crate::git) fn begin(git: &'a Git) -> Result<LandingIndex<'a>, GitError> {
        let index = LandingIndex::fresh(git);
        if !copy_index(&git.git_dir().join("index"), &index.file)? {
            // Somebody removed it in the last moment, or there need not be one.
            git.expect_index()?;
            copy_index(&git.git_dir().join("index"), &index.file)?;
        }
        if index.file.exists() || git.has_no_files()? { Ok(index) } else { Err(git.removed_time_and_again()) }
    }

    /// A new one that somebody is to write.
    pub(in crate::git) fn fresh(git: &'a Git) -> LandingIndex<'a> {
        LandingIndex::made_of(git, Stamp::of(&git.git_dir().join("index")))
    }

    /// The same, made of the project's own when that looked like this.
    pub(in crate::git) fn made_of(git: &'a Git, main: Option<Stamp>) -> LandingIndex<'a> {
        let index = LandingIndex::at(git);
        index.remove();
        LandingIndex { main, ..index }
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
        LandingIndex { git, file, environment, main: None }
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
        if let Some(held) = index_tree::held(&self.file, tree) {
            return held == *tree;
        }
        let ended = process::run(self.call(&["write-tree"]));
        ended.and_then(Oid::printed).is_ok_and(|found| found == *tree)
    }

    /// What is in it, and what it looks like.
    pub(in crate::git) fn content(&self) -> Option<(Vec<u8>, Metadata)> {
        Some((fs::read(&self.file).ok()?, fs::symlink_metadata(&self.file).ok()?))
    }

    /// Where it is.
    pub(in crate::git) fn file(&self) -> &Path {
        &self.file
    }

    /// What files look like that were written with it, with what the project's own looked like.
    pub(in crate::git) fn stamps(&self, changes: &[RawChange], like: &Oid) -> Stamps {
        let paths = changes.iter().map(|change| &change.path);
        let content = fs::read(&self.file).unwrap_or_default();
        let stamps = match IndexFile::parse(&content, like.width()) {
            Some(index) => Stamps::of_written(self.git.root(), paths, &index),
            None => Stamps::of(self.git.root(), paths),
        };
        stamps.with_index(self.main.clone())
    }

    /// Whether it is for sure all that the project's own is to hold: it holds this tree, and that is untouched since it
    /// was made of it.
    pub(in crate::git) fn is_next(&self, tree: &Oid, stamps: &Stamps) -> bool {
        let main = self.git.git_dir().join("index");
        stamps.index_holds(&main) && index_tree::held(&self.file, tree).as_ref() == Some(tree)
    }

    pub(in crate::git) fn remove(&self) {
        // It is of no use to anybody; one that cannot be removed is met by the next landing.
        let [next, before] = [NEXT, BEFORE].map(|name| self.git.git_dir().join(name));
        for file in [self.file.clone(), self.file.with_extension("lock"), next, before] {
            let _ = fs::remove_file(file);
        }
    }
}
