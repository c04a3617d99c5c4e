//! The patterns of failures: their type, the kind of error, and the error's words without what varies.

use std::collections::BTreeMap;

use plan::ErrorType;

use super::history::{Span, SpanOutcome};
use crate::failure::{Cause, FailureType};

/// Characters of an error's words.
const WORDS_CHARS_MAX: usize = 100;

/// Something that several failures may have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// In which respect.
    pub kind: PatternKind,
    /// The thing that they have in common.
    pub name: String,
    /// How many of them.
    pub occurrences: usize,
}

/// In which respect failures are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatternKind {
    /// The type of the failure.
    Type,
    /// The kind of error, as far as its words tell.
    Category,
    /// The words of the error without what varies in them.
    Words,
}

/// The patterns of the failed attempts among the spans, the most common first.
pub(super) fn patterns(spans: &[Span]) -> Vec<Pattern> {
    let mut counts: BTreeMap<(PatternKind, String), usize> = BTreeMap::new();
    let mut count = |kind, name| *counts.entry((kind, name)).or_default() += 1;
    for span in spans {
        let (Some(failure_type), SpanOutcome::Failed { cause, kind, error }) =
            (span.failure_type(), &span.outcome)
        else {
            continue;
        };
        count(PatternKind::Type, failure_type.name().to_owned());
        if let Some(category) = category(*cause, *kind) {
            count(PatternKind::Category, category.to_owned());
        }
        count(PatternKind::Words, masked(error));
    }
    let patterns = counts.into_iter().filter(|((_, name), _)| !name.is_empty());
    let mut patterns: Vec<Pattern> =
        patterns.map(|((kind, name), occurrences)| Pattern { kind, name, occurrences }).collect();
    patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.occurrences));
    patterns
}

/// The kind of error in words for people; none where it would only say the type again or nothing at all.
fn category(cause: Cause, kind: ErrorType) -> Option<&'static str> {
    let kind = match cause.failure_type() {
        FailureType::Timeout => return None,
        FailureType::ExecutionError | FailureType::VerificationFailed | FailureType::ArchitectRejected
            if cause == Cause::PermissionDenied =>
        {
            ErrorType::Permission
        }
        FailureType::ExecutionError | FailureType::VerificationFailed | FailureType::ArchitectRejected => {
            kind
        }
    };
    match kind {
        ErrorType::MissingFile => Some("Missing files"),
        ErrorType::Syntax => Some("Syntax errors"),
        ErrorType::Type => Some("Type errors"),
        ErrorType::Test => Some("Test failures"),
        ErrorType::Lint => Some("Lint errors"),
        ErrorType::Build => Some("Build errors"),
        ErrorType::Dependency => Some("Dependency errors"),
        ErrorType::Permission => Some("Permission errors"),
        ErrorType::Timeout => Some("Timeouts"),
        ErrorType::Network => Some("Network errors"),
        ErrorType::Error => None,
    }
}

/// The words of an error with `N` for numbers and `<path>` for paths, so that two of a kind read the same.
pub(super) fn masked(error: &str) -> String {
    let mut text = String::new();
    for word in error.split_whitespace() {
        if text.chars().count() >= WORDS_CHARS_MAX {
            text.push('…');
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        mask_word(word, &mut text);
    }
    cut(text)
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(WORDS_CHARS_MAX) {
        text.truncate(end);
        text.truncate(text.trim_end().len());
        text.push('…');
    }
    text
}

/// The characters around paths in an error, as in `open('/tmp/a')` or `--file=src/b.rs`.
const AROUND_PATHS: &[char] = &['(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`', '=', ',', ';'];

fn mask_word(word: &str, text: &mut String) {
    for part in word.split_inclusive(AROUND_PATHS) {
        let bare = part.trim_end_matches(AROUND_PATHS).trim_end_matches([':', '.', '!', '?']);
        if is_path(bare) {
            text.push_str("<path>");
        } else {
            mask_numbers(bare, text);
        }
        text.push_str(&part[bare.len()..]);
    }
}

/// True if a word is a path and not something like `and/or` or `1/2`: it begins like one, or has a dot in it. A test in a
/// file is known by its name.
fn is_path(word: &str) -> bool {
    if word.contains("::") {
        return false;
    }
    let has_letter = word.contains(|character: char| character.is_alphabetic());
    let has_separator = word.contains(['/', '\\']);
    let is_rooted = word.starts_with(['/', '.', '~', '\\']);
    has_letter && has_separator && (is_rooted || word.contains('.') || word.matches(['/', '\\']).count() > 1)
}

fn mask_numbers(word: &str, text: &mut String) {
    let is_hex = |part: &str| {
        let has_digit = part.contains(|character: char| character.is_ascii_digit());
        let digits = part.strip_prefix("0x").unwrap_or(part);
        has_digit && digits.len() >= 7 && digits.chars().all(|character| character.is_ascii_hexdigit())
    };
    for part in word.split_inclusive(|character: char| !character.is_alphanumeric()) {
        let bare = part.trim_end_matches(|character: char| !character.is_alphanumeric());
        if is_hex(bare) {
            text.push('N');
        } else {
            mask_digits(bare, text);
        }
        text.push_str(&part[bare.len()..]);
    }
}

fn mask_digits(part: &str, text: &mut String) {
    let mut in_number = false;
    for character in part.chars() {
        let is_digit = character.is_ascii_digit();
        if !is_digit {
            text.push(character);
        } else if !in_number {
            text.push('N');
        }
        in_number = is_digit;
    }
}
