//! Lines as spans of the text that they are in.

use std::ops::Range;

use super::byte_search::each_of;
use super::code_span::Run;

/// How many backticks or tildes make a fence.
pub(crate) const FENCE_LEN_MIN: usize = 3;

/// One line: where its text is, without the line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Line {
    pub(crate) fn range(self) -> Range<usize> {
        self.start..self.end
    }

    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.range()]
    }
}

/// The lines of a text, and what is in them that may open a region.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) all: Vec<Line>,
    pub(crate) openers: Vec<Opener>,
    /// All runs of backticks, in order.
    pub(crate) runs: Vec<Run>,
}

/// A line with a backtick, a tilde or a `<` in it. No other opens a code fence, code span, heredoc or comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opener {
    pub(crate) line: usize,
    /// Which of the runs of backticks are in it.
    pub(crate) runs: Range<usize>,
    /// Whether there is a tilde or a run of three backticks, without which there is no fence.
    pub(crate) fence: bool,
    /// Whether there is a `<`, without which there is neither a heredoc nor a comment.
    pub(crate) angle: bool,
}

/// The lines of `text`. Only a line feed ends a line; a carriage return before it belongs to the ending.
pub(crate) fn lines(text: &str) -> Lines {
    let bytes = text.as_bytes();
    let mut lines = Lines { all: Vec::with_capacity(text.len() / 32 + 1), ..Lines::default() };
    let mut start = 0;
    for at in each_of(bytes, *b"\n`~<") {
        match bytes[at] {
            b'\n' => {
                let ending = usize::from(at > start && bytes[at - 1] == b'\r');
                lines.all.push(Line { start, end: at - ending });
                start = at + 1;
            }
            b'`' => lines.backtick(at),
            b'<' => lines.opener().angle = true,
            _ => lines.opener().fence = true,
        }
    }
    if start < text.len() {
        lines.all.push(Line { start, end: text.len() });
    }
    lines
}

impl Lines {
    /// The line after those known so far, as one that may open a region.
    fn opener(&mut self) -> &mut Opener {
        let line = self.all.len();
        if self.openers.last().is_none_or(|opener| opener.line != line) {
            let runs = self.runs.len()..self.runs.len();
            self.openers.push(Opener { line, runs, fence: false, angle: false });
        }
        self.openers.last_mut().expect("one was there or was added")
    }

    fn backtick(&mut self, at: usize) {
        match self.runs.last_mut().filter(|run| run.end() == at) {
            Some(run) => {
                run.len += 1;
                if run.len == FENCE_LEN_MIN {
                    self.opener().fence = true;
                }
            }
            None => {
                self.opener().runs.end += 1;
                self.runs.push(Run { start: at, len: 1 });
            }
        }
    }
}

/// How many bytes of spaces and tabs a line begins with.
pub(crate) fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The level of an ATX heading, `None` for any other line.
pub(crate) fn heading_level(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let indent = bytes.iter().take(4).take_while(|&&byte| byte == b' ').count();
    let level = bytes[indent..].iter().take_while(|&&byte| byte == b'#').count();
    let after = bytes.get(indent + level);
    let spaced = after.is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    (indent <= 3 && (1..=6).contains(&level) && spaced).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_belongs_to_the_ending() {
        let text = "a\r\nb\rc\n\nd";
        let found: Vec<&str> = lines(text).all.into_iter().map(|line| line.of(text)).collect();
        assert_eq!(found, ["a", "b\rc", "", "d"]);
        assert!(lines("").all.is_empty());
    }

    #[test]
    fn what_may_open_a_region() {
        let found = lines("a\n`b` ``\nc\n<```d\n~");
        let openers = found.openers.iter();
        let openers: Vec<_> =
            openers.map(|opener| (opener.line, opener.runs.clone(), opener.fence, opener.angle)).collect();
        assert_eq!(openers, [(1, 0..3, false, false), (3, 3..4, true, true), (4, 4..4, true, false)]);
        assert_eq!(found.runs.iter().map(|run| run.len).collect::<Vec<_>>(), [1, 1, 2, 3]);
    }

    #[test]
    fn headings_need_a_space() {
        let levels: Vec<_> =
            ["# a", "### b", "#c", "####### d", "   ## e", "    ## f", "##"].map(heading_level).into();
        assert_eq!(levels, [Some(1), Some(3), None, None, Some(2), None, Some(2)]);
    }
}
