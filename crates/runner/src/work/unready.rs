//! What keeps a slot from being ready. None of it is a failure of the task.

use std::fmt;
use std::path::PathBuf;

use super::size::in_words;
use crate::git::GitError;

/// Why a slot cannot be worked in.
#[derive(Debug)]
pub(crate) enum Unready {
    /// Git cannot make it, or cannot show the commit in it.
    NoTree(GitError),
    /// The set-up command failed.
    SetUp {
        /// The command.
        command: String,
        /// What it printed, its end at least.
        output: String,
        /// How it ended.
        reason: String,
        /// The file with all that it printed.
        log: PathBuf,
    },
    /// There is too little space left where trees lie.
    LowDisk {
        /// Where.
        folder: PathBuf,
        /// How much is left.
        free_bytes: u64,
        /// How much is wanted.
        wanted_bytes: u64,
    },
    /// It lacks something that the project has.
    Lacking {
        /// What, and what to set.
        reason: String,
    },
    /// The run is to end.
    Interrupted,
}

impl From<GitError> for Unready {
    fn from(error: GitError) -> Unready {
        if matches!(error, GitError::Stopped { .. }) { Unready::Interrupted } else { Unready::NoTree(error) }
    }
}

impl fmt::Display for Unready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unready::NoTree(error) => write!(f, "no work tree can be made: {}", error.told()),
            Unready::SetUp { command, output, reason, log } => {
                write!(f, "worktree_setup `{command}` {reason}")?;
                if let Some(line) = output.lines().rev().find(|line| !line.trim().is_empty()) {
                    write!(f, ": {}", line.trim())?;
                }
                let log = log.display();
                write!(
                    f,
                    "; mend it in tillgreen.toml: it runs in a new checkout outside the project (see {log})"
                )
            }
            Unready::LowDisk { folder, free_bytes, wanted_bytes } => write!(
                f,
                "{} has {} left and work trees want {}: free some space (`tillgreen clean` removes trees of earlier \
                 runs), or name a folder elsewhere as worktree_dir in tillgreen.toml",
                folder.display(),
                in_words(*free_bytes),
                in_words(*wanted_bytes)
            ),
            Unready::Lacking { reason } => f.write_str(reason),
            Unready::Interrupted => f.write_str("the run was interrupted while a work tree was made ready"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_says_what_to_do() {
        let check = |unready: Unready, expected: &str| assert_eq!(unready.to_string(), expected);
        check(
            Unready::SetUp {
                command: "npm ci".into(),
                output: "npm error code E404\nnpm error 404 Not Found\n\n".into(),
                reason: "failed with exit code 1".into(),
                log: "/logs/setup.log".into(),
            },
            "worktree_setup `npm ci` failed with exit code 1: npm error 404 Not Found; mend it in tillgreen.toml: it runs in a \
             new checkout outside the project (see /logs/setup.log)",
        );
        check(
            Unready::LowDisk { folder: "/cache".into(), free_bytes: 200 << 20, wanted_bytes: 1 << 30 },
            "/cache has 200 MB left and work trees want 1.0 GB: free some space (`tillgreen clean` removes trees of earlier \
             runs), or name a folder elsewhere as worktree_dir in tillgreen.toml",
        );
        assert!(matches!(Unready::from(GitError::Stopped { command: "git".into() }), Unready::Interrupted));
    }
}
