//! What an agent says on standard error that ended badly before it had begun. Only then is that read: later on it may
//! be anything that a tool printed.

use super::outcome::{Conclusion, Outcome};
use super::trouble::{Trouble, TroubleKind};

/// How programs begin to tell that they do not know an option, lower case.
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

/// The same outcome, or the trouble that kept the agent from beginning.
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
