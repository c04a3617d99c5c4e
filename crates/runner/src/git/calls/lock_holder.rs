//! Who has git's lock on the index. A commit of some paths holds it as long as its editor is open, which may be long; one
//! of all that is staged does not, and fails if somebody else commits meanwhile. A lock whose git died is held by nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::stale_lock::{gits, is_child, is_marked, pid_in};
use crate::git::repository::Git;
use crate::git::stamps::Stamp;

/// Commands that take no lock and may stay for long, in a pager or in the background.
const READERS: [&str; 12] = [
    "blame",
    "cat-file",
    "credential-cache--daemon",
    "diff",
    "fsmonitor--daemon",
    "grep",
    "help",
    "log",
    "reflog",
    "shortlog",
    "show",
    "whatchanged",
];

/// Options of git itself that are followed by a value.
const WITH_VALUE: [&str; 2] = ["-C", "-c"];

/// Where git puts the message that an editor is opened for.
const MESSAGE: &str = "COMMIT_EDITMSG";

/// What the file with the message of a commit looked like when nobody was committing. Who commits writes it anew.
#[derive(Debug, Default)]
pub(in crate::git) struct Quiet {
    message: Mutex<Option<Stamp>>,
}

impl Git {
    /// Whoever has the lock on the index of this working tree and is alive, for people to read. None: nobody has it, or
    /// nobody can be told from whom it is.
    pub fn lock_holder(&self) -> Option<String> {
        if !self.git_dir().join("index.lock").exists() {
            return None;
        }
        // Gits of this program are waited for where they are started; those in its work trees have an index of their own.
        let own = self.root().join(".tillgreen");
        let is_here = |git: &PathBuf| {
            let folder = fs::read_link(git.join("cwd")).unwrap_or_default();
            let is_in_git = folder.starts_with(self.git_dir());
            is_in_git || (folder.starts_with(self.root()) && !folder.starts_with(&own))
        };
        let mut others = gits().filter(|git| is_here(git) && self.is_others(git));
        others.find_map(|git| {
            let command = command_of(&git).filter(|command| !READERS.contains(&command.as_str()))?;
            Some(format!("process {} (git {command})", pid_in(&git)?))
        })
    }

    /// Whoever is writing the message of a commit in this working tree, for people to read, with the lock or without.
    /// Looking at all processes takes a while, so it is done only where such a message was written since.
    pub fn committing(&self) -> Option<String> {
        let message = Stamp::of(&self.git_dir().join(MESSAGE))?;
        let mut quiet = self.habits().quiet.message.lock().unwrap_or_else(PoisonError::into_inner);
        if quiet.as_ref() == Some(&message) {
            return None;
        }
        let found = self.commits_of_others().into_iter().next();
        if found.is_none() {
            *quiet = Some(message);
        }
        Some(format!("process {} (git commit)", pid_in(&found?)?))
    }

    /// The processes by which others commit in this working tree, with the lock or without.
    pub(in crate::git) fn commits_of_others(&self) -> Vec<PathBuf> {
        // Wherever it is called, git goes to the top folder.
        let is_here =
            |git: &PathBuf| fs::read_link(git.join("cwd")).is_ok_and(|folder| folder == self.root());
        let is_commit = |git: &PathBuf| command_of(git).as_deref() == Some("commit");
        gits().filter(|git| is_here(git) && is_commit(git) && self.is_others(git)).collect()
    }

    /// Whether a git belongs to nobody of this run. One that outlived the program is waited for otherwise, and not without
    /// end.
    fn is_others(&self, git: &Path) -> bool {
        let is_of_run = || self.notes().is_some_and(|notes| is_marked(git, notes));
        !is_child(git) && !is_of_run()
    }
}

/// What a git was told to do.
fn command_of(process: &Path) -> Option<String> {
    let arguments = fs::read(process.join("cmdline")).ok()?;
    let arguments = String::from_utf8_lossy(&arguments).into_owned();
    let mut arguments = arguments.split('\0').skip(1).filter(|argument| !argument.is_empty());
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.contains(&argument) {
            arguments.next();
        } else if !argument.starts_with('-') {
            return Some(argument.to_owned());
        }
    }
    None
}
