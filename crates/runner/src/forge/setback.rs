//! Reasons why a command did not do what was asked: a person has to see to something, or the forge is away, and until
//! when.

use std::time::Duration;

use engine::{ForgeReport, Obstacle};
use jiff::Timestamp;
use serde_json::Value;

use crate::forge::call::{Answer, Caller, document, number};
use crate::forge::command::ForgeCommand;
use crate::git::GitError;
use crate::process::Exit;

/// The oldest `gh` that will do.
pub const MINIMUM_VERSION: (u32, u32) = (2, 23);

/// `gh` says by this that nobody is logged in.
const NOT_LOGGED_IN: i32 = 4;

/// The wait after the forge was asked too fast, as its own documentation has it.
const SECONDARY_WAIT: Duration = Duration::from_secs(60);

/// Characters of what was said that are kept.
const DETAIL_CHARS_MAX: usize = 400;

/// The reason why it did not work out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setback {
    Obstructed(Obstacle),
    Unavailable { reason: String, retry_after: Option<Duration>, away: Away },
}

/// The reason why the forge cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Away {
    /// It does not answer, or nothing that makes sense.
    Unreachable,
    /// It was asked too much.
    Limited,
}

impl From<Setback> for ForgeReport {
    fn from(setback: Setback) -> Self {
        match setback {
            Setback::Obstructed(obstacle) => Self::Obstructed(obstacle),
            Setback::Unavailable { reason, retry_after, .. } => Self::Unavailable { reason, retry_after },
        }
    }
}

impl From<Obstacle> for Setback {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstructed(obstacle)
    }
}

impl From<GitError> for Setback {
    fn from(error: GitError) -> Self {
        Obstacle::Refused { command: "git".to_owned(), detail: error.to_string() }.into()
    }
}

impl Setback {
    /// The setback of a command that failed.
    pub(super) fn of(answer: &Answer) -> Self {
        let detail = detail(&answer.stderr, &answer.stdout);
        let command = answer.command.clone();
        match &answer.exit {
            Exit::CannotStart(reason) => Obstacle::NoProgram { reason: reason.clone() }.into(),
            Exit::DeadlinePassed | Exit::NoProgress => Self::away(format!("`{command}` did not end in time")),
            Exit::Stopped | Exit::Signal(_) => Self::away(format!("`{command}` was ended")),
            Exit::Code(NOT_LOGGED_IN) => Obstacle::NoLogin { detail }.into(),
            Exit::Code(_) => of_words(command, detail, &answer.stderr),
        }
    }

    /// The setback of an answer that says nothing, though the command succeeded.
    pub(super) fn nonsense(answer: &Answer) -> Self {
        let said = detail(&answer.stdout, "");
        let said = if said.is_empty() { "nothing".to_owned() } else { said };
        Self::away(format!("the forge cannot be reached: `{}` answered {said}", answer.command))
    }

    fn away(reason: String) -> Self {
        Self::Unavailable { reason, retry_after: None, away: Away::Unreachable }
    }
}

/// The setback that the words of `gh` and `git` tell of. The order matters: a rate limit comes as a refusal, too.
fn of_words(command: String, detail: String, said: &str) -> Setback {
    let lower = said.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&RATE_LIMIT) {
        let reason = format!("the forge's rate limit is used up: {detail}");
        return Setback::Unavailable { reason, retry_after: retry_after(&lower), away: Away::Limited };
    }
    if says(&AWAY) || has_server_error(&lower) {
        return Setback::away(format!("the forge cannot be reached: {detail}"));
    }
    if says(&NO_LOGIN) {
        return Obstacle::NoLogin { detail }.into();
    }
    if says(&NOT_PERMITTED) {
        return Obstacle::NotPermitted { detail }.into();
    }
    Obstacle::Refused { command, detail }.into()
}

const RATE_LIMIT: [&str; 4] = ["rate limit", "http 429", "abuse detection", "submitted too quickly"];

const AWAY: [&str; 16] = [
    "error connecting to",
    "could not resolve host",
    "couldn't resolve host",
    "connection refused",
    "connection timed out",
    "connection reset",
    "operation timed out",
    "network is unreachable",
    "no such host",
    "i/o timeout",
    "tls handshake",
    "unexpected eof",
    "early eof",
    "the remote end hung up",
    "dial unix",
    "dial tcp",
];

const NO_LOGIN: [&str; 8] = [
    "gh auth login",
    "http 401",
    "bad credentials",
    "authentication failed",
    "could not read username",
    "could not read password",
    "permission denied (publickey",
    "host key verification failed",
];

const NOT_PERMITTED: [&str; 6] = [
    "http 403",
    "resource not accessible",
    "must have admin rights",
    "permission to",
    "does not have the correct permissions",
    "the requested url returned error: 403",
];

/// `HTTP 502`, and what `git` says of the same.
fn has_server_error(lower: &str) -> bool {
    let codes = ["500", "502", "503", "504"];
    let starts = ["http ", "returned error: ", "http/2 ", "rpc failed; http "];
    codes.iter().any(|code| starts.iter().any(|start| lower.contains(&format!("{start}{code}"))))
        || lower.contains("something went wrong while executing your query")
}

/// `Retry-After: 30`, wherever it stands. Asking too fast is a limit of its own, about which nothing else is told.
fn retry_after(lower: &str) -> Option<Duration> {
    let Some((_, rest)) = lower.split_once("retry-after") else {
        return lower.contains("secondary rate limit").then_some(SECONDARY_WAIT);
    };
    let digits: String =
        rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    let seconds: u64 = digits.parse().ok()?;
    Some(Duration::from_secs(seconds.min(3_600)))
}

/// The words about something that the run goes on without.
pub(super) fn said(obstacle: Obstacle) -> String {
    if let Obstacle::Refused { detail, .. }
    | Obstacle::NotPermitted { detail }
    | Obstacle::NoLogin { detail } = obstacle
    {
        detail
    } else {
        "gh does not work any more".to_owned()
    }
}

/// The words of a setback, for people.
pub(super) fn in_words(setback: Setback) -> String {
    match setback {
        Setback::Unavailable { reason, .. } => reason,
        Setback::Obstructed(Obstacle::NoProgram { reason }) => reason,
        Setback::Obstructed(Obstacle::NoLogin { detail }) => {
            format!("gh is not logged in (`gh auth login`): {detail}")
        }
        Setback::Obstructed(Obstacle::Refused { command, detail }) => format!("`{command}` failed: {detail}"),
        Setback::Obstructed(obstacle) => said(obstacle),
    }
}

/// The words, in a line.
pub(super) fn detail(stderr: &str, stdout: &str) -> String {
    let text = if stderr.trim().is_empty() { stdout } else { stderr };
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    joined.chars().take(DETAIL_CHARS_MAX).collect()
}

/// The problem with the `gh` that is installed here, if any: found out before anything starts.
pub fn missing() -> Option<String> {
    if crate::agent::find_program("gh", std::path::Path::new(".")).is_none() {
        return Some("`gh` is not installed".to_owned());
    }
    None
}

/// The problem with the version that `gh --version` tells, if any.
pub(super) fn version_problem(output: &str) -> Option<String> {
    let (major, minor) = MINIMUM_VERSION;
    let words = output.strip_prefix("gh version ")?;
    let mut numbers = words.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let found = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (found < MINIMUM_VERSION)
        .then(|| format!("gh {}.{} is too old, {major}.{minor} or newer is needed", found.0, found.1))
}

/// The shortest and the longest wait: a clock may be wrong.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(2 * 60 * 60);

/// Adds the time after which the limit is lifted, where the forge tells.
pub(super) fn with_reset(setback: Setback, caller: &Caller, host: Option<&str>) -> Setback {
    match (setback, host) {
        (Setback::Unavailable { reason, retry_after: None, away: Away::Limited }, Some(host)) => {
            let told = document(&caller.call(&ForgeCommand::rate_limit(host))).ok();
            let retry_after = told.and_then(|told| wait(&told, Timestamp::now()));
            Setback::Unavailable { reason, retry_after, away: Away::Limited }
        }
        (setback, _) => setback,
    }
}

/// The time until all that is used up is lifted.
fn wait(told: &Value, now: Timestamp) -> Option<Duration> {
    let resources = ["/resources/core", "/resources/graphql"].map(|path| told.pointer(path));
    let used_up =
        resources.into_iter().flatten().filter(|resource| number(resource, "/remaining") == Some(0));
    let reset = used_up.filter_map(|resource| number(resource, "/reset")).max()?;
    let reset = Timestamp::from_second(i64::try_from(reset).ok()?).ok()?;
    let wait = Duration::try_from(reset.duration_since(now)).unwrap_or_default();
    Some(wait.clamp(WAIT_MIN, WAIT_MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_used_up_decides() {
        let check = |core: (u64, u64), graphql: (u64, u64), expected: Option<u64>| {
            let resource = |(remaining, reset): (u64, u64)| json!({"remaining": remaining, "reset": reset});
            let told = json!({"resources": {"core": resource(core), "graphql": resource(graphql)}});
            let now = Timestamp::from_second(1_000).expect("a moment");
            assert_eq!(wait(&told, now), expected.map(Duration::from_secs), "{told}");
        };
        check((5, 9_000), (0, 1_600), Some(600));
        check((0, 1_300), (0, 1_600), Some(600));
        check((5, 9_000), (5, 9_000), None);
        check((0, 10), (5, 9_000), Some(1));
        check((0, u64::MAX), (5, 9_000), None);
        check((0, 1_000_000), (5, 9_000), Some(7_200));
        assert_eq!(wait(&json!({"resources": 7}), Timestamp::UNIX_EPOCH), None);
    }
}
