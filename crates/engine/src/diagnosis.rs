//! The reasons why an attempt is red: read from reports, and turned into the record that is kept of it.

use jiff::Timestamp;
use plan::{Dialect, TaskId};

use crate::claim::{Claim, FailureClaim, NOT_VERIFIED, SUCCESS, StuckKind, is_signal};
use crate::contradiction::mentions;
use crate::failure::{Cause, Failure};
use crate::judgement::Facts;
use crate::ladder;
use crate::observation::{AgentEnd, AgentReport, CheckFailure};
use crate::output::Failing;
use crate::rules::Rules;
use crate::task::{Attempt, Claimed, Task, Verification};

/// A failure before it becomes a record.
pub(crate) struct Diagnosis {
    cause: Cause,
    error: String,
    details: String,
    command: Option<String>,
    exit_code: Option<i32>,
    failing: Box<Failing>,
    attempted_fix: Option<String>,
    suggested_fix: Option<String>,
    root_cause: Option<String>,
    blocked_by: Option<String>,
}

impl Diagnosis {
    pub(crate) fn new(cause: Cause, error: String, details: &str) -> Self {
        Self {
            cause,
            error,
            details: details.to_owned(),
            command: None,
            exit_code: None,
            failing: Box::default(),
            attempted_fix: None,
            suggested_fix: None,
            root_cause: None,
            blocked_by: None,
        }
    }

    /// Adds what a claimed failure says besides its error.
    pub(crate) fn with_claim(self, claim: &Claim) -> Self {
        match claim {
            Claim::Failed(failed) | Claim::Denied(failed) => Self {
                attempted_fix: Some(failed.attempted_fix.clone()),
                suggested_fix: failed.suggested_fix.clone(),
                root_cause: failed.root_cause.clone(),
                ..self
            },
            Claim::Stuck(stuck) => Self { blocked_by: stuck.by.clone(), ..self },
            Claim::Complete | Claim::NotVerified | Claim::OtherRole | Claim::Silent => self,
        }
    }

    /// Adds what the task's command showed before the agent was called to repair it: that is what is to be fixed.
    fn after_proof(self, proof: &Failure) -> Self {
        Self {
            error: proof.error.clone(),
            details: format!("{}\n\n{}", proof.details, self.details),
            command: proof.command.clone(),
            exit_code: proof.exit_code,
            failing: Box::new(proof.failing.clone()),
            ..self
        }
    }

    /// Adds what speaks against the result besides: the next attempt is told.
    pub(crate) fn with_facts(self, facts: &Facts) -> Self {
        let told: String = facts.told().iter().map(|fact| format!("\n- {fact}")).collect();
        if told.is_empty() {
            return self;
        }
        Self { details: format!("{}\nBesides, the program found:{told}", self.details.trim_end()), ..self }
    }

    /// Finds what is wrong with an agent's report on the face of it: the signal, a contradiction, the boxes. How the task is
    /// verified decides what words are worth: where a command is run, the word of another role will do, and a success
    /// that its own result denies is looked at.
    pub(crate) fn of_report(dialect: Dialect, task: &Task, report: &AgentReport) -> Option<Self> {
        let is_absent = matches!(report.end, AgentEnd::Unavailable { .. } | AgentEnd::OutOfReach { .. });
        if let (Some(commit), false) = (&report.lost_commit, is_absent) {
            return Some(of_lost_commit(commit));
        }
        match &report.end {
            AgentEnd::Answered { claim: Claim::Silent, tail, .. } => Some(of_silence(dialect, tail)),
            AgentEnd::Answered { claim, contradiction, tail } => {
                let red = match (claim, task.decl.verification) {
                    (Claim::Denied(_) | Claim::OtherRole, Verification::Command) => {
                        of_contradiction(contradiction.as_deref(), tail)
                    }
                    (claim, Verification::Command | Verification::Borrowed | Verification::Judgement) => {
                        of_answer(claim, contradiction.as_deref(), tail)
                    }
                };
                red.or_else(|| of_boxes(task.id(), &report.tampered))
                    .or_else(|| report.unfit.clone().map(Self::from))
            }
            AgentEnd::Exited { code, claim, tail } => Some(of_exit(*code, claim, tail)),
            AgentEnd::TimedOut { limit, tail } => {
                Some(Self::new(Cause::AgentTimeout, format!("agent timed out: {limit}"), tail))
            }
            AgentEnd::PermissionDenied { text } => Some(of_denial(text)),
            AgentEnd::GaveUp { reason, tail } => Some(Self::new(Cause::BadExit, reason.clone(), tail)),
            AgentEnd::Unavailable { .. } | AgentEnd::OutOfReach { .. } => None,
        }
    }

    /// The record of the failed attempt. `left` is what the attempt left behind.
    pub(crate) fn record(
        self,
        rules: &Rules,
        task: &Task,
        (attempt, at): (Attempt, Timestamp),
        left: Claimed,
    ) -> Failure {
        let red = match task.proof_failure.as_deref() {
            Some(proof) if self.cause == Cause::VerificationFail => self.after_proof(proof),
            Some(_) | None => self,
        };
        red.recorded(rules, task, (attempt, at), left)
    }

    fn recorded(
        self,
        rules: &Rules,
        task: &Task,
        (attempt, at): (Attempt, Timestamp),
        left: Claimed,
    ) -> Failure {
        let chars_max = rules.limits.failure_chars_max;
        // The end of a text is where errors are, unless it begins with what fails.
        let fit = if self.failing.is_empty() { tail_of } else { head_of };
        Failure {
            attempt,
            at,
            cause: self.cause,
            rung: ladder::rung(rules, task, self.cause, &self.error),
            error: self.error,
            details: fit(&self.details, chars_max),
            command: self.command,
            exit_code: self.exit_code,
            failing: *self.failing,
            tree: None,
            attempted_fix: self.attempted_fix,
            suggested_fix: self.suggested_fix,
            root_cause: self.root_cause,
            blocked_by: self.blocked_by.map(|id| TaskId::from(id.as_str())),
            files: left.files,
            learnings: left.learnings,
            elapsed_ms: left.elapsed_ms,
        }
    }
}

impl From<CheckFailure> for Diagnosis {
    fn from(check: CheckFailure) -> Self {
        let CheckFailure { cause, error, details, command, exit_code, failing } = check;
        Self { command, exit_code, failing: Box::new(failing), ..Self::new(cause, error, &details) }
    }
}

fn of_answer(claim: &Claim, contradiction: Option<&str>, tail: &str) -> Option<Diagnosis> {
    match claim {
        Claim::Complete => of_contradiction(contradiction, tail),
        Claim::Failed(failed) | Claim::Denied(failed) => {
            Some(Diagnosis::new(cause_of_claim(failed), failed.error.clone(), tail).with_claim(claim))
        }
        Claim::NotVerified => Some(Diagnosis::new(Cause::VerificationFail, reason_before_signal(tail), tail)),
        Claim::Stuck(stuck) => {
            Some(Diagnosis::new(cause_of(stuck.kind), stuck.reason.clone(), tail).with_claim(claim))
        }
        Claim::OtherRole => {
            let error = "Task did not complete: the answer ends with the word of another role".to_owned();
            Some(Diagnosis::new(Cause::NoSignal, error, tail))
        }
        Claim::Silent => None,
    }
}

fn of_contradiction(contradiction: Option<&str>, tail: &str) -> Option<Diagnosis> {
    let phrase = contradiction?;
    let error = "CONTRADICTION: claimed completion while admitting failure".to_owned();
    Some(Diagnosis::new(Cause::Contradiction, error, &format!("the answer says \"{phrase}\"\n{tail}")))
}

/// An error of the agent's own result that says so is a matter of permission. What commands printed is never searched.
fn cause_of_claim(failed: &FailureClaim) -> Cause {
    if mentions(&failed.error, "permission denied") { Cause::PermissionDenied } else { Cause::ClaimedFailure }
}

fn cause_of(stuck: StuckKind) -> Cause {
    match stuck {
        StuckKind::Blocked => Cause::Blocked,
        StuckKind::Impossible => Cause::Impossible,
        StuckKind::ConflictingRequirements => Cause::ConflictingRequirements,
        StuckKind::ServiceUnavailable => Cause::ServiceUnavailable,
        StuckKind::PermissionDenied => Cause::PermissionDenied,
    }
}

/// An answer without any signal; in a plan with phases, one whose result cannot be read.
fn of_silence(dialect: Dialect, tail: &str) -> Diagnosis {
    const RESULT_CHARS_MAX: usize = 500;
    let error = match dialect {
        Dialect::Spec => "Task did not complete".to_owned(),
        Dialect::Phase => {
            let beginning: String = tail.trim().chars().take(RESULT_CHARS_MAX).collect();
            format!("the result cannot be read: {beginning}")
        }
    };
    let details = match dialect {
        Dialect::Spec if tail.contains(SUCCESS) => {
            format!(
                "A line of the answer has {SUCCESS} in it; it counts only as a whole line of its own.\n\n{tail}"
            )
        }
        Dialect::Spec => format!("No line of the answer is {SUCCESS}.\n\n{tail}"),
        Dialect::Phase => tail.to_owned(),
    };
    Diagnosis::new(Cause::NoSignal, error, &details)
}

fn of_lost_commit(commit: &str) -> Diagnosis {
    let error = format!("commit {commit} is no longer part of the history");
    let details = format!(
        "Earlier work may be gone. `git reset --hard {commit}` brings back what was committed before the attempt; \
         `git reflog` shows what happened."
    );
    Diagnosis::new(Cause::HistoryRewritten, error, &details)
}

fn of_boxes(own: &TaskId, tampered: &[TaskId]) -> Option<Diagnosis> {
    let others: Vec<String> = tampered.iter().filter(|id| *id != own).map(ToString::to_string).collect();
    let error = match (tampered, others.as_slice()) {
        ([], _) => return None,
        (_, []) => format!("the text of task {own} was changed in the plan"),
        (_, others) => {
            format!("checkmark mismatch: other tasks of the plan were changed: {}", others.join(", "))
        }
    };
    let details = "Only the box of the delegated task may change, and neither what a task says nor how it is verified. The \
                   plan was put back as it was.";
    Some(Diagnosis::new(Cause::Tampered, error, details))
}

fn of_exit(code: i32, claim: &Claim, tail: &str) -> Diagnosis {
    let (cause, error) = match claim {
        Claim::Failed(failed) if cause_of_claim(failed) == Cause::PermissionDenied => {
            (Cause::PermissionDenied, failed.error.clone())
        }
        Claim::Failed(failed) => (Cause::BadExit, failed.error.clone()),
        // Trying again is of no use, whatever the exit code is.
        Claim::Stuck(stuck) => (cause_of(stuck.kind), stuck.reason.clone()),
        Claim::Complete | Claim::Denied(_) | Claim::OtherRole | Claim::Silent | Claim::NotVerified => {
            (Cause::BadExit, format!("agent exited with code {code}: {}", last_line(tail)))
        }
    };
    Diagnosis { exit_code: Some(code), ..Diagnosis::new(cause, error, tail).with_claim(claim) }
}

pub(crate) fn of_denial(text: &str) -> Diagnosis {
    Diagnosis::new(Cause::PermissionDenied, format!("permission denied: {}", last_line(text)), text)
}

fn head_of(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect::<String>().trim_end().to_owned()
}

/// The end of a text is where errors are.
fn tail_of(text: &str, chars_max: usize) -> String {
    let text = text.trim_end();
    let count = text.chars().count();
    if count <= chars_max {
        return text.to_owned();
    }
    text.chars().skip(count - chars_max).collect()
}

fn last_line(text: &str) -> String {
    short(text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no output"))
}

/// The words of an agent before it says that a verification failed: the beginning of its last paragraph.
pub(crate) fn reason_before_signal(tail: &str) -> String {
    let lines: Vec<&str> = tail.lines().map(str::trim).collect();
    let signal = lines.iter().rposition(|line| line.contains(NOT_VERIFIED));
    let behind = signal.and_then(|at| lines[at].split_once(NOT_VERIFIED)).map(|(_, rest)| rest);
    let behind = behind.map(|rest| rest.trim_matches(|letter: char| !letter.is_alphanumeric()));
    if let Some(reason) = behind.filter(|rest| rest.contains(' ') || rest.len() > 2) {
        return short(reason);
    }
    let before = &lines[..signal.unwrap_or(lines.len())];
    let mut paragraphs =
        before.split(|line| line.is_empty() || is_signal(line)).filter(|lines| !lines.is_empty());
    short(paragraphs.next_back().map_or("no reason given", |paragraph| paragraph[0]))
}

fn short(line: &str) -> String {
    line.chars().take(200).collect()
}
