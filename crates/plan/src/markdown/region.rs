//! Regions whose lines are not structure, whatever they look like: front matter, code fences, heredocs, code
//! spans over several lines and HTML comments.
//!
//! A region that is never closed is not one: its first line is then ordinary text, so that a stray backtick
//! cannot hide the rest of a plan.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::code_span::{Run, escaped, open_at_end};
use super::line::{FENCE_LEN_MIN, Line, Lines, Opener, heading_level, lines};

/// The part of a text that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// Ordinary text, which may be structure.
    Text,
    /// The line that opens a code fence.
    FenceOpen,
    /// Inside a code fence.
    FenceBody,
    /// The line that closes a code fence.
    FenceClose,
    /// Goes on with a code span, heredoc or comment that began on an earlier line.
    Continuation,
    /// Part of the front matter.
    FrontMatter,
}

/// The lines of a text and what each is a part of.
#[derive(Debug)]
pub(crate) struct Regions {
    pub(crate) lines: Vec<Line>,
    pub(crate) kinds: Vec<LineKind>,
    /// Lines that open a fence which nothing closes.
    pub(crate) unclosed_fences: Vec<usize>,
}

/// Finds the regions of `text` in one pass.
pub(crate) fn regions(text: &str) -> Regions {
    let Lines { all: lines, openers, runs } = lines(text);
    let kinds = vec![LineKind::Text; lines.len()];
    let mut scan = Scan::new(text, runs, Regions { lines, kinds, unclosed_fences: Vec::new() });
    let mut next = scan.front_matter();
    for opener in openers {
        if opener.line >= next {
            next = scan.region_at(opener);
        }
    }
    scan.found
}

/// The character and length of a fence that `line` would open, and what follows it.
pub(crate) fn fence_open(line: &str) -> Option<(u8, usize, &str)> {
    let quoted = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    let line = &line[quoted..];
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    let mark = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let len = line.bytes().take_while(|&byte| byte == mark).count();
    let info = line[len..].trim();
    (len >= FENCE_LEN_MIN && !(mark == b'`' && info.contains('`'))).then_some((mark, len, info))
}

/// How far a nested heredoc inside a fence is looked at before it is taken for something else.
const HEREDOC_LINES_MAX: usize = 200;

/// Over how many lines a code span may go.
const SPAN_LINES_MAX: usize = 1000;

struct Scan<'a> {
    text: &'a str,
    runs: Vec<Run>,
    found: Regions,
    /// Lines that hold a single word: what may end a heredoc. Found when the first heredoc may have begun.
    words: OnceCell<BTreeMap<&'a str, Vec<usize>>>,
    /// For each fence character, the shortest fence known to have no end below.
    endless: [usize; 2],
    /// True if no comment ends below.
    comments_ended: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, runs: Vec<Run>, found: Regions) -> Self {
        let words = OnceCell::new();
        Scan { text, runs, found, words, endless: [usize::MAX; 2], comments_ended: false }
    }

    fn words(&self) -> BTreeMap<&'a str, Vec<usize>> {
        let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, line) in self.found.lines.iter().enumerate() {
            let word = line.of(self.text).trim();
            if !word.is_empty() && word.bytes().all(is_word_byte) {
                words.entry(word).or_default().push(at);
            }
        }
        words
    }

    fn line(&self, at: usize) -> &'a str {
        self.found.lines[at].of(self.text)
    }

    fn mark(&mut self, from: usize, to: usize, kind: LineKind) {
        self.found.kinds[from..to].fill(kind);
    }

    /// Skips the front matter and returns the first line after it.
    fn front_matter(&mut self) -> usize {
        if self.found.lines.is_empty() || self.line(0).trim_start_matches('\u{feff}').trim_end() != "---" {
            return 0;
        }
        let close = (1..self.found.lines.len()).find(|&at| matches!(self.line(at).trim_end(), "---" | "..."));
        let looks_like_yaml = |at: usize| {
            let line = self.line(at);
            line.trim().is_empty() || line.contains(':') || line.starts_with([' ', '-', '#'])
        };
        match close {
            Some(close) if (1..close).all(looks_like_yaml) => {
                self.mark(0, close + 1, LineKind::FrontMatter);
                close + 1
            }
            Some(_) | None => 0,
        }
    }

    /// Marks the region that a line opens, if it does, and returns the next line to look at.
    fn region_at(&mut self, opener: Opener) -> usize {
        let Opener { line: at, runs, fence, angle } = opener;
        let fenced = if fence { self.fence(at) } else { None };
        fenced
            .or_else(|| if angle { self.heredoc(at).or_else(|| self.comment(at)) } else { None })
            .or_else(|| self.span(at, runs))
            .unwrap_or(at + 1)
    }

    fn fence(&mut self, at: usize) -> Option<usize> {
        let (mark, len, info) = fence_open(self.line(at))?;
        let slot = usize::from(mark == b'~');
        let close = if len >= self.endless[slot] { None } else { self.fence_close(at, mark, len, info) };
        let Some(close) = close else {
            self.endless[slot] = self.endless[slot].min(len);
            self.found.unclosed_fences.push(at);
            return None;
        };
        self.mark(at, at + 1, LineKind::FenceOpen);
        self.mark(at + 1, close, LineKind::FenceBody);
        self.mark(close, close + 1, LineKind::FenceClose);
        Some(close + 1)
    }

    fn fence_close(&self, open: usize, mark: u8, len: usize, info: &str) -> Option<usize> {
        let shell = info.is_empty() || matches!(info, "bash" | "sh" | "shell" | "zsh");
        let mut at = open + 1;
        while at < self.found.lines.len() {
            let body = self.line(at);
            if shell && let Some(end) = self.heredoc_end(at).filter(|&end| self.paired_fences(at + 1, end)) {
                at = end + 1;
                continue;
            }
            let trimmed = body.trim_matches([' ', '\t', '>']);
            if trimmed.len() >= len && trimmed.bytes().all(|byte| byte == mark) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// True if the lines in between hold fences in pairs, as a document quoted by a heredoc does.
    fn paired_fences(&self, from: usize, to: usize) -> bool {
        to - from <= HEREDOC_LINES_MAX
            && (from..to).filter(|&at| fence_open(self.line(at)).is_some()).count() % 2 == 0
    }

    fn heredoc(&mut self, at: usize) -> Option<usize> {
        let end = self.heredoc_end(at)?;
        self.mark(at + 1, end + 1, LineKind::Continuation);
        Some(end + 1)
    }

    /// The line that ends a heredoc which line `at` begins.
    fn heredoc_end(&self, at: usize) -> Option<usize> {
        let word = heredoc_word(self.line(at))?;
        let lines = self.words.get_or_init(|| self.words()).get(word)?;
        lines.get(lines.partition_point(|&line| line <= at)).copied()
    }

    fn comment(&mut self, at: usize) -> Option<usize> {
        let line = self.line(at).trim_start();
        if self.comments_ended || !line.starts_with("<!--") || line.contains("-->") {
            return None;
        }
        let from = self.found.lines[at].end;
        let Some(close) = self.text[from..].find("-->").map(|close| from + close) else {
            self.comments_ended = true;
            return None;
        };
        let end = self.found.lines.partition_point(|line| line.start <= close);
        self.mark(at, end, LineKind::Continuation);
        Some(end)
    }

    /// A code span that is open at the end of line `at`, whose backticks are `runs`.
    fn span(&mut self, at: usize, runs: Range<usize>) -> Option<usize> {
        let mut after = runs.end;
        let open = open_at_end(self.text, &self.runs[runs])?;
        let own = is_structure(self.line(at));
        for next in (at + 1..self.found.lines.len()).take(SPAN_LINES_MAX) {
            if own && is_structure(self.line(next)) {
                return None;
            }
            let end = self.found.lines[next].end;
            let here = self.runs[after..].iter().take_while(|run| run.start < end).count();
            let usable = |run: &&Run| run.len == open.len && !escaped(self.text, run.start);
            if let Some(run) = self.runs[after..after + here].iter().find(usable) {
                return run.can_close(self.text).then(|| {
                    self.found.kinds[at + 1..=next].fill(LineKind::Continuation);
                    next + 1
                });
            }
            after += here;
        }
        None
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A heading or a checkbox at the left margin.
fn is_structure(line: &str) -> bool {
    heading_level(line).is_some() || line.starts_with("- [") || line.starts_with("* [")
}

/// The word after `<<` that ends a heredoc.
fn heredoc_word(line: &str) -> Option<&str> {
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let Some(after) = rest[at + 1..].strip_prefix('<') else {
            rest = &rest[at + 1..];
            continue;
        };
        if after.starts_with('<') {
            rest = after.trim_start_matches('<');
            continue;
        }
        let quoted = after
            .strip_prefix('-')
            .unwrap_or(after)
            .trim_start_matches(' ')
            .trim_start_matches(['\'', '"', '\\']);
        let len = quoted.bytes().take_while(|&byte| is_word_byte(byte)).count();
        if len > 0 && !quoted.as_bytes()[0].is_ascii_digit() {
            return Some(&quoted[..len]);
        }
        rest = after;
    }
    None
}
