//! Code spans: where backticks open and close one, also over several lines.
//!
//! Unlike the specification, an escaped backtick does not close a span where a real one follows (shell
//! commands quote them so), and a backtick that plainly opens a span does not close one.

use std::collections::{BTreeMap, BTreeSet};

use super::line::each_of;

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

    /// True if text follows at once, as after a backtick that opens a span.
    pub(crate) fn can_open(self, text: &str) -> bool {
        text[self.end()..].chars().next().is_some_and(|next| !next.is_whitespace())
            && !escaped(text, self.start)
    }

    /// True if it may end a span: not if it looks like the beginning of another.
    pub(crate) fn can_close(self, text: &str) -> bool {
        let space_before = || text[..self.start].chars().next_back().is_none_or(char::is_whitespace);
        let word_after = || text[self.end()..].chars().next().is_some_and(char::is_alphanumeric);
        !(space_before() && word_after())
    }
}

/// The runs of backticks in `text`.
pub(crate) fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    each_of(text.as_bytes(), *b"`", |at| match runs.last_mut().filter(|run| run.end() == at) {
        Some(run) => run.len += 1,
        None => runs.push(Run { start: at, len: 1 }),
    });
    runs
}

/// True if the byte at `at` has an odd number of backslashes before it.
pub(crate) fn escaped(text: &str, at: usize) -> bool {
    text.as_bytes()[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Cuts `text` into prose and code. Spans may go over line ends here: the caller passes a text in which the
/// regions are known to be whole, such as one field of a task.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let runs = runs(text);
    let mut pieces = Vec::new();
    let mut prose_from = 0;
    let mut at = 0;
    let mut hopeless = Hopeless::default();
    while let Some(open) = runs.get(at) {
        at += 1;
        if !open.can_open(text) {
            continue;
        }
        let Some(close) = hopeless.closer(text, &runs, at) else { continue };
        if prose_from < open.start {
            pieces.push(Piece::Prose(&text[prose_from..open.start]));
        }
        pieces.push(Piece::Code(&text[open.end()..runs[close].start]));
        prose_from = runs[close].end();
        at = close + 1;
    }
    if prose_from < text.len() {
        pieces.push(Piece::Prose(&text[prose_from..]));
    }
    pieces
}

/// The run that opens a code span among `runs`, those of one line, which does not end there.
pub(crate) fn open_at_end(text: &str, runs: &[Run]) -> Option<Run> {
    if plainly_paired(text.as_bytes(), runs) {
        return None;
    }
    let mut hopeless = Hopeless::default();
    let mut open_at_end = None;
    let mut at = 0;
    while let Some(open) = runs.get(at) {
        at += 1;
        if !open.can_open(text) {
            continue;
        }
        match hopeless.closer(text, runs, at) {
            Some(close) => at = close + 1,
            None => open_at_end = open_at_end.or(Some(*open)),
        }
    }
    open_at_end
}

/// True if each run is closed by the next in a way that leaves no doubt, as on nearly all lines.
fn plainly_paired(text: &[u8], runs: &[Run]) -> bool {
    let (pairs, rest) = runs.as_chunks::<2>();
    rest.is_empty()
        && pairs.iter().all(|[open, close]| {
            open.len == close.len
                && text[open.end()].is_ascii_graphic()
                && (open.start == 0 || text[open.start - 1] != b'\\')
                && text[close.start - 1].is_ascii_graphic()
                && text[close.start - 1] != b'\\'
        })
}

/// Remembers for which lengths there is no closing run any more, so that no text is searched twice.
#[derive(Debug, Default)]
struct Hopeless {
    plain: BTreeSet<usize>,
    /// Up to where there is not even an escaped one.
    barren_until: BTreeMap<usize, usize>,
}

impl Hopeless {
    /// Which of the runs from `from` on closes the one before.
    fn closer(&mut self, text: &str, runs: &[Run], from: usize) -> Option<usize> {
        let open = runs[from - 1];
        let closes = |run: &Run| run.len == open.len && run.can_close(text);
        let plain = |run: &Run| closes(run) && !escaped(text, run.start);
        if !self.plain.contains(&open.len) {
            if let Some(offset) = runs[from..].iter().position(plain) {
                return Some(from + offset);
            }
            self.plain.insert(open.len);
        }
        if self.barren_until.get(&open.len).is_some_and(|&until| open.end() <= until) {
            return None;
        }
        let line_end = text[open.end()..].find('\n').map_or(text.len(), |at| open.end() + at);
        let mut on_line = runs[from..].iter().take_while(|run| run.start < line_end);
        let any = on_line.position(closes);
        if any.is_none() {
            self.barren_until.insert(open.len, line_end);
        }
        any.map(|offset| from + offset)
    }
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
