//! What an earlier run left in git and the program's own folder no longer tells of, because somebody deleted it. Trees
//! that are gone are forgotten; work may be all that is left of somebody's effort, so it stays and is told of.

use std::collections::BTreeSet;
use std::fs;

use plan::TaskId;

use crate::delegation::file_name;
use crate::driver::Driver;
use crate::git::{Git, GitError, Keep};
use crate::offstage::task_part;

/// How many references are named at once.
const TOLD_MAX: usize = 20;

impl Driver<'_> {
    /// The reference that keeps the work of a task. Plans of the same name, in other folders or in other working trees
    /// of the same repository, have others.
    pub(crate) fn keep(&self, git: &Git, id: &TaskId) -> Keep {
        Keep::new(&self.kept_for(git), &file_name(id))
    }

    fn kept_for(&self, git: &Git) -> String {
        let linked = git.git_dir().file_name().filter(|_| git.git_dir() != git.common_dir());
        let linked = linked.map(|name| format!("@{}", name.to_string_lossy())).unwrap_or_default();
        format!("{}{linked}", self.file.key())
    }

    /// Looks for such things when a run begins. That they cannot be seen to is no reason not to.
    pub(crate) fn see_to_orphans(&mut self) {
        let Some(git) = self.tree.git() else { return };
        match self.find_orphans(git) {
            Ok(left) if left.is_empty() => {}
            Ok(left) => self.note(told(&left)),
            Err(error) => self.note(format!("what an earlier run left in git cannot be seen to: {error}")),
        }
    }

    fn find_orphans(&self, git: &Git) -> Result<Vec<String>, GitError> {
        git.forget_gone_trees(&self.file.place_of_turns())?;
        git.forget_moved_trees(&self.file.home)?;
        let plan = self.kept_for(git);
        let entries = fs::read_dir(self.file.trees()).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let known: BTreeSet<Keep> = names.map(|name| Keep::new(&plan, task_part(&name))).collect();
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
