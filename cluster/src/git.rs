//! The program git, for clones that nobody but this program works in, and for the branch of a run.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

/// A git that did not do what it was to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    /// It ended with an error.
    #[error("git {command}: {output}")]
    Failed {
        /// The command.
        command: String,
        /// What it said.
        output: String,
    },
    /// It could not be started, or a file of a clone could not be changed.
    #[error("cannot {action}")]
    Io {
        /// The action.
        action: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// The end of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The remote has it.
    Done,
    /// Somebody else pushed in between.
    Moved,
    /// The remote does not take it, for this reason.
    Refused(String),
}

/// A folder in which git is run.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    root: PathBuf,
}

impl Git {
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    async fn output(&self, arguments: &[&str]) -> Result<std::process::Output, GitError> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.root).args(arguments);
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_ASKPASS", "true");
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"] {
            command.env_remove(variable);
        }
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
        output.map_err(|source| GitError::Io { action: "start git".to_owned(), source })
    }

    /// Runs git; gives what it printed.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<String, GitError> {
        let output = self.output(arguments).await?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(GitError::Failed { command: arguments.join(" "), output: text });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// True if git says yes by its exit code.
    pub(crate) async fn asks(&self, arguments: &[&str]) -> Result<bool, GitError> {
        Ok(self.output(arguments).await?.status.success())
    }

    /// Pushes without force; the remote's branch is the lock.
    pub(crate) async fn push(&self, remote: &str, refspec: &str) -> Result<Pushed, GitError> {
        let output = self.output(&["push", "--porcelain", remote, refspec]).await?;
        if output.status.success() {
            return Ok(Pushed::Done);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let Some(line) = text.lines().find(|line| line.starts_with('!')) else {
            let output = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(GitError::Failed { command: "push".to_owned(), output });
        };
        // Another push that holds the branch at this moment is told as a lock that cannot be had.
        let is_moved = ["[rejected]", "cannot lock ref", "failed to update ref", "incorrect old value"];
        if is_moved.iter().any(|word| line.contains(word)) {
            return Ok(Pushed::Moved);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().filter(|line| line.starts_with("remote:")).collect();
        let summary = line.rsplit('\t').next().unwrap_or(line);
        Ok(Pushed::Refused([&[summary], said.as_slice()].concat().join("; ")))
    }
}
