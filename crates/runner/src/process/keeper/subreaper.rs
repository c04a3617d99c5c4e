//! Keeping a command without a namespace: as a subreaper, to which every orphan among the command's
//! descendants comes, so that all of them can be found and killed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{Pid, getpid, getsid};

use crate::process::keeper::command::{Ending, KeptCommand, cannot_start};
use crate::process::keeper::role::{KILL_ALL, Post};
use crate::process::keeper::surroundings::{
    Wakeup, Wakeups, close_inherited_files, die_with_parent, end_unless_parent_is, leave_session,
};
use crate::process::sweep::descendants;

/// The time that killing may take: many processes on a busy machine do not die at once.
const KILLING_TIME_MAX: Duration = Duration::from_secs(15);
/// The time it is tried where nothing is left but what cannot be killed, such as processes of another user.
const TRYING_TIME_MAX: Duration = Duration::from_secs(2);
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Keeps the command until it has ended and nothing of it is left.
pub(super) fn keep(post: Post) -> ! {
    die_with_parent();
    end_unless_parent_is(post.parent);
    close_inherited_files(&[]);
    let mut wakeups = Wakeups::begin();
    leave_session();
    expect_subreaper(prctl::set_child_subreaper(true));
    // From here on the death of our parent must not just kill us.
    expect_subreaper(prctl::set_pdeathsig(KILL_ALL));
    end_unless_parent_is(post.parent);
    let ending = keep_command(&post.argv, &mut wakeups);
    kill_descendants();
    ending.imitate()
}

fn expect_subreaper(prepared: nix::Result<()>) {
    prepared.unwrap_or_else(|errno| cannot_start("as a subreaper", &errno.into()));
}

fn keep_command(argv: &[OsString], wakeups: &mut Wakeups) -> Ending {
    let mut command = KeptCommand::start(argv);
    loop {
        for wakeup in wakeups.wait() {
            match wakeup {
                Wakeup::ChildEnded => {}
                Wakeup::Stop => signal_descendants(Signal::SIGTERM),
                Wakeup::KillAll => return Ending::Signal(Signal::SIGKILL as i32),
            }
        }
        if let Some(ending) = command.reap() {
            return ending;
        }
    }
}

fn signal_descendants(signal: Signal) {
    for process in descendants(getpid()) {
        // It may have ended meanwhile, or belong to another user.
        let _ = kill(process.pid, signal);
    }
}

fn kill_descendants() {
    let began = Instant::now();
    while reap() == Left::Some {
        let patience = if kill_groups() { KILLING_TIME_MAX } else { TRYING_TIME_MAX };
        if began.elapsed() >= patience {
            return;
        }
        // What was killed here is often gone by now; what it was parent of comes to us and is next.
        if reap() == Left::Some {
            thread::sleep(LOOK_INTERVAL);
        }
    }
}

/// Kills whole process groups, because that is atomic: no member can start another one unseen. Says whether there was any
/// that can be killed.
fn kill_groups() -> bool {
    let own = getpid();
    // Groups do not reach beyond a session, so in one of our own they hold nothing but descendants.
    let session_is_own = getsid(None) == Ok(own);
    let targets: BTreeSet<Pid> = descendants(own)
        .into_iter()
        .map(|process| match process.group {
            group if session_is_own && group != own && group.as_raw() > 1 => Pid::from_raw(-group.as_raw()),
            _ => process.pid,
        })
        .collect();
    // One may have ended meanwhile, or belong to another user.
    targets.into_iter().filter(|target| kill(*target, Signal::SIGKILL).is_ok()).count() > 0
}

#[derive(PartialEq, Eq)]
enum Left {
    None,
    Some,
}

/// Reaps all children that have ended. As orphans come to us, no child means no descendant.
fn reap() -> Left {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return Left::None,
            Ok(status) if status.pid().is_none() => return Left::Some,
            // Reaped one, possibly one that died of a signal for which the library has no name.
            Ok(_) | Err(_) => {}
        }
    }
}
