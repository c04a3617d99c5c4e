//! The command line of an agent: what it is to be given, the server through which it can report, and where programs
//! are.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use engine::Session;
use serde_json::{Value, json};

use crate::process::Program;

/// The things an agent may do without being asked.
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

/// The input of a launch.
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
    /// The budget, in millionths of a dollar.
    pub budget_micros: Option<u64>,
}

/// The command that starts an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub program: Program,
    /// Variables added to the environment.
    pub env: Vec<(OsString, OsString)>,
    /// The standard input.
    pub input: Input,
    /// Files to be written first.
    pub files: Vec<(std::path::PathBuf, String)>,
}

/// The standard input of an agent.
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

    /// Adds a variable.
    pub(crate) fn with_env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }
}

/// The name of the server.
pub(crate) const MCP_NAME: &str = "tillgreen";

/// The command that starts the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct McpServer {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl McpServer {
    /// The program as text.
    pub(crate) fn command(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// The way most agents write it: `{"tillgreen": {"command": …, "args": […]}}`.
    pub(crate) fn table(&self) -> Value {
        json!({ MCP_NAME: { "command": self.command(), "args": self.args } })
    }
}

/// The time a program may take to say its version, and the bytes it may say.
const VERSION_PATIENCE: Duration = Duration::from_secs(10);
const VERSION_BYTES_MAX: u64 = 4_096;

/// The path of a program: a path as it is, a name on `PATH`.
pub fn find_program(name: &str, dir: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        let path = dir.join(name);
        return is_executable(&path).then_some(path);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The answer of a program to `--version`, first line only.
pub fn version_of(program: &Path) -> Option<String> {
    let mut command = Command::new(program);
    // Managers of versions heed files of the folder that they are started in.
    command
        .arg("--version")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let give_up = Instant::now() + VERSION_PATIENCE;
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= give_up {
            // It may have ended by itself just now; either way it is gone.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    // Some say it on standard error.
    let said = child.stdout.take().and_then(first_line);
    said.or_else(|| child.stderr.take().and_then(first_line))
}

fn first_line(output: impl Read) -> Option<String> {
    let mut text = Vec::new();
    output.take(VERSION_BYTES_MAX).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.chars().take(100).collect())
}
