//! The clocks of a run: how long the program or the machine stood still, and by how much somebody set the time of day.
//!
//! Deadlines run on a clock that nobody sets and that rests while the machine sleeps. What it does not know is that this
//! program was stopped (Ctrl-Z) while it went on. A thread looks at it every second: where it could not look for longer,
//! nobody was there.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The time between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// The longest time between two looks that a busy machine explains.
const BUSY_MAX: Duration = Duration::from_secs(5);
/// What the time of day may differ without having been set: it is corrected a little all the time.
const SET_MIN: Duration = Duration::from_secs(2);

static CLOCK: LazyLock<Mutex<Clock>> = LazyLock::new(|| {
    // Without that thread whoever looks would take the time since the last look for a stop.
    let _ = thread::Builder::new().name("clock".to_owned()).spawn(|| {
        loop {
            thread::sleep(BETWEEN_LOOKS);
            let _ = lost_time();
        }
    });
    Mutex::new(Clock::at(Reading::now()))
});

/// All that was lost since the first look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LostTime {
    /// The time in which this program was stopped.
    pub(crate) stopped: Duration,
    /// The time in which the machine slept.
    pub(crate) asleep: Duration,
    /// The milliseconds by which the time of day was set forward, and back if negative.
    pub(crate) set_ms: i64,
}

/// Looks at the clocks.
pub(crate) fn lost_time() -> LostTime {
    CLOCK.lock().unwrap_or_else(PoisonError::into_inner).look(Reading::now())
}

/// The clocks at one moment.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    /// The clock that rests while the machine sleeps.
    awake: Duration,
    /// The clock that does not.
    up: Duration,
    of_day: Duration,
}

impl Reading {
    fn now() -> Self {
        let read = |id| clock_gettime(id).map(Duration::from).unwrap_or_default();
        Self {
            awake: read(ClockId::CLOCK_MONOTONIC),
            up: read(ClockId::CLOCK_BOOTTIME),
            of_day: read(ClockId::CLOCK_REALTIME),
        }
    }
}

struct Clock {
    first: Reading,
    last: Reading,
    lost: LostTime,
}

impl Clock {
    fn at(reading: Reading) -> Self {
        Self { first: reading, last: reading, lost: LostTime::default() }
    }

    fn look(&mut self, now: Reading) -> LostTime {
        let awake = now.awake.saturating_sub(self.last.awake);
        if awake > BUSY_MAX {
            self.lost.stopped += awake;
        }
        let asleep = now.up.saturating_sub(self.last.up).saturating_sub(awake);
        // The clocks are read one after another.
        if asleep > SET_MIN {
            self.lost.asleep += asleep;
        }
        let (up, of_day) = (ms(now.up) - ms(self.first.up), ms(now.of_day) - ms(self.first.of_day));
        let set_ms = of_day - up;
        if (set_ms - self.lost.set_ms).unsigned_abs() > SET_MIN.as_secs() * 1_000 {
            self.lost.set_ms = set_ms;
        }
        self.last = now;
        self.lost
    }
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings in seconds since the first: awake, up, of day. The last look finds these seconds stopped, asleep, set.
    #[track_caller]
    fn check(readings: &[[i64; 3]], expected: [i64; 3]) {
        let start = Duration::from_secs(100_000);
        let at = |seconds: i64| start.saturating_add_signed(seconds);
        let reading =
            |[awake, up, of_day]: [i64; 3]| Reading { awake: at(awake), up: at(up), of_day: at(of_day) };
        let mut clock = Clock::at(reading([0; 3]));
        let lost = readings.iter().map(|seconds| clock.look(reading(*seconds))).last().expect("a reading");
        let found = [ms(lost.stopped), ms(lost.asleep), lost.set_ms];
        assert_eq!(found, expected.map(|seconds| seconds * 1_000), "{readings:?}");
    }

    trait Signed {
        fn saturating_add_signed(self, seconds: i64) -> Duration;
    }

    impl Signed for Duration {
        fn saturating_add_signed(self, seconds: i64) -> Duration {
            let by = Duration::from_secs(seconds.unsigned_abs());
            if seconds < 0 { self.saturating_sub(by) } else { self.saturating_add(by) }
        }
    }

    #[test]
    fn time_in_which_nobody_was_there_is_lost() {
        check(&[[1, 1, 1], [2, 2, 2]], [0, 0, 0]);
        // A busy machine.
        check(&[[1, 1, 1], [5, 5, 5]], [0, 0, 0]);
        // Ctrl-Z, twice.
        check(&[[1, 1, 1], [61, 61, 61], [62, 62, 62], [72, 72, 72]], [70, 0, 0]);
        // The lid was closed.
        check(&[[1, 1, 1], [2, 3602, 3602]], [0, 3600, 0]);
        // Somebody set the time, forward, and back again.
        check(&[[1, 1, 1], [2, 2, 3602]], [0, 0, 3600]);
        check(&[[1, 1, 1], [2, 2, -3598], [3, 3, -3597]], [0, 0, -3600]);
        check(&[[1, 1, 1], [2, 2, 3602], [3, 3, 3]], [0, 0, 0]);
        // All at once, while the program was stopped.
        check(&[[1, 1, 1], [101, 1101, 701]], [100, 1000, -400]);
    }
}
