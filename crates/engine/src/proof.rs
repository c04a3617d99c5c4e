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

/// What the final proof of a commit came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The commit that was checked out, with nothing else.
    pub head: String,
    /// Its tree.
    pub tree: String,
    /// What it says of each task, in the order of the plan.
    pub results: Vec<TaskProof>,
    /// The paths in the checkout that lead into the project, so that they are not proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub linked: Vec<String>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// What a proof says of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProof {
    /// The task.
    pub task: TaskId,
    /// Its verify command, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What came of it.
    pub verdict: ProofVerdict,
}

/// What came of a task's command in a clean checkout.
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
        /// What is missing and what to set, in words.
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
        /// What differs between the project and the checkout, or what broke it, as far as that is known, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        differs: Option<String>,
    },
}

impl ProofVerdict {
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

/// What is known of a task's result from the latest proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofRecord {
    /// The commit that was checked out.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// The command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What came of it.
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

    /// Whether another look at the same commit can say nothing else.
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

/// Whether what is done was proved since a task was last done.
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

    /// Whether all is done and the proof that was asked for has not been taken.
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

    /// Whether any task was done by this run: what was ticked before is none of its claims.
    fn has_to_prove(&self) -> bool {
        self.tasks().iter().any(|task| task.is_done_here())
    }

    /// What git ignored in the project before the run began; none where nobody looked.
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
    /// Whether it is done by this run, and not by a person's word.
    pub fn is_done_here(&self) -> bool {
        self.status == Status::Done && self.started_at.is_some() && !self.is_ticked_by_hand
    }
}

/// A task that is to be opened again because of the latest proof, where that is required: one after the other, until all
/// that it found is somebody's to mend. A new proof follows once they are done.
pub(crate) fn due(state: &State, rules: &Rules, now: Timestamp) -> Option<What> {
    let proof = state.proof().filter(|_| rules.prove == Prove::Require)?;
    let mends = |result: &TaskProof| mender(state, result).filter(|task| task.is_done_here());
    let task = proof.results.iter().find_map(mends)?;
    let found = proof
        .results
        .iter()
        .filter(|result| mender(state, result).is_some_and(|mender| mender.id() == task.id()));
    let failure = Box::new(failure(rules, task, &found.collect::<Vec<_>>(), now));
    Some(What::Reopened { task: task.id().clone(), failure })
}

/// The task that has to mend what a proof found: the one whose command is red, or the later one that broke it.
fn mender<'a>(state: &'a State, result: &TaskProof) -> Option<&'a Task> {
    match &result.verdict {
        ProofVerdict::Red { .. } => state.task(&result.task),
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
    let commands: String = found.iter().map(|result| listed(result)).collect();
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

fn listed(result: &TaskProof) -> String {
    let command = result.command.as_deref().unwrap_or_default();
    let differs = result.verdict.differs().map(|differs| format!(" ({differs})")).unwrap_or_default();
    let error = result.verdict.error().unwrap_or_default();
    format!("- task {}, `{command}`{differs}: {error}\n", result.task)
}
