//! A keeper as the one who started it sees it: a child with pipes, whose end tells how the command ended.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use nix::unistd::{Pid, getpgrp};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::invocation::Invocation;
use super::keeper::{
    KeeperMissing, NotAllowed, Way, Word, WordReader, give_up_namespaces, in_new_namespace,
    keeper_command_line, word_pipe,
};
use crate::git::LOCATION_VARIABLES;

/// A running keeper.
pub(super) struct KeeperChild {
    child: Child,
    /// Where the init of a namespace tells what its exit status cannot. A subreaper ends as its command did.
    word: Option<WordReader>,
}

/// How a keeper ended.
pub(super) enum KeeperEnd {
    /// As its command did.
    AsCommand(io::Result<ExitStatus>),
    /// It could not do it in this way and started nothing; it is to be started again.
    Unable,
}

/// The pipes to and from a keeper and its command.
pub(super) struct KeeperPipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("cannot start a process in {cwd}: {source}")]
    Folder { cwd: PathBuf, source: io::Error },
    #[error("cannot start a process in {cwd}: not a folder")]
    NotAFolder { cwd: PathBuf },
    #[error("cannot start {program}: {source}")]
    Spawn { program: String, source: io::Error },
    #[error(transparent)]
    Keeper(#[from] KeeperMissing),
}

impl KeeperChild {
    /// Starts a keeper in the best way that is possible here.
    pub(super) fn start(invocation: &Invocation) -> Result<Self, StartError> {
        let cwd = &invocation.cwd;
        match cwd.metadata() {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(StartError::NotAFolder { cwd: cwd.clone() }),
            Err(source) => return Err(StartError::Folder { cwd: cwd.clone(), source }),
        }
        let argv = invocation.command.argv();
        let program = argv.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        let spawned = match start_init(invocation, &argv)? {
            Ok(spawned) => spawned,
            Err(NotAllowed) => start_subreaper(invocation, argv)?,
        };
        spawned.map_err(|source| StartError::Spawn { program, source })
    }

    /// The pipes, which are there once.
    pub(super) fn take_pipes(&mut self) -> KeeperPipes {
        let child = &mut self.child;
        KeeperPipes { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() }
    }

    /// Its number, as long as it is not reaped.
    pub(super) fn pid(&self) -> Option<Pid> {
        self.child.id().map(|id| Pid::from_raw(id.cast_signed()))
    }

    /// Waits for its end. Nothing is lost if the wait is given up.
    pub(super) async fn wait(&mut self) -> KeeperEnd {
        let status = self.child.wait().await;
        match self.word.as_ref().and_then(WordReader::read) {
            Some(Word::Unable) => {
                give_up_namespaces();
                KeeperEnd::Unable
            }
            Some(Word::Signalled(signal)) => KeeperEnd::AsCommand(Ok(ExitStatus::from_raw(signal.into()))),
            None => KeeperEnd::AsCommand(status),
        }
    }
}

type Spawned = io::Result<KeeperChild>;

/// Starts a keeper in a namespace of its own. It leaves the terminal's session by itself.
fn start_init(
    invocation: &Invocation,
    argv: &[OsString],
) -> Result<Result<Spawned, NotAllowed>, KeeperMissing> {
    let (word, inherited) = match word_pipe() {
        Ok(pipe) => pipe,
        Err(error) => return Ok(Ok(Err(error))),
    };
    let mut command = command(invocation, Way::Init { word: inherited.number() }, argv.to_vec())?;
    let spawned = in_new_namespace(|| command.spawn());
    Ok(spawned.map(|spawned| spawned.map(|child| KeeperChild { child, word: Some(word) })))
}

/// Starts a keeper in a process group of its own, so that Ctrl-C at the terminal does not reach it.
fn start_subreaper(invocation: &Invocation, argv: Vec<OsString>) -> Result<Spawned, KeeperMissing> {
    let mut command = command(invocation, Way::Subreaper, argv)?;
    // The leader of a group cannot leave its session but by way of its parent's group. Where that lies outside
    // our PID namespace it cannot be named, and no terminal of ours can reach it either.
    if getpgrp() != Pid::from_raw(0) {
        command.process_group(0);
    }
    Ok(command.spawn().map(|child| KeeperChild { child, word: None }))
}

fn command(
    invocation: &Invocation,
    way: Way,
    argv: Vec<OsString>,
) -> Result<tokio::process::Command, KeeperMissing> {
    let (executable, name, args) = keeper_command_line(way, argv)?;
    let stdin = if invocation.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut command = Command::new(executable);
    // Its gits are to work where it is started, and not on the index and the branch of whoever started the program.
    for variable in LOCATION_VARIABLES {
        command.env_remove(variable);
    }
    command
        .arg0(name)
        .args(args)
        .current_dir(&invocation.cwd)
        .envs(invocation.env.iter().map(|(variable, value)| (variable, value)))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command.into())
}
