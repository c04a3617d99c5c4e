//! Names of files, folders and patterns: how they look.

use crate::verify::is_program;

/// Something that may be a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) path: &'a str,
    pub(super) certainty: Certainty,
}

/// How sure it is that a word is a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Certainty {
    /// It looks like nothing else: a folder in it, an extension, a wildcard.
    Sure,
    /// It is a name that files are given: `Makefile`, `LICENSE`.
    Known,
    /// It could be any word.
    Bare,
}

/// Words that look like names and are none.
const NO_NAMES: [&str; 24] = [
    "all",
    "any",
    "as",
    "deployment",
    "etc",
    "everything",
    "existing",
    "inline",
    "manual",
    "multiple",
    "n/a",
    "na",
    "new",
    "none",
    "other",
    "others",
    "same",
    "see",
    "several",
    "tbd",
    "todo",
    "unknown",
    "various",
    "varies",
];

/// Reads a word, or what stands in backticks.
pub(super) fn read(text: &str) -> Option<Name<'_>> {
    if matches!(text, "." | "./") {
        return Some(Name { path: ".", certainty: Certainty::Sure });
    }
    let path = plain(text);
    let is_named = path.contains(|c: char| c.is_alphanumeric() || c == '*');
    let is_word = NO_NAMES.iter().any(|word| path.eq_ignore_ascii_case(word));
    if !is_named || is_word || is_odd(path) {
        return None;
    }
    Some(Name { path, certainty: certainty(path)? })
}

/// Reads what stands in backticks: one path, also with spaces in it. Where it may be several, or a command, nobody can
/// tell.
pub(super) fn read_code(text: &str) -> Option<Name<'_>> {
    read(text).or_else(|| spaced(text))
}

fn spaced(text: &str) -> Option<Name<'_>> {
    let path = plain(text);
    let mut words = path.split(' ');
    let (first, last) = (words.next()?, words.next_back()?);
    let is_word = NO_NAMES.iter().any(|word| first.eq_ignore_ascii_case(word));
    // A program is followed by what it is to do with a path, and a name before the last word is a path of its own.
    let is_command = is_program(first) || path.split(' ').any(|word| word.starts_with('-'));
    let is_list = path.contains(',') || words.chain([first]).any(has_extension);
    let is_other = has_odd_characters(path) || path.contains(['\t', '&', '$', '(', '{']) || last.is_empty();
    let certainty = certainty(path).filter(|certainty| *certainty == Certainty::Sure)?;
    (!is_word && !is_command && !is_list && !is_other).then_some(Name { path, certainty })
}

/// True if a word ends as file names do.
fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    })
}

/// Without what people add to a path: punctuation, and the place inside the file.
fn plain(text: &str) -> &str {
    let text = without_emphasis(text);
    let text = text.strip_prefix("./").unwrap_or(text);
    let text = text.trim_end_matches([',', ';', ':']);
    let text = text.strip_suffix('.').filter(|text| text.ends_with(char::is_alphanumeric)).unwrap_or(text);
    let text = text.split_once("::").map_or(text, |(file, _)| file);
    // A place is a line, lines, or a line and a column, or what a link to it ends in.
    let anchored = text.rsplit_once('#').filter(|(file, place)| has_extension(file) && !place.contains('/'));
    let mut text = anchored.map_or(text, |(file, _)| file);
    for _ in 0..2 {
        text = text.rsplit_once(':').filter(|(_, lines)| is_lines(lines)).map_or(text, |(file, _)| file);
    }
    text
}

fn is_lines(text: &str) -> bool {
    let is_one = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'L');
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().all(is_one)
}

/// A name without the marks around it that make it bold or slanted. Patterns have stars at their ends, too, and some
/// folders are called `__tests__`.
fn without_emphasis(text: &str) -> &str {
    let between = |mark: &str| text.strip_prefix(mark)?.strip_suffix(mark);
    let is_path = |inner: &&str| inner.starts_with(char::is_alphanumeric) && has_extension(inner);
    let bold = between("**").or_else(|| between("__")).filter(|inner| is_path(inner) && !inner.contains('*'));
    let slanted = || between("_").filter(is_path);
    bold.or_else(slanted).filter(|inner| inner.ends_with(char::is_alphanumeric)).unwrap_or(text)
}

/// True if there is something in it that paths do not have.
fn is_odd(text: &str) -> bool {
    text.contains(char::is_whitespace)
        || has_odd_characters(text)
        || (text.contains('(') && !text.contains('/'))
}

fn has_odd_characters(text: &str) -> bool {
    text.contains(['=', '<', '>', '"', '\'', ';', '`', '|'])
        || text.contains("://")
        || text.contains("](")
        || text.starts_with('~') && !text.starts_with("~/")
        || text.starts_with(['-', '#', '@', '.', '/']) && !is_hidden_or_absolute(text)
}

/// `.github/x`, `/etc/x`, `../x`: a dot or a slash with a name after it.
fn is_hidden_or_absolute(text: &str) -> bool {
    text.trim_start_matches(['.', '/'])
        .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '*' | '_' | '{' | '['))
        && text.starts_with(['.', '/'])
}

fn certainty(path: &str) -> Option<Certainty> {
    // A full stop at the end is the end of a sentence.
    let inner = path.trim_end_matches('.');
    if inner.contains(['/', '.', '*']) {
        return Some(Certainty::Sure);
    }
    let is_word = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+'));
    if !is_word {
        return None;
    }
    Some(if is_known(path) { Certainty::Known } else { Certainty::Bare })
}

/// `README` and `LICENSE` stand in capitals; `Dockerfile` and its like say what they are.
fn is_known(word: &str) -> bool {
    const SHORTEST: usize = 4;
    let is_capital = |c: char| c.is_ascii_uppercase() || matches!(c, '_' | '-');
    let is_shouted = word.len() >= SHORTEST && word.chars().all(is_capital);
    is_shouted || (word.len() > SHORTEST && word.ends_with("file")) || word == "Justfile"
}

/// A path with slashes between its folders, and without what Markdown needs before an underscore. Other backslashes may
/// be part of a pattern.
pub(super) fn normalized_path(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut characters = path.chars().peekable();
    let mut before = '\\';
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or('\\');
        let is_name = |character: char| character.is_alphanumeric() || matches!(character, '.' | '-');
        match character {
            '\\' if next == '_' => {}
            '\\' if (is_name(before) || before == '_') && is_name(next) => plain.push('/'),
            other => plain.push(other),
        }
        before = character;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_divided_by_slashes() {
        for (path, expected) in [
            ("src\\sub\\a.rs", "src/sub/a.rs"),
            ("src/my\\_file.rs", "src/my_file.rs"),
            ("src/\\*.rs", "src/\\*.rs"),
            ("src/\\[id\\].rs", "src/\\[id\\].rs"),
            ("a/b\\", "a/b\\"),
        ] {
            assert_eq!(normalized_path(path), expected);
        }
    }
}
