//! Code and comments, in which nothing is a tag.
//!
//! Real plans have stray backticks and fences that nobody closes. A region is therefore one only if the
//! structure of the plan stays whole without it: what would hide one end of an element and not the other is
//! text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::markdown::line::lines;
use crate::markdown::{Line, fence_open};

/// Elements whose ends code may quote in pairs only.
const STRUCTURE: [&str; 14] = [
    "task",
    "tasks",
    "name",
    "files",
    "action",
    "verify",
    "automated",
    "done",
    "behavior",
    "read_first",
    "acceptance_criteria",
    "what-built",
    "how-to-verify",
    "resume-signal",
];

/// The parts of a text in which nothing is a tag.
#[derive(Debug, Default)]
pub(super) struct Opaque {
    /// In order and apart from one another.
    ranges: Vec<Range<usize>>,
    /// Lines that open a fence which does not end where it should, counted from zero.
    pub(super) unclosed_fences: Vec<usize>,
}

impl Opaque {
    /// Finds the opaque parts of `text`.
    pub(super) fn of(text: &str) -> Opaque {
        let mut scan = Scan {
            text,
            lines: lines(text).all,
            found: Opaque::default(),
            barren: [None; 2],
            endless_until: 0,
            strays: Vec::new(),
        };
        let mut at = 0;
        while at < scan.lines.len() {
            at = scan.region_at(at);
        }
        scan.found.ranges.sort_by_key(|range| range.start);
        scan.found
    }

    /// Asks about places in order, beginning with `start`.
    pub(super) fn from(&self, start: usize) -> Hidden<'_> {
        Hidden { ranges: &self.ranges[self.ranges.partition_point(|range| range.end <= start)..] }
    }
}

/// The opaque parts that are still ahead.
pub(super) struct Hidden<'a> {
    ranges: &'a [Range<usize>],
}

impl Hidden<'_> {
    /// The end of the opaque part that `at` is in. Places are asked about in order.
    pub(super) fn past(&mut self, at: usize) -> Option<usize> {
        while let Some((first, rest)) = self.ranges.split_first() {
            if first.end > at {
                return first.contains(&at).then_some(first.end);
            }
            self.ranges = rest;
        }
        None
    }
}

/// A run of backticks that found no partner on its line.
#[derive(Clone, Copy)]
struct Stray {
    start: usize,
    len: usize,
}

struct Scan<'a> {
    text: &'a str,
    lines: Vec<Line>,
    found: Opaque,
    /// For each fence character, a length and the line before which no fence of that length ends.
    barren: [Option<(usize, usize)>; 2],
    /// The line before which no comment ends, as far as is known.
    endless_until: usize,
    /// Backticks of this paragraph that are still alone.
    strays: Vec<Stray>,
}

impl<'a> Scan<'a> {
    fn line(&self, at: usize) -> &'a str {
        self.lines[at].of(self.text)
    }

    fn region_at(&mut self, at: usize) -> usize {
        if let Some(next) = self.fence(at).or_else(|| self.comment(at)) {
            self.strays.clear();
            return next;
        }
        self.spans(at);
        at + 1
    }

    fn fence(&mut self, at: usize) -> Option<usize> {
        let (mark, len, _) = fence_open(self.line(at))?;
        let slot = usize::from(mark == b'~');
        let barren = self.barren[slot].is_some_and(|(shortest, until)| len >= shortest && at < until);
        match if barren { Err(at) } else { self.fence_close(at, mark, len) } {
            Ok(close) => {
                self.found.ranges.push(self.lines[at].start..self.lines[close].end);
                Some(close + 1)
            }
            Err(until) => {
                if !barren {
                    self.barren[slot] = Some((len, until));
                }
                self.found.unclosed_fences.push(at);
                None
            }
        }
    }

    /// The line that closes the fence, or the one up to which none does.
    fn fence_close(&self, open: usize, mark: u8, len: usize) -> Result<usize, usize> {
        let mut balance = Balance::default();
        for at in open + 1..self.lines.len() {
            let line = self.line(at);
            let trimmed = line.trim();
            if trimmed.len() >= len && trimmed.bytes().all(|byte| byte == mark) {
                return if balance.is_even() { Ok(at) } else { Err(at) };
            }
            if !balance.take(line) {
                return Err(at);
            }
        }
        Err(self.lines.len())
    }

    fn comment(&mut self, at: usize) -> Option<usize> {
        let line = self.line(at).trim_start();
        if !line.starts_with("<!--") || at < self.endless_until {
            return None;
        }
        let start = self.lines[at].end - line.len();
        match self.comment_end(at, start + 4) {
            Ok((last, end)) => {
                self.found.ranges.push(start..end);
                Some(last + 1)
            }
            Err(until) => {
                self.endless_until = until;
                None
            }
        }
    }

    /// The line on which the comment ends and where, or the one up to which it does not.
    fn comment_end(&self, at: usize, from: usize) -> Result<(usize, usize), usize> {
        let mut balance = Balance::default();
        for last in at..self.lines.len() {
            let from = from.max(self.lines[last].start);
            let content = &self.text[from..self.lines[last].end];
            if let Some(close) = content.find("-->") {
                return if balance.is_even() { Ok((last, from + close + 3)) } else { Err(last) };
            }
            if !balance.take(content) {
                return Err(last);
            }
        }
        Err(self.lines.len())
    }

    fn spans(&mut self, at: usize) {
        let line = self.lines[at];
        let content = line.of(self.text);
        if content.trim().is_empty() || structural(content).is_some() {
            self.strays.clear();
        }
        if !content.contains('`') {
            return;
        }
        let runs = runs(self.text, line);
        let partners = partners(&runs);
        let mut run = 0;
        while run < runs.len() {
            match partners[run] {
                Some(partner) => {
                    self.found.ranges.push(runs[run].start..runs[partner].start + runs[partner].len);
                    run = partner + 1;
                }
                None => {
                    self.stray(runs[run]);
                    run += 1;
                }
            }
        }
    }

    /// Joins a stray run with one before it in the paragraph; the span then holds whatever lies between.
    fn stray(&mut self, run: Stray) {
        match self.strays.pop() {
            Some(open) if open.len == run.len => {
                while self.found.ranges.last().is_some_and(|range| range.start > open.start) {
                    self.found.ranges.pop();
                }
                self.found.ranges.push(open.start..run.start + run.len);
            }
            Some(open) => self.strays.extend([open, run]),
            None => self.strays.push(run),
        }
    }
}

/// The runs of backticks on a line that no backslash escapes.
fn runs(text: &str, line: Line) -> Vec<Stray> {
    let mut runs = Vec::new();
    let mut at = line.start;
    while let Some(offset) = text[at..line.end].find('`') {
        let start = at + offset;
        let len = text[start..line.end].bytes().take_while(|&byte| byte == b'`').count();
        let slashes = text[line.start..start].bytes().rev().take_while(|&byte| byte == b'\\').count();
        if slashes % 2 == 0 {
            runs.push(Stray { start, len });
        }
        at = start + len;
    }
    runs
}

/// For each run, the next one of the same length.
fn partners(runs: &[Stray]) -> Vec<Option<usize>> {
    let mut next: BTreeMap<usize, usize> = BTreeMap::new();
    let mut partners = vec![None; runs.len()];
    for (at, run) in runs.iter().enumerate().rev() {
        partners[at] = next.insert(run.len, at);
    }
    partners
}

/// The tag of the plan's structure that a line begins with: its place in the list, and whether it closes.
fn structural(line: &str) -> Option<(usize, bool)> {
    let rest = line.trim_start().strip_prefix('<')?;
    let (rest, closes) = rest.strip_prefix('/').map_or((rest, false), |rest| (rest, true));
    let len =
        rest.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    let bounded = rest[len..].starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/'));
    let place = STRUCTURE.iter().position(|name| *name == &rest[..len])?;
    bounded.then_some((place, closes))
}

/// A count of the elements that the lines of a region open and close.
#[derive(Default)]
struct Balance {
    open: [u32; STRUCTURE.len()],
}

impl Balance {
    /// Takes in a line; false if it closes what the region did not open.
    fn take(&mut self, line: &str) -> bool {
        match structural(line) {
            Some((place, true)) if self.open[place] == 0 => return false,
            Some((place, true)) => self.open[place] -= 1,
            Some((place, false)) if !line.contains(&format!("</{}", STRUCTURE[place])) => {
                self.open[place] += 1;
            }
            Some((_, false)) | None => {}
        }
        true
    }

    fn is_even(&self) -> bool {
        self.open.iter().all(|&open| open == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with opaque characters replaced by dots.
    fn shown(text: &str) -> String {
        let opaque = Opaque::of(text);
        let hidden = |at: usize| opaque.ranges.iter().any(|range| range.contains(&at));
        text.char_indices().map(|(at, c)| if hidden(at) && c != '\n' { '.' } else { c }).collect()
    }

    #[test]
    fn what_is_hidden() {
        for (text, expected) in [
            ("a `b` c", "a ... c"),
            ("a ``b ` c`` d", "a ......... d"),
            ("a ` b", "a ` b"),
            (r"a \` b `c`", r"a \` b ..."),
            ("a `b\nc` d", "a ..\n.. d"),
            ("a `b\n`c` d\ne` f", "a ..\n.....\n.. f"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn spans_end_with_the_paragraph() {
        for text in ["a ` b\n\nc ` d", "a ` b\n</action>\nc ` d", "<action>a ` b\n<verify>c ` d"] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn fences_and_comments() {
        for (text, expected) in [
            ("```\n<task>\n</task>\n```\nx", "...\n......\n.......\n...\nx"),
            ("~~~~ md\n~~~\n~~~~", ".......\n...\n...."),
            ("<!-- a\nb -->c", "......\n.....c"),
            ("<!-- a", "<!-- a"),
            ("```\na\n</task>\n```\nb\n```", "```\na\n</task>\n...\n.\n..."),
            ("```\n<task>\n```\n</task>", "```\n<task>\n```\n</task>"),
            ("<!--\n</action>\n-->", "<!--\n</action>\n-->"),
            ("```\n<name>x</name>\n```", "...\n..............\n..."),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
