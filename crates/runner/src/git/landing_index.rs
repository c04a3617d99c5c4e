//! The index that a landing goes through. The project's own stays as it is until the work is committed: what nobody has
//! verified yet must not get into a commit that somebody else makes meanwhile.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::history::Oid;
use super::index_tree;
use super::process::{self, Call, Environment};
use super::repository::Git;
use super::stamps::{Stamp, Stamps};

/// An index of a landing. It outlives whoever applies the work, for whoever commits it.
#[derive(Debug)]
pub(super) struct LandingIndex<'a> {
    git: &'a Git,
    file: PathBuf,
    environment: Environment,
    /// What the project's own looked like before this one was made of it.
    main: Option<Stamp>,
}

impl<'a> LandingIndex<'a> {
    /// A new one, as a copy of the project's: what that knows of files on disk counts here as well.
    pub(super) fn begin(git: &'a Git) -> Result<LandingIndex<'a>, GitError> {
        let mut index = LandingIndex::at(git);
        index.remove();
        let main = git.git_dir().join("index");
        index.main = Stamp::of(&main);
        match fs::copy(&main, &index.file) {
            Ok(_) => Ok(index),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(index),
            Err(source) => Err(GitError::io("copy", &main)(source)),
        }
    }

    /// The one that is there.
    pub(super) fn found(git: &'a Git) -> Option<LandingIndex<'a>> {
        Some(LandingIndex::at(git)).filter(|index| index.file.exists())
    }

    /// Removes what is there of one.
    pub(super) fn sweep(git: &Git) {
        LandingIndex::at(git).remove();
    }

    fn at(git: &'a Git) -> LandingIndex<'a> {
        let file = git.git_dir().join("tillgreen-landing-index");
        let mut environment = git.environment().clone();
        environment.push(("GIT_INDEX_FILE".into(), file.clone().into()));
        LandingIndex { git, file, environment, main: None }
    }

    /// What the project's own looked like before this one was made of it.
    pub(super) fn main(&self) -> Option<Stamp> {
        self.main.clone()
    }

    /// The variables that name it.
    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// A call that works on this index.
    pub(super) fn call(&self, list: &[&str]) -> Call<'_> {
        Call { environment: &self.environment, ..self.git.locking_call(list, Vec::new()) }
    }

    /// Whether it holds this tree and nothing else.
    pub(super) fn holds(&self, tree: &Oid) -> bool {
        if let Some(held) = index_tree::held(&self.file, tree) {
            return held == *tree;
        }
        let ended = process::run(self.call(&["write-tree"]));
        ended.and_then(Oid::printed).is_ok_and(|found| found == *tree)
    }

    /// Makes it the project's own, under git's lock. That must hold nothing of anybody's: what this one was made of, and
    /// untouched since. False: nothing was done.
    pub(super) fn take_over(&self, tree: &Oid, stamps: &Stamps) -> bool {
        let main = self.git.git_dir().join("index");
        if !stamps.index_holds(&main)
            || self.git.has_hook("post-index-change")
            || index_tree::held(&self.file, tree).as_ref() != Some(tree)
        {
            return false;
        }
        // A lock that stays, should the program die now, is known by being this very file.
        self.exchange(&main, stamps)
    }

    fn exchange(&self, main: &Path, stamps: &Stamps) -> bool {
        let lock = main.with_extension("lock");
        if fs::hard_link(&self.file, &lock).is_err() {
            return false;
        }
        if stamps.index_holds(main) && fs::rename(&lock, main).is_ok() {
            return true;
        }
        // Nobody else has taken the lock meanwhile: it was ours.
        let _ = fs::remove_file(&lock);
        false
    }

    /// Whether a lock is this very file: then it is ours, left in the middle of taking over.
    pub(super) fn is_behind(git: &Git, lock: &Path) -> bool {
        let number =
            |file: &Path| fs::symlink_metadata(file).ok().map(|metadata| (metadata.dev(), metadata.ino()));
        let own = number(&LandingIndex::at(git).file);
        own.is_some() && own == number(lock)
    }

    pub(super) fn remove(&self) {
        // It is of no use to anybody; one that cannot be removed is met by the next landing.
        for file in [self.file.clone(), self.file.with_extension("lock")] {
            let _ = fs::remove_file(file);
        }
    }
}
