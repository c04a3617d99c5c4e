//! Stopping a run that another process holds.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::journal::{Holder, LockError, holder};
use crate::project::PlanFile;

/// The time a run gets to stop cleanly.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of a cancellation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// No run was under way.
    NotRunning,
    /// The run was told to stop and did.
    Stopped(Holder),
}

/// The reason why a run could not be cancelled.
#[derive(Debug, thiserror::Error)]
pub enum CancelError {
    /// The lock tells nothing.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The process cannot be signalled.
    #[error("cannot signal process {pid}")]
    Signal {
        /// The process.
        pid: u32,
        /// The cause.
        source: Errno,
    },
    /// It goes on.
    #[error("process {pid} did not stop within {} s", PATIENCE.as_secs())]
    StillRunning {
        /// The process.
        pid: u32,
    },
}

/// Tells the run of a plan to stop and waits until it has.
pub fn cancel(file: &PlanFile) -> Result<Cancelled, CancelError> {
    let Some(found) = holder(&file.lock())? else { return Ok(Cancelled::NotRunning) };
    let pid = found.pid;
    let process = Pid::from_raw(i32::try_from(pid).unwrap_or(i32::MAX));
    match kill(process, Signal::SIGTERM) {
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(source) => return Err(CancelError::Signal { pid, source }),
    }
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        // A lock cannot be waited for with a deadline without a thread of its own; this is a person's wait.
        if holder(&file.lock())?.is_none_or(|now| now.pid != pid) {
            return Ok(Cancelled::Stopped(found));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Err(CancelError::StillRunning { pid })
}
