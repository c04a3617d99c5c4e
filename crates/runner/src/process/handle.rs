//! A process: what is to be run and within which limits, how it is started, the handle by which it can be ended early,
//! and how it ended.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::process::capture::Capture;
use crate::process::lines::{Deaf, Listener};
use crate::process::supervise::Supervision;

/// Ends a running process early. Dropping it lets the process run on.
#[derive(Debug, Clone)]
pub struct Handle {
    requests: UnboundedSender<Request>,
}

/// The requests of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    Stop,
    Kill,
}

impl Handle {
    /// Asks the process and all that it started to end, and kills what is left after the grace time.
    pub fn stop(&self) {
        self.ask(Request::Stop);
    }

    /// Kills the process and all that it started at once.
    pub fn kill(&self) {
        self.ask(Request::Kill);
    }

    fn ask(&self, request: Request) {
        // Nobody listens once the process has ended, and then all is as asked.
        let _ = self.requests.send(request);
    }
}

/// Starts a process. `on_end` is called exactly once, on the runtime's thread, after everything that the
/// process started is gone and the logs are written; it must not block.
///
/// The runtime's thread must live as long as the process: the kernel takes its end for the end of this
/// program and kills everything.
pub fn start(
    runtime: &tokio::runtime::Handle,
    invocation: Invocation,
    on_end: impl FnOnce(Ended) + Send + 'static,
) -> Handle {
    start_listening(runtime, invocation, Deaf, |ended, Deaf| on_end(ended))
}

/// Starts a process that somebody listens to while it runs. The listener is handed back with the end.
pub fn start_listening<L: Listener>(
    runtime: &tokio::runtime::Handle,
    invocation: Invocation,
    listener: L,
    on_end: impl FnOnce(Ended, L) + Send + 'static,
) -> Handle {
    let (sender, receiver) = unbounded_channel();
    runtime.spawn(async move {
        let (ended, listener) = run(invocation, receiver, listener).await;
        on_end(ended, listener);
    });
    Handle { requests: sender }
}

async fn run<L: Listener>(
    invocation: Invocation,
    requests: UnboundedReceiver<Request>,
    listener: L,
) -> (Ended, L) {
    let (started, limit) = (Instant::now(), invocation.limits.deadline);
    let (mut requests, mut listener) = (Some(requests), listener);
    // Again only where keeping in a namespace turns out not to be possible, which is not tried again then.
    loop {
        let captures = match create_logs(&invocation) {
            Ok(captures) => captures,
            Err(reason) => return (cannot_start(reason, started, limit), listener),
        };
        let supervision = match Supervision::begin(&invocation, captures, requests, listener) {
            Ok(supervision) => supervision,
            Err((error, listener)) => return (cannot_start(error.to_string(), started, limit), listener),
        };
        match supervision.until_end(started).await {
            Ok(ended) => return ended,
            Err(unable) => (requests, listener) = (unable.requests, unable.listener),
        }
    }
}

fn create_logs(invocation: &Invocation) -> Result<[Capture; 2], String> {
    let create = |path: &Path| {
        Capture::create(path, &invocation.limits)
            .map_err(|error| format!("cannot create log file {}: {error}", path.display()))
    };
    Ok([create(&invocation.stdout_log)?, create(&invocation.stderr_log)?])
}

fn cannot_start(reason: String, started: Instant, limit: Duration) -> Ended {
    Ended {
        exit: Exit::CannotStart(reason),
        stdout: Kept::default(),
        stderr: Kept::default(),
        elapsed: started.elapsed(),
        limit,
    }
}

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
    /// The limits of its time and its output.
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
    /// The time it may run in all.
    pub deadline: Duration,
    /// The time it may go without writing a byte to standard output or standard error.
    pub no_progress: Option<Duration>,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The bytes of each output that are kept from its beginning.
    pub head_bytes_max: usize,
    /// The bytes of each output that are kept from its end.
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

/// The end of one process, after everything that it started is gone as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The end, and its reason.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Kept,
    /// Its standard error.
    pub stderr: Kept,
    /// The time from being started until all was gone.
    pub elapsed: Duration,
    /// The time that it was given; being stopped took more.
    pub limit: Duration,
}

impl Ended {
    /// The time that it was given, for people.
    pub fn limit_in_words(&self) -> String {
        match self.limit.subsec_millis() {
            0 => format!("{} s", self.limit.as_secs()),
            _ => format!("{} ms", self.limit.as_millis()),
        }
    }
}

/// The end of a process, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// It died of this signal, which we did not ask for.
    Signal(i32),
    /// It ran into its deadline and was stopped.
    DeadlinePassed,
    /// It wrote nothing for too long and was stopped.
    NoProgress,
    /// It was stopped through its handle.
    Stopped,
    /// It never ran; the text names what was to be started and why it could not be.
    CannotStart(String),
}

/// Codes with which a shell says that something died of a signal.
const KILLED: std::ops::Range<i32> = 129..160;

impl Exit {
    /// True if nothing was cut short, so that nothing was left half written.
    pub fn is_whole(&self) -> bool {
        match self {
            Self::Code(code) => !KILLED.contains(code),
            Self::CannotStart(_) => true,
            Self::Signal(_) | Self::DeadlinePassed | Self::NoProgress | Self::Stopped => false,
        }
    }
}

/// The part of an output that is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Beginning and end, with a line between them saying how many bytes were left out; valid UTF-8, in
    /// which the only control characters are line feeds and tabs.
    pub text: String,
    /// The bytes that were written in all.
    pub bytes_total: u64,
    /// The bytes that are neither in the text nor in the log file.
    pub bytes_omitted: u64,
    /// The reason why the log file is not complete, if it is not (a full disk).
    pub log_problem: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{ProcessLimits, Program};

    /// A test's own executable would run its tests again if it were taken for a keeper.
    #[test]
    fn a_program_that_is_no_keeper_is_not_started_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let invocation = Invocation {
            command: Program::Shell("true".into()),
            cwd: folder.path().to_owned(),
            env: vec![],
            env_remove: Vec::new(),
            stdin: None,
            stdout_log: folder.path().join("stdout"),
            stderr_log: folder.path().join("stderr"),
            limits: ProcessLimits {
                deadline: Duration::from_secs(60),
                no_progress: None,
                grace: Duration::ZERO,
                head_bytes_max: 100,
                tail_bytes_max: 100,
            },
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (_sender, receiver) = unbounded_channel();
        let (ended, _) = runtime.block_on(run(invocation, receiver, Deaf));
        let expected = "this program cannot keep processes: its main function must call keep_if_asked first";
        assert_eq!(ended.exit, Exit::CannotStart(expected.to_owned()));
    }
}
