//! What is to be proved: the done tasks of a run, each with its author's command and the commit at which that was green.

use engine::{State, Task};
use jiff::Timestamp;
use plan::{Script, TaskId, Verify};

use crate::git::Oid;
use crate::plan_file::PlanFiles;

/// A done task.
#[derive(Debug, Clone)]
pub(crate) struct Exhibit {
    pub(crate) task: TaskId,
    pub(crate) claim: Claim,
}

/// What is to be shown of it.
#[derive(Debug, Clone)]
pub(crate) enum Claim {
    /// Nothing, and why; with the command, if there is one.
    LeftOut { reason: String, script: Option<Script> },
    /// That its command is green.
    Command {
        script: Script,
        /// The commit at which it was.
        commit: Option<Oid>,
        /// Tasks that were committed later, with their commits, in that order.
        later: Vec<(TaskId, Oid)>,
    },
}

impl Claim {
    pub(crate) fn script(&self) -> Option<&Script> {
        match self {
            Claim::LeftOut { script, .. } => script.as_ref(),
            Claim::Command { script, .. } => Some(script),
        }
    }
}

/// The exhibits of these tasks. `own` are the plan's own files.
pub(crate) fn exhibits<'a>(
    state: &State,
    plans: &PlanFiles,
    own: &[String],
    tasks: impl Iterator<Item = &'a Task>,
) -> Vec<Exhibit> {
    tasks.map(|task| Exhibit { task: task.id().clone(), claim: claim(state, plans, own, task) }).collect()
}

fn claim(state: &State, plans: &PlanFiles, own: &[String], task: &Task) -> Claim {
    let left_out = |reason: &str, script| Claim::LeftOut { reason: reason.to_owned(), script };
    let Some(excerpt) = plans.excerpt(state, task.id()) else {
        return left_out("it is gone from the plan", None);
    };
    let Verify::Runnable(script) = excerpt.verify() else {
        return left_out("it has no command", None);
    };
    if excerpt.is_red() {
        return left_out("a [RED] task has to fail", Some(script));
    }
    if let Some(reason) = script.looks_beyond(own) {
        return left_out(&reason, Some(script));
    }
    let ended = task.ended_at;
    let committed = state.tasks().iter().filter_map(|other| Some((other, other.ended_at?, oid(other)?)));
    let committed: Vec<(&Task, Timestamp, Oid)> =
        committed.map(|(other, at, commit)| (other.as_ref(), at, commit)).collect();
    // What changed nothing was green on top of what had been committed then.
    let before = committed.iter().filter(|(_, at, _)| Some(*at) <= ended).max_by_key(|(_, at, _)| *at);
    let commit = oid(task).or_else(|| before.map(|(_, _, commit)| commit.clone()));
    let mut later: Vec<_> =
        committed.iter().filter(|(other, at, _)| other.id() != task.id() && Some(*at) > ended).collect();
    later.sort_by_key(|(_, at, _)| *at);
    let later = later.into_iter().map(|(other, _, commit)| (other.id().clone(), commit.clone())).collect();
    Claim::Command { script, commit, later }
}

fn oid(task: &Task) -> Option<Oid> {
    task.commit.as_deref().and_then(Oid::parse)
}
