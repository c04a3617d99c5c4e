//! Questions about branches and remotes, and taking in what was fetched.

use crate::git::call::error::GitError;
use crate::git::call::process::{self, COMMIT_DEADLINE, Call};
use crate::git::history::revision;
use crate::git::repository::Git;

/// The command that merges commits in.
pub(crate) const JOIN: [&str; 2] = ["merge", "--no-edit"];

/// The result of merging commits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// They are part of the history now, if they were not before.
    Done,
    /// They do not go together with what is here; everything is as it was.
    Conflict,
}

impl Git {
    /// The branch that is checked out; none where no branch is.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        self.answer(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// Checks a branch out, which is made where there is none of that name. Uncommitted changes come along; where they
    /// are in the way, git says so and nothing is changed.
    pub(crate) fn switch_to(&self, branch: &str) -> Result<(), GitError> {
        if self.branch()?.as_deref() == Some(branch) {
            return Ok(());
        }
        let name = format!("refs/heads/{}", revision(branch)?);
        let is_there = process::run(self.call(&["show-ref", "--verify", "--quiet", &name]))?.is_success();
        let create: &[&str] = if is_there { &[] } else { &["--create"] };
        let switch = [&["switch", "--quiet"], create, &[branch]].concat();
        process::run(Call { deadline: COMMIT_DEADLINE, ..self.locking_call(&switch, Vec::new()) })?
            .success()
            .map(drop)
    }

    /// The names of the remotes.
    pub fn remotes(&self) -> Result<Vec<String>, GitError> {
        let output = process::run(self.call(&["remote"]))?.success()?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }

    /// The address of a remote, after all rewriting.
    pub fn remote_url(&self, remote: &str) -> Result<String, GitError> {
        let url = self.answer(&["remote", "get-url", "--push", remote])?;
        Ok(url.unwrap_or_default())
    }

    /// A value of the configuration.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitError> {
        self.answer(&["config", "--get", key])
    }

    /// The default branch of a remote, as far as cloning or `git remote set-head` told.
    pub fn default_branch(&self, remote: &str) -> Result<Option<String>, GitError> {
        let name =
            self.answer(&["symbolic-ref", "--quiet", "--short", &format!("refs/remotes/{remote}/HEAD")])?;
        Ok(name.and_then(|name| name.strip_prefix(&format!("{remote}/")).map(str::to_owned)))
    }

    /// True if a commit is part of the history of another.
    pub fn is_ancestor(&self, commit: &str, of: &str) -> Result<bool, GitError> {
        Ok(process::run(self.call(&["merge-base", "--is-ancestor", commit, of]))?.is_success())
    }

    /// Takes commits into the branch that is checked out, by a merge where there is no shorter way. A merge that
    /// was begun before and cut short is given up first.
    pub fn join(&self, commit: &str) -> Result<Joined, GitError> {
        self.give_up_merge()?;
        self.refuse_without_index()?;
        let call = self.locking_call(&[JOIN[0], JOIN[1], commit], Vec::new());
        let ended = process::run(Call { deadline: COMMIT_DEADLINE, ..call })?;
        if ended.is_success() {
            return Ok(Joined::Done);
        }
        let is_conflict = self.is_merging();
        self.give_up_merge()?;
        if is_conflict { Ok(Joined::Conflict) } else { Err(ended.into_failure()) }
    }

    fn is_merging(&self) -> bool {
        self.git_dir().join("MERGE_HEAD").exists()
    }

    fn give_up_merge(&self) -> Result<(), GitError> {
        if !self.is_merging() {
            return Ok(());
        }
        process::run(self.locking_call(&["merge", "--abort"], Vec::new()))?.success().map(|_| ())
    }

    /// The answer of git in a line; nothing where it has none.
    fn answer(&self, list: &[&str]) -> Result<Option<String>, GitError> {
        let ended = process::run(self.call(list))?;
        if !ended.is_success() {
            return if ended.stderr.trim().is_empty() { Ok(None) } else { Err(ended.into_failure()) };
        }
        let text = String::from_utf8_lossy(&ended.stdout).trim_end_matches('\n').to_owned();
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}
