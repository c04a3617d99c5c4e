//! The trouble that keeps an agent from going on, told from the fields in which agents report errors. Neither what a
//! tool printed nor what the model said is ever read for it; standard error is, where an agent ended badly before it
//! had begun.

use std::time::Duration;

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::wait::{self, WAIT_MAX};

/// Something that kept an agent from going on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The kind.
    pub kind: TroubleKind,
    /// The agent's words.
    pub text: String,
    /// The time the service asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// The kind of something that kept an agent from going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// Too many requests.
    RateLimit,
    /// The service has too much to do, or broke.
    Overload,
    /// The connection broke.
    Connection,
    /// The agent was interrupted.
    Interrupted,
    /// The account has nothing left.
    Quota,
    /// The account is not accepted.
    Authentication,
    /// The agent does not understand how it is started.
    Misuse,
    /// The session that was to be taken up is not known.
    UnknownSession,
    /// The model does not want to.
    Refusal,
    /// The agent's own limit of turns.
    Turns,
    /// The agent's own limit of money.
    Budget,
    /// The model's limit of tokens in an answer.
    AnswerLength,
    /// Something else.
    Other,
}

/// Words of services, lower case, in the order in which they are looked for.
const WORDS: &[(&str, TroubleKind)] = &[
    ("max_output_tokens", TroubleKind::AnswerLength),
    ("output token maximum", TroubleKind::AnswerLength),
    ("credit balance", TroubleKind::Quota),
    ("insufficient_quota", TroubleKind::Quota),
    ("billing", TroubleKind::Quota),
    ("usage limit", TroubleKind::Quota),
    ("quota exceeded", TroubleKind::Quota),
    ("exceeded your current quota", TroubleKind::Quota),
    ("api key", TroubleKind::Authentication),
    ("invalid_api_key", TroubleKind::Authentication),
    ("missing environment variable", TroubleKind::Authentication),
    ("authentication", TroubleKind::Authentication),
    ("unauthorized", TroubleKind::Authentication),
    ("not logged in", TroubleKind::Authentication),
    ("please run /login", TroubleKind::Authentication),
    ("rate limit", TroubleKind::RateLimit),
    ("rate_limit", TroubleKind::RateLimit),
    ("too many requests", TroubleKind::RateLimit),
    ("overloaded", TroubleKind::Overload),
    ("at capacity", TroubleKind::Overload),
    ("internal server error", TroubleKind::Overload),
    ("internalservererror", TroubleKind::Overload),
    ("server_error", TroubleKind::Overload),
    ("service unavailable", TroubleKind::Overload),
    ("stream disconnected", TroubleKind::Connection),
    ("stream ended without a finish reason", TroubleKind::Connection),
    ("connection error", TroubleKind::Connection),
    ("connection refused", TroubleKind::Connection),
    ("network error", TroubleKind::Connection),
    ("fetch failed", TroubleKind::Connection),
    ("premature close", TroubleKind::Connection),
    ("socket hang up", TroubleKind::Connection),
    ("other side closed", TroubleKind::Connection),
    ("econnrefused", TroubleKind::Connection),
    ("econnreset", TroubleKind::Connection),
    ("timed out", TroubleKind::Connection),
    ("usage policy", TroubleKind::Refusal),
    ("content_filter", TroubleKind::Refusal),
    ("content filter", TroubleKind::Refusal),
];

/// The bytes of an error that are looked at.
const TEXT_BYTES_MAX: usize = 4_096;

impl Trouble {
    /// Trouble of a known kind.
    pub(crate) fn new(kind: TroubleKind, text: impl Into<String>) -> Self {
        let text = cut(text.into());
        let retry_after = wait::asked_for(&text);
        Self { kind, text, retry_after }
    }

    /// Trouble that a service answered with a status; words decide where that says little.
    pub(crate) fn of_status(status: u64, text: impl Into<String>) -> Self {
        let text = text.into();
        let of_account = is_account_limit(&text).then_some(TroubleKind::Quota);
        Self::new(of_account.or_else(|| of_status(status)).unwrap_or_else(|| of_words(&text)), text)
    }

    /// Trouble of which there are only words.
    pub(crate) fn of_text(text: impl Into<String>) -> Self {
        let text = text.into();
        match status_in(&text) {
            Some(status) => Self::of_status(status, text),
            None if is_account_limit(&text) => Self::new(TroubleKind::Quota, text),
            None => Self::new(of_words(&text), text),
        }
    }

    /// Adds a wait that was told elsewhere.
    pub(crate) fn or_after(self, wait: Option<Duration>) -> Self {
        Self { retry_after: self.retry_after.or(wait.map(|wait| wait.min(WAIT_MAX))), ..self }
    }
}

/// True if an account has nothing left for a long time, by words that services use for nothing else. Too many requests
/// are answered with the same status and with other words about a quota.
pub(super) fn is_account_limit(text: &str) -> bool {
    const WORDS: [&str; 5] = [
        "exhausted your daily quota",
        "usage limit reached",
        "session limit reached",
        "weekly limit reached",
        "limit reached|",
    ];
    /// The words that may stand between "your" and "limit".
    const KINDS_MAX: usize = 2;
    let text = text.to_lowercase();
    let is_hit = text.match_indices("hit your ").any(|(at, words)| {
        let named = text[at + words.len()..].split_whitespace().take(KINDS_MAX + 1);
        // A limit of requests is over soon.
        let named = named.take_while(|word| *word != "rate");
        let mut named = named.map(|word| word.trim_end_matches(['.', ',', '!']));
        named.any(|word| word == "limit")
    });
    is_hit || WORDS.iter().any(|words| text.contains(words))
}

fn of_status(status: u64) -> Option<TroubleKind> {
    match status {
        401 | 403 => Some(TroubleKind::Authentication),
        402 => Some(TroubleKind::Quota),
        429 => Some(TroubleKind::RateLimit),
        408 | 500..=599 => Some(TroubleKind::Overload),
        _ => None,
    }
}

fn of_words(text: &str) -> TroubleKind {
    let text = text.to_lowercase();
    let found = WORDS.iter().find(|(words, _)| text.contains(words));
    found.map_or(TroubleKind::Other, |(_, kind)| *kind)
}

/// The number that an error begins with, or the one after the word "status": so services' answers are told of.
fn status_in(text: &str) -> Option<u64> {
    let text = text.to_lowercase();
    let is_status = |number: &u64| (400..=599).contains(number);
    let first =
        number_at(text.trim_start()).filter(|(_, rest)| rest.is_empty() || rest.starts_with([' ', ':']));
    let named = || {
        text.match_indices("status").find_map(|(at, word)| {
            let rest = text[at + word.len()..].trim_start_matches([':', ' ', '"', '=']);
            let rest = rest.strip_prefix("code").unwrap_or(rest).trim_start_matches([':', ' ', '"', '=']);
            number_at(rest).map(|(number, _)| number).filter(is_status)
        })
    };
    first.map(|(number, _)| number).filter(is_status).or_else(named)
}

fn number_at(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

fn cut(mut text: String) -> String {
    let mut end = TEXT_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// The beginnings, in lower case, of messages about an unknown option.
const MISUSES: [&str; 8] = [
    "unknown option",
    "unknown argument",
    "unrecognized option",
    "unrecognized argument",
    "unrecognized subcommand",
    "unexpected argument",
    "no such option",
    "invalid value",
];

/// The outcome, or the trouble that kept the agent from beginning.
pub(super) fn explained(outcome: Outcome, code: Option<i32>, stderr: &str) -> Outcome {
    let has_begun =
        outcome.conclusion != Conclusion::Cut || !outcome.message.is_empty() || !outcome.usage.is_unknown();
    if has_begun || code.is_none_or(|code| code == 0) {
        return outcome;
    }
    match stderr.lines().find_map(trouble) {
        Some(trouble) => Outcome { conclusion: Conclusion::Trouble(trouble), ..outcome },
        None => outcome,
    }
}

/// The trouble that a line tells of, if it is one that lasts.
fn trouble(line: &str) -> Option<Trouble> {
    let line = line.trim();
    let lower = line.to_lowercase();
    if lower.starts_with("warn") {
        return None;
    }
    let told = lower.strip_prefix("error:").unwrap_or(&lower).trim_start();
    if MISUSES.iter().any(|words| told.starts_with(words)) {
        return Some(Trouble::new(TroubleKind::Misuse, line));
    }
    let trouble = Trouble::of_text(line);
    matches!(trouble.kind, TroubleKind::Authentication | TroubleKind::Quota).then_some(trouble)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_services() {
        let check = |text: &str, kind: TroubleKind| {
            assert_eq!(Trouble::of_text(text).kind, kind, "for {text:?}");
        };
        check("unexpected status 529 <unknown status code>: Overloaded", TroubleKind::Overload);
        check("exceeded retry limit, last status: 429 Too Many Requests", TroubleKind::RateLimit);
        check("Quota exceeded. Check your plan and billing details.", TroubleKind::Quota);
        check("Selected model is at capacity. Please try a different model.", TroubleKind::Overload);
        check("Incomplete response returned, reason: max_output_tokens", TroubleKind::AnswerLength);
        check("stream disconnected before completion", TroubleKind::Connection);
        check("unexpected status 401 Unauthorized: Incorrect API key provided", TroubleKind::Authentication);
        check("API key not valid. Please pass a valid API key.", TroubleKind::Authentication);
        check("401 bad key", TroubleKind::Authentication);
        check("429 slow down", TroubleKind::RateLimit);
        check("500: it broke", TroubleKind::Overload);
        check("404 not here", TroubleKind::Other);
        check("500ms were not enough", TroubleKind::Other);
        check("Provider finish_reason: content_filter", TroubleKind::Refusal);
        check("Missing environment variable: `OPENAI_API_KEY`.", TroubleKind::Authentication);
        check("bad request by script", TroubleKind::Other);
        check("", TroubleKind::Other);
        check("status status: 99999999999999999999999", TroubleKind::Other);
    }

    #[test]
    fn a_status_comes_before_words() {
        assert_eq!(Trouble::of_status(429, "Quota exceeded").kind, TroubleKind::RateLimit);
        assert_eq!(Trouble::of_status(400, "Credit balance is too low").kind, TroubleKind::Quota);
        assert_eq!(Trouble::of_status(400, "bad request").kind, TroubleKind::Other);
        assert_eq!(Trouble::of_status(503, "").kind, TroubleKind::Overload);
    }

    #[test]
    fn an_account_that_has_nothing_left_is_known_whatever_the_status() {
        for text in [
            "You've hit your session limit · resets 3pm",
            "You’ve hit your limit · resets 3pm (UTC)",
            "Claude AI usage limit reached|1760000000",
            "You have exhausted your daily quota on this model.",
        ] {
            assert_eq!(Trouble::of_status(429, text).kind, TroubleKind::Quota, "for {text:?}");
            assert_eq!(Trouble::of_text(text).kind, TroubleKind::Quota, "for {text:?}");
        }
        assert_eq!(Trouble::of_text("You've hit your rate limit").kind, TroubleKind::RateLimit);
    }

    #[test]
    fn a_long_error_is_cut_between_characters() {
        let trouble = Trouble::of_text("é".repeat(10_000));
        assert_eq!(trouble.text.len(), TEXT_BYTES_MAX);
    }
}
