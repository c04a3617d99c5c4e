//! How the command ended, passed on by how its keeper ends.

use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};

use nix::sys::prctl;
use signal_hook::low_level::{emulate_default_handler, signal_name};

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
