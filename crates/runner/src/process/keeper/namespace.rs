//! Keeping a command in a PID namespace: when its init ends, the kernel kills all that is in it.
//!
//! This is the stage outside. The one inside is `init`; it has no other way to tell how the command died
//! than its exit code and its name, which outlives it until it is reaped.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use nix::fcntl::{OFlag, openat};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::command::cannot_start;
use super::ending::Ending;
use super::role::{self, Order};
use super::surroundings::{Wakeup, Wakeups, block_signals, unblock_signals};

/// The name under which an init ends that could not set up its namespace.
pub(super) const UNABLE: &str = "tg-unable";
/// The name under which an init ends whose command died of the signal after it.
pub(super) const SIGNALLED: &str = "tg-signal-";

/// This user or this container may not have namespaces.
pub(super) struct NotAllowed;

/// Keeps the command until the namespace is empty.
pub(super) fn keep(order: &Order, wakeups: &mut Wakeups) -> Result<Ending, NotAllowed> {
    // The init mounts another /proc over this one, which is needed to read about the init.
    let proc = File::options()
        .read(true)
        .custom_flags((OFlag::O_PATH | OFlag::O_DIRECTORY).bits())
        .open("/proc")
        .map_err(|_| NotAllowed)?;
    // Setting up may fail later, so there must be a way back.
    leave_namespace(&proc)?;
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).map_err(|_| NotAllowed)?;
    let mut init = start_init(order);
    let InitEnd { name, stop_asked } = wait_for_end(&init, wakeups, &proc);
    let ending = init.wait().map_or(Ending::UNKNOWN, Ending::from);
    match name.strip_prefix(SIGNALLED).and_then(|signal| signal.parse().ok()) {
        Some(signal) => Ok(Ending::Signal(signal)),
        None if name != UNABLE => Ok(ending),
        // Nothing was started yet, and now nothing need be.
        None if stop_asked => Ok(Ending::Signal(Signal::SIGTERM as i32)),
        None => {
            leave_namespace(&proc)?;
            Err(NotAllowed)
        }
    }
}

/// How an init ended that is not reaped yet.
struct InitEnd {
    name: String,
    stop_asked: bool,
}

fn start_init(order: &Order) -> Child {
    // An init without handlers would lose a signal, so they wait until it has some.
    block_signals();
    let init = Command::new(role::this_executable()).arg0(role::NAME).args(order.args_for_init()).spawn();
    unblock_signals();
    init.unwrap_or_else(|error| cannot_start(role::NAME, &error))
}

/// Passes signals on until the init has ended.
fn wait_for_end(init: &Child, wakeups: &mut Wakeups, proc: &File) -> InitEnd {
    let pid = Pid::from_raw(init.id().cast_signed());
    let mut stop_asked = false;
    loop {
        for wakeup in wakeups.wait() {
            match wakeup {
                Wakeup::ChildEnded => {}
                // The init is not reaped yet, so these cannot hit anything else.
                Wakeup::Stop => {
                    stop_asked = true;
                    let _ = kill(pid, Signal::SIGTERM);
                }
                Wakeup::KillAll => drop(kill(pid, Signal::SIGKILL)),
            }
        }
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        if waitid(Id::Pid(pid), flags) != Ok(WaitStatus::StillAlive) {
            return InitEnd { name: name_of(proc, pid), stop_asked };
        }
    }
}

fn name_of(proc: &File, pid: Pid) -> String {
    let mut name = String::new();
    let path = format!("{pid}/comm");
    if let Ok(file) = openat(proc, path.as_str(), OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty()) {
        // Without the name the exit code still tells almost all.
        let _ = File::from(file).read_to_string(&mut name);
    }
    name.trim_end().to_owned()
}

/// Makes children start in this process's own namespace, as they do from the beginning.
fn leave_namespace(proc: &File) -> Result<(), NotAllowed> {
    let own = openat(proc, "self/ns/pid", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
    own.and_then(|own| setns(own, CloneFlags::CLONE_NEWPID)).map_err(|_| NotAllowed)
}
