//! How commits are made here: who makes them, and which hooks have a say in them. Git is asked whenever it matters:
//! settings and hooks may change while agents work.

use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::configuration::Configuration;
use super::misdirection::Place;
use crate::git::calls::lock_holder::Quiet;
use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::repository::Git;

/// Before hooks that are set up by settings.
const HOOK_SETTINGS: &str = "hook.";

/// Hooks that can make a commit another one, or want to hear of it.
const COMMIT_HOOKS: [&str; 5] =
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"];

/// What is known about committing here since the program was started.
#[derive(Debug, Default)]
pub(in crate::git) struct Habits {
    /// When nobody else was making a commit.
    pub(in crate::git) quiet: Quiet,
    /// Where the working tree was said to be when that was first told.
    place: OnceLock<Place>,
}

impl Habits {
    pub(in crate::git) fn place(&self) -> Option<&Place> {
        self.place.get()
    }
}

impl Git {
    /// Refuses a repository in which git does not know who commits: better found out before anything is done than at
    /// the first commit.
    pub fn check_identity(&self) -> Result<(), GitError> {
        self.configuration()?;
        let is_known = process::run(self.call(&["var", "GIT_COMMITTER_IDENT"]))?.is_success();
        if is_known { Ok(()) } else { Err(GitError::NoIdentity { root: self.root().to_owned() }) }
    }

    /// The settings that apply here; none where git cannot read them.
    pub(in crate::git) fn configuration(&self) -> Result<Option<Configuration>, GitError> {
        let listing = process::run(self.call(&Configuration::QUESTION))?.success().ok();
        let configuration = listing.map(|listing| Configuration::parse(&listing));
        if let Some(configuration) = &configuration {
            self.habits().place.get_or_init(|| Place::of(configuration));
        }
        Ok(configuration)
    }

    /// True if a commit may be more than its text to anybody here.
    pub fn has_commit_hook(&self) -> bool {
        self.has_any_hook(&COMMIT_HOOKS) || self.has_set_hooks()
    }

    /// True if settings name hooks.
    pub(in crate::git) fn has_set_hooks(&self) -> bool {
        let configuration = self.configuration().ok().flatten();
        configuration.is_some_and(|settings| settings.names().any(|name| name.starts_with(HOOK_SETTINGS)))
    }

    /// Where hooks are, if git says so.
    pub(in crate::git) fn hooks_folder(&self) -> Option<PathBuf> {
        let told = process::run(self.call(&["rev-parse", "--git-path", "hooks"])).ok()?.success().ok()?;
        let folder = told.strip_suffix(b"\n").unwrap_or(&told);
        Some(self.root().join(std::ffi::OsString::from_vec(folder.to_vec())))
    }
}
