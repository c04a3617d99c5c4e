//! Tasks that checks, reviews and threads ask for, and the ids that they get.

use plan::TaskId;

use super::lifecycle::{Lifecycle, Place};
use super::look::{Look, Review, ReviewState, Thread};
use super::report::CheckLog;
use super::request::{CheckRef, Origin, Request};
use crate::state::State;

/// How many tasks one look may ask for; the rest is asked for at the next push.
const REQUESTS_MAX: usize = 20;

/// Files that a review may name.
const FILES_MAX: usize = 10;

/// Characters of a log or a thread that are kept.
const TEXT_CHARS_MAX: usize = 4_000;

/// A task that is asked for and has no id yet.
pub(super) struct Draft {
    origin: Origin,
    summary: String,
    text: String,
    file: Option<String>,
    line: Option<u64>,
    /// Further files that it names.
    more_files: Vec<String>,
}

/// The tasks that reviews and threads ask for and did not get yet.
pub(super) fn unaddressed(lifecycle: &Lifecycle, look: &Look) -> Vec<Draft> {
    let is_new = |id: &String, latest: &String| lifecycle.addressed.get(id) != Some(latest);
    let threads =
        look.threads.iter().filter(|thread| !thread.resolved && is_new(&thread.id, &thread.comment));
    let latest = look.latest_reviews();
    let asks = |review: &&&Review| {
        let has_words = !review.body.trim().is_empty();
        review.state == ReviewState::ChangesRequested && has_words && is_new(&review.id, &review.id)
    };
    let reviews = latest.iter().filter(asks).map(|review| of_review(review));
    reviews.chain(threads.map(of_thread)).take(REQUESTS_MAX).collect()
}

fn of_review(review: &Review) -> Draft {
    let mut places = named_places(&review.body).into_iter();
    let (file, line) = places.next().map_or((None, None), |(file, line)| (Some(file), line));
    Draft {
        origin: Origin::Review { review: review.id.clone(), author: review.author.clone() },
        summary: review.body.clone(),
        text: review.body.clone(),
        file,
        line,
        more_files: places.map(|(file, _)| file).collect(),
    }
}

/// The files that a text names, each once, with the line where it says one: paths with an extension, or bare names of
/// files as code.
fn named_places(text: &str) -> Vec<(String, Option<u64>)> {
    let mut places: Vec<(String, Option<u64>)> = Vec::new();
    let codes =
        text.split('`').enumerate().filter(|(number, _)| number % 2 == 1).map(|(_, code)| code.trim());
    let words = text.split_whitespace().filter(|word| word.contains('/')).map(without_punctuation);
    for word in codes.chain(words) {
        let word = word.strip_prefix("./").unwrap_or(word);
        let (path, line) = match word.split_once(':') {
            Some((path, rest)) => (path, rest.split(':').next().and_then(|line| line.parse().ok())),
            None => (word, None),
        };
        let is_new = places.iter().all(|(known, _)| known != path);
        if is_new && is_file_name(path) && places.len() < FILES_MAX {
            places.push((path.to_owned(), line));
        }
    }
    places
}

fn without_punctuation(word: &str) -> &str {
    word.trim_start_matches(['(', '[', '"', '\'', '`', '*'])
        .trim_end_matches([')', ']', '"', '\'', '`', '*', ',', '.', ';', ':', '!', '?'])
}

/// True for a path whose last part has an extension, and is nothing else.
fn is_file_name(path: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@');
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let has_extension = extension.is_some_and(|(name, extension)| {
        let is_word = extension.starts_with(|c: char| c.is_ascii_alphabetic());
        !name.is_empty() && is_word && extension.len() <= 10 && extension.chars().all(char::is_alphanumeric)
    });
    has_extension && path.chars().all(is_plain) && is_inside(path)
}

fn of_thread(thread: &Thread) -> Draft {
    Draft {
        origin: Origin::Thread {
            thread: thread.id.clone(),
            comment: thread.comment.clone(),
            author: thread.author.clone(),
        },
        summary: thread.summary.clone(),
        text: thread.text.clone(),
        file: Some(thread.path.clone()).filter(|path| is_inside(path)),
        line: thread.line,
        more_files: Vec::new(),
    }
}

/// True if a path is one of a file in the repository, and nothing else.
fn is_inside(path: &str) -> bool {
    let is_odd = |c: char| c.is_control() || c == '`';
    let is_step = |part: &str| !part.is_empty() && part != "..";
    !path.contains(is_odd) && path.split('/').all(is_step)
}

/// The tasks that red checks ask for. One whose log could not be read asks all the same.
pub(super) fn of_checks(checks: &[CheckRef], logs: &[CheckLog]) -> Vec<Draft> {
    checks.iter().take(REQUESTS_MAX).map(|check| of_check(check, logs)).collect()
}

fn of_check(check: &CheckRef, logs: &[CheckLog]) -> Draft {
    let log = logs.iter().find(|log| log.label == check.label);
    let said = log.map(|log| log.summary.clone()).filter(|summary| !summary.trim().is_empty());
    Draft {
        origin: Origin::Check {
            check: check.label.clone(),
            step: log.and_then(|log| log.step.clone()),
            url: check.url.clone(),
        },
        summary: said.unwrap_or_else(|| own_words(check)),
        text: log.map(|log| log.tail.clone()).unwrap_or_default(),
        file: log.and_then(|log| log.file.clone()),
        line: log.and_then(|log| log.line),
        more_files: Vec::new(),
    }
}

/// The check's own words; its name, where it says nothing.
fn own_words(check: &CheckRef) -> String {
    if check.summary.trim().is_empty() { check.label.clone() } else { check.summary.clone() }
}

/// Gives the drafts the next free numbers.
pub(super) fn number(state: &State, place: &Place, drafts: Vec<Draft>) -> Vec<Request> {
    let series = place.series.as_str();
    let known = state.tasks().iter().map(|task| task.id());
    let asked = state.pull_request.requests.keys();
    let last = known.chain(asked).filter_map(|id| number_of(id, series)).max().unwrap_or(0);
    let numbers = last.saturating_add(1)..;
    let head = &place.head;
    drafts.into_iter().zip(numbers).map(|(draft, number)| request(draft, series, number, head)).collect()
}

fn number_of(id: &TaskId, series: &str) -> Option<u32> {
    id.name().strip_prefix(series)?.parse().ok()
}

fn request(draft: Draft, series: &str, number: u32, head: &str) -> Request {
    Request {
        id: TaskId::new(&format!("{series}{number}")),
        origin: draft.origin,
        summary: without_references(&plan::one_line(&draft.summary)),
        text: end_of(&draft.text),
        file: draft.file,
        line: draft.line,
        more_files: draft.more_files,
        head: head.to_owned(),
    }
}

/// A summary becomes part of commit messages and of what the pull request says, where `#12` and `@name` would do
/// something: close an issue, call a person. Here they are only quoted.
fn without_references(text: &str) -> String {
    let mut tame = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        tame.push(character);
        let next = characters.peek().copied().unwrap_or(' ');
        let is_number = next.is_ascii_digit();
        let is_reference = match character {
            '#' => is_number,
            '@' => next.is_alphanumeric(),
            '-' => is_number && tame.to_ascii_lowercase().ends_with("gh-"),
            '/' => is_number && (tame.ends_with("/issues/") || tame.ends_with("/pull/")),
            _ => false,
        };
        if is_reference {
            tame.push(' ');
        }
    }
    tame
}

fn end_of(text: &str) -> String {
    let from = text.char_indices().rev().nth(TEXT_CHARS_MAX - 1).map_or(0, |(at, _)| at);
    text[from..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Option<u64>)]) {
        let expected: Vec<_> = expected.iter().map(|(file, line)| ((*file).to_owned(), *line)).collect();
        assert_eq!(named_places(text), expected, "{text}");
    }

    #[test]
    fn files_that_a_review_names() {
        check(
            "Rename it in src/parser.rs:12 and (docs/use.md), please.",
            &[("src/parser.rs", Some(12)), ("docs/use.md", None)],
        );
        check(
            "`main.rs` and `./lib/a-b.test.ts:3:1` and `main.rs`",
            &[("main.rs", None), ("lib/a-b.test.ts", Some(3))],
        );
        check("See https://example.com/a.html, and/or e.g. `x()` or `foo.bar()` in v1.2, 1/2 done", &[]);
        check("`../etc/passwd.txt` `/etc/hosts.txt` main.rs", &[]);
    }
}
