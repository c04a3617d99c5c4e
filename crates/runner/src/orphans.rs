//! What an earlier run left in git and the program's own folder no longer tells of, because somebody deleted it. Trees
//! that are gone are forgotten; work may be all that is left of somebody's effort, so it stays and is told of.

use std::collections::BTreeSet;

use crate::delegation::file_name;
use crate::driver::Driver;
use crate::git::{Git, GitError, Keep};

/// How many references are named at once.
const TOLD_MAX: usize = 20;

impl Driver<'_> {
    /// The reference that keeps the work of a task. Plans of the same name, in other folders or in other working trees
    /// of the same repository, have others.
    pub(crate) fn keep(&self, git: &Git, name: &str) -> Keep {
        Keep::new(&self.kept_for(git), name)
    }

    fn kept_for(&self, git: &Git) -> String {
        let linked = git.git_dir().file_name().filter(|_| git.git_dir() != git.common_dir());
        let linked = linked.map(|name| format!("@{}", name.to_string_lossy())).unwrap_or_default();
        format!("{}{linked}", self.file.key())
    }

    /// Looks for such things when a run begins, and when tasks are taken out of it. That they cannot be seen to is no reason
    /// not to go on.
    pub(crate) fn see_to_orphans(&mut self) {
        let Some(git) = self.tree.git() else { return };
        let mut notes = self.clear_strays(git, &self.kept_for(git));
        match self.find_orphans(git) {
            Ok(left) if left.is_empty() => {}
            Ok(left) => notes.push(told(&left)),
            Err(error) => notes.push(format!("what an earlier run left in git cannot be seen to: {error}")),
        }
        notes.into_iter().for_each(|note| self.note(note));
    }

    fn find_orphans(&self, git: &Git) -> Result<Vec<String>, GitError> {
        // One that stays is in nobody's way.
        let _ = git.sweep_probes();
        git.forget_gone_trees(&self.file.place_of_turns())?;
        git.forget_moved_trees(&self.file.home)?;
        let (plan, names) = (self.kept_for(git), self.names_of_trees());
        // What is kept of a task that is done is no longer needed, unless somebody is about to see to it.
        let is_known = |task: &&engine::Task| {
            task.status != engine::Status::Done || names.contains(&file_name(task.id()))
        };
        let tasks = self.state.tasks().iter().map(|task| &**task).filter(is_known);
        let known: BTreeSet<Keep> = tasks.map(|task| Keep::new(&plan, &file_name(task.id()))).collect();
        git.set_kept_aside(&plan, &known)
    }
}

fn told(left: &[String]) -> String {
    let (shown, rest) = left.split_at(left.len().min(TOLD_MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let one = shown.first().map(String::as_str).unwrap_or_default();
    format!(
        "work of an earlier run that nothing else is known of is kept under {}{more} (to look at it: `git show {one}`; to \
         let it go: `git update-ref -d {one}`)",
        shown.join(", ")
    )
}
