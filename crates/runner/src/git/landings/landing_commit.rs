//! Making a landing history: what was applied and verified is committed, index and history together.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::time::Duration;

use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use crate::git::calls::index_lock::IndexLock;
use crate::git::calls::process::{self, Call, pathspecs};
use crate::git::calls::scratch_index::{self, ScratchIndex};
use crate::git::commits::commit::{Answer, COMMIT, Commit, full_message};
use crate::git::commits::whole_commit::{has_new_mode, overlap};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{RawChange, index_info, names, split_names};
use crate::git::repository::Git;
use crate::git::stamps::Stamps;

/// How committing came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// It is in the history, and is what is checked out.
    Done(Oid),
    /// It is in the history, but a hook made something else of it than was applied. Nothing else has been done yet: it
    /// is to be taken back and verified.
    Changed(Oid),
    /// There was nothing left to commit.
    Nothing,
    /// Somebody committed since, or nothing is applied: apply it again, for what was verified is not what would be
    /// committed.
    Moved,
}

impl Git {
    /// Commits what was applied, with the user's hooks and signing. What a verify command made of the files counts;
    /// stamps from when it was applied save a look at them. That a hook refuses is an error, upon which the landing
    /// should be dropped.
    pub fn commit_landing(
        &self,
        trailer: (&str, &str),
        message: &str,
        deadline: Duration,
        stamps: Option<&Stamps>,
    ) -> Result<Landed, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else {
            let found = self.find_trailer_once(trailer, 1_000)?;
            // Nobody knows any more whether what a hook made of it was verified.
            return Ok(found.filter(|_| !self.has_commit_hook()).map_or(Landed::Moved, Landed::Done));
        };
        if (note.trailer.0.as_str(), note.trailer.1.as_str()) != trailer {
            return Err(GitError::Unacceptable {
                what: "a landing that is not under way",
                value: trailer.1.to_owned(),
            });
        }
        if let Some(landed) = self.settled_already(&note)? {
            return Ok(landed);
        }
        self.refuse_if_in_progress()?;
        if self.head()?.as_ref() != Some(&note.head) {
            return Ok(Landed::Moved);
        }
        let request = Commit { trailer: Some(trailer), deadline, ..Commit::new(&[], message) };
        if self.has_commit_hook()
            && let Some(landed) = self.commit_by_name(&note, &request)?
        {
            return Ok(landed);
        }
        self.commit_through_index(&note, &request, stamps)
    }

    /// What became of a landing that was committed already, by a git that outlived its program.
    fn settled_already(&self, note: &LandingNote) -> Result<Option<Landed>, GitError> {
        let head = self.head()?;
        if head.as_ref() == Some(&note.head) {
            return Ok(None);
        }
        let Some(commit) = self.landed_as_noted(note)? else {
            return Ok(None);
        };
        if self.tree_of(&commit)? == note.tree {
            return self.finish(&commit).map(|()| Some(Landed::Done(commit)));
        }
        self.made_otherwise(commit, &note.tree).map(Some)
    }

    /// Whether a hook made something else of a landing than was applied, and it can be taken back: nobody has committed
    /// on top.
    pub(in crate::git) fn is_made_otherwise(
        &self,
        note: &LandingNote,
        commit: &Oid,
    ) -> Result<bool, GitError> {
        Ok(self.tree_of(commit)? != note.tree
            && self.head()?.as_ref() == Some(commit)
            && self.parent_of(commit)? == note.head)
    }

    /// A hook made something else of it than was applied, and perhaps verified.
    fn made_otherwise(&self, commit: Oid, meant: &Oid) -> Result<Landed, GitError> {
        if self.head()?.as_ref() == Some(&commit) {
            return Ok(Landed::Changed(commit));
        }
        // Somebody has committed on top: it stays, and is verified where it is.
        self.follow_changed(meant, &commit)?;
        self.clear_landing()?;
        Ok(Landed::Moved)
    }

    /// With hooks, git commits as it does for anybody: by the names of the files, so that index and history go together
    /// whatever hooks do meanwhile. None: that is not possible here.
    fn commit_by_name(&self, note: &LandingNote, request: &Commit<'_>) -> Result<Option<Landed>, GitError> {
        let changes = self.differences(&note.head, &note.tree)?;
        let is_plain = |change: &RawChange| {
            !change.old.is_gitlink() && !change.new.is_gitlink() && self.is_as_on_disk(change)
        };
        let paths: BTreeSet<&OsStr> = changes.iter().map(|change| change.path.as_os_str()).collect();
        let new = changes.iter().filter(|change| change.old.is_absent());
        let new: Vec<&OsStr> = new.map(|change| change.path.as_os_str()).collect();
        if !changes.iter().all(is_plain) || overlap(&paths) || !self.ignored_and_untracked(&new)?.is_empty() {
            return Ok(None);
        }
        let Some(meant) = self.tree_with(paths.iter().copied())? else { return Ok(None) };
        if changes.iter().any(has_new_mode)
            && self.differences(&note.tree, &meant)?.iter().any(|change| change.old.mode != change.new.mode)
        {
            return Ok(None);
        }
        let message = full_message(request)?;
        let commit = match self.stage_and_commit(&paths, &message, request)? {
            Answer::Done(commit) => commit,
            Answer::NothingToCommit | Answer::UnknownPath if self.head()?.as_ref() != Some(&note.head) => {
                return Ok(Some(Landed::Moved));
            }
            Answer::NothingToCommit | Answer::UnknownPath if self.tree_of(&note.head)? == meant => {
                return Ok(Some(Landed::Nothing));
            }
            Answer::NothingToCommit | Answer::UnknownPath => {
                let output = "it left nothing of the work to commit".to_owned();
                return Err(GitError::Hook { output });
            }
        };
        let parent = self.parent_of(&commit)?;
        let first = commit.clone();
        let commit = self.amended(&parent, commit, request.trailer)?;
        if parent == note.head && self.tree_of(&commit)? != meant {
            return self.made_otherwise(commit, &meant).map(Some);
        }
        if parent != note.head || (commit == first && self.is_mixed_up(&commit, &message)?) {
            // Somebody committed in the same moment: it has to be verified on top of that, or made again.
            let made = self.differences(&parent, &commit)?;
            if !self.step_back((&commit, &parent), &made.iter().collect::<Vec<_>>())? {
                self.follow_changed(&meant, &commit)?;
            }
            return Ok(Some(Landed::Moved));
        }
        self.clear_landing()?;
        Ok(Some(Landed::Done(commit)))
    }

    /// Commits through an index of its own, with the project's locked where that is possible.
    fn commit_through_index(
        &self,
        note: &LandingNote,
        request: &Commit<'_>,
        stamps: Option<&Stamps>,
    ) -> Result<Landed, GitError> {
        // Hooks may run for long, and some do not know which index is meant: they get on without.
        let mut lock = if self.has_commit_hook() { None } else { Some(IndexLock::take(self)?) };
        if self.head()?.as_ref() != Some(&note.head) {
            return Ok(Landed::Moved);
        }
        let is_untouched = stamps.is_some_and(|stamps| stamps.hold(self.root()));
        let index = LandingIndex::found(self).filter(|_| is_untouched);
        let (answer, meant) = match index.filter(|index| index.holds(&note.tree)) {
            Some(index) => {
                let lead = |lock| self.lead(lock, (&note.head, &note.tree));
                lock.as_mut().map_or(Ok(()), lead)?;
                let call = |words: &[&str]| index.call(words);
                let answer = self.make(request, call)?;
                (answer, note.tree.clone())
            }
            None => self.commit_joined(note, request, lock.as_mut())?,
        };
        match answer {
            Answer::Done(commit) if self.follows(&commit, &note.head)? => {
                let commit = self.amended(&note.head, commit, request.trailer)?;
                if self.tree_of(&commit)? != meant {
                    return self.made_otherwise(commit, &meant);
                }
                match lock {
                    Some(lock) => {
                        lock.keep();
                        self.clear_landing()?;
                    }
                    None => self.finish(&commit)?,
                }
                Ok(Landed::Done(commit))
            }
            Answer::Done(_) => Ok(Landed::Moved),
            Answer::NothingToCommit | Answer::UnknownPath if self.head()?.as_ref() != Some(&note.head) => {
                Ok(Landed::Moved)
            }
            Answer::NothingToCommit | Answer::UnknownPath => Ok(Landed::Nothing),
        }
    }

    /// Commits what was applied by taking in a commit that hooks have made of it before, and that was taken back and
    /// verified since: they are not asked again. None: that is not what is there, and it has to be committed anew.
    pub fn adopt_landing(&self, made: &Oid, stamps: Option<&Stamps>) -> Result<Option<Oid>, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(None) };
        self.refuse_if_in_progress()?;
        let is_that = self.tree_of(made).is_ok_and(|tree| tree == note.tree)
            && self.parent_of(made)? == note.head
            && self.head()?.as_ref() == Some(&note.head)
            && stamps.is_some_and(|stamps| stamps.hold(self.root()));
        if !is_that {
            return Ok(None);
        }
        if !self.step_ahead((&note.head, made))? {
            return Ok(None);
        }
        if self.has_hook("post-index-change") {
            self.follow(made)?;
        }
        self.clear_landing().map(|()| Some(made.clone()))
    }

    /// Takes a commit back that a hook changed: the landing is applied again and not committed, with what the hook made of
    /// it. Tells what is checked out then; nothing if somebody has committed on top, so that it stays.
    pub fn take_back_landing(&self, commit: &Oid) -> Result<Option<Oid>, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else {
            return Err(GitError::Unacceptable {
                what: "a landing that is not under way",
                value: commit.as_str().to_owned(),
            });
        };
        Ok(self.take_back_noted(note, commit)?.map(|note| note.head))
    }

    /// The same where it is noted. Tells what is noted then.
    pub(in crate::git) fn take_back_noted(
        &self,
        note: LandingNote,
        commit: &Oid,
    ) -> Result<Option<LandingNote>, GitError> {
        // First, so that all that the hook touched is known to be half done, and what it left out as well.
        let tree = self.with_left_out(&note, self.tree_of(commit)?)?;
        let meant = note.tree.clone();
        let note = LandingNote { tree, ..note };
        note.write(self.git_dir())?;
        let made = self.differences(&note.head, commit)?;
        if self.step_back((commit, &note.head), &made.iter().collect::<Vec<_>>())? {
            return Ok(Some(note));
        }
        self.follow_changed(&meant, commit)?;
        self.clear_landing().map(|()| None)
    }

    /// What a hook made, and beside it what was applied at paths where it left everything as it was before.
    fn with_left_out(&self, note: &LandingNote, made: Oid) -> Result<Oid, GitError> {
        let made_at: BTreeSet<OsString> =
            self.differences(&note.head, &made)?.into_iter().map(|change| change.path).collect();
        let mut left_out = self.differences(&note.head, &note.tree)?;
        left_out.retain(|change| !made_at.contains(&change.path));
        if left_out.is_empty() {
            return Ok(made);
        }
        let index = ScratchIndex::of_main(self)?;
        index.read_tree(made.as_str())?;
        index.set(index_info(left_out.iter().map(|change| (change.path.as_os_str(), &change.new))))?;
        index.write_tree()
    }

    /// The tree of a commit. Who does not know it must not take it for the one that was verified.
    pub(in crate::git) fn tree_of(&self, commit: &Oid) -> Result<Oid, GitError> {
        let tree = format!("{commit}^{{tree}}");
        Oid::printed(process::run(self.call(&["rev-parse", "--verify", &tree]))?)
    }

    /// Commits through an index that holds what is to be committed and nothing else.
    pub(in crate::git) fn make<'a>(
        &self,
        request: &Commit<'_>,
        call: impl Fn(&[&str]) -> Call<'a>,
    ) -> Result<Answer, GitError> {
        let message = full_message(request)?;
        self.judge(self.run_locking(|| {
            let call = call(&[&COMMIT[..], &["-m", &message]].concat());
            Call { deadline: request.deadline, ..call }
        })?)
    }

    /// Whether a commit of ours came on top of what it was made for. Somebody who committed in the last moment would
    /// have their work undone by it: then it is taken back.
    pub(in crate::git) fn follows(&self, commit: &Oid, head: &Oid) -> Result<bool, GitError> {
        let parent = self.parent_of(commit)?;
        if parent == *head {
            return Ok(true);
        }
        let why = "tillgreen: taken back, somebody committed meanwhile";
        let back = ["update-ref", "-m", why, "HEAD", parent.as_str(), commit.as_str()];
        process::run(self.locking_call(&back, Vec::new()))?.success().map(|_| false)
    }

    /// What is checked out in place of a commit, if a hook amended that. Somebody's own commit is no such thing: it
    /// neither holds the same nor says whose work it is.
    pub(in crate::git) fn amended(
        &self,
        before: &Oid,
        commit: Oid,
        trailer: Option<(&str, &str)>,
    ) -> Result<Oid, GitError> {
        let now = self.head()?.filter(|now| *now != commit && now != before && self.has_hook("post-commit"));
        let Some(now) = now else { return Ok(commit) };
        if self.parent_of(&now)? != *before {
            return Ok(commit);
        }
        let is_same = self.tree_of(&now)? == self.tree_of(&commit)?;
        Ok(if is_same || self.says(&now, trailer)? { now } else { commit })
    }

    fn says(&self, commit: &Oid, trailer: Option<(&str, &str)>) -> Result<bool, GitError> {
        let Some((key, value)) = trailer else { return Ok(false) };
        let show = ["log", "-1", "--no-show-signature", "--format=%B", commit.as_str(), "--"];
        let message = process::run(self.call(&show))?.success()?;
        Ok(String::from_utf8_lossy(&message).lines().any(|line| line == format!("{key}: {value}")))
    }

    /// Commits the joined tree, through an index of its own: what people have staged stays out of it and stays staged.
    /// Tells also what was meant to be committed: hooks may make something else of it.
    fn commit_joined(
        &self,
        note: &LandingNote,
        request: &Commit<'_>,
        mut lock: Option<&mut IndexLock<'_>>,
    ) -> Result<(Answer, Oid), GitError> {
        let index = ScratchIndex::of_main(self)?;
        index.read_tree(note.tree.as_str())?;
        let changes = self.differences(&note.head, &note.tree)?;
        let files = changes.iter().filter(|change| !change.new.is_absent() && !change.new.is_gitlink());
        let is_there = |path: &&OsStr| {
            fs::symlink_metadata(self.root().join(path)).is_ok_and(|metadata| !metadata.is_dir())
        };
        let files = names(files.map(|change| change.path.as_os_str()).filter(is_there));
        index.run(&["update-index", "-z", "--stdin"], files)?.success()?;
        let meant = index.write_tree()?;
        lock.as_mut().map_or(Ok(()), |lock| self.lead(lock, (&note.head, &meant)))?;
        let call = |words: &[&str]| index.call(words, Vec::new());
        let answer = self.make(request, call)?;
        Ok((answer, meant))
    }

    /// The index follows what was committed, hooks' additions included.
    pub(in crate::git) fn finish(&self, commit: &Oid) -> Result<(), GitError> {
        self.follow(commit)?;
        self.clear_landing()
    }

    /// The same, with no landing under way.
    pub(in crate::git) fn follow(&self, commit: &Oid) -> Result<(), GitError> {
        if self.head()?.as_ref() == Some(commit) {
            let parent = self.parent_of(commit)?;
            if self.has_hook("post-index-change") {
                let changes = self.differences(&parent, commit)?;
                self.unstage(&changes.into_iter().map(|change| change.path).collect())?;
            } else {
                let mut lock = IndexLock::take(self)?;
                self.lead(&mut lock, (&parent, commit))?;
                lock.keep();
            }
            return Ok(());
        }
        self.follow_below(commit)
    }

    pub(in crate::git) fn clear_landing(&self) -> Result<(), GitError> {
        LandingIndex::sweep(self);
        scratch_index::sweep(self.git_dir());
        LandingNote::remove(self.git_dir())
    }

    /// Makes the project's index what it is to be once it has come from one tree to another. What somebody has staged
    /// at other paths stays.
    pub(in crate::git) fn lead(
        &self,
        lock: &mut IndexLock<'_>,
        (from, to): (&Oid, &Oid),
    ) -> Result<(), GitError> {
        let (next, changes) = (ScratchIndex::next(self)?, self.differences(from, to)?);
        next.set(index_info(changes.iter().map(|change| (change.path.as_os_str(), &change.new))))?;
        // What differs on disk is somebody's, and no failure.
        next.run(&["update-index", "-q", "--refresh"], Vec::new())?;
        lock.put(next.file())
    }

    /// Makes these paths in the index what they are in HEAD.
    pub(in crate::git) fn unstage(&self, paths: &BTreeSet<OsString>) -> Result<(), GitError> {
        // Names that are only meant to be added count as well.
        let list = [
            "diff-index",
            "--cached",
            "--ita-visible-in-index",
            "--name-only",
            "-z",
            "--no-renames",
            "HEAD",
            "--",
        ];
        let staged = process::run(self.call(&list))?.success()?;
        let staged: Vec<OsString> = split_names(&staged).filter(|path| paths.contains(path)).collect();
        if staged.is_empty() {
            return Ok(());
        }
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD"];
        let stdin = pathspecs(staged.iter().map(OsString::as_os_str));
        self.run_locking(|| self.locking_call(&reset, stdin.clone()))?.success().map(drop)
    }
}
