//! Work that git hooks change as it is committed. What was verified is then not what would be in the history: what the hook
//! made is taken back, verified, and taken in as it is, without asking the hook again.

use engine::{Attempt, Landing, Seen};
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{Git, GitError, Oid, Stamps, TakenBack};
use crate::recording::{Obstacle, TRAILER, TRAILER_SEARCH};
use crate::traces::listed;

/// What became of work in the project that a hook refused.
pub(crate) enum Refusal {
    /// It comes in again as it was before somebody changed it.
    BroughtInAgain,
    /// It went out.
    Out {
        /// The files of it that the hook changed, which go into the next attempt as they are.
        changed: Vec<String>,
    },
}

/// What the next attempt is told of files that a hook changed before it refused them.
pub(crate) fn told_of_hook(changed: &[String]) -> Option<String> {
    let files = (!changed.is_empty()).then(|| listed(changed))?;
    Some(format!("\nThe hook changed files of the work, which are now as it left them: {files}"))
}

impl Driver<'_> {
    /// The commit that a hook made of work which was brought in from a tree, if that is what was verified.
    pub(crate) fn adopt(
        &self,
        git: &Git,
        key: &str,
        stamps: Option<&Stamps>,
    ) -> Result<Option<Oid>, GitError> {
        self.hooked.get(key).map_or(Ok(None), |made| git.adopt_landing(made, stamps))
    }

    /// A hook made something else of work that was brought in.
    pub(crate) fn heed_hook(
        &mut self,
        id: &TaskId,
        git: &Git,
        (commit, key): (Oid, String),
    ) -> Result<Option<Oid>, Obstacle> {
        // Where somebody has committed on top, it is verified where it is.
        let Some(head) = git.take_back_landing(&commit)? else { return Err(Obstacle::Moved) };
        self.watch.retreat(&commit, &head);
        if let Some(site) = self.site(id) {
            site.repack(&head, &commit)?;
        }
        self.hooked.insert(key, commit);
        self.note_of(id, format!(
            "a git hook changed the work of task {id} as it was committed, so that is brought in and verified again"
        ));
        Err(Obstacle::Moved)
    }

    /// Takes work out of the project that a hook refused. What such hooks make of it, as those do that format, is what the
    /// next attempt goes on from.
    pub(crate) fn take_refused_out(
        &mut self,
        id: &TaskId,
        attempt: Option<Attempt>,
    ) -> Result<Refusal, GitError> {
        if self.falls_back(id, &self.trailer(id, attempt))? {
            return Ok(Refusal::BroughtInAgain);
        }
        let mut changed = Vec::new();
        if let (Some(site), message) = (self.site(id), self.landing_message(id))
            && let Some((commit, files)) = site.git.take_in_rewritten(&message, None, &site.keep)?
            && let Some(head) = site.git.head()?
        {
            site.repack(&head, &commit)?;
            changed = files;
        }
        self.take_landing_back()?;
        Ok(Refusal::Out { changed })
    }

    /// Takes in what a hook made of work in the project itself, if that is what was verified.
    pub(crate) fn take_in_again(&mut self, git: &Git, key: &str) -> Result<Option<Oid>, GitError> {
        let Some(made) = self.hooked.get(key).cloned() else { return Ok(None) };
        self.tree.forget();
        Ok(git.take_in_again(&made)?.then_some(made))
    }

    /// A hook made something else of work in the project itself. One that leaves the files alone and does so each time is
    /// let through: there is nothing to verify.
    pub(crate) fn heed_hook_here(
        &mut self,
        id: &TaskId,
        git: &Git,
        (before, commit): (&Oid, &Oid),
        (key, paths): (&str, &[String]),
    ) -> Result<(), Obstacle> {
        self.tree.forget();
        if self.hooked.contains_key(key) {
            self.note_of(id, format!(
                "a git hook changes the work of task {id} each time it is committed: what it did last is not verified"
            ));
            return Ok(());
        }
        let TakenBack { is_out, left } = git.take_back(before, commit, paths)?;
        if is_out {
            self.watch.retreat(commit, before);
        }
        self.hooked.insert(key.to_owned(), commit.clone());
        if let Some(left) = left {
            let (files, folder) = (listed(&left.paths), self.project.relative(&left.folder).display());
            self.note(format!("what the hook did not commit of {files} is kept in {folder}"));
        }
        let stays = if is_out { "" } else { " and somebody committed on top" };
        self.note_of(id, format!(
            "a git hook changed the work of task {id} as it was committed{stays}, so that is verified again"
        ));
        Err(Obstacle::Moved)
    }

    /// A commit that is there already, made by a git that outlived its program: nobody knows what hooks made of it.
    pub(crate) fn heed_orphan(
        &mut self,
        id: &TaskId,
        git: &Git,
        (commit, key): (&Oid, &str),
    ) -> Result<(), Obstacle> {
        // What the agent committed itself was verified afterwards.
        let is_ours =
            || git.find_trailer(TRAILER, key, TRAILER_SEARCH).map(|found| found.as_ref() == Some(commit));
        if !git.has_commit_hook() || self.hooked.contains_key(key) || !is_ours()? {
            return Ok(());
        }
        if let (true, Some(before)) = (git.head()?.as_ref() == Some(commit), git.commit_before(commit)?) {
            return self.heed_hook_here(id, git, (&before, commit), (key, &[]));
        }
        self.hooked.insert(key.to_owned(), commit.clone());
        Err(Obstacle::Moved)
    }

    /// What was worked on in the project itself has not far to come back. A hook may have put more files there.
    pub(crate) fn come_back_here(&mut self, id: &TaskId, attempt: Attempt) {
        let Some(task) = self.state.task(id) else { return };
        let (dispatch, mut touched) = (task.dispatch, task.touched.clone());
        let made = self.hooked.get(&self.trailer(id, Some(attempt)));
        if let (Some(git), Some(made)) = (self.tree.git(), made) {
            let paths = git.changed_between(&format!("{made}^"), made.as_str());
            touched.extend(paths.unwrap_or_default());
        }
        let landing = Landing::Done { touched: touched.into_iter().collect(), onto: None, commit: None };
        self.see(Seen::LandingEnded { task: id.clone(), dispatch, landing });
    }
}
