//! Finished work of which objects are gone, because somebody tidied the repository up while it was packed: the files are
//! still in its tree, and it is packed once more.

use std::collections::BTreeSet;

use engine::{Attempt, Status, Task};
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{self, Applied, GitError, Oid, TreeWork};
use crate::offstage::{LandingRequest, Site};
use crate::recording::TRAILER;

impl Driver<'_> {
    /// Before a run goes on: what was kept of finished work and is nowhere any more is let go, and packed again where its
    /// tree is still there; where it is not, that shows to whoever looks for trees. Gives the tasks whose tree cannot be
    /// read any more, either.
    pub(crate) fn make_up_for_packed(&mut self) -> Vec<TaskId> {
        let is_recorded = |task: &Task| task.isolated && matches!(task.status, Status::Recording { .. });
        let waiting = self.state.attention().filter(|task| task.waits_in_tree() || is_recorded(task));
        let (mut gone, mut notes) = (Vec::new(), Vec::new());
        for task in waiting {
            let renewed = self.renew_packed(task, &mut notes);
            // Whoever needs the work meets what is in the way once more.
            if renewed.is_err_and(|error| !error.is_of_surroundings()) {
                gone.push(task.id().clone());
            }
        }
        notes.into_iter().for_each(|note| self.note(note));
        gone
    }

    fn renew_packed(&self, task: &Task, notes: &mut Vec<String>) -> Result<(), GitError> {
        let id = task.id();
        let Some(site) = self.site(id) else { return Ok(()) };
        // Where git cannot tell, it says so to whoever needs the work.
        if !site.git.is_kept_no_more(&site.keep).unwrap_or(false) {
            return Ok(());
        }
        let gone =
            format!("what was kept of the work of task {id} is gone: somebody tidied the repository up");
        let renewed = site.git.drop_kept(&site.keep).and_then(|()| match site.base() {
            Some(base) => self.pack_tree_again(id, &site, (&base, task)).map(Some),
            None => Ok(None),
        });
        notes.push(match &renewed {
            Ok(Some(_)) => format!("{gone}; it is packed again from its work tree"),
            Ok(None) => gone,
            Err(error) => format!("{gone}; it cannot be packed again from its work tree: {error}"),
        });
        renewed.map(drop)
    }

    fn pack_tree_again(
        &self,
        id: &TaskId,
        site: &Site,
        (base, task): (&Oid, &Task),
    ) -> Result<Option<Oid>, GitError> {
        let trailer = self.trailer(id, Some(Attempt(task.attempted)));
        site.pack_again(base, (&self.landing_message(id), &trailer, &task.touched))
    }
}

impl Site {
    /// Applies packed work, and tells which commit it is packed into.
    pub(crate) fn apply_whole(
        &self,
        landing: &git::Landing<'_>,
        request: &LandingRequest,
        notes: &mut Vec<String>,
    ) -> Result<(Oid, Applied), GitError> {
        let error = match self.apply(landing, &request.traces, notes) {
            Ok(applied) => return Ok((landing.commit.clone(), applied)),
            Err(error) if error.is_of_gone_objects() => error,
            Err(error) => return Err(error),
        };
        let work = (request.message.as_str(), request.trailer.as_str(), &request.touched);
        let Some(commit) = self.pack_again(landing.base, work)? else { return Err(error) };
        let landing = git::Landing { commit: &commit, ..*landing };
        let applied = self.apply(&landing, &request.traces, notes)?;
        Ok((commit, applied))
    }

    /// Packs what the attempt changed. What its verify command has left in other files since is nobody's work.
    fn pack_again(
        &self,
        base: &Oid,
        (message, trailer, touched): (&str, &str, &BTreeSet<String>),
    ) -> Result<Option<Oid>, GitError> {
        if self.base().is_none() {
            return Ok(None);
        }
        self.git.know_again(&self.tree, base)?;
        let furnished = self.furnished();
        let work = self.work(base, &furnished);
        let now = self.git.despite_tidying(|| self.git.touched_in(&work))?;
        let traces = now.changes.into_iter().map(|change| change.path);
        let traces = traces.filter(|path| !touched.contains(path));
        let dropped: Vec<String> = self.dropped.iter().cloned().chain(traces).collect();
        let work = TreeWork { dropped: &dropped, ..work };
        let packed = self.git.pack(&work, message, (TRAILER, trailer), &self.keep)?;
        let commit = packed.map(|packed| packed.commit);
        self.note_packed(commit.as_ref())?;
        Ok(commit)
    }
}
