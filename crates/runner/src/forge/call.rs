//! Runs one command for the forge, apart from the loop, and waits for its end.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::command::ForgeCommand;
use super::setback::Setback;
use crate::mask::mask;
use crate::process::{self, Exit, Invocation, ProcessLimits, Program};

/// How much of an answer is kept: looks at large pull requests are long.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Between being asked to end and being ended.
const GRACE: Duration = Duration::from_secs(5);

/// What is needed to run commands.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    pub(super) runtime: tokio::runtime::Handle,
    /// The project's root.
    pub(super) root: PathBuf,
    /// Where logs are written.
    pub(super) dir: PathBuf,
    /// Variables that mark what is started.
    pub(super) env: Vec<(OsString, OsString)>,
}

/// What a command answered.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) command: String,
    pub(super) exit: Exit,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Answer {
    pub(super) fn is_success(&self) -> bool {
        self.exit == Exit::Code(0)
    }

    /// The standard output of a command that succeeded.
    pub(super) fn success(self) -> Result<String, Setback> {
        if self.is_success() { Ok(self.stdout) } else { Err(Setback::of(&self)) }
    }
}

impl Caller {
    /// Runs a command to its end. Nobody is asked for a password, and no pager is opened.
    pub(super) fn call(&self, command: &ForgeCommand) -> Answer {
        let (sender, receiver) = channel();
        let invocation = self.invocation(command);
        let logs = [invocation.stdout_log.clone(), invocation.stderr_log.clone()];
        process::start(&self.runtime, invocation, move |ended| {
            // Who waits is there until the end comes.
            let _ = sender.send(ended);
        });
        let shown = command.shown();
        let Ok(ended) = receiver.recv() else {
            let exit = Exit::CannotStart("the program is ending".to_owned());
            return Answer { command: shown, exit, stdout: String::new(), stderr: String::new() };
        };
        for log in logs {
            mask_file(&log);
        }
        Answer {
            command: shown,
            exit: ended.exit,
            stdout: ended.stdout.text,
            stderr: mask(&ended.stderr.text),
        }
    }

    fn invocation(&self, command: &ForgeCommand) -> Invocation {
        let mut env = self.env.clone();
        let quiet = [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GH_PROMPT_DISABLED", "1"),
            ("GH_NO_UPDATE_NOTIFIER", "1"),
            ("GH_PAGER", "cat"),
            ("NO_COLOR", "1"),
            ("LC_MESSAGES", "C"),
        ];
        env.extend(quiet.map(|(name, value)| (name.into(), value.into())));
        Invocation {
            command: Program::Argv(command.argv.iter().map(OsString::from).collect()),
            cwd: self.root.clone(),
            env,
            stdin: command.stdin.clone(),
            stdout_log: self.dir.join(format!("{}.out.log", command.name)),
            stderr_log: self.dir.join(format!("{}.err.log", command.name)),
            limits: ProcessLimits {
                deadline: command.deadline,
                no_progress: None,
                grace: GRACE,
                head_bytes_max: ANSWER_BYTES_MAX,
                tail_bytes_max: ANSWER_BYTES_MAX / 8,
            },
        }
    }
}

/// What looks like a key does not stay in the logs. A log that cannot be rewritten is still a log.
fn mask_file(path: &PathBuf) {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let masked = mask(&text);
    if masked != text {
        let _ = std::fs::write(path, masked);
    }
}
