//! What can go wrong with git, told apart as far as a person would act differently.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why git did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no `git` on the path.
    #[error("git is not installed")]
    NotInstalled,
    /// The installed git lacks options that are needed.
    #[error("git {found} is too old, {minimum} or newer is needed")]
    TooOld {
        /// The installed version.
        found: String,
        /// The oldest version that will do.
        minimum: String,
    },
    /// There is a repository, but it cannot be worked in.
    #[error("the git repository at {} cannot be used: {reason}", dir.display())]
    Unusable {
        /// The folder that was asked about.
        dir: PathBuf,
        /// Git's own words, or that the repository is bare.
        reason: String,
    },
    /// Git has no name and address to put into a commit.
    #[error("git does not know who commits in {}", root.display())]
    NoIdentity {
        /// The repository's top folder.
        root: PathBuf,
    },
    /// A merge, rebase, cherry-pick or revert has been begun and not finished.
    #[error("a {operation} is in progress in {}", root.display())]
    InProgress {
        /// The repository's top folder.
        root: PathBuf,
        /// `merge`, `rebase`, `cherry-pick` or `revert`.
        operation: &'static str,
    },
    /// Somebody changed settings so that git would no longer work in the project.
    #[error("the settings of the repository at {} were changed, {change}: git would no longer work there", root.display())]
    Misdirected {
        /// The repository's top folder.
        root: PathBuf,
        /// What is set now.
        change: String,
        /// The command that undoes it.
        undo: String,
    },
    /// Another git works here, or one that died left its lock file behind.
    #[error("another git process seems to be running: {} exists", file.display())]
    Locked {
        /// The lock file.
        file: PathBuf,
    },
    /// A hook did not let a commit pass.
    #[error("a hook refused the commit: {}", last_line(output))]
    Hook {
        /// What the hook printed.
        output: String,
    },
    /// Git did not end in time, and was ended.
    #[error("`{command}` did not end within {} s{}", after.as_secs(), said(output))]
    Deadline {
        /// The command.
        command: String,
        /// How long it was given.
        after: Duration,
        /// What it had printed until then.
        output: String,
    },
    /// Git was under way when the run was to end, and was ended.
    #[error("`{command}` was still under way when the run was to end, and was ended")]
    Stopped {
        /// The command.
        command: String,
    },
    /// Git failed for another reason.
    #[error("`{command}` failed{}", said(output))]
    Failed {
        /// The command.
        command: String,
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// What it printed.
        output: String,
    },
    /// The index is not there, or is none.
    #[error("git's index {} {reason}", file.display())]
    NoIndex {
        /// Where it should be.
        file: PathBuf,
        /// What is the matter with it.
        reason: &'static str,
    },
    /// Git cannot read what is in a working tree.
    #[error("git cannot read {}", paths.join(", "))]
    Unreadable {
        /// The files and folders.
        paths: Vec<String>,
    },
    /// What was asked cannot be passed to git: an empty message, a path outside, a revision that looks like a flag.
    #[error("{what} cannot be passed to git: {value:?}")]
    Unacceptable {
        /// What it was meant to be.
        what: &'static str,
        /// What it is.
        value: String,
    },
    /// Git printed what this program does not understand.
    #[error("`{command}` printed something unexpected: {output:?}")]
    Unexpected {
        /// The command.
        command: String,
        /// The part that was not understood.
        output: String,
    },
    /// The operating system refused something.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file, folder or program it was tried on.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl GitError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
        let path = path.to_owned();
        move |source| GitError::Io { action, path, source }
    }

    /// What happened, why, and what to do about it, for people.
    pub fn told(&self) -> String {
        let cause = std::error::Error::source(self).map(|cause| format!(": {cause}")).unwrap_or_default();
        let hint = self.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{self}{cause}{hint}")
    }

    /// What a person can do about it, with the next command to type.
    pub fn hint(&self) -> Option<String> {
        match self {
            GitError::NotInstalled | GitError::TooOld { .. } => Some("install a newer git".to_owned()),
            GitError::Unusable { dir, .. } => Some(format!("look at it with: git -C {} status", dir.display())),
            GitError::NoIdentity { .. } => Some(
                "tell git who you are: git config user.name \"Your Name\"; git config user.email you@example.com"
                    .to_owned(),
            ),
            GitError::InProgress { operation, .. } => Some(format!(
                "finish it with `git {operation} --continue` or drop it with `git {operation} --abort`"
            )),
            GitError::Misdirected { undo, .. } => Some(format!("undo it with `{undo}`")),
            GitError::Locked { file } => {
                Some(format!("if no git is running, remove the file: rm '{}'", file.display()))
            }
            GitError::NoIndex { file, .. } if file.exists() => {
                let file = file.display();
                Some(format!(
                    "what was staged is not known any more; this makes it anew and changes no file: mv '{file}' \
                     '{file}.broken' && git reset"
                ))
            }
            GitError::NoIndex { .. } => Some(
                "what was staged is not known any more; this makes it anew and changes no file: git reset".to_owned(),
            ),
            GitError::Hook { .. } => Some("repair what the hook complains about, then run again".to_owned()),
            GitError::Deadline { command, .. } => {
                Some(format!("see what keeps it waiting (a hook, a signing key): {command}"))
            }
            GitError::Failed { .. } | GitError::Io { .. } => self.advice(),
            GitError::Stopped { .. }
            | GitError::Unreadable { .. }
            | GitError::Unacceptable { .. }
            | GitError::Unexpected { .. } => None,
        }
    }
}

fn last_line(output: &str) -> &str {
    output.trim_end().lines().next_back().unwrap_or("it printed nothing")
}

fn said(output: &str) -> String {
    match output.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}
