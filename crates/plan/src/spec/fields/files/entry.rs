//! The entries of one line of a Files field: paths in backticks or without, with labels before them, notes after them
//! and commas, semicolons or words between them.

use super::name::{self, Certainty, Name};
use crate::markdown::{Piece, pieces};

/// The meaning of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Path(&'a str),
    /// It names something, and nobody can tell what.
    Unclear(String),
}

/// The entries of a line.
pub(super) fn entries(line: &str) -> Vec<Entry<'_>> {
    let line = without_bullet(line);
    let parts = parts(unwrapped(line));
    if says_none(&parts) {
        return Vec::new();
    }
    let is_coded = parts.iter().any(|part| matches!(part, Part::Code(_)));
    if is_coded {
        return coded_entries(&parts);
    }
    let found = bare_entries(&parts, Words::MayBePaths);
    let is_clear = !found.iter().any(|entry| matches!(entry, Entry::Unclear(_)));
    // Beside prose, a word that could be a folder is prose, too.
    if is_clear { found } else { bare_entries(&parts, Words::AreProse) }
}

/// The use of a word without backticks that could be anything: a path, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    MayBePaths,
    AreProse,
}

/// The entries of a line in which something stands in backticks.
fn coded_entries<'a>(parts: &[Part<'a>]) -> Vec<Entry<'a>> {
    let mut found = Vec::new();
    let mut has_path = false;
    for entry in parts.split(|part| *part == Part::Comma) {
        for (place, part) in entry.split(|part| *part == Part::Dash).enumerate() {
            // What follows a dash describes the change: code in it is not a path.
            if place > 0 && has_path {
                return found;
            }
            let read = read(part, Words::AreProse);
            has_path |= read.iter().any(|entry| matches!(entry, Entry::Path(_)));
            found.extend(read);
        }
    }
    found
}

/// The entries of a line without backticks. Words after a dash need not be told.
fn bare_entries<'a>(parts: &[Part<'a>], words: Words) -> Vec<Entry<'a>> {
    let entries = parts.split(|part| *part == Part::Comma);
    let named =
        entries.filter_map(|entry| entry.split(|part| *part == Part::Dash).find(|part| !part.is_empty()));
    named.flat_map(|entry| read(entry, words)).collect()
}

/// A line without what makes it part of a list.
fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let rest = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(char::is_whitespace));
    let rest = rest.unwrap_or(line).trim_start();
    let is_box = rest.starts_with('[') && rest.get(2..4) == Some("] ");
    if is_box { rest.get(4..).unwrap_or_default() } else { rest }
}

/// The text in parentheses that are around all of a line.
fn unwrapped(line: &str) -> &str {
    let inner = line.strip_prefix('(').and_then(|line| line.strip_suffix(')'));
    inner.filter(|inner| !inner.contains(['(', ')'])).unwrap_or(line)
}

/// A part of a line, notes in parentheses left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'a> {
    Code(&'a str),
    Word(&'a str),
    /// Whatever stands between two entries.
    Comma,
    Dash,
}

fn parts(line: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    for piece in pieces(line) {
        match piece {
            Piece::Code(code) if depth == 0 => parts.push(Part::Code(code.trim())),
            // A note may name another file, as in `a/b.rs` (or `a/c.rs`).
            Piece::Code(code) if code.contains('/') => {
                parts.extend(name::read(code.trim()).map(|_| Part::Code(code.trim())));
            }
            Piece::Code(_) => {}
            Piece::Prose(prose) => {
                for word in prose.split_whitespace() {
                    depth = read_word(word, depth, &mut parts);
                }
            }
        }
    }
    parts
}

/// Takes in a word; the result is how many parentheses are open after it. One inside a word, as in `app/(auth)/x.ts`,
/// is part of a name.
fn read_word<'a>(word: &'a str, depth: usize, parts: &mut Vec<Part<'a>>) -> usize {
    if depth > 0 || word.starts_with('(') {
        let opened = depth + word.matches('(').count();
        let closed = opened.saturating_sub(word.matches(')').count());
        if closed == 0 && word.ends_with([',', ';']) {
            parts.push(Part::Comma);
        }
        return closed;
    }
    if matches!(word, "-" | "—" | "–" | "--" | "#") {
        parts.push(Part::Dash);
        return 0;
    }
    let is_between = matches!(word, "&" | "+" | "→" | "->" | "=>" | "|")
        || ["and", "or", "plus"].iter().any(|between| word.eq_ignore_ascii_case(between));
    if is_between {
        parts.push(Part::Comma);
        return 0;
    }
    split_at_commas(word, parts);
    0
}

/// Names in braces, as in `a.{js,ts}`, are one word.
fn split_at_commas<'a>(word: &'a str, parts: &mut Vec<Part<'a>>) {
    let mut from = 0;
    let mut braces = 0_usize;
    for (at, character) in word.char_indices() {
        match character {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            ',' | ';' if braces == 0 => {
                parts.extend((at > from).then(|| Part::Word(&word[from..at])));
                parts.push(Part::Comma);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.extend((from < word.len()).then(|| Part::Word(&word[from..])));
}

/// True if a line says that there are no files, in whatever words follow that.
fn says_none(parts: &[Part<'_>]) -> bool {
    let Some(Part::Word(word)) = parts.iter().find(|part| **part != Part::Dash) else { return false };
    let word = word.trim_end_matches(['.', ':']);
    ["none", "n/a", "na", "no", "nothing", "nil"].iter().any(|none| word.eq_ignore_ascii_case(none))
}

/// Words before a path that say what becomes of it.
const BEFORE: [&str; 22] = [
    "add",
    "all",
    "also",
    "any",
    "both",
    "change",
    "create",
    "delete",
    "edit",
    "every",
    "existing",
    "extend",
    "in",
    "maybe",
    "modify",
    "new",
    "optionally",
    "possibly",
    "remove",
    "rename",
    "the",
    "update",
];

/// Words after a path that say what it is.
const AFTER: [&str; 6] = ["file", "files", "folder", "folders", "directory", "dir"];
const FOLDER: [&str; 3] = ["folder", "directory", "dir"];

/// How long `Create:` and the like may be.
const LABEL_WORDS_MAX: usize = 3;

/// Reads the text between two commas.
fn read<'a>(entry: &[Part<'a>], bare: Words) -> Vec<Entry<'a>> {
    let entry = without_label(entry);
    let words: Vec<&str> =
        entry.iter().filter_map(|part| word(*part)).filter(|word| names_something(word)).collect();
    let codes: Vec<&str> = entry.iter().filter_map(|part| code(*part)).collect();
    let paths = if codes.is_empty() {
        bare_path(&words, bare).into_iter().collect()
    } else {
        coded_paths(&codes, &words)
    };
    if paths.is_empty() && !(words.is_empty() && codes.is_empty()) {
        let told: Vec<&str> = entry.iter().filter_map(|part| word(*part).or_else(|| code(*part))).collect();
        return vec![Entry::Unclear(told.join(" "))];
    }
    paths.into_iter().map(Entry::Path).collect()
}

fn code(part: Part<'_>) -> Option<&str> {
    match part {
        Part::Code(code) => Some(code).filter(|code| !code.is_empty()),
        Part::Word(_) | Part::Comma | Part::Dash => None,
    }
}

fn word(part: Part<'_>) -> Option<&str> {
    match part {
        Part::Word(word) => Some(word),
        Part::Code(_) | Part::Comma | Part::Dash => None,
    }
}

/// An entry without `Create:` and the like before it.
fn without_label<'a, 'b>(entry: &'b [Part<'a>]) -> &'b [Part<'a>] {
    let ends_label =
        |part: &Part<'_>| word(*part).is_some_and(|word| word.trim_end_matches('*').ends_with(':'));
    let label =
        entry.iter().take(LABEL_WORDS_MAX).take_while(|part| word(**part).is_some()).position(ends_label);
    label.map_or(entry, |end| &entry[end + 1..])
}

/// Emphasis and fences are no words.
fn names_something(word: &str) -> bool {
    word.contains(char::is_alphanumeric) || matches!(word, "." | "./" | "*" | "**")
}

/// The paths among what stands in backticks. A name that could be anything is one if nothing else is said of it.
fn coded_paths<'a>(codes: &[&'a str], words: &[&str]) -> Vec<&'a str> {
    let is_plain = words.iter().all(|word| is_one_of(word, &BEFORE) || is_one_of(word, &AFTER));
    let is_told = |code: &str| code.split(' ').next().is_some_and(|first| is_one_of(first, &BEFORE));
    let whole = |code: &'a str| if is_told(code) { name::read(code) } else { name::read_code(code) };
    let listed = codes.iter().flat_map(|code| match whole(code) {
        Some(name) => vec![name],
        None => code.split([',', ';']).filter_map(|part| whole(part.trim())).collect(),
    });
    let is_path = |name: &Name<'a>| match name.certainty {
        Certainty::Sure | Certainty::Known => true,
        Certainty::Bare => is_plain,
    };
    listed.filter(is_path).map(|name| name.path).collect()
}

/// The path that an entry without backticks is, apart from what says what becomes of it.
fn bare_path<'a>(words: &[&'a str], bare: Words) -> Option<&'a str> {
    let before = words.iter().take_while(|word| is_one_of(word, &BEFORE)).count();
    let after = words.iter().skip(before).rev().take_while(|word| is_one_of(word, &AFTER)).count();
    let [word] = words.get(before..words.len() - after)? else { return None };
    let name = name::read(word.trim_matches(['"', '\'']))?;
    let is_folder = words.last().is_some_and(|last| is_one_of(last, &FOLDER));
    let is_path = match name.certainty {
        Certainty::Sure | Certainty::Known => true,
        // A single word is a folder where everything is written without backticks: `src`, `docs`.
        Certainty::Bare => {
            bare == Words::MayBePaths
                && before == 0
                && (after == 0 || is_folder)
                && !word.contains(char::is_uppercase)
        }
    };
    is_path.then_some(name.path)
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    let word = word.trim_end_matches(':');
    list.iter().any(|known| word.eq_ignore_ascii_case(known))
}
