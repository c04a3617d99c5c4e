//! Work from a tree of its own whose files change in the project while it is verified there: somebody saves one of them,
//! or the verify command writes it. What they are then is verified as well. Should that be red, or a hook refuse it, what
//! was made of the files is kept, and the work comes in once more as it was: no task pays for what others do to it.

use std::fs;

use engine::{Status, Task};
use plan::TaskId;

use crate::atomic;
use crate::driver::Driver;
use crate::git::{Git, GitError, Left, Oid, Since, Stamps};
use crate::offstage::Site;
use crate::recording::Obstacle;
use crate::traces::listed;
use crate::tree_notes::original_file;

impl Driver<'_> {
    /// Before work is committed: files of it that changed while it was verified are verified as they are now, a few times.
    /// Then it is committed as it was verified last; what they have become since is told, and moved away meanwhile.
    pub(crate) fn heed_rewriting(
        &mut self,
        id: &TaskId,
        git: &Git,
        (key, message, stamps): (&str, &str, Option<&Stamps>),
    ) -> Result<Option<Since>, Obstacle> {
        if self.rewriting.is_endless(key) {
            return git.set_landing_back(stamps)?.settled();
        }
        let Some(site) = self.site(id) else { return Ok(None) };
        let Some((commit, files)) = git.take_in_rewritten(message, stamps, &site.keep)? else {
            return Ok(None);
        };
        if let Some(head) = git.head()? {
            site.note_original()?;
            site.repack(&head, &commit)?;
        }
        self.rewriting.count(key);
        self.tell_of_rewriting(id, &files);
        Err(Obstacle::Moved)
    }

    /// Work is red or refused. If files of it had been changed while it was verified, that is kept, and it goes out of the
    /// project. Whether it is to come in again as it was, which is done once.
    pub(crate) fn falls_back(&mut self, id: &TaskId, key: &str) -> Result<bool, GitError> {
        let Some(left) = self.set_original_back(id)? else { return Ok(false) };
        let again = self.rewriting.may_fall_back(key);
        let then = if again { ", and the work is brought in again as it was" } else { "" };
        if let Some(Left { paths, folder }) = left {
            self.note_of(id, format!(
                "with what was made of its files while it was verified ({}) task {id} is not accepted: that is kept in \
                 {}{then}",
                listed(&paths),
                self.project.relative(&folder).display()
            ));
        }
        Ok(again)
    }

    /// Takes work out of the project whose files had been changed while it was verified: what was made of them is kept, and
    /// told if there is any. None if it is as it was packed.
    fn set_original_back(&mut self, id: &TaskId) -> Result<Option<Option<Left>>, GitError> {
        let Some(site) = self.site(id) else { return Ok(None) };
        let Some((base, commit)) = site.original() else { return Ok(None) };
        let left = site.git.keep_besides((&base, &commit))?;
        self.take_landing_back()?;
        site.repack(&base, &commit)?;
        site.forget_original();
        Ok(Some(left))
    }

    /// Before a run ends: the same for work that is half in the project then.
    pub(crate) fn drop_half_rewritten(&mut self) -> Result<(), GitError> {
        // At the end of a run, what was coming back counts as about to.
        let is_due = |task: &&Task| {
            let is_due = task.status.is_coming_back() || matches!(task.status, Status::Finished { .. });
            let has_original = || self.site(task.id()).is_some_and(|site| site.original().is_some());
            task.is_isolated() && is_due && has_original()
        };
        let id = self.state.attention().find(is_due).map(|task| task.id().clone());
        let left = id.map_or(Ok(None), |id| self.set_original_back(&id))?.flatten();
        if let Some(Left { paths, folder }) = left {
            self.note(format!(
                "what was made of files of work while it was verified ({}) is kept in {}",
                listed(&paths),
                self.project.relative(&folder).display()
            ));
        }
        Ok(())
    }

    /// The same as `falls_back`, for work that is red.
    pub(crate) fn comes_in_as_it_was(&mut self, id: &TaskId) -> Result<bool, GitError> {
        if self.state.end().is_some() {
            // It was stopped, which says nothing about it.
            return self.drop_half_rewritten().map(|()| false);
        }
        match self.joining_key(id).filter(|_| self.is_isolated(id)) {
            Some(key) => self.falls_back(id, &key),
            None => Ok(false),
        }
    }
}

impl Site {
    /// The work as it was packed, and what it was made on, if something else was verified in its place.
    fn original(&self) -> Option<(Oid, Oid)> {
        let text = fs::read_to_string(original_file(&self.tree)).ok()?;
        let mut commits = text.lines().map(Oid::parse);
        let (base, commit) = (commits.next()??, commits.next()??);
        // Somebody may have tidied the repository up.
        self.git.has_commit(&commit).then_some((base, commit))
    }

    /// Before something else takes its place for the first time.
    fn note_original(&self) -> Result<(), GitError> {
        if let (None, Some(base), Some(commit)) = (self.original(), self.base(), self.git.kept(&self.keep)?) {
            let note = original_file(&self.tree);
            atomic::replace(&note, &format!("{base}\n{commit}\n")).map_err(GitError::io("write", &note))?;
        }
        Ok(())
    }

    fn forget_original(&self) {
        // One that stays says what is the case.
        let _ = fs::remove_file(original_file(&self.tree));
    }
}
