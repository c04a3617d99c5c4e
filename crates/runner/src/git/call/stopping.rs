//! Gits that are under way when the run is to end. One may never end by itself, as when a hook or a filter hangs, so each
//! is waited for a little while, which is said, and is then ended with all that it started.
//!
//! A signal is for the whole program, so this is about all of its gits, whichever thread waits for them.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::git::call::process::has_ended;

/// The time for a git that is under way when the run is to end.
const PATIENCE: Duration = Duration::from_secs(4);
/// The time for one that is started after that, to put things in order.
const LAST_PATIENCE: Duration = Duration::from_secs(30);
/// After how long it is said what is waited for. Almost all gits have ended by then.
const SAID_AFTER: Duration = Duration::from_secs(1);
/// The time for gits to remove their locks when the program ends at once.
const LAST_GRACE: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

static STOPPING: Mutex<Stopping> = Mutex::new(Stopping {
    since: None,
    is_interrupted: false,
    is_said: false,
    words: None,
    groups: BTreeMap::new(),
});

/// The end of the run, as far as it is known, and the gits that are to end then.
struct Stopping {
    /// When the run was to end.
    since: Option<Instant>,
    is_interrupted: bool,
    is_said: bool,
    /// The channel for messages while the loop itself waits for git.
    words: Option<Sender<String>>,
    /// The process groups of gits that are under way.
    groups: BTreeMap<i32, Pid>,
}

/// A git that is under way. It is no longer when this is dropped, which has to be before it is reaped: its number may be
/// another's after that.
pub(in crate::git) struct UnderWay {
    pid: Pid,
    begun: Instant,
}

impl UnderWay {
    pub(in crate::git) fn new(pid: Pid) -> UnderWay {
        state().groups.insert(pid.as_raw(), pid);
        UnderWay { pid, begun: Instant::now() }
    }

    /// True if the run is to end and has waited for this one long enough. That it waits is said.
    pub(in crate::git) fn is_to_end(&self, command: &str) -> bool {
        let mut stopping = state();
        let Some(since) = stopping.since else { return false };
        let patience = if self.begun <= since { PATIENCE } else { LAST_PATIENCE };
        let waited = since.max(self.begun).elapsed();
        if waited >= SAID_AFTER && !stopping.is_said {
            stopping.is_said = true;
            stopping.say(format!(
                "waiting for `{command}` to end: a hook or a filter may hang; it is ended in {} s{}",
                patience.saturating_sub(waited).as_secs().max(1),
                if stopping.is_interrupted { ", or at once by another Ctrl-C" } else { "" }
            ));
        }
        waited >= patience
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        state().groups.remove(&self.pid.as_raw());
    }
}

impl Stopping {
    fn say(&self, text: String) {
        if let Some(words) = &self.words {
            // Whoever listened may be gone; nobody needs to know then.
            let _ = words.send(text);
        }
    }

    /// Ends all that is under way: terminate, grace, kill.
    fn end_groups(&self) {
        // A group that is gone already is what is wanted.
        let signal =
            |signal| self.groups.values().for_each(|group| killpg(*group, signal).unwrap_or_default());
        signal(Signal::SIGTERM);
        signal(Signal::SIGCONT);
        let give_up = Instant::now() + LAST_GRACE;
        // One that cannot be asked about is not ours to wait for.
        let is_there = |group: &Pid| matches!(has_ended(*group), Ok(false));
        while Instant::now() < give_up && self.groups.values().any(is_there) {
            thread::sleep(LOOK_AGAIN);
        }
        signal(Signal::SIGKILL);
    }
}

/// Sets the channel for messages about what is waited for when the run is to end.
pub(crate) fn say_through(words: Sender<String>) {
    state().words = Some(words);
}

/// Notes that the run is to stop: gits are not waited for much longer.
pub(crate) fn interrupt() {
    let mut stopping = state();
    stopping.is_interrupted = true;
    stopping.since.get_or_insert_with(Instant::now);
}

/// True if somebody wants the program to stop.
pub fn is_interrupted() -> bool {
    state().is_interrupted
}

/// The run has ended: until this is dropped, gits that it began are not waited for much longer.
pub(crate) struct LastWait;

impl LastWait {
    pub(crate) fn begin() -> LastWait {
        state().since.get_or_insert_with(Instant::now);
        LastWait
    }
}

impl Drop for LastWait {
    fn drop(&mut self) {
        let mut stopping = state();
        // Whoever is impatient stays so.
        stopping.since = stopping.since.filter(|_| stopping.is_interrupted);
    }
}

/// Ends all gits that are under way.
pub(crate) fn end_all() {
    state().end_groups();
}

/// Ends all gits, and then the program at once: nobody goes on meanwhile, as if git had only failed.
pub(crate) fn end_all_and_exit(code: i32) -> ! {
    let stopping = state();
    stopping.end_groups();
    std::process::exit(code)
}

fn state() -> MutexGuard<'static, Stopping> {
    STOPPING.lock().unwrap_or_else(PoisonError::into_inner)
}
