//! Evidence: what is known of how much a task's green command proves, beside that it is green.

use std::collections::BTreeSet;

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::event::What;
use crate::fold::Applied;
use crate::leaning::{ChangedPart, told_put_back};
use crate::output::{Failing, Item, was_failing};
use crate::signs::{self, Signs};
use crate::state::State;
use crate::status::Status;
use crate::task::{Attempt, Task, TaskKind, Verification};

/// Failing items that are named.
const NAMED_MAX: usize = 5;

/// Something that was found out about what a green command proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// What the command came to before anybody worked on the task.
    Before {
        /// The result.
        before: Before,
        /// The tree that it ran on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
        /// The items that failed.
        #[serde(default, skip_serializing_if = "Failing::is_empty")]
        failing: Failing,
    },
    /// The task's Verify is another one than it was before an attempt in the project, where nobody can tell an agent's
    /// edit from a person's.
    VerifyChanged {
        /// The task that was worked on meanwhile.
        during: TaskId,
        /// The commands that it had; none where it was judged.
        former: Vec<String>,
        /// The digest of its text as it is now.
        digest: u32,
    },
    /// The signs of work that is put off or silenced, in all that the task's attempts added.
    Signs(Signs),
    /// The command is red with parts of its proof as they were before the task.
    Leaning {
        /// The parts.
        parts: Vec<ChangedPart>,
        /// The error of the command then, in a line.
        error: String,
    },
    /// New tests are green without the rest of the new work.
    GreenWithoutWork {
        /// The tests.
        tests: Vec<String>,
    },
    /// The command ran a runner of tests, and no test ran.
    NoTestRan,
    /// The command wrote files that belong to the work: it formats them, or keeps a lock file or a snapshot.
    Wrote {
        /// The files.
        paths: Vec<String>,
    },
}

/// The Verify that a task's author gave it, where another one stands in the plan that nobody has confirmed. Both count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    /// Its commands; none where it was judged.
    pub commands: Vec<String>,
    /// The digest of the text that is not confirmed: a person who edits it does.
    pub(crate) digest: u32,
}

/// The result of a command at the base of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// It was green: what it shows was so already.
    Green,
    /// It was red.
    Red,
    /// It did not end in time.
    Unknown,
}

/// The evidence about a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// What its command came to before the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Before>,
    /// The items that failed then.
    #[serde(default, skip_serializing_if = "Failing::is_empty")]
    pub failed_before: Failing,
    /// Its author's Verify, where that was changed while somebody worked in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<Former>,
    /// Signs of work that is put off or silenced.
    #[serde(default, skip_serializing_if = "Signs::is_empty")]
    pub signs: Signs,
    /// The files that its command wrote: they are committed with the work.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub wrote: BTreeSet<String>,
    /// What was found out about the latest attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Evidence>,
}

impl Evidence {
    /// The words about it that a person should read at the end, if there are any.
    pub fn warning(&self, task: &TaskId) -> Option<String> {
        match self {
            Self::Before { .. } | Self::Signs(_) | Self::Wrote { .. } => None,
            Self::VerifyChanged { during, former, .. } => {
                let former = match former.as_slice() {
                    [] => "it is judged as before as well".to_owned(),
                    commands => format!("`{}` has to be green as well", commands.join("; ")),
                };
                Some(format!(
                    "the Verify of task {task} was changed while task {during} was running, and nobody confirmed it, so \
                     {former} (a task that is edited while no agent works in the project counts as it stands)"
                ))
            }
            Self::Leaning { .. } | Self::GreenWithoutWork { .. } | Self::NoTestRan => {
                self.finding().map(|finding| format!("task {task}: {finding}"))
            }
        }
    }

    /// The words about an attempt, where it is one that it is about.
    pub fn finding(&self) -> Option<String> {
        match self {
            Self::Before { .. } | Self::VerifyChanged { .. } | Self::Signs(_) | Self::Wrote { .. } => None,
            Self::Leaning { parts, error } => {
                Some(format!("the verify command is red with {}: {error}", told_put_back(parts)))
            }
            Self::GreenWithoutWork { tests } => {
                Some(format!("new tests that are green without the new work: {}", tests.join(", ")))
            }
            Self::NoTestRan => Some("the verify command is green, and not one test ran".to_owned()),
        }
    }
}

impl Grounds {
    /// True if all that fails now failed before the work as well.
    pub(crate) fn was_failing(&self, now: &Failing) -> bool {
        was_failing(&self.failed_before, now)
    }

    /// The words for what fails now and failed before the work as well, if anything did.
    pub fn told_failing(&self, now: &Failing) -> Option<String> {
        let is_old = |item: &&Item| self.failed_before.item(item.tool, &item.name).is_some();
        let old: Vec<&str> = now.items.iter().filter(is_old).map(|item| item.name.as_str()).collect();
        if old.is_empty() {
            return None;
        }
        let of = if self.was_failing(now) { "what fails now" } else { "of what fails now, this" };
        let (named, more) =
            (old.iter().take(NAMED_MAX).copied().collect::<Vec<_>>(), old.len().saturating_sub(NAMED_MAX));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!(
            "{of} failed before the work on this task as well, for the same reason or another: {}{more}",
            named.join(", ")
        ))
    }

    /// True if the author wanted somebody to judge the task, and its text does not say so any more.
    pub(crate) fn was_judged(&self) -> bool {
        self.former.as_ref().is_some_and(|former| former.commands.is_empty())
    }

    /// Takes in the text that the task has from now on: one that no attempt left is a person's.
    pub(crate) fn reword(&mut self, digest: u32) {
        self.former = self.former.take().filter(|former| former.digest == digest);
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A command's latest result, and the tree that it was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownResult {
    pub tree: Option<String>,
    pub before: Before,
    #[serde(default, skip_serializing_if = "Failing::is_empty")]
    pub failing: Failing,
}

/// What is to be known of a task's command before its first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeforeWork<'a> {
    /// Nothing: it is known, or of no interest.
    Nothing,
    /// Its result, unless that is this one still, of this tree.
    Result(Option<(&'a str, Before, &'a Failing)>),
}

impl State {
    /// What is to be known of a task's command before an agent begins. A command that did not end in time once is not tried
    /// again.
    pub fn wanted_before(&self, id: &TaskId) -> BeforeWork<'_> {
        let is_wanted = |task: &&Task| {
            task.decl.kind == TaskKind::Work
                && task.decl.verification != Verification::Judgement
                && task.decl.fix_of.is_none()
                && task.grounds.before.is_none()
                && task.next_attempt() == Attempt(1)
        };
        let Some(task) = self.task(id).filter(is_wanted) else { return BeforeWork::Nothing };
        match task.decl.command.and_then(|command| self.results.get(&command)) {
            Some(KnownResult { before: Before::Unknown, .. }) => BeforeWork::Nothing,
            Some(KnownResult { tree: Some(tree), before, failing }) => {
                BeforeWork::Result(Some((tree, *before, failing)))
            }
            Some(KnownResult { tree: None, .. }) | None => BeforeWork::Result(None),
        }
    }

    /// Notes that the command of a task was green. What a fix task inherits may be red all the same.
    pub(crate) fn note_green(&mut self, id: &TaskId, tree: Option<&str>) {
        let command =
            self.task(id).filter(|task| task.decl.fix_of.is_none()).and_then(|task| task.decl.command);
        if let (Some(command), Some(tree)) = (command, tree) {
            let (tree, failing) = (Some(tree.to_owned()), Failing::default());
            let result = KnownResult { tree, before: Before::Green, failing };
            self.results.insert(command, result);
        }
    }

    pub(crate) fn apply_evidence(&mut self, id: &TaskId, evidence: &Evidence) -> Applied {
        let task = self.known(id)?;
        match evidence {
            Evidence::Before { before, tree, failing } => {
                task.grounds.before = Some(*before);
                task.grounds.failed_before.clone_from(failing);
                if let Some(command) = task.decl.command {
                    let (tree, failing) = (tree.clone(), failing.clone());
                    self.results.insert(command, KnownResult { tree, before: *before, failing });
                }
            }
            Evidence::VerifyChanged { former, digest, .. } => {
                // The first one is the author's, however often it is changed afterwards.
                let known = task.grounds.former.take().map(|former| former.commands);
                let commands = known.unwrap_or_else(|| former.clone());
                task.grounds.former = Some(Former { commands, digest: *digest });
            }
            Evidence::Signs(signs) => task.grounds.signs = signs.clone(),
            Evidence::Wrote { paths } => task.grounds.wrote.extend(paths.iter().cloned()),
            Evidence::Leaning { .. } | Evidence::GreenWithoutWork { .. } | Evidence::NoTestRan => {
                task.grounds.findings.push(evidence.clone());
            }
        }
        if let Some(warning) = evidence.warning(id) {
            self.warnings.add(warning);
        }
        Ok(())
    }
}

/// What was found out too late, or twice, means nothing.
pub(crate) fn found(state: &State, id: TaskId, evidence: Evidence) -> Option<What> {
    let task = state.task(&id)?;
    let is_news = match &evidence {
        Evidence::Before { .. } => task.grounds.before.is_none(),
        Evidence::VerifyChanged { digest, .. } => {
            task.grounds.former.as_ref().is_none_or(|former| former.digest != *digest)
        }
        Evidence::Signs(signs) => return signs::found(state, id, signs.clone()),
        Evidence::Wrote { paths } => paths.iter().any(|path| !task.grounds.wrote.contains(path)),
        Evidence::Leaning { .. } | Evidence::GreenWithoutWork { .. } | Evidence::NoTestRan => {
            matches!(task.status, Status::Checking(_) | Status::Proving)
                && !task.grounds.findings.contains(&evidence)
        }
    };
    is_news.then_some(What::Found { task: id, evidence })
}
