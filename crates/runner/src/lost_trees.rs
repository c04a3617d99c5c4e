//! Work trees that a person removed while no run was there to need them. What was packed of their work can come in without
//! them; where it is still to be verified, the tree is made again. Nobody is charged for what is gone altogether.

use engine::Status;
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{GitError, Oid};
use crate::offstage::Site;

impl Driver<'_> {
    /// Before a run goes on: makes trees again that are needed. Gives the tasks whose work is nowhere any more.
    pub(crate) fn make_up_for_trees(&mut self) -> Vec<TaskId> {
        let waiting = self.state.attention().filter(|task| task.waits_in_tree());
        let needs_tree = |status: &Status| matches!(status, Status::Checking(_) | Status::Judging(_));
        let waiting =
            waiting.map(|task| (task.id().clone(), needs_tree(&task.status), task.touched.is_empty()));
        let (mut gone, mut notes) = (Vec::new(), Vec::new());
        for (id, needs_tree, is_empty) in waiting.collect::<Vec<_>>() {
            let Some(site) = self.site(&id).filter(|site| site.base().is_none()) else { continue };
            match site.git.kept(&site.keep) {
                Ok(Some(_)) if !needs_tree => {}
                Ok(None) if !needs_tree && is_empty => {}
                Ok(Some(commit)) => match site.make_again(&commit) {
                    Ok(()) => notes.push(format!(
                        "the work tree of task {id} was gone and is made again of what was kept of its work"
                    )),
                    Err(_) => gone.push(id),
                },
                // Where git cannot tell, it says so to whoever needs the work.
                Err(_) if !needs_tree => {}
                Ok(None) | Err(_) => gone.push(id),
            }
        }
        notes.into_iter().for_each(|note| self.note(note));
        gone
    }

    /// Why a task's work cannot be verified, if its tree is gone and those of all others with it. One task's tree is that
    /// task's own fault; nobody can tell whose this is.
    pub(crate) fn missing_trees(&self, id: &TaskId) -> Option<String> {
        let is_missing = |id: &TaskId| self.is_isolated(id) && !self.workplace(id).is_dir();
        let at_work = self.state.attention().filter(|task| task.is_isolated() && task.status.is_active());
        let mut others = at_work.map(engine::Task::id).filter(|other| *other != id).peekable();
        let are_missing = is_missing(id) && others.peek().is_some() && others.all(is_missing);
        are_missing.then(|| {
            let place = self.file.trees();
            format!(
                "the work trees in {} are gone: somebody deleted them while tasks were at work in them; the tasks are done \
                 again at the next start",
                self.project.relative(&place).display()
            )
        })
    }
}

impl Site {
    /// Makes the tree as it was when its work was packed.
    fn make_again(&self, commit: &Oid) -> Result<(), GitError> {
        let base = self.git.commit_before(commit)?.unwrap_or_else(|| commit.clone());
        self.make_tree(&base, &mut Vec::new())?;
        self.git.carry_over(&self.tree, (&base, commit), &base)?;
        self.note_packed(Some(commit))
    }

    /// The commit that the work was made on, as the note beside the tree tells or, without a tree, what was kept.
    pub(crate) fn base_of_work(&self) -> Result<Option<Oid>, GitError> {
        match self.base() {
            Some(base) => Ok(Some(base)),
            None => self.git.kept(&self.keep)?.map_or(Ok(None), |commit| self.git.commit_before(&commit)),
        }
    }
}
