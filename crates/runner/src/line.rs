//! Making work trees in a line rather than all at once. Where many are wanted at the same moment, making them together
//! means that all agents start late; one after another, the first ones start early, and their work comes back while the
//! last are still at it. Whoever takes long holds nobody up for long: a filter that fetches files waits for a network,
//! and many can do that together.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long somebody waits for those ahead.
const PATIENCE: Duration = Duration::from_millis(100);

/// A line of those who want to do something. There are as many turns at once as processors.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
struct Shared {
    turns: u64,
    /// Who have stood in the line.
    came: u64,
    /// Who are through.
    left: u64,
    /// Who wait. They are called one by one: whoever wakes for nothing keeps others from working.
    waiting: BTreeMap<u64, Thread>,
}

/// A place in a line, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    shared: Arc<Mutex<Shared>>,
    number: u64,
}

impl Default for Line {
    fn default() -> Self {
        Self::with_turns(thread::available_parallelism().map_or(1, NonZero::get))
    }
}

impl Line {
    fn with_turns(turns: usize) -> Line {
        let turns = u64::try_from(turns).unwrap_or(u64::MAX);
        let shared = Shared { turns, came: 0, left: 0, waiting: BTreeMap::new() };
        Line { shared: Arc::new(Mutex::new(shared)) }
    }

    /// The next place.
    pub(crate) fn join(&self) -> Place {
        let mut shared = lock(&self.shared);
        let number = shared.came;
        shared.came += 1;
        Place { shared: Arc::clone(&self.shared), number }
    }
}

impl Shared {
    fn is_turn_of(&self, number: u64) -> bool {
        number < self.left.saturating_add(self.turns)
    }
}

impl Place {
    /// Waits until it is this one's turn, or for long enough.
    pub(crate) fn wait(&self) {
        self.wait_for(PATIENCE);
    }

    fn wait_for(&self, patience: Duration) {
        let began = Instant::now();
        loop {
            let mut shared = lock(&self.shared);
            let left = patience.saturating_sub(began.elapsed());
            if shared.is_turn_of(self.number) || left.is_zero() {
                shared.waiting.remove(&self.number);
                return;
            }
            shared.waiting.insert(self.number, thread::current());
            drop(shared);
            thread::park_timeout(left);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut shared = lock(&self.shared);
        shared.left += 1;
        while let Some(first) = shared.waiting.first_entry().map(|first| *first.key())
            && shared.is_turn_of(first)
        {
            let called = shared.waiting.remove(&first);
            called.iter().for_each(Thread::unpark);
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn turns_come_in_order() {
        let line = Line::with_turns(1);
        let places: Vec<Place> = (0..20).map(|_| line.join()).collect();
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            // The last in the line asks first.
            for place in places.into_iter().rev() {
                let sender = sender.clone();
                scope.spawn(move || {
                    place.wait_for(LONG);
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
        let line = Line::with_turns(2);
        let mut places: Vec<Place> = (0..3).map(|_| line.join()).collect();
        // Neither would return if they had to wait for one another.
        places[0].wait_for(LONG);
        places[1].wait_for(LONG);
        drop(places.remove(0));
        places[1].wait_for(LONG);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let line = Line::with_turns(1);
        let (_first, second) = (line.join(), line.join());
        second.wait_for(Duration::from_millis(1));
    }
}
