//! What was worked on when: a row for each that worked at once, time to the right.

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::keys::Motion;
use crate::inspect::reading::Tone;
use crate::inspect::record::{Bar, Outcome, Record};
use crate::view::paint::Paint;
use crate::view::text::{fit, zoned_clock};

/// How much nearer it can be looked at: by powers of two.
const ZOOM_MAX: u32 = 12;
/// The columns before the bars.
const LABEL_COLUMNS: u16 = 4;

/// The timeline.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// 0 shows all of it.
    zoom: u32,
    /// Columns that are looked back from now.
    back: i64,
    top: usize,
}

impl Timeline {
    /// Looks nearer, or wider.
    pub(super) fn zoom(&mut self, by: isize) {
        self.zoom = self.zoom.saturating_add_signed(i32::try_from(by).unwrap_or(0)).min(ZOOM_MAX);
        self.back = if self.zoom == 0 { 0 } else { self.back };
    }

    /// Moves.
    pub(super) fn moved(&mut self, motion: Motion) {
        match motion {
            Motion::Left => self.back = self.back.saturating_add(10),
            Motion::Right => self.back = (self.back - 10).max(0),
            Motion::PageUp => self.back = self.back.saturating_add(60),
            Motion::PageDown => self.back = (self.back - 60).max(0),
            Motion::End => self.back = 0,
            Motion::Down => self.top += 1,
            Motion::Up => self.top = self.top.saturating_sub(1),
            Motion::Start => self.back = i64::MAX / 2,
        }
    }

    /// Draws it, up to a moment.
    pub(super) fn draw(
        &mut self,
        (record, until): (&Record, Timestamp),
        area: Rect,
        buffer: &mut Buffer,
        paint: Paint,
    ) {
        let Some(first) = record.bars.first().map(|bar| bar.began) else {
            buffer.set_string(area.x + 1, area.y, "Nothing was worked on yet.", Tone::Faint.style(paint));
            return;
        };
        let scale = self.scale((first, until), area.width.saturating_sub(LABEL_COLUMNS + 1));
        let lanes = lanes(&record.bars, until);
        self.top = self.top.min(lanes.len().saturating_sub(1));
        let Rect { x, y, height, .. } = area;
        let faint = Tone::Faint.style(paint);
        for (place, at) in scale.ticks() {
            buffer.set_string(x + LABEL_COLUMNS + place, y, format!("╷{}", zoned_clock(at)), faint);
        }
        let rows = 1..height.saturating_sub(1);
        for (row, (number, lane)) in rows.zip(lanes.iter().enumerate().skip(self.top)) {
            buffer.set_string(x, y + row, format!("{:>3} ", number + 1), faint);
            for bar in lane {
                scale.draw(bar, (x + LABEL_COLUMNS, y + row), buffer, paint);
            }
        }
        let legend = " █ agent  ▓ checks  ░ coming in   ✓ green passed  ✗ red failed  ! yellow lost";
        let legend = fit(legend, usize::from(area.width));
        buffer.set_string(x, y + height.saturating_sub(1), legend, faint);
    }

    fn scale(&self, (first, until): (Timestamp, Timestamp), columns: u16) -> Scale {
        let columns = i64::from(columns).max(1);
        let whole = (until.as_millisecond() - first.as_millisecond()).max(1_000);
        let column_ms = (whole >> self.zoom).div_euclid(columns) + 1;
        let end = until.as_millisecond() - self.back.min(whole / column_ms) * column_ms;
        let from_ms = (end - columns * column_ms).max(first.as_millisecond());
        Scale { from_ms, column_ms, columns, until }
    }
}

/// The time that is seen.
struct Scale {
    from_ms: i64,
    column_ms: i64,
    columns: i64,
    /// What goes on is drawn up to here.
    until: Timestamp,
}

impl Scale {
    /// The columns under which a time stands.
    fn ticks(&self) -> impl Iterator<Item = (u16, Timestamp)> {
        let places = (0..self.columns).step_by(20).take_while(|place| place + 10 < self.columns);
        places.filter_map(|place| {
            let at = Timestamp::from_millisecond(self.from_ms + place * self.column_ms).ok()?;
            Some((u16::try_from(place).ok()?, at))
        })
    }

    fn column(&self, at: Timestamp) -> i64 {
        (at.as_millisecond() - self.from_ms).div_euclid(self.column_ms)
    }

    fn draw(&self, bar: &Bar, (x, y): (u16, u16), buffer: &mut Buffer, paint: Paint) {
        let ended = bar.ended.unwrap_or(self.until);
        let (begin, end) = (self.column(bar.began).max(0), (self.column(ended) + 1).min(self.columns));
        let style = tone(bar.outcome).style(paint);
        for place in begin..end {
            let is_after = |since: Option<Timestamp>| since.is_some_and(|since| place >= self.column(since));
            let symbol = match (is_after(bar.landing), is_after(bar.claimed)) {
                (true, _) => "░",
                (false, true) => "▓",
                (false, false) => "█",
            };
            buffer.set_string(x + u16::try_from(place).unwrap_or(0), y, symbol, style);
        }
        let attempt = bar.attempt.map(|attempt| format!("·{attempt}")).unwrap_or_default();
        let name = format!("{}{attempt}{}", bar.task, mark(bar.outcome));
        if usize::try_from(end - begin).unwrap_or(0) > name.chars().count() {
            let style = style.add_modifier(Modifier::REVERSED | Modifier::BOLD);
            buffer.set_string(x + u16::try_from(begin).unwrap_or(0), y, name, style);
        }
    }
}

/// What its colour says, for those who see none.
fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Open => "",
        Outcome::Passed => "✓",
        Outcome::Failed => "✗",
        Outcome::Lost => "!",
    }
}

fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Open => Tone::Busy,
        Outcome::Passed => Tone::Good,
        Outcome::Failed => Tone::Bad,
        Outcome::Lost => Tone::Odd,
    }
}

/// Bars in as few rows as they need.
fn lanes(bars: &[Bar], now: Timestamp) -> Vec<Vec<&Bar>> {
    let mut lanes: Vec<(Timestamp, Vec<&Bar>)> = Vec::new();
    for bar in bars {
        let end = bar.ended.unwrap_or(now);
        match lanes.iter_mut().find(|(free, _)| *free <= bar.began) {
            Some((free, lane)) => {
                *free = end;
                lane.push(bar);
            }
            None => lanes.push((end, vec![bar])),
        }
    }
    lanes.into_iter().map(|(_, lane)| lane).collect()
}
