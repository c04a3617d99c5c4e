//! Lines that are scrolled through: an output as it grows, a prompt, a diff. Only what is seen is worked on.

use super::keys::Motion;
use crate::inspect::reading::{LINE_CHARS_MAX, Line};
use crate::view::text::{columns, count};

/// Columns that are moved to the side at once.
const SIDEWAYS: usize = 16;

/// Lines, and the part of them that is seen.
#[derive(Debug, Default)]
pub(super) struct Pager {
    lines: Vec<Line>,
    /// The first line that is seen.
    top: usize,
    /// The first column.
    left: usize,
    pub(super) is_wrapped: bool,
    /// True if the end is seen, also when there is more of it.
    pub(super) follows: bool,
    search: Option<String>,
    /// The line of the latest hit.
    hit: Option<usize>,
    /// The size when it was last drawn.
    height: usize,
}

/// A row of the screen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) line: &'a Line,
    pub(super) text: String,
    pub(super) is_hit: bool,
}

impl Pager {
    /// None yet; long lines are wrapped.
    pub(super) fn wrapping() -> Self {
        Self { is_wrapped: true, ..Self::default() }
    }

    /// Shows other lines, from the beginning, or from the end if that is to be followed.
    pub(super) fn show(&mut self, lines: Vec<Line>, follows: bool) {
        (self.lines, self.top, self.left, self.hit, self.follows) = (lines, 0, 0, None, follows);
    }

    /// Shows what has become of the lines, where one was.
    pub(super) fn refresh(&mut self, lines: Vec<Line>) {
        self.lines = lines;
        self.top = self.top.min(self.lines.len().saturating_sub(1));
    }

    /// All of it as text.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    /// True if there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Moves by so many lines.
    fn scroll(&mut self, by: isize) {
        if self.follows && by < 0 {
            self.top = self.last_top();
        }
        let last = self.last_top();
        self.top = self.top.saturating_add_signed(by).min(last);
        self.follows = by > 0 && self.top == last;
    }

    /// Moves by so many screens.
    pub(super) fn page(&mut self, by: isize) {
        let height = isize::try_from(self.height.saturating_sub(2).max(1)).unwrap_or(1);
        self.scroll(by * height);
    }

    /// Moves to the side.
    fn sideways(&mut self, by: isize) {
        self.left = self.left.saturating_add_signed(by * SIDEWAYS.cast_signed()).min(LINE_CHARS_MAX);
    }

    /// Moves.
    pub(super) fn moved(&mut self, motion: Motion) {
        match motion {
            Motion::Down => self.scroll(1),
            Motion::Up => self.scroll(-1),
            Motion::PageDown => self.page(1),
            Motion::PageUp => self.page(-1),
            Motion::Start => self.begin(),
            Motion::End => self.follow(),
            Motion::Left => self.sideways(-1),
            Motion::Right => self.sideways(1),
        }
    }

    /// Moves to the first line.
    fn begin(&mut self) {
        (self.top, self.follows) = (0, false);
    }

    /// Moves to the end, and stays there.
    pub(super) fn follow(&mut self) {
        self.follows = true;
    }

    fn last_top(&self) -> usize {
        self.lines.len().saturating_sub(self.height.max(1))
    }

    /// Looks for a text, from what is seen on; false if it is nowhere.
    pub(super) fn search(&mut self, text: &str) -> bool {
        self.search = (!text.is_empty()).then(|| text.to_ascii_lowercase());
        self.hit = None;
        self.next_hit(1)
    }

    /// Moves to the next hit, or the one before.
    pub(super) fn next_hit(&mut self, by: isize) -> bool {
        let (Some(search), count) = (self.search.clone(), self.lines.len()) else { return false };
        if count == 0 {
            return false;
        }
        let from = self.hit.unwrap_or_else(|| (self.top + count).saturating_add_signed(-by) % count);
        let steps = (1..=count).map(|step| match by > 0 {
            true => (from + step) % count,
            false => (from + count - step) % count,
        });
        let is_hit = |place: &usize| self.lines[*place].text.to_ascii_lowercase().contains(&search);
        let found = steps.into_iter().find(is_hit);
        if let Some(place) = found {
            (self.hit, self.follows) = (Some(place), false);
            self.top = place.saturating_sub(self.height / 3).min(self.last_top());
        }
        found.is_some()
    }

    /// The rows that are seen in so much room.
    pub(super) fn rows(&mut self, width: usize, height: usize) -> Vec<Row<'_>> {
        self.height = height;
        if self.follows {
            self.top = self.top_of_end(width, height);
        }
        let mut rows = Vec::new();
        for (place, line) in self.lines.iter().enumerate().skip(self.top) {
            if rows.len() >= height {
                break;
            }
            let is_hit = self.hit == Some(place);
            let texts = if self.is_wrapped { wrapped(&line.text, width) } else { vec![self.part(line)] };
            rows.extend(texts.into_iter().map(|text| Row { line, text, is_hit }));
        }
        // The end of what is followed is what counts, should a long line stand above it.
        let surplus = if self.follows { rows.len().saturating_sub(height) } else { 0 };
        rows.drain(..surplus);
        rows.truncate(height);
        rows
    }

    fn part(&self, line: &Line) -> String {
        line.text.chars().skip(self.left).collect()
    }

    /// The first line from which the rest fits.
    fn top_of_end(&self, width: usize, height: usize) -> usize {
        let mut room = height;
        let mut top = self.lines.len();
        for (place, line) in self.lines.iter().enumerate().rev() {
            let rows = if self.is_wrapped { wrapped(&line.text, width).len() } else { 1 };
            if rows > room {
                return if top == self.lines.len() { place } else { top };
            }
            (room, top) = (room - rows, place);
        }
        top
    }

    /// Where one is, for the edge of the screen.
    pub(super) fn place(&self) -> String {
        match self.lines.len() {
            0 => String::new(),
            all if all <= self.height => count(all, "line"),
            all => format!("{}/{all}", (self.top + self.height).min(all)),
        }
    }
}

/// A line in rows of at most so many columns.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        let columns = columns(character.encode_utf8(&mut [0; 4]));
        if used + columns > width {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(character);
        used += columns;
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::reading::{Tone, lines};

    fn seen(pager: &mut Pager, width: usize, height: usize) -> Vec<String> {
        pager.rows(width, height).into_iter().map(|row| row.text).collect()
    }

    fn pager(text: &str) -> Pager {
        let mut pager = Pager::default();
        pager.show(lines(text, Tone::Plain), false);
        pager
    }

    #[test]
    fn it_scrolls_and_follows_the_end() {
        let text: String = (1..=9).map(|line| format!("{line}\n")).collect();
        let mut pager = pager(&text);
        assert_eq!(seen(&mut pager, 10, 3), ["1", "2", "3"]);
        pager.scroll(1);
        assert_eq!(seen(&mut pager, 10, 3), ["2", "3", "4"]);
        pager.follow();
        assert_eq!(seen(&mut pager, 10, 3), ["7", "8", "9"]);
        pager.refresh(lines(&format!("{text}10\n"), Tone::Plain));
        assert_eq!(seen(&mut pager, 10, 3), ["8", "9", "10"], "the end is followed");
        pager.scroll(-1);
        pager.refresh(lines(&format!("{text}10\n11\n"), Tone::Plain));
        assert_eq!(seen(&mut pager, 10, 3), ["7", "8", "9"], "who looks back is left alone");
        pager.page(9);
        assert!(pager.follows && pager.place() == "11/11", "{}", pager.place());
    }

    #[test]
    fn a_search_goes_round() {
        let mut pager = pager("one\nTwo\nthree\ntwo two\n");
        seen(&mut pager, 10, 2);
        assert!(pager.search("two"));
        assert_eq!(pager.hit, Some(1));
        assert!(pager.next_hit(1) && pager.hit == Some(3));
        assert!(pager.next_hit(1) && pager.hit == Some(1));
        assert!(pager.next_hit(-1) && pager.hit == Some(3));
        assert!(!pager.search("four") && !pager.search(""));
    }

    #[test]
    fn long_lines_are_wrapped_or_moved_through() {
        let mut pager = pager("abcdefghij日本語\nnext\n");
        pager.is_wrapped = true;
        assert_eq!(seen(&mut pager, 5, 9), ["abcde", "fghij", "日本", "語", "next"]);
        pager.follow();
        assert_eq!(seen(&mut pager, 5, 3), ["next"], "whole lines");
        pager.is_wrapped = false;
        pager.sideways(1);
        pager.begin();
        assert_eq!(seen(&mut pager, 5, 2)[0], "");
    }

    #[test]
    fn a_line_of_ten_megabytes_is_no_matter() {
        let text = format!("{}\u{1b}[2J\u{202e}end", "x".repeat(10_000_000));
        let mut pager = pager(&text);
        pager.is_wrapped = true;
        pager.follow();
        let rows = seen(&mut pager, 80, 20);
        assert!(rows.len() <= 20 && rows.last().unwrap().ends_with("\u{241b}[2J\u{fffd}end"), "{rows:?}");
        assert_eq!(pager.lines.len(), 5_001);
    }
}
