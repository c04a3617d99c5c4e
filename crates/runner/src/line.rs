//! Making work trees in a line rather than all at once. Where many are wanted at the same moment, making them together
//! means that all agents start late; one after another, the first ones start early, and their work comes back while the
//! last are still at it. Whoever takes long holds nobody up for long: a filter that fetches files waits for a network,
//! and many can do that together.

use std::num::NonZero;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long somebody waits for those ahead.
const PATIENCE: Duration = Duration::from_millis(100);

/// A line of those who want to do something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    counts: Mutex<Counts>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Counts {
    /// Who have stood in the line.
    came: u64,
    /// Who are through.
    left: u64,
}

/// A place in a line, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    shared: Arc<Shared>,
    number: u64,
}

impl Line {
    /// The next place.
    pub(crate) fn join(&self) -> Place {
        let mut counts = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = counts.came;
        counts.came += 1;
        Place { shared: Arc::clone(&self.shared), number }
    }
}

impl Place {
    /// Waits until it is this one's turn: there are as many turns at once as processors.
    pub(crate) fn wait(&self) {
        self.wait_for_one_of(thread::available_parallelism().map_or(1, NonZero::get), PATIENCE);
    }

    fn wait_for_one_of(&self, turns: usize, patience: Duration) {
        let turns = u64::try_from(turns).unwrap_or(u64::MAX);
        let counts = self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_behind = |counts: &mut Counts| self.number >= counts.left.saturating_add(turns);
        // Whether it was worth waiting makes no difference.
        drop(self.shared.changed.wait_timeout_while(counts, patience, is_behind));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.counts.lock().unwrap_or_else(PoisonError::into_inner).left += 1;
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn turns_come_in_order() {
        let line = Line::default();
        let places: Vec<Place> = (0..20).map(|_| line.join()).collect();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            // The last in the line asks first.
            for place in places.into_iter().rev() {
                let sender = sender.clone();
                scope.spawn(move || {
                    place.wait_for_one_of(1, LONG);
                    sender.send(place.number).expect("somebody listens");
                });
            }
        });
        drop(sender);
        let order: Vec<u64> = receiver.iter().collect();
        assert_eq!(order, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn as_many_go_at_once_as_there_are_turns() {
        let line = Line::default();
        let places: Vec<Place> = (0..3).map(|_| line.join()).collect();
        // Neither would return if they had to wait for one another.
        places[0].wait_for_one_of(2, LONG);
        places[1].wait_for_one_of(2, LONG);
        drop(places.into_iter().next());
        line.join().wait_for_one_of(4, LONG);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let line = Line::default();
        let (_first, second) = (line.join(), line.join());
        second.wait_for_one_of(1, Duration::from_millis(1));
    }
}
