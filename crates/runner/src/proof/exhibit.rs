//! What is to be proved: the done tasks of a run, each with its author's command and the commit at which that was green.

use std::fs;

use engine::{Attempt, State, Task};
use jiff::Timestamp;
use plan::{Commit, Script, TaskId, Verify};

use crate::attempt::AttemptFiles;
use crate::git::Oid;
use crate::plan_file::{Excerpt, PlanFiles};
use crate::project::PlanFile;

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
        /// Where its work is to be found.
        holding: Holding,
    },
}

/// What holds the work of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holding {
    /// A commit.
    Commit,
    /// The project alone, as its author wrote.
    Project,
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
    (file, plans): (&PlanFile, &PlanFiles),
    own: &[String],
    tasks: impl Iterator<Item = &'a Task>,
) -> Vec<Exhibit> {
    tasks
        .map(|task| Exhibit {
            task: task.id().clone(),
            claim: claim(state, excerpt(state, (file, plans), task), own, task),
        })
        .collect()
}

/// The text that the task had when its latest attempt began: that was its author's, whatever the plan says since then. Where
/// nobody worked on it, or that is gone, the plan has it.
fn excerpt(state: &State, (file, plans): (&PlanFile, &PlanFiles), task: &Task) -> Option<Excerpt> {
    let files = AttemptFiles::of_attempt(file, task.id(), Attempt(task.attempted), task.dispatch);
    let kept = fs::read_to_string(files.dir().join("task.md")).ok();
    let kept = kept.and_then(|text| Excerpt::read(file.dialect, &text));
    kept.or_else(|| plans.excerpt(state, task.id()))
}

fn claim(state: &State, excerpt: Option<Excerpt>, own: &[String], task: &Task) -> Claim {
    let left_out = |reason: &str, script| Claim::LeftOut { reason: reason.to_owned(), script };
    let Some(excerpt) = excerpt else {
        return left_out("it is gone from the plan", None);
    };
    let former = task.grounds.former.as_ref().map(|former| former.commands.clone());
    let script = match (former.filter(|commands| !commands.is_empty()), excerpt.verify()) {
        (Some(commands), _) => Script::new(commands),
        (None, Verify::Runnable(script)) => script,
        (None, Verify::Prose(_) | Verify::Absent) => return left_out("it has no command", None),
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
    let is_kept_out = excerpt.fields().commit == Commit::None && task.commit.is_none();
    let holding = if is_kept_out { Holding::Project } else { Holding::Commit };
    Claim::Command { script, commit, later, holding }
}

fn oid(task: &Task) -> Option<Oid> {
    task.commit.as_deref().and_then(Oid::parse)
}
