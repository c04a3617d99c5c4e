//! A keeper that was started before its command was known: it waits for its order and is then like any other.

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::SigSet;
use nix::unistd::dup2_stdin;

use super::command::{CommandLine, cannot_start};
use super::order::Order;
use super::role::Charge;
use super::surroundings::Wakeups;
use super::word::{Word, WordWriter};

impl Charge {
    /// The command, once it is known. Where none comes, this process ends, and has started nothing.
    pub(super) fn command(self, wakeups: &mut Wakeups, word: &WordWriter) -> CommandLine {
        match self {
            Self::Given(argv) => CommandLine { argv, env: Vec::new() },
            Self::Awaited => match wait_for_order(wakeups) {
                Some(order) => take_up(order, word),
                None => process::exit(0),
            },
        }
    }
}

/// Waits for the order. There is none if the pipe ends without one, or somebody ends this process.
fn wait_for_order(wakeups: &mut Wakeups) -> Option<Order> {
    let stdin = io::stdin();
    // Signals come through only while it waits, so that none is missed between looking for them and waiting.
    SigSet::all().thread_set_mask().ok()?;
    let polled = loop {
        if wakeups.ask_for_end() {
            return None;
        }
        let mut pipe = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut pipe, None, Some(SigSet::empty())) {
            Err(Errno::EINTR) => {}
            polled => break polled,
        }
    };
    SigSet::empty().thread_set_mask().ok()?;
    // What asks for the end together with the order comes before it.
    if polled.is_err() || wakeups.ask_for_end() {
        return None;
    }
    // Without a buffer, which would take what follows the order as well.
    Order::read(&mut File::from(stdin.as_fd().try_clone_to_owned().ok()?))
}

/// Says that the command is about to be started, without which the starter gives it to another keeper, and goes where it
/// is to run.
fn take_up(order: Order, word: &WordWriter) -> CommandLine {
    if word.write(Word::Begun).is_err() {
        process::exit(1);
    }
    if !order.has_input {
        let emptied = File::open("/dev/null").and_then(|nothing| Ok(dup2_stdin(nothing)?));
        emptied.unwrap_or_else(|error| cannot_start("a process without input", &error));
    }
    env::set_current_dir(&order.cwd)
        .unwrap_or_else(|error| cannot_start(&format!("a process in {}", order.cwd.display()), &error));
    order.command
}
