//! The end of an agent, from its own account, the exit code and the final message together. None of them is enough: an
//! attempt is answered only where the final event says so and the exit code agrees.

use std::time::Duration;

use engine::{AgentEnd, Claim, Dialect, FailureClaim, Lasting, Role, Session, Stuck, Usage, contradiction};

use crate::agent::launch::Duty;
use crate::agent::line;
use crate::agent::trouble::{Trouble, TroubleKind};
use crate::agent::wait::WAIT_MAX;
use crate::mask::mask;
use crate::process::{Ended, Exit};

/// Exit codes with a meaning of their own.
const TEMPORARILY_UNAVAILABLE: i32 = 75;
const PERMISSION_DENIED: i32 = 126;
const CANNOT_START: i32 = 127;

/// The characters of an agent's output that a failure keeps.
const TAIL_CHARS_MAX: usize = 4_000;
/// The characters of that which are the beginning, where an answer cannot be read.
const HEAD_CHARS_MAX: usize = 1_000;

/// The way an agent's words are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    /// The prompt, which may be echoed.
    pub prompt: &'a str,
    pub dialect: Dialect,
    pub role: Role,
    pub duty: Duty,
}

/// The meaning of an agent's end.
pub(crate) fn agent_end(ended: &Ended, outcome: &Outcome, words: Words<'_>) -> AgentEnd {
    let said = Said::new(ended, outcome, words);
    match &ended.exit {
        Exit::DeadlinePassed => {
            let limit = format!("no end within {}", ended.limit_in_words());
            AgentEnd::TimedOut { limit, tail: said.complaint() }
        }
        Exit::NoProgress => {
            AgentEnd::TimedOut { limit: "no output for too long".to_owned(), tail: said.complaint() }
        }
        Exit::Stopped => away("the agent was stopped".to_owned(), None),
        Exit::CannotStart(reason) => away(format!("the agent cannot be started: {reason}"), None),
        Exit::Code(code) => said.of_conclusion(&outcome.conclusion, *code),
        Exit::Signal(signal) => said.of_conclusion(&outcome.conclusion, 128 + signal),
    }
}

/// The words of an agent, as far as its end is told from them.
struct Said<'a> {
    ended: &'a Ended,
    answer: String,
    claim: Claim,
    duty: Duty,
}

impl<'a> Said<'a> {
    /// A plain command's answer is its output, of which an echo of the prompt is no part.
    fn new(ended: &'a Ended, outcome: &Outcome, words: Words<'_>) -> Self {
        let answer = match outcome.conclusion {
            Conclusion::Plain => ended.stdout.text.replacen(words.prompt.trim(), "", 1),
            Conclusion::Cut
            | Conclusion::Unread(_)
            | Conclusion::Finished
            | Conclusion::Denied(_)
            | Conclusion::Trouble(_) => outcome.message.clone(),
        };
        let claim = Claim::read(&answer, words.dialect, words.role);
        Self { ended, answer, claim, duty: words.duty }
    }

    fn of_conclusion(self, conclusion: &Conclusion, code: i32) -> AgentEnd {
        match conclusion {
            Conclusion::Plain => self.of_code(code),
            Conclusion::Finished if code == 0 => self.answered(),
            Conclusion::Finished => self.exited(code),
            // Whoever claims success in spite of a refusal is believed as little as anybody: the checks decide.
            Conclusion::Denied(_) if code == 0 && self.claim == Claim::Complete => self.answered(),
            // A judge is refused what edits by design: what it says counts.
            Conclusion::Denied(_) if code == 0 && self.duty == Duty::Judge => self.answered(),
            Conclusion::Denied(text) => AgentEnd::PermissionDenied { text: safe(text) },
            Conclusion::Trouble(trouble) => self.of_trouble(trouble),
            Conclusion::Cut => self.of_cut(code, None),
            Conclusion::Unread(line) => self.of_cut(code, Some(line)),
        }
    }

    /// Of a plain command the exit code is all there is.
    fn of_code(self, code: i32) -> AgentEnd {
        match code {
            0 => self.answered(),
            TEMPORARILY_UNAVAILABLE => {
                away(because("the agent is temporarily unavailable", &self.complaint()), None)
            }
            PERMISSION_DENIED => AgentEnd::PermissionDenied { text: self.complaint() },
            CANNOT_START => away(because("the agent cannot be started", &self.complaint()), None),
            code => self.exited(code),
        }
    }

    /// Without its final event nobody knows whether an agent was through, whatever its exit code.
    fn of_cut(self, code: i32, unread: Option<&str>) -> AgentEnd {
        match code {
            PERMISSION_DENIED => AgentEnd::PermissionDenied { text: self.complaint() },
            CANNOT_START => away(because("the agent cannot be started", &self.complaint()), None),
            code => {
                let what = format!("the agent ended without its final event (exit code {code})");
                let odd = unread.map(|line| {
                    format!("; a line of its output is not JSON: `{}`", safe(&line::short(line)))
                });
                let what = what + &odd.unwrap_or_default();
                away(because(&what, &safe(&self.ended.stderr.text)), None)
            }
        }
    }

    fn of_trouble(self, trouble: &Trouble) -> AgentEnd {
        let text = safe(&trouble.text);
        match trouble.kind {
            TroubleKind::RateLimit => away(told("rate limit", &text), trouble.retry_after),
            TroubleKind::Overload => {
                away(told("the service is overloaded or broken", &text), trouble.retry_after)
            }
            TroubleKind::Connection => away(told("the connection broke", &text), trouble.retry_after),
            TroubleKind::Interrupted => away(told("the agent was interrupted", &text), None),
            TroubleKind::UnknownSession => {
                away(told("the session is not known", &text), Some(Duration::ZERO))
            }
            TroubleKind::Quota => AgentEnd::OutOfReach {
                lasting: Lasting::Quota,
                reason: told("out of quota", &text),
                // What is further away than anybody waits for is as good as never.
                retry_after: trouble.retry_after.filter(|wait| *wait < WAIT_MAX),
            },
            TroubleKind::Authentication => lasting(Lasting::Authentication, told("not authenticated", &text)),
            TroubleKind::Misuse => {
                lasting(Lasting::Misuse, told("the agent does not understand how it is started", &text))
            }
            TroubleKind::Refusal => self.gave_up("the model refused", &text),
            TroubleKind::Turns => self.gave_up("the agent's limit of turns is reached", &text),
            TroubleKind::Budget => self.gave_up("the agent's limit of cost is reached", &text),
            TroubleKind::AnswerLength => {
                self.gave_up("the answer was longer than the model may write", &text)
            }
            TroubleKind::Other => self.gave_up("the agent could not go on", &text),
        }
    }

    fn gave_up(self, what: &str, text: &str) -> AgentEnd {
        let tail = safe(&tail(&format!("{}\n{text}", self.answer.trim_end())));
        AgentEnd::GaveUp { reason: told(what, text), tail }
    }

    fn answered(self) -> AgentEnd {
        let tail = if self.claim == Claim::Silent { head_and_tail(&self.answer) } else { tail(&self.answer) };
        AgentEnd::Answered {
            tail: safe(&tail),
            contradiction: contradiction(&self.answer).map(str::to_owned),
            claim: masked(self.claim),
        }
    }

    fn exited(self, code: i32) -> AgentEnd {
        AgentEnd::Exited { code, tail: self.complaint(), claim: masked(self.claim) }
    }

    fn complaint(&self) -> String {
        safe(&tail(&format!("{}\n{}", self.answer.trim_end(), self.ended.stderr.text)))
    }
}

/// Words of an agent's as they may be kept and shown.
fn safe(text: &str) -> String {
    mask(&plan::harmless_lines(text))
}

fn away(reason: String, retry_after: Option<Duration>) -> AgentEnd {
    AgentEnd::Unavailable { reason, retry_after }
}

fn lasting(lasting: Lasting, reason: String) -> AgentEnd {
    AgentEnd::OutOfReach { lasting, reason, retry_after: None }
}

fn masked(claim: Claim) -> Claim {
    let masked = |failed: FailureClaim| FailureClaim {
        error: safe(&failed.error),
        attempted_fix: safe(&failed.attempted_fix),
        status: safe(&failed.status),
        suggested_fix: failed.suggested_fix.as_deref().map(safe),
        root_cause: failed.root_cause.as_deref().map(safe),
    };
    match claim {
        Claim::Failed(failed) => Claim::Failed(masked(failed)),
        Claim::Denied(failed) => Claim::Denied(masked(failed)),
        Claim::Stuck(stuck) => Claim::Stuck(Stuck { reason: safe(&stuck.reason), ..stuck }),
        other @ (Claim::Complete | Claim::OtherRole | Claim::NotVerified | Claim::Silent) => other,
    }
}

/// A failure, with all that the agent says of it, for its first line need not be its last.
fn told(what: &str, text: &str) -> String {
    let text = line::short(text);
    if text.is_empty() { what.to_owned() } else { format!("{what}: {text}") }
}

/// A failure, with the last line of an output, where reasons stand.
fn because(what: &str, output: &str) -> String {
    let line = output.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(
        || what.to_owned(),
        |line| format!("{what}: {}", line.chars().take(200).collect::<String>()),
    )
}

fn tail(text: &str) -> String {
    let text = text.trim();
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(TAIL_CHARS_MAX)).collect()
}

/// The part that is kept of an answer that cannot be read: its beginning is what people look at first.
fn head_and_tail(text: &str) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= TAIL_CHARS_MAX {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD_CHARS_MAX).collect();
    let rest: String = text.chars().skip(count - (TAIL_CHARS_MAX - HEAD_CHARS_MAX)).collect();
    format!("{head}\n…\n{rest}")
}

/// The result of an agent's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The way it ended.
    pub conclusion: Conclusion,
    /// Its final message.
    pub message: String,
    /// The session that it can be taken up again by.
    pub session: Option<Session>,
    /// The usage of this attempt.
    pub usage: Usage,
}

/// The end of an agent by its own account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// Its final event was never seen.
    #[default]
    Cut,
    /// The same, and this is the first line of its output that is no event at all.
    Unread(String),
    /// Its final event says that all went well.
    Finished,
    /// Its final event says that all went well, and yet it was not permitted something it tried.
    Denied(String),
    /// It says that it could not go on.
    Trouble(Trouble),
    /// It has no events: its exit code and its output are all there is.
    Plain,
}
