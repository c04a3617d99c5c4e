//! Commits that a git of ours made and whose objects somebody who tidies up removed at once, before anybody could read them:
//! what is checked out is then a commit that is not there. It is taken back, as if it had not been made, and made again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::git::calls::process::{self, Call};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// What is told of it.
const TOLD: &str = "a commit was removed as it was made";

impl Git {
    /// Does something that commits with this message, and takes the commit back if it is not there as a whole. That fails
    /// as where objects are gone.
    pub(in crate::git) fn undoing_gone<T>(
        &self,
        message: &str,
        deed: impl FnOnce() -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let before = self.head()?;
        let done = deed();
        let is_doubtful = match &done {
            Ok(_) => self.is_tidied_up(),
            Err(error) => error.is_of_gone_objects(),
        };
        let (Some(before), Some(now)) = (before, self.head()?) else { return done };
        if !is_doubtful || now == before {
            return done;
        }
        self.hold_on_to_all();
        if self.is_whole_since(&now, &before)? || !self.is_made_by_us(&before, &now, message) {
            return done;
        }
        let why = format!("tillgreen: taken back, {TOLD}");
        let back = ["update-ref", "-m", &why, "HEAD", before.as_str(), now.as_str()];
        self.run_locking(|| self.locking_call(&back, Vec::new()))?.success()?;
        Err(GitError::Gone { told: TOLD.to_owned() })
    }

    /// Right after a git made a commit: it is known what is in it, and whether somebody has removed it already.
    pub(in crate::git) fn expect_made(&self, commit: &Oid) {
        self.remember_made(commit);
        self.hold_on();
        // Where git cannot tell, whoever needs it says so.
        if self.gone([commit].into_iter()).is_ok_and(|gone| !gone.is_empty()) {
            self.recent_objects().note_missed();
        }
    }

    fn is_whole_since(&self, commit: &Oid, before: &Oid) -> Result<bool, GitError> {
        let list = ["rev-list", "--objects", "--quiet", commit.as_str(), "--not", before.as_str(), "--"];
        match process::run(self.call(&list))?.success() {
            Err(error) if error.is_of_gone_objects() => Ok(false),
            listed => listed.map(|_| true),
        }
    }

    /// Whether the last that became of what is checked out is a commit with this message. That of a person is not ours to
    /// take back, even if nobody can read it any more.
    fn is_made_by_us(&self, before: &Oid, commit: &Oid, message: &str) -> bool {
        let record = fs::read_to_string(self.git_dir().join("logs/HEAD")).unwrap_or_default();
        let subject = message.trim().lines().next().unwrap_or_default().trim_end();
        record.lines().next_back().is_some_and(|line| {
            line.starts_with(&format!("{before} {commit} "))
                && line.ends_with(&format!("\tcommit: {subject}"))
        })
    }

    /// While somebody tidies up: the content of files is stored again. Git takes it to be stored where its index says that
    /// they are unchanged.
    pub(in crate::git) fn store_files_again(&self, paths: &BTreeSet<&OsStr>) {
        if !self.is_tidied_up() {
            return;
        }
        let is_nameable = |path: &&OsStr| self.is_file(path) && !path.as_bytes().contains(&b'\n');
        let files = paths.iter().copied().filter(is_nameable);
        let stdin: Vec<u8> = files.flat_map(|path| [path.as_bytes(), b"\n"].concat()).collect();
        let call = Call { stdin, ..self.call(&["hash-object", "-w", "--stdin-paths"]) };
        // What cannot be stored is what git fails over next.
        let _ = process::run(call);
    }
}
