//! Lines as spans of the text that they are in.

use std::ops::Range;

use super::code_span::Run;

/// How many bytes are compared at once. The loops over a block have no branches, so that the compiler can
/// make vector instructions of them.
const BLOCK: usize = 32;

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

    /// The line without the byte order mark that some editors begin a file with.
    pub(crate) fn after_mark(self, text: &str) -> Line {
        const MARK: char = '\u{feff}';
        let skip = if self.start == 0 && text.starts_with(MARK) { MARK.len_utf8() } else { 0 };
        Line { start: self.start + skip, ..self }
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
    /// True if there is a tilde or a run of three backticks, without which there is no fence.
    pub(crate) fence: bool,
    /// True if there is a `<`, without which there is neither a heredoc nor a comment.
    pub(crate) angle: bool,
}

/// The lines of `text`. Only a line feed ends a line; a carriage return before it belongs to the ending.
pub(crate) fn lines(text: &str) -> Lines {
    let bytes = text.as_bytes();
    let mut lines = Lines::with_capacity(text.len());
    let mut line = Unfinished::default();
    each_of(bytes, *b"\n`~<", |at| match bytes[at] {
        b'\n' => {
            let ending = usize::from(at > line.start && bytes[at - 1] == b'\r');
            lines.finish(&line, at - ending);
            line = Unfinished { start: at + 1, runs: lines.runs.len(), fence: false, angle: false };
        }
        b'`' => line.fence |= lines.backtick(at) == FENCE_LEN_MIN,
        b'<' => line.angle = true,
        _ => line.fence = true,
    });
    if line.start < text.len() {
        lines.finish(&line, text.len());
    }
    lines
}

/// The facts about a line before its end is found.
#[derive(Debug, Default)]
struct Unfinished {
    start: usize,
    /// How many runs of backticks are before it.
    runs: usize,
    fence: bool,
    angle: bool,
}

impl Lines {
    /// Space for what a text of so many bytes usually has.
    fn with_capacity(bytes: usize) -> Self {
        let usual = bytes / 32 + 1;
        Lines {
            all: Vec::with_capacity(usual),
            openers: Vec::with_capacity(usual / 2),
            runs: Vec::with_capacity(usual),
        }
    }

    fn finish(&mut self, line: &Unfinished, end: usize) {
        let runs = line.runs..self.runs.len();
        if !runs.is_empty() || line.fence || line.angle {
            let number = self.all.len();
            self.openers.push(Opener { line: number, runs, fence: line.fence, angle: line.angle });
        }
        self.all.push(Line { start: line.start, end });
    }

    /// Takes note of a backtick; returns how many there are now in a row.
    fn backtick(&mut self, at: usize) -> usize {
        match self.runs.last_mut().filter(|run| run.end() == at) {
            Some(run) => {
                run.len += 1;
                run.len
            }
            None => {
                self.runs.push(Run { start: at, len: 1 });
                1
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

/// Calls `found` with the position of each byte of `bytes` that is one of the `needles`, in order. NUL cannot
/// be a needle. The standard library looks for one byte only and starts anew after each, which is most of the work
/// where lines are short.
pub(crate) fn each_of<const N: usize>(bytes: &[u8], needles: [u8; N], mut found: impl FnMut(usize)) {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let equal = equal_bytes(block, needles);
        for (part, word) in equal.as_chunks::<8>().0.iter().enumerate() {
            let mut hits = u64::from_le_bytes(*word);
            while hits != 0 {
                found(number * BLOCK + part * 8 + (hits.trailing_zeros() / 8) as usize);
                hits &= hits - 1;
            }
        }
    }
}

/// One for each byte of `block` that is one of the needles, zero for the others.
fn equal_bytes<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> [u8; BLOCK] {
    block.map(|byte| needles.iter().fold(0, |equal, &needle| equal | u8::from(byte == needle)))
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

    #[test]
    fn bytes_are_found_as_by_a_plain_loop() {
        let mut text: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        while text.pop().is_some() {
            let mut found = Vec::new();
            each_of(&text, *b"\n`<\xff", |at| found.push(at));
            let expected = (0..text.len()).filter(|&at| b"\n`<\xff".contains(&text[at]));
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
