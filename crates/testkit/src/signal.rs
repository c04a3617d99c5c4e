//! Sending signals by way of the shell, which spares the tests a dependency.

use std::process::{Command, Stdio};

/// A signal that tests send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// A polite request to end.
    Terminate,
    /// The end.
    Kill,
    /// The terminal went away.
    HangUp,
    /// Ctrl-Z, as it cannot be caught.
    Stop,
    /// Go on after a stop.
    Continue,
}

/// The process or the group that a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Process(u32),
    Group(u32),
}

impl Signal {
    fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "INT",
            Signal::Terminate => "TERM",
            Signal::Kill => "KILL",
            Signal::HangUp => "HUP",
            Signal::Stop => "STOP",
            Signal::Continue => "CONT",
        }
    }

    /// Sends it; whoever is gone already does not mind.
    pub(crate) fn send(self, target: Target) {
        let target = match target {
            Target::Process(pid) => pid.to_string(),
            Target::Group(pid) => format!("-{pid}"),
        };
        Command::new("sh")
            .args(["-c", "kill -s \"$1\" -- \"$2\"", "sh", self.name(), &target])
            .stderr(Stdio::null())
            .status()
            .expect("a shell is installed");
    }
}
