//! The changes of a keeper to itself before it starts anything: its name, whom it dies with, its descriptors, signals
//! and session.

use std::ffi::CString;
use std::os::fd::RawFd;
use std::{fs, process};

use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{Pid, close, getpgid, getpgrp, getpid, getppid, setpgid, setsid};
use signal_hook::consts::{
    FORBIDDEN, SIGCHLD, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGQUIT, SIGSTOP, SIGTERM, SIGUSR1,
};
use signal_hook::iterator::Signals;

use crate::process::keeper::command::cannot_start;
use crate::process::keeper::role::NAME;

/// The cause that woke a keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wakeup {
    /// A child ended.
    ChildEnded,
    /// Everything is to be told to stop.
    Stop,
    /// Everything is to be killed now.
    KillAll,
}

/// The signals that wake a keeper, from its construction on.
pub(super) struct Wakeups(Signals);

impl Wakeups {
    /// Installs the handlers and lets every signal through, whatever the thread that started us had blocked; or ends
    /// this process saying why it cannot.
    pub(super) fn begin() -> Self {
        let wakeups = Self::install().unwrap_or_else(|error| cannot_start("signal handlers", &error));
        // This cannot fail for a valid set; a blocked SIGTERM would only make stopping take the whole grace.
        let _ = SigSet::empty().thread_set_mask();
        wakeups
    }

    /// Installs the handlers. They exist in the keeper only: executing the command makes them defaults
    /// again, which is also why signals that were ignored get one.
    fn install() -> std::io::Result<Self> {
        let signals = Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1])?;
        for signal in ignored_signals().filter(|signal| can_be_handled(*signal)) {
            // A signal that the C library keeps for itself cannot be handled and need not be.
            let _ = signals.add_signal(signal);
        }
        Ok(Self(signals))
    }

    /// Waits for the next signals.
    pub(super) fn wait(&mut self) -> impl Iterator<Item = Wakeup> {
        self.0.wait().filter_map(Wakeup::of)
    }
}

impl Wakeup {
    fn of(signal: i32) -> Option<Self> {
        match signal {
            SIGCHLD => Some(Self::ChildEnded),
            SIGTERM | SIGINT | SIGHUP | SIGQUIT => Some(Self::Stop),
            SIGUSR1 => Some(Self::KillAll),
            _ => None,
        }
    }
}

/// Takes the keeper's name and makes the kernel kill it when its parent dies.
pub(super) fn die_with_parent() {
    // The name is for people only.
    let _ = prctl::set_name(&CString::new(NAME).unwrap_or_default());
    if prctl::set_pdeathsig(Signal::SIGKILL).is_err() {
        process::exit(1);
    }
}

/// Ends this process if its parent died before [`die_with_parent`] could take effect.
pub(super) fn end_unless_parent_is(expected: Pid) {
    if getppid() != expected {
        process::exit(1);
    }
}

/// Closes whatever was open in the program that started us, other than the standard descriptors and these.
pub(super) fn close_inherited_files(spared: &[RawFd]) {
    let names = fs::read_dir("/proc/self/fd").into_iter().flatten();
    let open: Vec<RawFd> = names.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| *descriptor > 2 && !spared.contains(descriptor)) {
        // The one through which the list was read is closed already.
        let _ = close(descriptor);
    }
}

/// Leaves the terminal's session, so that nothing we start can read from the terminal, be stopped by it or
/// write over its screen. A process that leads a group has to leave the group first; whoever starts a keeper
/// with a group of its own has one that can be joined for that.
pub(super) fn leave_session() {
    if getpgrp() == getpid() {
        let _ = getpgid(Some(getppid())).and_then(|group| setpgid(Pid::from_raw(0), group));
    }
    // Without a session of its own the command still has its own group.
    let _ = setsid();
}

/// The signals that were ignored when this process started.
fn ignored_signals() -> impl Iterator<Item = i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (1..=64).filter(move |signal| mask & (1 << (signal - 1)) != 0)
}

/// Rust itself ignores SIGPIPE and restores it in every program that it starts.
fn can_be_handled(signal: i32) -> bool {
    !FORBIDDEN.contains(&signal) && ![SIGKILL, SIGSTOP, SIGPIPE].contains(&signal)
}
