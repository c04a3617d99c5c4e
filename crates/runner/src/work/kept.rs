//! Work that git keeps by references of ours: of tasks that are not done, of tasks that are gone, of none any more.

use engine::{End, Event, PlanChanges, State, Task, What};
use plan::TaskId;

use crate::attempt::invocation::file_name;
use crate::git::{Git, Keep};
use crate::run::effects::Effects;

impl Effects<'_, '_> {
    /// The reference that keeps the work of a task. Plans of the same name, in other folders or in other work trees of
    /// the same repository, have others.
    pub(crate) fn keep(&self, git: &Git, id: &TaskId) -> Keep {
        Keep::new(&self.kept_for(git), &file_name(id))
    }

    pub(crate) fn kept_for(&self, git: &Git) -> String {
        let linked = git.git_dir().file_name().filter(|_| git.git_dir() != git.common_dir());
        let linked = linked.map(|name| format!("@{}", name.to_string_lossy())).unwrap_or_default();
        format!("{}{linked}", self.world.file.key())
    }

    /// When a run ends with tasks that failed: where what they left is kept.
    pub(crate) fn tell_of_kept_work(&mut self) {
        let tasks: Vec<&engine::Task> = match self.state.end() {
            Some(End::Stopped(_) | End::Waiting { .. }) => self.state.attention().collect(),
            Some(_) | None => return,
        };
        let failed = tasks.into_iter().filter(|task| task.is_isolated() && !task.failures.is_empty());
        let kept = failed.filter_map(|task| Some((task.id().clone(), task.work.as_ref()?.commit.clone()?)));
        let notes = kept.map(|(task, commit)| {
            format!(
                "what the last attempt at task {task} left is kept as commit {commit} (`git show {commit}`); the next one \
                 goes on from it"
            )
        });
        notes.collect::<Vec<_>>().into_iter().for_each(|note| self.note(note));
    }

    /// Tasks with finished work that is nowhere any more: somebody removed what kept it.
    pub(crate) fn gone_work(&self) -> Vec<TaskId> {
        let Some(git) = self.world.files.git() else { return Vec::new() };
        let waiting = self.state.attention().filter(|task| task.waits_in_tree());
        let is_gone = |task: &&engine::Task| {
            let commit = task.work.as_ref().and_then(|work| work.commit.as_deref());
            commit.is_some_and(|commit| !git.has_commit(commit))
        };
        waiting.filter(is_gone).map(|task| task.id().clone()).collect()
    }

    /// Puts the work of tasks that this run does not know where nothing touches it, and tells of it.
    pub(crate) fn set_orphans_aside(&mut self) {
        let Some(git) = self.world.files.git() else { return };
        let plan = self.kept_for(git);
        let open = self.state.tasks().iter().filter(|task| task.status != engine::Status::Done);
        let known = open.map(|task| Keep::new(&plan, &file_name(task.id()))).collect();
        match git.set_kept_aside(&plan, &known) {
            Ok(left) if left.is_empty() => {}
            Ok(left) => self.note(told_of_orphans(&left)),
            Err(error) => self.note(format!("what an earlier run left in git cannot be seen to: {error}")),
        }
    }

    /// Tasks that a person took out of the plan when they were finished and waited to come in, or when an attempt had left
    /// something; also those in whose place another one is done by now, as on another branch. Their work does not come in; it
    /// may be all that is left of somebody's effort, so it is put where nothing touches it, and told of.
    pub(crate) fn set_withdrawn_aside(&mut self, withdrawn: &[TaskId]) {
        for id in withdrawn {
            let why = match self.state.task(id) {
                Some(_) => "is ticked in the plan, with another text than the one that was worked on",
                None => "is no longer in the plan",
            };
            self.note(format!("task {id} {why}, so its work does not come in"));
        }
        if !withdrawn.is_empty() {
            self.set_orphans_aside();
        }
    }

    /// Once a task is done nobody needs what was kept of its attempts, nor of those that it repaired. That it stays is a
    /// nuisance and no more.
    pub(crate) fn let_go_of_work(&self, id: &TaskId) {
        let Some(git) = self.world.files.git() else { return };
        if self.world.slots.is_some() {
            let keep = self.keep(git, id);
            let _ = git.drop_kept(&keep).and_then(|()| git.drop_kept(&keep.landed()));
            let _ = git.drop_told(&keep);
        }
    }
}

/// The tasks with work in slots that an event takes out of the run.
pub(crate) fn withdrawn_by(state: &State, event: &Event) -> Vec<TaskId> {
    let Some(changes) = changes_in(&event.what) else { return Vec::new() };
    let has_work = |id: &&TaskId| {
        let is_packed = |task: &Task| task.work.as_ref().is_some_and(|work| work.commit.is_some());
        state.task(id).is_some_and(|task| task.waits_in_tree() || is_packed(task))
    };
    let outdated = if let What::Opened(opened) = &event.what { opened.outdated.as_slice() } else { &[] };
    let replaced = outdated.iter().filter(|id| changes.ticked.contains(id));
    changes.removed.iter().chain(replaced).filter(has_work).cloned().collect()
}

fn changes_in(what: &What) -> Option<&PlanChanges> {
    if let What::Opened(opened) = what {
        return Some(&opened.changes);
    }
    if let What::PlanChanged(changes) = what { Some(changes) } else { None }
}

fn told_of_orphans(left: &[String]) -> String {
    const TOLD_MAX: usize = 20;
    let (shown, rest) = left.split_at(left.len().min(TOLD_MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let one = shown.first().map(String::as_str).unwrap_or_default();
    format!(
        "work of an earlier run that nothing else is known of is kept under {}{more} (to look at it: `git show {one}`; to \
         let it go: `git update-ref -d {one}`)",
        shown.join(", ")
    )
}
