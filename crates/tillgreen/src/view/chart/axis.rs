//! From time to place. Long stretches in which nothing was done are folded, or a night's pause would leave no room
//! for the work around it.

use engine::{Span, Statistics};
use jiff::Timestamp;

/// The place of a folded pause.
pub(super) const FOLD_WIDTH: f64 = 12.0;
/// How many pauses are folded, the longest first.
const FOLDS_MAX: usize = 8;
/// A pause is folded if it is longer than this share of the work.
const FOLD_SHARE: f64 = 0.1;
/// About how many ticks an axis has.
const TICKS: f64 = 6.0;
/// Distances between ticks that read well, in milliseconds.
const STEPS: [f64; 20] = [
    100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1.8e6, 3.6e6,
    7.2e6, 21.6e6, 43.2e6, 86.4e6,
];

/// From time to place.
pub(super) struct Axis {
    stretches: Vec<Stretch>,
}

/// A stretch of time between folds.
#[derive(Clone, Copy)]
struct Stretch {
    from: f64,
    to: f64,
    x: f64,
    /// The time worked before it.
    before: f64,
    scale: f64,
}

/// A mark on the axis.
pub(super) struct Tick {
    /// Where.
    pub(super) x: f64,
    /// The time that was worked until then, in milliseconds.
    pub(super) worked: f64,
}

/// A folded pause.
pub(super) struct Fold {
    /// Where its middle is.
    pub(super) x: f64,
    /// How long it was, in milliseconds.
    pub(super) pause: f64,
}

impl Axis {
    /// An axis for everything that was done, from `left` over `width`.
    pub(super) fn of(statistics: &Statistics, left: f64, width: f64) -> Self {
        let spans = statistics.spans.iter().map(interval);
        let marks = statistics.marks.iter().map(|mark| (millis(mark.at), millis(mark.at)));
        let busy = merged(spans.chain(marks).collect());
        let parts = folded(&busy);
        let total: f64 = parts.iter().map(|(from, to)| to - from).sum();
        let room = width - FOLD_WIDTH * (parts.len().saturating_sub(1)) as f64;
        let scale = room / total.max(1.0);
        let mut stretches = Vec::new();
        let (mut x, mut before) = (left, 0.0);
        for (from, to) in parts {
            stretches.push(Stretch { from, to, x, before, scale });
            x += (to - from) * scale + FOLD_WIDTH;
            before += to - from;
        }
        Self { stretches }
    }

    /// The place of a moment.
    pub(super) fn place(&self, at: Timestamp) -> f64 {
        let at = millis(at);
        let behind = self.stretches.partition_point(|stretch| stretch.from <= at);
        let Some(stretch) = self.stretches.get(behind.saturating_sub(1)) else { return 0.0 };
        stretch.x + (at.clamp(stretch.from, stretch.to) - stretch.from) * stretch.scale
    }

    /// Ticks at round times.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        let total = self.stretches.last().map_or(0.0, |last| last.before + last.to - last.from);
        let day = STEPS[STEPS.len() - 1];
        let long = (total / TICKS / day).ceil().max(1.0) * day;
        let step = STEPS.into_iter().find(|step| total / step <= TICKS).unwrap_or(long);
        let times = (0..=(total / step) as u32).map(|number| f64::from(number) * step);
        times.filter_map(|worked| Some(Tick { x: self.place_of_work(worked)?, worked })).collect()
    }

    fn place_of_work(&self, worked: f64) -> Option<f64> {
        let behind = self.stretches.partition_point(|stretch| stretch.before <= worked);
        let stretch = self.stretches.get(behind.saturating_sub(1))?;
        Some(stretch.x + (worked - stretch.before) * stretch.scale)
    }

    /// The pauses that were folded.
    pub(super) fn folds(&self) -> impl Iterator<Item = Fold> {
        self.stretches.windows(2).map(|pair| {
            let pause = pair[1].from - pair[0].to;
            Fold { x: pair[1].x - FOLD_WIDTH / 2.0, pause }
        })
    }
}

fn millis(at: Timestamp) -> f64 {
    at.as_millisecond() as f64
}

fn interval(span: &Span) -> (f64, f64) {
    let began = millis(span.began);
    // Even what took no time has a place, and a clock that was turned back none before its beginning.
    (began, millis(span.ended).max(began + 1.0))
}

/// Intervals that touch become one.
fn merged(mut intervals: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    intervals.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, to) in intervals {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            Some(_) | None => merged.push((from, to)),
        }
    }
    merged
}

/// The intervals with the short pauses between them, cut at the longest.
fn folded(busy: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let work: f64 = busy.iter().map(|(from, to)| to - from).sum();
    let pause = |index: usize| busy[index + 1].0 - busy[index].1;
    let mut cuts: Vec<usize> = (0..busy.len().saturating_sub(1)).collect();
    cuts.retain(|cut| pause(*cut) > work * FOLD_SHARE);
    cuts.sort_by(|one, other| pause(*other).total_cmp(&pause(*one)));
    cuts.truncate(FOLDS_MAX);
    cuts.sort_unstable();
    let mut parts = Vec::new();
    let mut first = 0;
    for cut in cuts.into_iter().chain(busy.len().checked_sub(1)) {
        parts.push((busy[first].0, busy[cut].1));
        first = cut + 1;
    }
    parts
}
