//! The done tasks of a run, each with what can be shown of it in a clean checkout.

use std::fs;

use engine::{Attempt, Evidence, Judge, State, Task};
use plan::{Commit, Script, TaskId};

use crate::attempt::AttemptFiles;
use crate::git::Oid;
use crate::plan_file::{Excerpt, PlanFiles};
use crate::project::PlanFile;
use crate::proof::facts::Facts;

/// A done task.
#[derive(Debug, Clone)]
pub(super) struct DoneTask {
    pub(super) id: TaskId,
    pub(super) shown: Shown,
    /// True if this run has seen its command run, and not that no test ran in it.
    may_have_tests: bool,
}

/// The part of a done task that can be shown.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    /// Nothing, and why; with the command, if there is one.
    Nothing { reason: String, script: Option<Script> },
    /// That its command is green, which it was at this commit.
    Command { script: Script, commit: Option<Oid>, holding: Holding },
}

/// The place that holds the work of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    /// A commit.
    Commit,
    /// The project alone, as its author wrote.
    Project,
}

impl DoneTask {
    pub(super) fn script(&self) -> Option<&Script> {
        match &self.shown {
            Shown::Nothing { script, .. } => script.as_ref(),
            Shown::Command { script, .. } => Some(script),
        }
    }

    /// True if this is its command, and tests may have run in it when it was done.
    pub(super) fn had_tests(&self, script: &Script) -> bool {
        self.may_have_tests && self.script().is_some_and(|own| own.text == script.text)
    }
}

/// Looks at these tasks. `own` are the plan's own files.
pub(super) fn done_tasks<'a>(
    state: &State,
    (file, plans): (&PlanFile, &PlanFiles),
    (facts, own): (&Facts, &[String]),
    tasks: impl Iterator<Item = &'a Task>,
) -> Vec<DoneTask> {
    let shown = |task: &Task| shown(excerpt(state, (file, plans), task), (facts, own), task);
    let done = |task: &Task| DoneTask {
        id: task.id().clone(),
        shown: shown(task),
        may_have_tests: task.is_done_here() && !task.grounds.findings.contains(&Evidence::NoTestRan),
    };
    tasks.map(done).collect()
}

/// The text that the task had when its latest attempt began, whatever the plan says since then; once the run is over, what its
/// author made of it since. The former is kept where an agent can lay hands on it: it counts if it is the one that the
/// record knows, else the plan's own text does.
fn excerpt(state: &State, (file, plans): (&PlanFile, &PlanFiles), task: &Task) -> Option<Excerpt> {
    let files = AttemptFiles::of_attempt(file, task.id(), Attempt(task.attempted), task.dispatch);
    let kept = fs::read_to_string(files.dir().join("task.md")).ok();
    let kept = kept.and_then(|text| Excerpt::of(file, &text));
    let kept = kept.filter(|kept| kept.digest() == task.decl.digest);
    let now = plans.excerpt(state, task.id());
    if state.end().is_some() { now.or(kept) } else { kept.or(now) }
}

fn shown(excerpt: Option<Excerpt>, (facts, own): (&Facts, &[String]), task: &Task) -> Shown {
    let nothing = |reason: &str, script| Shown::Nothing { reason: reason.to_owned(), script };
    let Some(excerpt) = excerpt else {
        return nothing("it is gone from the plan", None);
    };
    let former = task.grounds.former.as_ref().map(|former| former.commands.clone());
    let script = match (former.filter(|commands| !commands.is_empty()), excerpt.script()) {
        (Some(commands), _) => Script::new(commands),
        (None, Some((script, _))) => script,
        (None, None) => {
            let judge = facts.judge(task.id()).map_or("", judged_by);
            return nothing(&format!("it has no command{judge}"), None);
        }
    };
    if excerpt.is_red() {
        return nothing("a [RED] task has to fail", Some(script));
    }
    if let Some(reason) = script.looks_beyond(own) {
        return nothing(&reason, Some(script));
    }
    let is_kept_out = excerpt.fields().commit == Commit::None && task.commit.is_none();
    let holding = if is_kept_out { Holding::Project } else { Holding::Commit };
    Shown::Command { script, commit: facts.green_at(task.id()).cloned(), holding }
}

fn judged_by(judge: Judge) -> &'static str {
    match judge {
        Judge::Qa => ": the QA agent judged it",
        Judge::Reviewer => ": the reviewer judged it",
        Judge::Person => ": a person judged it",
    }
}
