//! Work trees when their tasks are done, or when the run ends: those that nobody needs go, and of those that stay it is
//! noted and told what they hold.

use engine::End;
use plan::TaskId;

use crate::atomic;
use crate::delegation::file_name;
use crate::driver::Driver;
use crate::error::RunError;
use crate::offstage::Site;

impl Driver<'_> {
    /// After a task is done: its tree goes, and those of the tasks that it repaired, whose work came in with its own.
    pub(crate) fn clear_trees(&mut self, id: &TaskId) -> Result<(), RunError> {
        // However this program works: one before it may have left them.
        let mut repaired = self.state.fix_plan(id).map(|fix| &fix.failing);
        while let Some(id) = repaired {
            // It runs again at once, in a tree at the same place and without what it left: no time to do that beside.
            if let Some(site) = self.site(id).filter(Site::is_there) {
                self.cleaner.clear_now(site);
            }
            repaired = self.state.fix_plan(id).map(|fix| &fix.failing);
        }
        if let Some(site) = self.site(id).filter(|site| site.is_there() && !self.cleaner.has_kept(site)) {
            self.cleaner.clear(site).map_err(RunError::io("start a thread for", &self.file.home))?;
        }
        Ok(())
    }

    /// Trees of tasks that are done, which a program that died did not get to remove.
    pub(crate) fn clear_old_trees(&mut self) -> Result<(), RunError> {
        atomic::tidy(&self.file.trees());
        self.clear_done_trees()
    }

    /// The same when a run ends, and for those that a person ticked.
    pub(crate) fn clear_done_trees(&mut self) -> Result<(), RunError> {
        let names = self.names_of_trees();
        let done = self.state.tasks().iter().filter(|task| task.status == engine::Status::Done);
        let done = done.map(|task| task.id()).filter(|id| names.contains(&file_name(id)));
        let done: Vec<TaskId> = done.cloned().collect();
        self.forget_removed_trees();
        done.iter().try_for_each(|id| self.clear_trees(id))
    }

    /// Who removes the tree of a skipped task by hand has looked at it: what was noted and kept of it goes as well.
    fn forget_removed_trees(&mut self) {
        let names = self.names_of_trees();
        let all = self.state.tasks().iter().map(AsRef::as_ref);
        let skipped = all.filter(|task: &&engine::Task| task.status == engine::Status::Skipped);
        let sites = skipped
            .filter(|task| names.contains(&file_name(task.id())))
            .filter_map(|task| self.site(task.id()))
            .filter(|site| site.is_there() && !site.tree.exists() && !self.cleaner.has_kept(site));
        let sites: Vec<Site> = sites.collect();
        sites.into_iter().for_each(|site| self.cleaner.clear_now(site));
    }

    /// When a run ends: what is in the trees that stay.
    pub(crate) fn note_kept_trees(&self) {
        let open = self.state.attention().filter(|task| task.is_isolated());
        for site in open.filter_map(|task| self.site(task.id())) {
            site.note_content();
        }
    }

    /// When a run ends with tasks that failed: where to look at what they left.
    pub(crate) fn tell_of_kept_trees(&mut self) {
        let all = self.state.tasks().iter().map(AsRef::as_ref);
        let tasks: Vec<&engine::Task> = match self.state.end() {
            Some(End::Stopped(_) | End::Waiting { .. }) => self.state.attention().collect(),
            Some(End::Complete { skipped: 1.. }) => {
                all.filter(|task: &&engine::Task| task.status == engine::Status::Skipped).collect()
            }
            Some(_) | None => return,
        };
        let failed = tasks.into_iter().filter(|task| task.is_isolated() && !task.failures.is_empty());
        let sites = failed.filter_map(|task| Some((task.id(), self.site(task.id())?)));
        let kept = sites.filter(|(_, site)| site.base().is_some()).map(|(task, site)| {
            let place = self.project.relative(&site.tree).display();
            format!(
                "what the last attempt at task {task} left is kept in {place}; the next one goes on from what is there \
                 then, and from what is committed in the project"
            )
        });
        let notes: Vec<String> = kept.collect();
        notes.into_iter().for_each(|note| self.note(note));
    }
}
