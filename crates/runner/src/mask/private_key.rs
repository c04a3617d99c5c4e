//! Private keys, which take several lines, or one with escaped line breaks in it.

use std::borrow::Cow;

use crate::mask::MASK;

pub(super) const BEGIN: &str = "-----BEGIN ";
pub(super) const NAME: &str = "PRIVATE KEY";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// The shortest run of a key's characters in a line that has others as well, such as its number.
const RUN_MIN: usize = 16;

/// Where in a key one is, line by line.
#[derive(Debug, Default)]
pub(super) struct KeyBlock {
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    /// Below the first line.
    Begun,
    /// Below a line that was masked: the others are left out.
    Masked,
}

impl KeyBlock {
    pub(super) fn is_open(&self) -> bool {
        self.place != Place::Outside
    }

    /// A line without what is within a key.
    pub(super) fn without_body<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if self.is_open() {
            if is_body(line) {
                let is_first = std::mem::replace(&mut self.place, Place::Masked) == Place::Begun;
                return if is_first { format!("{MASK}\n").into() } else { "".into() };
            }
            self.place = Place::Outside;
        }
        let (mut kept, mut rest) = (String::new(), line);
        while let Some(body) = body_of(rest) {
            let (before, from) = rest.split_at(body);
            kept.push_str(before);
            rest = from;
            if from.trim().is_empty() {
                self.place = Place::Begun;
                break;
            }
            // A key has no dashes in it.
            let dashes = from.find(DASHES).filter(|dashes| from[*dashes..].starts_with(END));
            let end =
                dashes.unwrap_or_else(|| from.find(|character| !is_of_body(character)).unwrap_or(from.len()));
            let (body, after) = from.split_at(end);
            kept.push_str(if longest_run(body) < RUN_MIN { body } else { MASK });
            rest = after;
        }
        if kept.is_empty() { line.into() } else { (kept + rest).into() }
    }

    /// Goes on outside of a key.
    pub(super) fn close(&mut self) {
        self.place = Place::Outside;
    }
}

/// The place behind the words that begin a key.
fn body_of(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let begin = from + text[from..].find(BEGIN)? + BEGIN.len();
        let dashes = begin + text[begin..].find(DASHES)?;
        if text[begin..dashes].contains(NAME) {
            return Some(dashes + DASHES.len());
        }
        from = dashes;
    }
}

/// True if a line begins a key, and is not only about keys.
pub(super) fn begins_in(line: &str) -> bool {
    body_of(line).is_some_and(|body| {
        let rest = line[body..].trim();
        rest.is_empty() || rest.starts_with(['\\', '+', '/']) || rest.starts_with(char::is_alphanumeric)
    })
}

fn is_of_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=')
}

fn is_of_body(character: char) -> bool {
    is_of_key(character) || matches!(character, '\\' | ' ' | '\t' | '\r' | '\n')
}

/// True for a line of a key; it may have a number or a mark before it, as listings and differences do.
fn is_body(line: &str) -> bool {
    let line = line.trim();
    if line.is_empty() || line.starts_with("Proc-Type:") || line.starts_with("DEK-Info:") {
        return true;
    }
    let is_mark = |c: char| c.is_whitespace() || "→|:+>".contains(c);
    let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || is_mark(c));
    let longest = longest_run(line);
    longest == line.len() || (longest >= RUN_MIN && longest * 2 >= line.len())
}

fn longest_run(text: &str) -> usize {
    text.split(|character| !is_of_key(character)).map(str::len).max().unwrap_or_default()
}

/// The place behind a key's end where the text begins in the middle of one.
pub(super) fn end_of_rest(text: &str) -> Option<usize> {
    let end = text.find(END)?;
    let is_rest = text.find(BEGIN).is_none_or(|begin| begin > end);
    (is_rest && text[end..].lines().next().is_some_and(|line| line.contains(NAME))).then_some(end)
}
