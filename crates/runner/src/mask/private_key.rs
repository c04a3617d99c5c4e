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
        let Some(body) = body_of(line) else { return line.into() };
        let (before, from) = line.split_at(body);
        if from.trim().is_empty() {
            self.place = Place::Begun;
            return line.into();
        }
        let end = from
            .find(END)
            .unwrap_or_else(|| from.find(|character| !is_of_body(character)).unwrap_or(from.len()));
        let (masked, after) = from.split_at(end);
        let masked = if masked.chars().filter(|character| is_of_key(*character)).count() < RUN_MIN {
            masked
        } else {
            MASK
        };
        format!("{before}{masked}{after}").into()
    }
}

/// The place behind the words that begin a key.
fn body_of(line: &str) -> Option<usize> {
    let begin = line.find(BEGIN)? + BEGIN.len();
    let dashes = line[begin..].find(DASHES)?;
    line[begin..begin + dashes].contains(NAME).then_some(begin + dashes + DASHES.len())
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
    let longest = line.split(|character| !is_of_key(character)).map(str::len).max().unwrap_or_default();
    longest == line.len() || (longest >= RUN_MIN && longest * 2 >= line.len())
}

/// The place behind a key's end where the text begins in the middle of one.
pub(super) fn end_of_rest(text: &str) -> Option<usize> {
    let end = text.find(END)?;
    let is_rest = text.find(BEGIN).is_none_or(|begin| begin > end);
    (is_rest && text[end..].lines().next().is_some_and(|line| line.contains(NAME))).then_some(end)
}
