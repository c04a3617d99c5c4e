//! A keeper as the one who started it sees it: a child with pipes, whose end tells how the command ended.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use nix::unistd::{Pid, getpgrp};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::git::LOCATION_VARIABLES;
use crate::process::handle::Invocation;
use crate::process::keeper::{
    KeeperMissing, NotAllowed, Way, Word, WordReader, give_up_namespaces, in_new_namespace,
    keeper_command_line, word_pipe,
};

/// A running keeper.
#[derive(Debug)]
pub(super) struct KeeperChild {
    child: Child,
    /// The pipe for what its exit status cannot tell.
    word: WordReader,
}

/// The end of a keeper.
pub(super) enum KeeperEnd {
    /// As its command did.
    AsCommand(io::Result<ExitStatus>),
    /// It started nothing, because it cannot do it in this way; another keeper is to be started.
    Unable,
}

/// The pipes to and from a keeper and its command.
pub(super) struct KeeperPipes {
    pub(super) stdin: Option<ChildStdin>,
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
}

/// The reason why a process could not be started.
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
        let argv = invocation.command.argv();
        let program = argv.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        let equip = |command: &mut Command| {
            let stdin = if invocation.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
            let env = invocation.env.iter().map(|(variable, value)| (variable, value));
            invocation.env_remove.iter().for_each(|variable| _ = command.env_remove(variable));
            command.current_dir(&invocation.cwd).envs(env).stdin(stdin);
        };
        let spawned = spawn(&argv, equip)?;
        let (child, word) = spawned.map_err(|source| StartError::Spawn { program, source })?;
        Ok(Self { child, word })
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
        match self.word.read() {
            Some(Word::Unable) => {
                give_up_namespaces();
                KeeperEnd::Unable
            }
            Some(Word::Signalled(signal)) => KeeperEnd::AsCommand(Ok(ExitStatus::from_raw(signal.into()))),
            None => KeeperEnd::AsCommand(status),
        }
    }
}

/// Refuses a folder in which processes cannot be started, as far as that can be told without trying.
pub(super) fn expect_folder(cwd: &Path) -> Result<(), StartError> {
    match cwd.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(StartError::NotAFolder { cwd: cwd.to_owned() }),
        Err(source) => Err(StartError::Folder { cwd: cwd.to_owned(), source }),
    }
}

type Spawned = io::Result<(Child, WordReader)>;

/// Starts a keeper in the best way that is possible here.
fn spawn(argv: &[OsString], equip: impl Fn(&mut Command)) -> Result<Spawned, KeeperMissing> {
    let (word, inherited) = match word_pipe() {
        Ok(pipe) => pipe,
        Err(error) => return Ok(Err(error)),
    };
    let command = |way: Way| -> Result<tokio::process::Command, KeeperMissing> {
        let mut command = command(keeper_command_line(way, inherited.number(), argv)?);
        equip(&mut command);
        Ok(command.into())
    };
    let mut as_init = command(Way::Init)?;
    let spawned = match in_new_namespace(|| as_init.spawn()) {
        Ok(spawned) => spawned,
        Err(NotAllowed) => in_own_group(command(Way::Subreaper)?).spawn(),
    };
    Ok(spawned.map(|child| (child, word)))
}

/// A subreaper has a process group of its own, so that Ctrl-C at the terminal does not reach it. An init leaves the
/// terminal's session by itself.
fn in_own_group(mut command: tokio::process::Command) -> tokio::process::Command {
    // The leader of a group cannot leave its session but by way of its parent's group. Where that lies outside
    // our PID namespace it cannot be named, and no terminal of ours can reach it either.
    if getpgrp() != Pid::from_raw(0) {
        command.process_group(0);
    }
    command
}

fn command((executable, name, args): (&Path, &str, Vec<OsString>)) -> Command {
    let mut command = Command::new(executable);
    // Its gits are to work where it is started, and not on the index and the branch of whoever started the program.
    for variable in LOCATION_VARIABLES {
        command.env_remove(variable);
    }
    command.arg0(name).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}
