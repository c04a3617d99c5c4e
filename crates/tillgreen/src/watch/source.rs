//! Where the events come from: a journal that is followed, or one that is played again.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use engine::Event;
use jiff::{SignedDuration, Timestamp};
use runner::journal::{Follower, JournalError, News};

/// No wait of a replay is longer than this to whoever looks on, however long nothing happened.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// The speeds of a replay.
pub(super) const SPEEDS: [u32; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

/// Where events come from.
#[derive(Debug)]
pub(super) enum Source {
    /// A journal that may grow.
    Journal(Follower),
    /// One that is played again.
    Replay(Replay),
}

/// A journal that is played again.
#[derive(Debug)]
pub(super) struct Replay {
    events: VecDeque<Event>,
    /// The moment that is shown.
    pub(super) clock: Timestamp,
    /// How many times faster than it was.
    pub(super) speed: u32,
    pub(super) is_paused: bool,
    all: usize,
}

/// What came since the last look.
#[derive(Debug, Default)]
pub(super) struct Came {
    /// True if all that came before is void: the journal was replaced.
    pub(super) is_new: bool,
    pub(super) events: Vec<Event>,
}

impl Source {
    /// A journal as it is written.
    pub(super) fn journal(path: &Path) -> Self {
        Self::Journal(Follower::new(path))
    }

    /// A journal as it was written, so many times faster.
    pub(super) fn replay(path: &Path, speed: u32) -> Result<Self, JournalError> {
        let events: Vec<Event> =
            Follower::new(path).poll()?.into_events().into_iter().map(|(_, event)| event).collect();
        Ok(Self::Replay(Replay::new(events, speed)))
    }

    /// The events that came in this time.
    pub(super) fn poll(&mut self, passed: Duration) -> Result<Came, JournalError> {
        let follower = match self {
            Self::Replay(replay) => return Ok(Came { is_new: false, events: replay.play(passed) }),
            Self::Journal(follower) => follower,
        };
        let news = follower.poll()?;
        let is_new = matches!(news, News::Replaced(_));
        let events = news.into_events().into_iter().map(|(_, event)| event).collect();
        Ok(Came { is_new, events })
    }
}

impl Replay {
    fn new(events: Vec<Event>, speed: u32) -> Self {
        let clock = events.first().map_or(Timestamp::UNIX_EPOCH, |event| event.at);
        Self { all: events.len(), events: events.into(), clock, speed: speed.max(1), is_paused: false }
    }

    /// The events of a stretch of time.
    fn play(&mut self, passed: Duration) -> Vec<Event> {
        if self.is_paused {
            return Vec::new();
        }
        let Some(next) = self.events.front() else { return Vec::new() };
        let earliest = next.at.saturating_sub(signed(WAIT_MAX.saturating_mul(self.speed)));
        let clock = self.clock.saturating_add(signed(passed.saturating_mul(self.speed)));
        self.clock = earliest.map_or(self.clock, |earliest| earliest.max(clock.unwrap_or(self.clock)));
        let count = self.events.iter().take_while(|event| event.at <= self.clock).count();
        self.events.drain(..count).collect()
    }

    /// The next event, at once.
    pub(super) fn step(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        self.clock = self.clock.max(event.at);
        Some(event)
    }

    /// Faster or slower by so many steps.
    pub(super) fn change_speed(&mut self, steps: isize) {
        let place = SPEEDS.iter().position(|speed| *speed >= self.speed).unwrap_or(SPEEDS.len() - 1);
        let place = place.saturating_add_signed(steps).min(SPEEDS.len() - 1);
        self.speed = SPEEDS[place];
    }

    /// How many events were played, of how many.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.all - self.events.len(), self.all)
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::Story;

    #[test]
    fn time_passes_as_fast_as_is_wanted_and_never_waits_long() {
        // An event every ten seconds, and a night without any.
        let story = Story::new(Rules::default()).starts("1.2").idles(30_000).claims("1.2");
        let events: Vec<Event> = story.replay().into_iter().map(|(event, _)| event).collect();
        let mut replay = Replay::new(events, 10);
        let second = Duration::from_secs(1);
        assert_eq!(replay.play(Duration::ZERO).len(), 1);
        assert_eq!(replay.play(second / 2).len(), 0);
        assert_eq!(replay.play(second / 2).len(), 1);
        assert_eq!(replay.play(second).len(), 0, "the night is cut to three seconds");
        assert_eq!(replay.play(second * 3).len(), 1);
        assert_eq!(replay.progress(), (3, 3));
        replay.change_speed(1);
        assert_eq!(replay.speed, 20);
        replay.change_speed(-9);
        assert_eq!(replay.speed, 1);
    }
}
