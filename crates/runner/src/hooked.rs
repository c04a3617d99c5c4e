//! Work that git hooks change as it is committed. What was verified is then not what would be in the history: what the hook
//! made is taken back, verified, and taken in as it is, without asking the hook again.

use engine::{Attempt, Landing, Seen};
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{Git, GitError, Oid, Stamps};
use crate::recording::{Obstacle, TRAILER, TRAILER_SEARCH};

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
        let head = git.take_back_landing(&commit)?;
        self.watch.retreat(&commit, &head);
        if let Some(site) = self.site(id) {
            site.repack(&head, &commit)?;
        }
        self.hooked.insert(key, commit);
        self.note(format!(
            "a git hook changed the work of task {id} as it was committed, so that is brought in and verified again"
        ));
        Err(Obstacle::Moved)
    }

    /// Somebody, or the verify command itself, changed files of the work while it was verified: what they are now is
    /// verified. A command that changes them each time is let through.
    pub(crate) fn heed_rewriting(
        &mut self,
        id: &TaskId,
        git: &Git,
        (key, message, stamps): (&str, &str, Option<&Stamps>),
    ) -> Result<(), Obstacle> {
        let Some((commit, files)) = git.take_in_rewritten(message, stamps)? else { return Ok(()) };
        let files = files.join(", ");
        if !self.rewritten.insert(key.to_owned()) {
            self.note(format!(
                "files of task {id} change each time it is verified ({files}); they are committed as they are now"
            ));
            return Ok(());
        }
        if let (Some(site), Some(head)) = (self.site(id), git.head()?) {
            site.repack(&head, &commit)?;
        }
        self.note(format!(
            "files of task {id} changed while it was verified ({files}), so they are verified as they are now"
        ));
        Err(Obstacle::Moved)
    }

    /// The same for work in the project itself.
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
            self.note(format!(
                "a git hook changes the work of task {id} each time it is committed: what it did last is not verified"
            ));
            return Ok(());
        }
        let left = git.take_back(before, commit, paths)?;
        self.watch.retreat(commit, before);
        self.hooked.insert(key.to_owned(), commit.clone());
        if let Some(left) = left {
            let (files, folder) = (left.paths.join(", "), self.project.relative(&left.folder).display());
            self.note(format!("what the hook did not commit of {files} is kept in {folder}"));
        }
        self.note(format!(
            "a git hook changed the work of task {id} as it was committed, so that is verified again"
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
        let landing = Landing::Done { touched: touched.into_iter().collect() };
        self.see(Seen::LandingEnded { task: id.clone(), dispatch, landing });
    }
}
