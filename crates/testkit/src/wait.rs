//! Waiting for a condition, never for a duration.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for anything before it fails. Generous, for machines that have much else to do: it is only used
/// up when something is wrong.
pub const DEADLINE: Duration = Duration::from_secs(300);

const STEP: Duration = Duration::from_millis(5);

/// Waits until the condition holds; panics, naming it, when that takes too long.
#[track_caller]
pub fn wait_for(what: &str, condition: impl FnMut() -> bool) {
    wait_for_within(what, DEADLINE, condition);
}

/// Waits for a condition with a deadline of the test's own.
#[track_caller]
pub fn wait_for_within(what: &str, deadline: Duration, condition: impl FnMut() -> bool) {
    assert!(comes_true_within(deadline, condition), "waited {deadline:?} in vain for {what}");
}

/// Waits until the condition holds; says whether it came to that in time.
pub(crate) fn comes_true_within(deadline: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let give_up = Instant::now() + deadline;
    while !condition() {
        if Instant::now() >= give_up {
            return false;
        }
        thread::sleep(STEP);
    }
    true
}
