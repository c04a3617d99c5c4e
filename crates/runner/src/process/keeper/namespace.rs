//! Starting a keeper as the init of a PID namespace: when it ends, the kernel kills all that is in there.
//!
//! This is the program's own part in it. A thread that asks for a new namespace stays where it is, but what it starts
//! next is the first process in there; then it takes the request back. The part inside is `init`.

use std::fs::{self, File};
use std::path::Path;
use std::sync::OnceLock;

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::unistd::getpid;

use crate::process::keeper::role::KILL_ALL;

/// The namespace of this program, by which a thread finds its way back. None where that cannot be told.
static OWN: OnceLock<Option<File>> = OnceLock::new();
/// Set once an init could not set up its namespace: the next one could not either.
static GIVEN_UP: OnceLock<()> = OnceLock::new();

/// This user or this container may not have namespaces.
#[derive(Debug)]
pub(in crate::process) struct NotAllowed;

/// Runs what starts a process, so that this process is the init of a new namespace.
pub(in crate::process) fn in_new_namespace<T>(start: impl FnOnce() -> T) -> Result<T, NotAllowed> {
    let own = OWN.get_or_init(own_namespace).as_ref().filter(|_| GIVEN_UP.get().is_none());
    let own = own.ok_or(NotAllowed)?;
    // Without a way back this thread could start nothing else any more.
    setns(own, CloneFlags::CLONE_NEWPID).map_err(|_| NotAllowed)?;
    // An init without handlers would lose a signal, so ours wait until it has some. Those of a terminal it may lose:
    // it is about to leave the terminal.
    let ours = SigSet::from_iter([Signal::SIGTERM, KILL_ALL]);
    let before = ours.thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(|_| NotAllowed)?;
    let started = unshare(CloneFlags::CLONE_NEWPID).map(|()| start());
    // Both were possible a moment ago. If the way back were barred now, the next start would say so.
    let _ = setns(own, CloneFlags::CLONE_NEWPID);
    let _ = before.thread_set_mask();
    started.map_err(|_| NotAllowed)
}

/// No other keeper is started as an init.
pub(in crate::process) fn give_up_namespaces() {
    // It may have been set by another that ended at the same time.
    let _ = GIVEN_UP.set(());
}

/// The namespace that this program is in, unless what is mounted at /proc belongs to another one and tells nothing.
fn own_namespace() -> Option<File> {
    let link = fs::read_link("/proc/self").ok()?;
    let is_ours = link == Path::new(&getpid().to_string());
    is_ours.then(|| File::open("/proc/self/ns/pid").ok()).flatten()
}
