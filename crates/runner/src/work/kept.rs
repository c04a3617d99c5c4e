//! Work that git keeps by references of ours: of tasks that are not done, of tasks that are gone, of none any more.

use engine::End;
use plan::TaskId;

use crate::attempt::delegate::file_name;
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
