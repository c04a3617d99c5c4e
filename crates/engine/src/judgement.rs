//! Judgements: the meaning of a judging agent's report, and the facts that are known without anybody's word.

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::diagnosis::{Diagnosis, of_denial, reason_before_signal};
use crate::failure::Cause;
use crate::observation::{AgentEnd, AgentReport};
use crate::state::State;
use crate::status::Judge;
use crate::task::Task;

/// The meaning of a judging agent's report.
pub(crate) enum Judgement {
    Yes,
    No(Diagnosis),
    /// It says neither yes nor no, or was cut off.
    NoVerdict(String),
    /// The judge could not be had: that is not the task's fault.
    Away,
}

impl Judgement {
    /// Reads a judge's report.
    pub(crate) fn of_report(judge: Judge, report: &AgentReport) -> Self {
        match &report.end {
            AgentEnd::Answered { claim: Claim::Silent | Claim::OtherRole, .. } => {
                Self::NoVerdict("said neither yes nor no".to_owned())
            }
            AgentEnd::Answered { claim, contradiction, tail } => {
                match objection(claim, contradiction.as_deref(), tail, &report.tampered) {
                    None => Self::Yes,
                    Some(said) => Self::No(not_accepted(judge, &said, tail).with_claim(claim)),
                }
            }
            // Whoever says no has said so, whatever the exit code is.
            AgentEnd::Exited { claim: claim @ (Claim::NotVerified | Claim::Failed(_)), tail, .. } => {
                let said = objection(claim, None, tail, &[]).unwrap_or_default();
                Self::No(not_accepted(judge, &said, tail).with_claim(claim))
            }
            AgentEnd::TimedOut { limit, .. } => Self::NoVerdict(format!("timed out: {limit}")),
            AgentEnd::Exited { code, .. } => Self::NoVerdict(format!("exited with code {code}")),
            AgentEnd::GaveUp { reason, .. } => Self::NoVerdict(format!("gave up: {reason}")),
            AgentEnd::PermissionDenied { text } => Self::No(of_denial(text)),
            AgentEnd::Unavailable { .. } | AgentEnd::OutOfReach { .. } => Self::Away,
        }
    }
}

fn objection(claim: &Claim, contradiction: Option<&str>, tail: &str, tampered: &[TaskId]) -> Option<String> {
    match claim {
        Claim::Failed(failed) | Claim::Denied(failed) => Some(failed.error.clone()),
        Claim::Stuck(stuck) => Some(stuck.reason.clone()),
        Claim::NotVerified | Claim::OtherRole | Claim::Silent => Some(reason_before_signal(tail)),
        Claim::Complete if !tampered.is_empty() => Some("it changed boxes in the plan".to_owned()),
        Claim::Complete => contradiction.map(|phrase| format!("it says yes and \"{phrase}\"")),
    }
}

fn not_accepted(judge: Judge, said: &str, details: &str) -> Diagnosis {
    let error = format!("{} said no: {said}", who(judge));
    Diagnosis::new(cause(judge), error, details)
}

/// A judge that was asked twice and said neither yes nor no has not accepted the result.
pub(crate) fn never_judged(judge: Judge, why: &str) -> Diagnosis {
    Diagnosis::new(cause(judge), format!("{} gave no verdict, asked twice: it {why}", who(judge)), "")
}

fn cause(judge: Judge) -> Cause {
    match judge {
        Judge::Reviewer => Cause::ReviewerRejected,
        Judge::Qa | Judge::Person => Cause::VerificationFail,
    }
}

fn who(judge: Judge) -> &'static str {
    match judge {
        Judge::Reviewer => "the reviewer",
        Judge::Qa | Judge::Person => "QA",
    }
}

/// The facts about a result that no command can prove, as they were when its judge was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The changes that there are to judge.
    pub changes: Changes,
    /// Files that the task names and that are not there.
    pub missing: Vec<String>,
}

/// The changes that the attempts at a task made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// Nobody can tell.
    #[default]
    Unknown,
    /// There are some.
    Made,
    /// There are none, but files that the task names changed since the run began.
    MadeBefore,
    /// There are none.
    None,
}

impl Facts {
    /// The facts that speak against the result, in sentences.
    pub fn told(&self) -> Vec<String> {
        let changes = match self.changes {
            Changes::Unknown | Changes::Made => None,
            Changes::MadeBefore => {
                Some("nothing was changed for this task; files that it names changed earlier in this run")
            }
            Changes::None => Some("nothing was changed for this task"),
        };
        let missing = (!self.missing.is_empty())
            .then(|| format!("files that the task names are not there: {}", self.missing.join(", ")));
        changes.map(str::to_owned).into_iter().chain(missing).collect()
    }

    /// True if something was changed and all that the task names is there.
    pub(crate) fn hold(&self) -> bool {
        self.changes == Changes::Made && self.missing.is_empty()
    }

    /// True if attempts at the task changed nothing.
    pub(crate) fn is_without_change(&self) -> bool {
        matches!(self.changes, Changes::MadeBefore | Changes::None)
    }

    /// The facts of a task whose fix tasks may have done its work.
    pub(crate) fn with_fixes(self, state: &State, task: &Task) -> Self {
        let is_fixed = || task.fixes.iter().filter_map(|fix| state.task(fix)).any(|fix| fix.commit.is_some());
        let changes =
            if self.changes == Changes::None && is_fixed() { Changes::MadeBefore } else { self.changes };
        Self { changes, ..self }
    }
}
