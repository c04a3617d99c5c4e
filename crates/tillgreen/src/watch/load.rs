//! Reading what attempts left, in a thread of its own: files of megabytes and calls of git do not hold up the keys.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::args::Format;
use crate::inspect::reading::{Line, Reading, Tone, lines};

/// What was read, under the number that it was asked for.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) number: u64,
    pub(super) lines: Vec<Line>,
}

/// The other end of the thread that reads.
#[derive(Debug)]
pub(super) struct Loader {
    wanted: Sender<(u64, Reading)>,
}

impl Loader {
    /// Begins; what was read goes to `loaded`.
    pub(super) fn start(loaded: impl Fn(Loaded) + Send + 'static) -> Self {
        let (wanted, requests) = channel();
        // Without a thread nothing is read, and that is what the screen shows.
        let _ = thread::Builder::new().name("load".to_owned()).spawn(move || work(&requests, loaded));
        Self { wanted }
    }

    /// Asks for something. Only what was asked for last is read.
    pub(super) fn ask(&self, number: u64, reading: Reading) {
        // As above.
        let _ = self.wanted.send((number, reading));
    }
}

fn work(requests: &Receiver<(u64, Reading)>, loaded: impl Fn(Loaded)) {
    while let Ok(first) = requests.recv() {
        let (number, reading) = requests.try_iter().last().unwrap_or(first);
        let read = reading.read();
        let lines = read.unwrap_or_else(|error| lines(&error.render(Format::Text), Tone::Bad));
        loaded(Loaded { number, lines });
    }
}
