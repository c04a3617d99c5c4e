//! The final proof: once all is done, the commands of all done tasks run once more in a clean checkout of what is committed.
//! What came of that is a fact about a commit.

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::event::What;
use crate::failure::{Cause, Failure};
use crate::fold::Applied;
use crate::ladder::rung;
use crate::output::Failing;
use crate::rules::{Prove, Rules};
use crate::state::{Regression, State};
use crate::status::Status;
use crate::task::{Attempt, Task};
use crate::transition::EventKind;

/// Characters of a commit's name.
const COMMIT_CHARS: usize = 9;

/// The result of the final proof of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The commit that was checked out, with nothing else.
    pub head: String,
    /// Its tree.
    pub tree: String,
    /// The result for each task, in the order of the plan.
    pub results: Vec<TaskProof>,
    /// The paths in the checkout that lead into the project, so that they are not proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// The result of a proof for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProof {
    /// The task.
    pub task: TaskId,
    /// Its verify command, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The result.
    pub verdict: ProofVerdict,
}

/// The result of a task's command in a clean checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofVerdict {
    /// It is green.
    Green {
        /// Its exit code: 0, or that of a pipe whose reader had enough.
        exit_code: i32,
    },
    /// It was not run, since a checkout alone cannot show it.
    LeftOut {
        /// Why, in words.
        reason: String,
    },
    /// It was green at the task's own commit, and later tasks' commits made it red.
    Superseded {
        /// Those tasks, or the one.
        by: Vec<TaskId>,
        /// Its exit code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The error in a line.
        error: String,
    },
    /// Nobody knows: the checkout lacks what surrounds the project, such as its dependencies.
    NotProved {
        /// The thing that is missing and what to set, in words.
        reason: String,
    },
    /// The time for the proof was over before.
    NotReached,
    /// It is red.
    Red {
        /// Its exit code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The error in a line.
        error: String,
        /// The difference between the project and the checkout, or the commit that broke it, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        differs: Option<String>,
    },
}

impl TaskProof {
    /// The words about a red command.
    fn finding(&self) -> Option<String> {
        let told = match &self.verdict {
            ProofVerdict::Red { .. } => "red".to_owned(),
            ProofVerdict::Superseded { by, .. } => format!("superseded by {}", listed(by)),
            ProofVerdict::Green { .. }
            | ProofVerdict::LeftOut { .. }
            | ProofVerdict::NotProved { .. }
            | ProofVerdict::NotReached => return None,
        };
        Some(format!("{} is {told}{}", self.task, self.verdict.words(self.command.as_deref())))
    }
}

impl ProofRecord {
    /// The record in a line.
    pub fn line(&self) -> String {
        let (commit, tree) = (short(&self.commit), short(&self.tree));
        let at = format!("in a clean checkout of {commit} (tree {tree}){}", not_of(&self.linked));
        let command = self.command.as_ref().map(|command| format!(": `{command}`")).unwrap_or_default();
        let code = self.verdict.exit_code().map(|code| format!(", exit code {code}")).unwrap_or_default();
        let words = || self.verdict.words(None);
        match &self.verdict {
            ProofVerdict::Green { .. } => format!("green {at}{command}{code}"),
            ProofVerdict::Red { .. } => format!("red {at}{command}{code}{}", words()),
            ProofVerdict::Superseded { by, .. } => {
                format!("superseded by {}: red {at}{command}{code}{}", listed(by), words())
            }
            ProofVerdict::LeftOut { reason } => format!("left out: {reason}"),
            ProofVerdict::NotProved { reason } => format!("not proved {at}: {reason}"),
            ProofVerdict::NotReached => "not reached: the time for the proof was over".to_owned(),
        }
    }
}

impl ProofVerdict {
    /// What differs and the error of a red command, with the command where the error does not name it.
    fn words(&self, command: Option<&str>) -> String {
        let error = self.error().unwrap_or_default();
        let command = command.filter(|command| !error.contains(*command));
        let command = command.map(|command| format!(" `{command}`:")).unwrap_or_default();
        let differs = self.differs().map(|differs| format!(" ({differs})")).unwrap_or_default();
        format!("{differs}:{command} {error}")
    }

    /// The exit code of the command, where it ran and told one.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Green { exit_code } => Some(*exit_code),
            Self::Superseded { exit_code, .. } | Self::Red { exit_code, .. } => *exit_code,
            Self::LeftOut { .. } | Self::NotProved { .. } | Self::NotReached => None,
        }
    }

    /// The error of a red command in a line.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Superseded { error, .. } | Self::Red { error, .. } => Some(error),
            Self::Green { .. } | Self::LeftOut { .. } | Self::NotProved { .. } | Self::NotReached => None,
        }
    }

    /// The difference that made it red, where one is known.
    pub fn differs(&self) -> Option<&str> {
        if let Self::Red { differs, .. } = self { differs.as_deref() } else { None }
    }
}

/// The record of the latest proof that a task has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofRecord {
    /// The commit that was checked out.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// The command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The result.
    pub verdict: ProofVerdict,
    /// The paths in the checkout that lead into the project, so that they are not proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
}

impl Proof {
    /// The tasks whose commands are red, and not because later tasks changed what they look at.
    pub fn red(&self) -> impl Iterator<Item = &TaskProof> {
        self.results.iter().filter(|result| matches!(result.verdict, ProofVerdict::Red { .. }))
    }

    /// True if nothing is green, and something was to be.
    pub fn shows_nothing(&self) -> bool {
        let is_unknown = |verdict: &ProofVerdict| {
            matches!(verdict, ProofVerdict::NotProved { .. } | ProofVerdict::NotReached)
        };
        let mut verdicts = self.results.iter().map(|result| &result.verdict);
        !verdicts.clone().any(|verdict| matches!(verdict, ProofVerdict::Green { .. }))
            && verdicts.any(is_unknown)
    }

    /// The result of all of it, in words.
    pub fn headline(&self) -> String {
        let of = |is: fn(&ProofVerdict) -> bool| {
            self.results.iter().filter(move |result| is(&result.verdict)).count()
        };
        let green = of(|verdict| matches!(verdict, ProofVerdict::Green { .. }));
        let parts = [
            (of(|verdict| matches!(verdict, ProofVerdict::Red { .. })), "red"),
            (of(|verdict| matches!(verdict, ProofVerdict::Superseded { .. })), "superseded"),
            (of(|verdict| matches!(verdict, ProofVerdict::NotProved { .. })), "not proved"),
            (of(|verdict| matches!(verdict, ProofVerdict::NotReached)), "not reached"),
            (of(|verdict| matches!(verdict, ProofVerdict::LeftOut { .. })), "left out"),
        ];
        let others =
            parts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!(", {number} {what}"));
        let count = self.results.len();
        format!(
            "{green} of {count} {} green in a clean checkout of {}{}{}",
            if count == 1 { "task" } else { "tasks" },
            short(&self.head),
            not_of(&self.linked),
            others.collect::<String>()
        )
    }

    /// A line for each task, or for each reason, of which there is something to say; what is red comes first.
    pub fn findings(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.results.iter().filter_map(TaskProof::finding).collect();
        let mut grouped: Vec<(String, Vec<&TaskId>)> = Vec::new();
        for result in &self.results {
            let reason = match &result.verdict {
                ProofVerdict::LeftOut { reason } => format!("left out: {reason}"),
                ProofVerdict::NotProved { reason } => format!("not proved: {reason}"),
                ProofVerdict::NotReached => {
                    "not reached: the time for the proof was over (prove_budget)".to_owned()
                }
                ProofVerdict::Green { .. } | ProofVerdict::Superseded { .. } | ProofVerdict::Red { .. } => {
                    continue;
                }
            };
            match grouped.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, tasks)) => tasks.push(&result.task),
                None => grouped.push((reason, vec![&result.task])),
            }
        }
        lines.extend(grouped.iter().map(|(reason, tasks)| format!("{} {reason}", listed(tasks))));
        lines
    }

    /// True if another look at the same commit can say nothing else.
    fn is_final(&self) -> bool {
        self.results.iter().all(|result| match result.verdict {
            ProofVerdict::NotProved { .. } | ProofVerdict::NotReached => false,
            ProofVerdict::Green { .. }
            | ProofVerdict::LeftOut { .. }
            | ProofVerdict::Superseded { .. }
            | ProofVerdict::Red { .. } => true,
        })
    }
}

/// True of what is done if it was proved since a task was last done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Proving {
    /// Not, or not since.
    #[default]
    Open,
    /// It was.
    Over,
}

impl Proving {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

impl State {
    /// The latest proof, if it is about what is done now.
    pub fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref().filter(|_| self.proving == Proving::Over)
    }

    /// True if all is done and the proof that was asked for has not been taken.
    pub fn lacks_proof(&self) -> bool {
        let rules = self.rules();
        let is_on = rules.is_some_and(|rules| rules.prove != Prove::Off);
        let is_next =
            rules.is_some_and(|rules| !rules.regression.is_on()) || self.regression == Regression::Green;
        is_on
            && is_next
            && self.proving == Proving::Open
            && self.first_unsettled().is_none()
            && self.has_to_prove()
    }

    /// True if any task was done by this run: what was ticked before is none of its claims.
    fn has_to_prove(&self) -> bool {
        self.tasks().iter().any(|task| task.is_done_here())
    }

    /// The paths that git ignored in the project before the run began; none where nobody looked.
    pub fn surroundings(&self) -> Option<&[String]> {
        self.surroundings.as_deref()
    }

    pub(crate) fn apply_proved(&mut self, proof: &Proof) -> Applied {
        for result in &proof.results {
            // A task that is gone from the plan needs no record.
            if let Ok(task) = self.known(&result.task) {
                task.proof = Some(ProofRecord {
                    commit: proof.head.clone(),
                    tree: proof.tree.clone(),
                    command: result.command.clone(),
                    verdict: result.verdict.clone(),
                    linked: proof.linked.clone(),
                });
            }
        }
        self.proof = Some(proof.clone());
        self.proving = Proving::Over;
        Ok(())
    }

    /// Opens a done task again: its latest attempt failed, as it turns out, and it has its whole budget to mend that.
    pub(crate) fn apply_reopened(&mut self, id: &TaskId, failure: &Failure) -> Applied {
        let task = self.go(id, EventKind::Reopened, Status::Failed)?;
        task.decl.ticked = false;
        task.renew_budget();
        task.failures.push(failure.clone());
        self.regression = Regression::Open;
        self.pull_request.reset();
        Ok(())
    }

    /// A proof says nothing of another commit, and what could not be proved may be now.
    pub(crate) fn renew_proof(&mut self, head: Option<&str>) {
        let holds =
            self.proof.as_ref().is_some_and(|proof| Some(proof.head.as_str()) == head && proof.is_final());
        if !holds {
            self.proving = Proving::Open;
        }
    }
}

impl Task {
    /// True if it is done by this run, and not by a person's word.
    pub fn is_done_here(&self) -> bool {
        self.status == Status::Done && self.started_at.is_some() && !self.is_ticked_by_hand
    }
}

/// A task that is to be opened again because of the latest proof, where that is required: one after the other, until all
/// that it found is somebody's to mend. A new proof follows once they are done.
pub(crate) fn due(state: &State, rules: &Rules, now: Timestamp) -> Option<What> {
    let proof = state.proof().filter(|_| rules.prove == Prove::Require)?;
    let mends = |result: &TaskProof| mender(state, proof, result).filter(|task| task.is_done_here());
    let task = proof.results.iter().find_map(mends)?;
    let found = proof
        .results
        .iter()
        .filter(|result| mender(state, proof, result).is_some_and(|mender| mender.id() == task.id()));
    let failure = Box::new(failure(rules, task, &found.collect::<Vec<_>>(), now));
    Some(What::Reopened { task: task.id().clone(), failure })
}

/// The task that has to mend what a proof found: the one whose command is red, or the later one that broke it. Where the same
/// difference makes several red, the first of them mends it for all, unless that is skipped.
fn mender<'a>(state: &'a State, proof: &Proof, result: &TaskProof) -> Option<&'a Task> {
    let is_skipped = |id: &TaskId| state.task(id).is_some_and(|task| task.status == Status::Skipped);
    match &result.verdict {
        _ if is_skipped(&result.task) => None,
        ProofVerdict::Red { differs, .. } => {
            let is_same = |other: &&TaskProof| {
                differs.is_some() && other.verdict.differs() == differs.as_deref() && !is_skipped(&other.task)
            };
            state.task(&proof.results.iter().find(is_same).unwrap_or(result).task)
        }
        ProofVerdict::Superseded { by, .. } => by.last().and_then(|by| state.task(by)),
        ProofVerdict::Green { .. }
        | ProofVerdict::LeftOut { .. }
        | ProofVerdict::NotProved { .. }
        | ProofVerdict::NotReached => None,
    }
}

fn failure(rules: &Rules, task: &Task, found: &[&TaskProof], at: Timestamp) -> Failure {
    let first = found.first();
    let error = first.map(|result| told(task, result)).unwrap_or_default();
    let commands: String = found
        .iter()
        .map(|result| format!("- task {}{}\n", result.task, result.verdict.words(result.command.as_deref())))
        .collect();
    let details = format!(
        "In a clean checkout of what is committed:\n{commands}There each of these commands has to be green, and so has this \
         task's own. Commit all that they need."
    );
    Failure {
        attempt: Attempt(task.attempted.max(1)),
        at,
        cause: Cause::NotProved,
        rung: rung(rules, task, Cause::NotProved, &error),
        error,
        details,
        command: first.and_then(|result| result.command.clone()),
        exit_code: first.and_then(|result| result.verdict.exit_code()),
        tree: None,
        failing: Failing::default(),
        attempted_fix: None,
        suggested_fix: None,
        root_cause: None,
        blocked_by: None,
        files: Vec::new(),
        learnings: Vec::new(),
        elapsed_ms: 0,
    }
}

/// The words about something that a proof found, for the task that has to mend it.
fn told(task: &Task, result: &TaskProof) -> String {
    let is_own = result.task == *task.id();
    let whose =
        if is_own { "its command".to_owned() } else { format!("the command of task {}", result.task) };
    let since = if is_own { "" } else { " since this task's commit" };
    let differs = result.verdict.differs().map(|differs| format!(" ({differs})")).unwrap_or_default();
    let error = result.verdict.error().unwrap_or_default();
    format!("{whose} is red in a clean checkout{since}{differs}: {error}")
}

/// Ids in a row.
fn listed(tasks: &[impl ToString]) -> String {
    tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The part of a checkout that is the project's own, and so not proved.
fn not_of(linked: &[String]) -> String {
    if linked.is_empty() { String::new() } else { format!(" (not of {}, linked)", linked.join(", ")) }
}

fn short(name: &str) -> &str {
    name.get(..COMMIT_CHARS).unwrap_or(name)
}
