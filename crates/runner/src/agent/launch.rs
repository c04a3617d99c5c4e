//! What an agent is to be given, and the command line that gives it.

use std::ffi::OsString;
use std::path::Path;

use engine::Session;

use super::mcp::McpServer;
use crate::process::Program;

/// What an agent may do without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// Look, and change nothing, as far as the agent can be held to that.
    ReadOnly,
    /// Edit files in its folder and run commands, within the agent's own sandbox if it has one.
    #[default]
    Workspace,
    /// Everything.
    Full,
}

/// The purpose of an agent's start, as far as that decides what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// To do or to repair something.
    Work,
    /// To judge: it may run commands and edits nothing, as far as the agent can be held to that.
    Judge,
}

/// What an agent is to be given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'a> {
    /// Its purpose.
    pub duty: Duty,
    /// The prompt.
    pub prompt: &'a str,
    /// The folder it works in.
    pub cwd: &'a Path,
    /// A folder for files that are written for it.
    pub dir: &'a Path,
    /// The session to take up again.
    pub resume: Option<&'a Session>,
    /// The server through which it can report.
    pub mcp: Option<&'a McpServer>,
    /// What it may spend, in millionths of a dollar.
    pub budget_micros: Option<u64>,
}

/// How an agent is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub program: Program,
    /// Variables added to the environment.
    pub env: Vec<(OsString, OsString)>,
    /// What it is given on standard input.
    pub input: Input,
    /// Files to be written first.
    pub files: Vec<(std::path::PathBuf, String)>,
}

/// What an agent is given on standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// `/dev/null`: some agents wait for ever on an open pipe.
    Nothing,
    /// A text, and then the end.
    Text(String),
    /// A dialogue.
    Dialogue,
}

impl Launch {
    /// A program with arguments.
    pub(crate) fn new(program: &str, args: Vec<String>, input: Input) -> Self {
        let argv = std::iter::once(program.to_owned()).chain(args).map(OsString::from).collect();
        Self { program: Program::Argv(argv), env: Vec::new(), input, files: Vec::new() }
    }

    /// A shell command.
    pub(crate) fn shell(command: &str, input: Input) -> Self {
        Self { program: Program::Shell(command.to_owned()), env: Vec::new(), input, files: Vec::new() }
    }

    /// The same with a variable.
    pub(crate) fn with_env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }
}
