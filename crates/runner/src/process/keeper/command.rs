//! The command of a keeper: how it is started, waited for among all that it leaves behind, and how its end is passed on
//! by how the keeper ends.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, Child, Command, ExitStatus};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;
use signal_hook::low_level::{emulate_default_handler, signal_name};

/// Begins the line on standard error by which a keeper says that the command could not be started.
pub(in crate::process) const CANNOT_START_PREFIX: &str = "tg-keeper: cannot start ";
/// The exit codes of a keeper after that: those that shells use for "not executable" and "not found".
pub(in crate::process) const CANNOT_START_CODES: [i32; 2] = [126, 127];

/// The command that is being kept.
pub(super) struct KeptCommand {
    child: Child,
}

impl KeptCommand {
    /// Starts the command in a process group of its own, or ends this process saying why it cannot.
    pub(super) fn start(argv: &[OsString]) -> Self {
        let Some((program, args)) = argv.split_first() else {
            cannot_start("an empty command", &io::ErrorKind::InvalidInput.into());
        };
        match Command::new(program).args(args).process_group(0).spawn() {
            Ok(child) => Self { child },
            Err(error) => cannot_start(&program.to_string_lossy(), &error),
        }
    }

    /// Reaps every child that has ended, and tells how the command ended, if it did.
    pub(super) fn reap(&mut self) -> Option<Ending> {
        loop {
            if let Some(ending) = self.ended() {
                return Some(ending);
            }
            match waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return None,
                Ok(status) => self.reap_other(status.pid()),
                // A child died of a signal for which the library has no name. It may be the command.
                Err(_) => match self.ended() {
                    Some(ending) => return Some(ending),
                    None => self.reap_other(None),
                },
            }
        }
    }

    fn ended(&mut self) -> Option<Ending> {
        match self.child.try_wait() {
            Ok(status) => status.map(Ending::from),
            // Somebody else has waited for it, so that nobody knows how it ended.
            Err(_) => Some(Ending::UNKNOWN),
        }
    }

    /// Reaps one child, unless it is the command, whose status would be lost.
    fn reap_other(&self, child: Option<Pid>) {
        if child.is_none_or(|pid| pid.as_raw().unsigned_abs() != self.child.id()) {
            // How an orphan ended interests nobody.
            let _ = waitpid(child, Some(WaitPidFlag::WNOHANG));
        }
    }
}

/// Reports the failure in the way that the other side expects.
pub(super) fn cannot_start(what: &str, error: &io::Error) -> ! {
    let what = what.replace(['\n', '\r'], " ");
    // With nobody to hear it, the exit code has to do.
    let _ = writeln!(io::stderr(), "{CANNOT_START_PREFIX}{what}: {error}");
    let [not_executable, not_found] = CANNOT_START_CODES;
    process::exit(if error.kind() == io::ErrorKind::NotFound { not_found } else { not_executable })
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Code(i32),
    Signal(i32),
}

impl Ending {
    /// For a command whose status is lost.
    pub(super) const UNKNOWN: Self = Self::Code(255);

    /// The exit code that shells use for it.
    pub(super) fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }

    /// The signal, if it is one of those that have names; of others only the code tells, whichever way a command is kept.
    pub(super) fn named_signal(self) -> Option<u8> {
        let Self::Signal(signal) = self else { return None };
        signal_name(signal).and_then(|_| signal.try_into().ok())
    }

    /// Ends this process in the same way: with the code, or dying of the signal.
    pub(super) fn imitate(self) -> ! {
        if let Self::Signal(signal) = self {
            // The command has dumped its memory if it should; ours would be of no use.
            let _ = prctl::set_dumpable(false);
            // This returns only for signals that the library does not know.
            let _ = emulate_default_handler(signal);
        }
        process::exit(self.shell_code())
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::UNKNOWN,
        }
    }
}
