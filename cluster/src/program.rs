//! The plain program, which carries out orders: in a process for each, so that ending one ends all that was started for it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use engine::{Action, Event, State, Versioned};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Serialize;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::error::Error;
use crate::order::Answer;

/// The time in which a process whose order is taken back has to end what it started.
const TAKE_BACK_MAX: Duration = Duration::from_secs(60);

/// Characters of what a process said that are kept of an error.
const SAID_MAX: usize = 4_000;

/// The order as the plain program reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request<'a> {
    Locate { plan: Option<&'a str> },
    Tell { plan: &'a str, again: &'a str },
    Show { plan: &'a str, again: &'a str, state: &'a State },
    Answer { plan: &'a str, state: &'a State, response: &'a str },
    Open { plan: &'a str, flags: &'a [String] },
    CarryOut { plan: &'a str, state: &'a State, actions: &'a [Action] },
}

/// The end of an order.
#[derive(Debug)]
pub(crate) enum Outcome {
    Answered(Answer),
    /// It was taken back, and everything that it started is gone.
    TakenBack,
}

/// The plain program: beside this one, or where programs are looked for.
pub(crate) fn find() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("tillgreen"));
    beside.filter(|program| program.is_file()).unwrap_or_else(|| PathBuf::from("tillgreen"))
}

/// The plain program, about to read a line and what follows it.
fn asked(request: &Request<'_>) -> Result<(Command, String), Error> {
    let mut line =
        serde_json::to_string(&Versioned::new(request)).map_err(|error| Error::new(error.to_string()))?;
    line.push('\n');
    let mut command = Command::new(find());
    command.arg("order").kill_on_drop(true).stdin(Stdio::piped());
    Ok((command, line))
}

fn not_started(error: &std::io::Error) -> Error {
    Error::new(format!("cannot start {}", find().display()))
        .because(error)
        .hint("install tillgreen beside tillgreen-cluster, or on the PATH")
}

/// Asks the plain program something; gives what it prints. Its own errors are told by itself.
pub(crate) async fn ask(request: Request<'_>) -> Result<String, Error> {
    let (mut command, line) = asked(&request)?;
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(|error| not_started(&error))?;
    if let Some(mut input) = child.stdin.take() {
        // One that ended before it read says why.
        let _ = input.write_all(line.as_bytes()).await;
    }
    let output = child.wait_with_output().await.map_err(|error| not_started(&error))?;
    if !output.status.success() {
        return Err(Error::told(output.status.code()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The plain program as it tells of events.
pub(crate) struct Teller {
    child: Child,
}

impl Teller {
    pub(crate) async fn begin(request: Request<'_>) -> Result<Self, Error> {
        let (mut command, line) = asked(&request)?;
        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        if let Some(input) = &mut child.stdin {
            let _ = input.write_all(line.as_bytes()).await;
        }
        Ok(Self { child })
    }

    /// Tells of an event. False if nobody listens any more.
    pub(crate) async fn tell(&mut self, event: &Event) -> bool {
        let (Some(input), Ok(line)) = (&mut self.child.stdin, serde_json::to_string(event)) else {
            return false;
        };
        let line = line + "\n";
        input.write_all(line.as_bytes()).await.is_ok() && input.flush().await.is_ok()
    }

    /// Tells how the run ended, with its exit code.
    pub(crate) async fn end(mut self) -> Result<(), Error> {
        drop(self.child.stdin.take());
        let status = self.child.wait().await.map_err(|error| not_started(&error))?;
        if status.success() { Ok(()) } else { Err(Error::told(status.code())) }
    }
}

/// Has the plain program carry out an order in a clone. Fails with what it said.
pub(crate) async fn carry_out(
    (program, root): (&Path, &Path),
    request: Request<'_>,
    taken_back: impl Future<Output = ()>,
) -> Result<Outcome, String> {
    let mut line = serde_json::to_string(&Versioned::new(request)).map_err(|error| error.to_string())?;
    line.push('\n');
    let mut command = Command::new(program);
    // Ctrl-C at a worker's terminal is for the worker.
    command.arg("-C").arg(root).arg("order").process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
    let pid = child.id();
    // It ends with this end of its input, so this process cannot be gone and it still be there.
    let mut input = child.stdin.take().ok_or("it has no input")?;
    let ended = child.wait_with_output();
    tokio::pin!(ended);
    let write = async {
        // One that ended before it read says why.
        let _ = input.write_all(line.as_bytes()).await;
        std::future::pending::<()>().await;
    };
    let output = tokio::select! {
        output = &mut ended => output,
        () = write => return Err("the order was not read".to_owned()),
        () = taken_back => {
            if let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()) {
                // It may have ended just now.
                let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
            }
            // Whoever does not end in time is killed when this is left.
            let _ = timeout(TAKE_BACK_MAX, ended).await;
            return Ok(Outcome::TakenBack);
        }
    };
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let begin = said.char_indices().rev().nth(SAID_MAX).map_or(0, |(at, _)| at);
        return Err(said[begin..].trim().trim_start_matches("error: ").to_owned());
    }
    let answer: Versioned<Answer> = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("tillgreen and tillgreen-cluster are not of the same version: {error}"))?;
    Ok(Outcome::Answered(answer.content))
}
