//! Who has git's lock on the index. A commit holds it as long as its editor is open, which may be long; a lock whose git
//! died is held by nobody.

use std::fs;
use std::path::{Path, PathBuf};

use super::repository::Git;
use super::stale_lock::{gits, is_child, pid_in};

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
        let mut others = gits().filter(|git| is_here(git) && !is_child(git));
        others.find_map(|git| {
            let command = command_of(&git).filter(|command| !READERS.contains(&command.as_str()))?;
            Some(format!("process {} (git {command})", pid_in(&git)?))
        })
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
