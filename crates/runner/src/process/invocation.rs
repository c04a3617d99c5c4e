//! What is to be run, where, with what, and within which limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// One program to run, with everything that it is given.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The program and its arguments.
    pub command: Program,
    /// The folder that it runs in.
    pub cwd: PathBuf,
    /// Variables added to the inherited environment.
    pub env: Vec<(OsString, OsString)>,
    /// Variables taken out of the inherited environment.
    pub env_remove: Vec<OsString>,
    /// Text for its standard input; without it that is `/dev/null`, because some agents wait for ever on
    /// an open pipe.
    pub stdin: Option<String>,
    /// The file that gets its standard output; an existing one is replaced.
    pub stdout_log: PathBuf,
    /// The file that gets its standard error; an existing one is replaced.
    pub stderr_log: PathBuf,
    /// How long it may take and how much of its output is kept.
    pub limits: ProcessLimits,
}

/// The program of an [`Invocation`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A command line for `sh`.
    Shell(String),
    /// A script for `bash -e`; it sets `pipefail` itself where that is due.
    Bash(String),
    /// A program, looked up in `PATH` if it has no slash, and its arguments.
    Argv(Vec<OsString>),
}

/// The bounds of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessLimits {
    /// How long it may run in all.
    pub deadline: Duration,
    /// How long it may go without writing a byte to standard output or standard error.
    pub no_progress: Option<Duration>,
    /// How long it has between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// How many bytes of each output are kept from its beginning.
    pub head_bytes_max: usize,
    /// How many bytes of each output are kept from its end.
    pub tail_bytes_max: usize,
}

impl Program {
    /// The arguments to execute, the program first.
    pub(super) fn argv(&self) -> Vec<OsString> {
        match self {
            // The two dashes keep a script that begins with a dash from being read as an option.
            Self::Shell(script) => ["sh", "-c", "--", script].map(OsString::from).to_vec(),
            Self::Bash(script) => ["bash", "-e", "-c", "--", script].map(OsString::from).to_vec(),
            Self::Argv(argv) => argv.clone(),
        }
    }
}
