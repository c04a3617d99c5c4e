//! The text of an output, ready to be read: without colours, with paths from the project's root. And what lines of many
//! tools are made of: places in files, counts, exceptions.

/// Bytes of a line that are looked at.
const LINE_BYTES_MAX: usize = 2_000;

/// The output without terminal sequences and without the root in front of its paths.
pub(super) fn plain(output: &str, root: &str) -> String {
    let is_coloured = output.contains('\u{1b}') || output.contains('\r');
    let mut text = if is_coloured { uncoloured(output) } else { output.to_owned() };
    let root = format!("{}/", root.trim_end_matches('/'));
    if root.len() > 1 && text.contains(&root) {
        text = text.replace(&root, "");
    }
    text
}

fn uncoloured(output: &str) -> String {
    let mut text = String::with_capacity(output.len());
    let mut rest = output;
    while let Some(at) = rest.find(['\u{1b}', '\r']) {
        text.push_str(&rest[..at]);
        let is_return = rest[at..].starts_with('\r');
        rest = &rest[at + 1..];
        if is_return {
            // A lone one lets a line of progress be written over.
            text.push_str(if rest.starts_with('\n') { "" } else { "\n" });
        } else if let Some(sequence) = rest.strip_prefix('[') {
            let end = sequence.find(|character: char| ('@'..='~').contains(&character));
            rest = end.map_or("", |end| &sequence[end + 1..]);
        } else if let Some(set) = rest.strip_prefix(['(', ')']) {
            rest = set.strip_prefix(|character: char| character.is_ascii_alphanumeric()).unwrap_or(set);
        }
    }
    text.push_str(rest);
    text
}

/// The lines, each bounded and without white space at its end.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.lines().map(|line| cut(line).trim_end()).collect()
}

fn cut(line: &str) -> &str {
    if line.len() <= LINE_BYTES_MAX {
        return line;
    }
    let end = (0..=LINE_BYTES_MAX).rev().find(|end| line.is_char_boundary(*end));
    &line[..end.unwrap_or(0)]
}

/// True if a line stands for a part of the output that is missing.
pub(super) fn is_omission(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(" bytes left out]")
}

/// A place in a file at the beginning of a line, and what follows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub file: &'a str,
    pub line: u32,
    pub column: Option<u32>,
    pub rest: &'a str,
}

impl<'a> Place<'a> {
    /// The place that a line begins with: `a.c:1:2: …`, `a.ts(1,2): …`, `A.java:[1,2] …`.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        let word = &line[..line.find([' ', '\t']).unwrap_or(line.len())];
        let mut from = 0;
        while let Some(found) = word[from..].find([':', '(']) {
            let at = from + found;
            let behind = &line[at + 1..];
            let behind = behind.strip_prefix('[').unwrap_or(behind);
            if let Some((number, rest)) = number(behind) {
                let file = &word[..at];
                let is_file = file.contains(['.', '/']) && !file.contains(['"', '\'', '(', '=']);
                return is_file.then(|| Self::behind(file, number, rest));
            }
            from = at + 1;
        }
        None
    }

    fn behind(file: &'a str, line: u32, rest: &'a str) -> Self {
        let column = rest.strip_prefix([':', ',']).and_then(number);
        let (column, rest) = match column {
            Some((column, rest)) => (Some(column), rest),
            None => (None, rest),
        };
        Self { file, line, column, rest: rest.strip_prefix([')', ']']).unwrap_or(rest) }
    }

    /// The place as people write it.
    pub(super) fn shown(&self) -> String {
        match self.column {
            Some(column) => format!("{}:{}:{column}", self.file, self.line),
            None => format!("{}:{}", self.file, self.line),
        }
    }
}

/// The number that a text begins with, and what follows it.
pub(super) fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// True if a line begins with a digit.
pub(super) fn begins_with_digit(line: &str) -> bool {
    line.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

/// The sum of the numbers that stand before these words, where at least one does.
pub(super) fn counted(line: &str, words: &[&str]) -> Option<u32> {
    let mut sum = None;
    let mut before: Option<u32> = None;
    for token in line.split_whitespace() {
        let word = token.trim_matches(|character: char| !character.is_alphanumeric());
        if let Some(count) = before.filter(|_| words.contains(&word)) {
            sum = Some(sum.unwrap_or(0) + count);
        }
        before = word.parse().ok();
    }
    sum
}

/// The number behind a label.
pub(super) fn labelled(line: &str, label: &str) -> Option<u32> {
    let at = line.find(label)?;
    number(line[at + label.len()..].trim_start()).map(|(number, _)| number)
}

/// True if a line begins with the name of an exception and says what it is about.
pub(super) fn is_exception(line: &str) -> bool {
    let end = line.find([':', ' ']).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let is_name =
        name.chars().all(|character| character.is_alphanumeric() || matches!(character, '.' | '_' | '\\'));
    let is_told = rest.starts_with(": ") || rest.starts_with(" [");
    is_name && is_told && ["Error", "Exception", "Failure"].iter().any(|end| name.ends_with(end))
}

/// The first of some lines that is not blank; one that ends in a colon together with the next.
pub(super) fn first_told<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut lines = lines.into_iter().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return String::new() };
    // The legend of a comparison says nothing.
    match lines.next().filter(|second| first.ends_with(':') && !second.starts_with("+ ")) {
        Some(second) => format!("{first} {second}"),
        None => first.to_owned(),
    }
}

/// How far a line is indented.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Where the block ends that begins behind a line: at the first line that is the beginning of something else.
pub(super) fn end_of_block(lines: &[&str], from: usize, ends: impl Fn(&str) -> bool) -> usize {
    lines.iter().skip(from).position(|line| ends(line)).map_or(lines.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        for (line, expected) in [
            ("main.c:5:27: error: x", Some(("main.c:5:27", ": error: x"))),
            ("src/a.ts(4,7): error TS1: x", Some(("src/a.ts:4:7", ": error TS1: x"))),
            ("src/a.ts:4:7 - error TS1: x", Some(("src/a.ts:4:7", " - error TS1: x"))),
            ("src/Calc.java:[5,26] x", Some(("src/Calc.java:5:26", " x"))),
            ("a.py:2: error: x", Some(("a.py:2", ": error: x"))),
            ("tests/test_calc.py:19:", Some(("tests/test_calc.py:19", ":"))),
            ("12:30:01 a.py:2", None),
            ("warning: a.py:2", None),
            ("f(1)", None),
            ("a.c:99999999999999: x", None),
        ] {
            let place = Place::read(line).map(|place| (place.shown(), place.rest.to_owned()));
            assert_eq!(place, expected.map(|(shown, rest)| (shown.to_owned(), rest.to_owned())), "{line}");
        }
    }

    #[test]
    fn counts() {
        assert_eq!(counted("Tests:  2 failed, 1 passed, 3 total", &["failed", "passed"]), Some(3));
        assert_eq!(counted("2 failed | 1 passed (3)", &["passed"]), Some(1));
        assert_eq!(counted("1 xfailed, 1 skipped", &["failed"]), None);
        assert_eq!(labelled("Tests run: 3, Skipped: 1", "Skipped:"), Some(1));
    }

    #[test]
    fn terminal_sequences_and_the_root_go() {
        let output =
            "\u{1b}[1m\u{1b}[31mFAIL\u{1b}(B\u{1b}[m /home/dev/project/a.js\r\n10%\r100%\r\nhalf \u{1b}[";
        assert_eq!(plain(output, "/home/dev/project/"), "FAIL a.js\n10%\n100%\nhalf ");
    }
}
