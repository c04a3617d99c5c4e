//! Two things done at the same time, for questions to git that do not depend on each other: most of what one takes is
//! waiting for a process.

use std::panic::resume_unwind;
use std::thread;

/// What came of both. Where there cannot be another thread, one is done after the other.
pub(crate) fn at_once<A: Send, B>(first: impl Fn() -> A + Sync, second: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, &first) {
        Ok(beside) => {
            let second = second();
            (beside.join().unwrap_or_else(|panic| resume_unwind(panic)), second)
        }
        Err(_) => (first(), second()),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// Each waits for the other, so that one after the other would never end.
    #[test]
    fn both_are_done_at_the_same_time() {
        let ((to_first, first), (to_second, second)) = (channel(), channel());
        let first = std::sync::Mutex::new(first);
        let ping = || {
            to_second.send(1).unwrap();
            first.lock().unwrap().recv().unwrap()
        };
        let pong = || {
            to_first.send(2).unwrap();
            second.recv().unwrap()
        };
        assert_eq!(at_once(ping, pong), (2, 1));
    }
}
