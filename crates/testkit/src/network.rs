//! A network with nothing in it but this machine itself.

use std::fs::File;
use std::process::{Command, Stdio};

use nix::sched::{CloneFlags, setns, unshare};

/// The network that a test has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Nothing but loopback can be reached.
    LoopbackOnly,
    /// That of the machine: it could not be left.
    Shared,
}

/// Takes this thread, and everything that is started or bound by it from now on, out of the network, so that a real
/// program can reach nobody. Where that is not allowed all stays as it is.
pub fn leave_network() -> Network {
    let Ok(before) = File::open("/proc/thread-self/ns/net") else { return Network::Shared };
    if unshare(CloneFlags::CLONE_NEWNET).is_err() {
        return Network::Shared;
    }
    let mut up = Command::new("ip");
    up.args(["link", "set", "lo", "up"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if up.status().is_ok_and(|status| status.success()) {
        return Network::LoopbackOnly;
    }
    setns(before, CloneFlags::CLONE_NEWNET).expect("whoever could leave a namespace can come back");
    Network::Shared
}
