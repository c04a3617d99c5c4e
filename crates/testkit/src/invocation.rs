//! One call of the program under test, with a cleared environment.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::background::Background;
use crate::finished::Finished;
use crate::wait::DEADLINE;

/// A call that is being prepared.
#[derive(Debug)]
pub struct Invocation {
    command: Command,
    input: Option<String>,
    /// Standard input, output and error are files with this path and an ending.
    streams: PathBuf,
    deadline: Duration,
}

impl Invocation {
    /// `streams` is a path that no other call uses.
    pub(crate) fn new(program: &Path, environment: Vec<(String, String)>, streams: PathBuf) -> Invocation {
        let mut command = Command::new(program);
        command.env_clear().envs(environment).process_group(0);
        Invocation { command, input: None, streams, deadline: DEADLINE }
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: &[&str]) -> Invocation {
        self.command.args(arguments);
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: &str) -> Invocation {
        self.command.env(name, value);
        self
    }

    /// Starts it in another folder than the project's root.
    pub fn dir(mut self, folder: &Path) -> Invocation {
        self.command.current_dir(folder);
        self
    }

    /// Gives it something to read; otherwise standard input is empty.
    pub fn input(mut self, text: &str) -> Invocation {
        self.input = Some(text.to_owned());
        self
    }

    /// How long `run` waits.
    pub fn deadline(mut self, deadline: Duration) -> Invocation {
        self.deadline = deadline;
        self
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn run(self) -> Finished {
        let deadline = self.deadline;
        self.start().wait_within(deadline)
    }

    /// Starts it and does not wait.
    #[track_caller]
    pub fn start(mut self) -> Background {
        let (stdout, stderr) = (self.streams.with_extension("out"), self.streams.with_extension("err"));
        let create = |path: &Path| File::create(path).expect("a file for output can be made");
        let stdin = self.stdin();
        self.command.stdout(create(&stdout)).stderr(create(&stderr)).stdin(stdin);
        match self.command.spawn() {
            Ok(child) => Background::new(child, stdout, stderr),
            Err(error) => panic!("cannot start {}: {error}", self.command.get_program().display()),
        }
    }

    fn stdin(&self) -> Stdio {
        let Some(input) = &self.input else { return Stdio::null() };
        let file = self.streams.with_extension("in");
        fs::write(&file, input).expect("a file for input can be written");
        File::open(&file).expect("the file was just written").into()
    }
}
