//! Lines as spans of the text that they are in.

use std::ops::Range;

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

/// The lines of `text`. Only a line feed ends a line; a carriage return before it belongs to the ending.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for raw in text.split_inclusive('\n') {
        let content = raw.strip_suffix('\n').map_or(raw, |raw| raw.strip_suffix('\r').unwrap_or(raw));
        lines.push(Line { start, end: start + content.len() });
        start += raw.len();
    }
    lines
}

/// How many bytes of spaces and tabs a line begins with.
pub(crate) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The level of an ATX heading, `None` for any other line.
pub(crate) fn heading_level(line: &str) -> Option<usize> {
    let rest = line.trim_start_matches(' ');
    if line.len() - rest.len() > 3 {
        return None;
    }
    let level = rest.bytes().take_while(|&byte| byte == b'#').count();
    let after = rest[level..].bytes().next();
    ((1..=6).contains(&level) && after.is_none_or(|byte| byte == b' ' || byte == b'\t')).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_belongs_to_the_ending() {
        let text = "a\r\nb\rc\n\nd";
        let found: Vec<&str> = lines(text).into_iter().map(|line| line.of(text)).collect();
        assert_eq!(found, ["a", "b\rc", "", "d"]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn headings_need_a_space() {
        let levels: Vec<_> =
            ["# a", "### b", "#c", "####### d", "   ## e", "    ## f", "##"].map(heading_level).into();
        assert_eq!(levels, [Some(1), Some(3), None, None, Some(2), None, Some(2)]);
    }
}
