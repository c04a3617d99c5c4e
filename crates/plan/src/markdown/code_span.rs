//! Code spans: where backticks open and close one, also over several lines.
//!
//! Unlike the specification, an escaped backtick does not close a span where a real one follows (shell
//! commands quote them so), and a backtick that plainly opens a span does not close one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A part of a text: prose, or what stands between the backticks of a code span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Prose(&'a str),
    Code(&'a str),
}

/// A run of backticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl Run {
    pub(crate) fn end(self) -> usize {
        self.start + self.len
    }

    /// Whether text follows at once, as after a backtick that opens a span.
    pub(crate) fn can_open(self, text: &str) -> bool {
        !escaped(text, self.start)
            && text[self.end()..].chars().next().is_some_and(|next| !next.is_whitespace())
    }

    /// Whether it may end a span: not if it looks like the beginning of another.
    pub(crate) fn can_close(self, text: &str) -> bool {
        let space_before = text[..self.start].chars().next_back().is_none_or(char::is_whitespace);
        let word_after = text[self.end()..].chars().next().is_some_and(char::is_alphanumeric);
        !(space_before && word_after)
    }
}

/// The next run of backticks in `text[range]`.
pub(crate) fn next_run(text: &str, range: Range<usize>) -> Option<Run> {
    let start = range.start + text[range.clone()].find('`')?;
    let len = text[start..range.end].bytes().take_while(|&byte| byte == b'`').count();
    Some(Run { start, len })
}

/// Whether the byte at `at` has an odd number of backslashes before it.
pub(crate) fn escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}

/// Cuts `text` into prose and code. Spans may go over line ends here: the caller passes a text in which the
/// regions are known to be whole, such as one field of a task.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut prose_from = 0;
    let mut at = 0;
    let mut hopeless = Hopeless::default();
    while let Some(open) = next_run(text, at..text.len()) {
        at = open.end();
        if !open.can_open(text) {
            continue;
        }
        let Some(close) = hopeless.closer(text, open, at..text.len()) else { continue };
        if prose_from < open.start {
            pieces.push(Piece::Prose(&text[prose_from..open.start]));
        }
        pieces.push(Piece::Code(&text[open.end()..close.start]));
        at = close.end();
        prose_from = at;
    }
    if prose_from < text.len() {
        pieces.push(Piece::Prose(&text[prose_from..]));
    }
    pieces
}

/// Remembers for which lengths there is no closing run any more, so that no text is searched twice.
#[derive(Debug, Default)]
pub(crate) struct Hopeless {
    plain: BTreeSet<usize>,
    /// Up to where there is not even an escaped one.
    barren_until: BTreeMap<usize, usize>,
}

impl Hopeless {
    /// The run that closes `open` within `text[range]`.
    pub(crate) fn closer(&mut self, text: &str, open: Run, range: Range<usize>) -> Option<Run> {
        let plain = if self.plain.contains(&open.len) {
            None
        } else {
            find_closer(text, open.len, range.clone(), Escapes::Skip)
        };
        if plain.is_some() {
            return plain;
        }
        self.plain.insert(open.len);
        if self.barren_until.get(&open.len).is_some_and(|&until| range.start <= until) {
            return None;
        }
        let line_end = text[range.clone()].find('\n').map_or(range.end, |at| range.start + at);
        let any = find_closer(text, open.len, range.start..line_end, Escapes::Take);
        if any.is_none() {
            self.barren_until.insert(open.len, line_end);
        }
        any
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    Skip,
    Take,
}

fn find_closer(text: &str, len: usize, range: Range<usize>, escapes: Escapes) -> Option<Run> {
    let mut at = range.start;
    while let Some(run) = next_run(text, at..range.end) {
        at = run.end();
        let usable = escapes == Escapes::Take || !escaped(text, run.start);
        if run.len == len && usable && run.can_close(text) {
            return Some(run);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use Piece::{Code, Prose};

    #[test]
    fn prose_and_code() {
        assert_eq!(pieces("run `a b` now"), [Prose("run "), Code("a b"), Prose(" now")]);
        assert_eq!(pieces("``a ` b``"), [Code("a ` b")]);
        assert_eq!(pieces(r#"`grep "s/\`//g" f` ok"#), [Code(r#"grep "s/\`//g" f"#), Prose(" ok")]);
        assert_eq!(pieces(r"`C:\dir\` is it"), [Code(r"C:\dir\"), Prose(" is it")]);
        assert_eq!(pieces("a ` b"), [Prose("a ` b")]);
        assert_eq!(pieces("`python -c \"\nx\n\"`"), [Code("python -c \"\nx\n\"")]);
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn many_stray_backticks_are_read_once() {
        let text = " `a".repeat(200_000);
        assert_eq!(pieces(&text).len(), 1);
    }
}
