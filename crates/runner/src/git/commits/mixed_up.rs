//! Messages that got mixed up. All who commit in one working tree write their message into the same file and read it from
//! there again, so that who commits at the same moment may get parts of another's: a commit of a person's then says that it
//! is ours, or ours says what a person wanted to say.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::RawChange;
use crate::git::repository::Git;

/// Hooks that may change a message on purpose.
const MESSAGE_HOOKS: [&str; 2] = ["prepare-commit-msg", "commit-msg"];

impl Git {
    /// Whether a commit that we made says something else than what it was to say, and no hook wanted that.
    pub(in crate::git) fn is_mixed_up(&self, commit: &Oid, message: &str) -> Result<bool, GitError> {
        if self.has_set_hooks() || MESSAGE_HOOKS.iter().any(|name| self.has_hook(name)) {
            return Ok(false);
        }
        let show = ["log", "-1", "--no-show-signature", "--format=%B", commit.as_str(), "--"];
        let told = process::run(self.call(&show))?.success()?;
        let told = String::from_utf8_lossy(&told);
        // Settings may have git leave out lines that look like comments.
        let is_plain = |line: &&str| line.starts_with(char::is_alphanumeric);
        let ends = |text: &str| {
            let mut lines = text.lines().map(str::trim_end).filter(is_plain).map(str::to_owned);
            (lines.next(), lines.next_back())
        };
        Ok(ends(&told) != ends(message))
    }

    /// Whether a commit that says it brings in some work has anything of it.
    pub(in crate::git) fn has_of(&self, commit: &Oid, work: &[RawChange]) -> Result<bool, GitError> {
        let Some(before) = self.commit_before(commit)? else { return Ok(true) };
        let paths: BTreeSet<&OsStr> = work.iter().map(|change| change.path.as_os_str()).collect();
        let made = self.differences(&before, commit)?;
        Ok(made.iter().any(|change| paths.contains(change.path.as_os_str())))
    }
}
