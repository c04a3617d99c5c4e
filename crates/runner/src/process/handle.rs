//! Starting a process, and the handle by which it can be ended early.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::capture::Capture;
use super::ended::{Ended, Exit, Kept};
use super::invocation::Invocation;
use super::listener::{Deaf, Listener};
use super::supervise::Supervision;

/// Ends a running process early. Dropping it lets the process run on.
#[derive(Debug, Clone)]
pub struct Handle {
    requests: UnboundedSender<Request>,
}

/// What a handle can ask for.
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
