//! One command for the forge, run apart from the loop, and its answer. What is missing in an answer is as good as
//! empty, but one that is not JSON from its beginning to its end is none: something else than the forge spoke, or it
//! was cut off.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::Value;

use crate::forge::command::ForgeCommand;
use crate::forge::setback::Setback;
use crate::mask::mask;
use crate::process::{self, Ended, Exit, Invocation, ProcessLimits, Program};

/// The bytes of an answer that are kept: looks at large pull requests are long.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Between being asked to end and being ended: whoever interrupts the program does not want to wait.
const GRACE: Duration = Duration::from_millis(500);

/// The time for a question that somebody waits for.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);

/// The folder and the environment of commands.
#[derive(Clone, Debug)]
pub(crate) struct CallContext {
    pub(crate) runtime: tokio::runtime::Handle,
    /// The project's root.
    pub(crate) root: PathBuf,
    /// The folder for logs.
    pub(crate) dir: PathBuf,
    /// Variables that mark what is started.
    pub(crate) env: Vec<(OsString, OsString)>,
}

/// Runs commands, one after the other, until it is told to stop.
#[derive(Debug)]
pub(crate) struct Caller {
    context: CallContext,
    sender: Sender<Call>,
    calls: Receiver<Call>,
    is_stopped: Cell<bool>,
    /// No command may take longer, where that is set.
    patience: Option<Duration>,
}

/// The call that a caller waits for.
#[derive(Debug)]
enum Call {
    Ended(Box<Ended>),
    Stop,
}

/// Tells a caller to stop: the command that runs is ended, and none is started any more.
#[derive(Clone, Debug)]
pub(crate) struct Stopper(Sender<Call>);

impl Stopper {
    /// Tells it.
    pub(crate) fn stop(&self) {
        // A caller that is gone runs nothing any more.
        let _ = self.0.send(Call::Stop);
    }
}

/// The answer of a command.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
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
    /// A caller, and what stops it.
    pub(crate) fn new(context: CallContext) -> (Self, Stopper) {
        let (sender, calls) = channel();
        let stopper = Stopper(sender.clone());
        (Self { context, sender, calls, is_stopped: Cell::new(false), patience: None }, stopper)
    }

    /// Sets a shorter deadline.
    pub(super) fn within(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// With the deadline for whoever is waited for by people.
    pub(crate) fn patiently(self) -> Self {
        self.within(PATIENCE)
    }

    /// The project's root.
    pub(super) fn root(&self) -> &Path {
        &self.context.root
    }

    /// Runs a command to its end. Nobody is asked for a password, and no pager is opened.
    pub(crate) fn call(&self, command: &ForgeCommand) -> Answer {
        let shown = command.named();
        let invocation = self.invocation(command);
        let logs = [invocation.stdout_log.clone(), invocation.stderr_log.clone()];
        let Some(ended) = self.run(invocation) else {
            return Answer {
                command: shown,
                exit: Exit::Stopped,
                stdout: String::new(),
                stderr: String::new(),
            };
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

    /// Waits for the end of a command. None is started once the word came to stop.
    fn run(&self, invocation: Invocation) -> Option<Ended> {
        let is_told = self.calls.try_iter().any(|call| matches!(call, Call::Stop));
        if is_told || self.is_stopped.get() {
            self.is_stopped.set(true);
            return None;
        }
        let sender = self.sender.clone();
        let handle = process::start(&self.context.runtime, invocation, move |ended| {
            // Who waits is there until the end comes.
            let _ = sender.send(Call::Ended(Box::new(ended)));
        });
        loop {
            match self.calls.recv().ok()? {
                Call::Ended(ended) => return Some(*ended),
                Call::Stop => {
                    self.is_stopped.set(true);
                    handle.stop();
                }
            }
        }
    }

    fn invocation(&self, command: &ForgeCommand) -> Invocation {
        let mut env = self.context.env.clone();
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
            cwd: self.context.root.clone(),
            env,
            env_remove: Vec::new(),
            stdin: command.stdin.clone(),
            stdout_log: self.context.dir.join(format!("{}.out.log", command.name)),
            stderr_log: self.context.dir.join(format!("{}.err.log", command.name)),
            limits: ProcessLimits {
                deadline: self.patience.map_or(command.deadline, |patience| patience.min(command.deadline)),
                no_progress: None,
                grace: GRACE,
                head_bytes_max: ANSWER_BYTES_MAX,
                tail_bytes_max: ANSWER_BYTES_MAX / 8,
            },
        }
    }
}

/// Masks what looks like a key in a log. A log that cannot be rewritten is still a log.
fn mask_file(path: &PathBuf) {
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // In JSON a line break is two characters, of which the second would be taken for the beginning of the key.
    let spaced = ["\\n", "\\r", "\\t"].iter().fold(text.to_string(), |text, escape| {
        if text.contains(escape) { text.replace(escape, &format!("{escape} ")) } else { text }
    });
    let masked = mask(&spaced);
    if masked != text {
        let _ = std::fs::write(path, masked);
    }
}

/// The text at a path of keys.
pub(super) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// The number at a path of keys.
pub(super) fn number(value: &Value, path: &str) -> Option<u64> {
    value.pointer(path).and_then(Value::as_u64)
}

/// The elements of the list at a path of keys.
pub(super) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    value.pointer(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The documents of an answer, one after the other, whether or not the command succeeded; at least one.
pub(super) fn pages(answer: &Answer) -> Result<Vec<Value>, Setback> {
    let documents = serde_json::Deserializer::from_str(&answer.stdout).into_iter::<Value>();
    let documents: Vec<Value> = documents.collect::<Result<_, _>>().map_err(|_| Setback::nonsense(answer))?;
    let is_sound = !documents.is_empty() && documents.iter().all(Value::is_object);
    if is_sound { Ok(documents) } else { Err(Setback::nonsense(answer)) }
}

/// The documents that a command which succeeded answered with.
pub(super) fn documents(answer: &Answer) -> Result<Vec<Value>, Setback> {
    if answer.is_success() { pages(answer) } else { Err(Setback::of(answer)) }
}

/// The one document that a command which succeeded answered with.
pub(super) fn document(answer: &Answer) -> Result<Value, Setback> {
    documents(answer)?.into_iter().next().ok_or_else(|| Setback::nonsense(answer))
}

/// The data of a query that succeeded.
pub(super) fn data(answer: &Answer) -> Result<Value, Setback> {
    let document = document(answer)?;
    let data = document.pointer("/data").filter(|data| data.is_object()).cloned();
    data.ok_or_else(|| Setback::nonsense(answer))
}
