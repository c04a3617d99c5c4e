//! Landing packed work in the main working tree, in three steps: *apply* joins it with what is there and changes the
//! files, so that it can be verified; *commit* makes it history; *drop* takes it back. Each may be killed at any moment
//! and done again.
//!
//! ```text
//!            apply                    commit
//!  (nothing) ─────▶ noted, files new ───────▶ committed, note gone
//!      ▲                  │
//!      └──────────────────┘ drop
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::time::Duration;

use super::child_note::Noted;
use super::commit::{Answer, Commit, full_message};
use super::error::GitError;
use super::history::{Oid, carries};
use super::index_lock::{IndexLock, twin};
use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use super::merge::{Conflict, Merge};
use super::process::{self, Call, Ended, pathspecs};
use super::raw_change::{Entry, RawChange, index_info, names, split_names};
use super::repository::Git;
use super::restore::delete;
use super::scratch_index::{self, ScratchIndex, UNSPARSE};
use super::stamps::Stamps;

/// How far back a commit of ours is looked for: more than can have landed since a tree was made.
const SEARCH: &str = "--max-count=10000";

/// Packed work that is to land.
#[derive(Debug, Clone, Copy)]
pub struct Landing<'a> {
    /// The packed commit.
    pub commit: &'a Oid,
    /// The commit that it was made on top of.
    pub base: &'a Oid,
    /// By which its commit is found again.
    pub trailer: (&'a str, &'a str),
    /// Whether it can be in the history already.
    pub novelty: Novelty,
}

/// Whether packed work can have landed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// It was packed just now, so nobody needs to look.
    New,
    /// A program that died may have brought it in.
    Unknown,
}

/// How applying came out. Only with `Done` has anything been changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The files are in the working tree, to be verified and then committed or dropped.
    Done {
        /// What changed.
        paths: Vec<String>,
        /// What that looks like on disk.
        stamps: Stamps,
    },
    /// It is in the history already.
    Already(Oid),
    /// What landed before holds all of it: there is nothing to commit.
    Nothing,
    /// It does not fit what landed since.
    Conflict(Conflict),
    /// Somebody's changes in the main working tree are in the way.
    Refused {
        /// Which.
        paths: Vec<String>,
    },
}

/// How committing came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// It is in the history, and is what is checked out.
    Done(Oid),
    /// It is in the history, but a hook made something else of it than was applied. Nothing else has been done yet: it
    /// is to be accepted or taken back.
    Changed(Oid),
    /// There was nothing left to commit.
    Nothing,
    /// Somebody committed since, or nothing is applied: apply it again, for what was verified is not what would be
    /// committed.
    Moved,
}

/// What was left of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// None was under way.
    Nothing,
    /// Its files are what they were.
    PutBack,
    /// It had been committed: it stays.
    Committed(Oid),
}

impl Git {
    /// Joins packed work with what is checked out and puts the result into index and working tree. A landing that a
    /// killed program had begun is finished or taken back first.
    pub fn apply_landing(&self, landing: &Landing<'_>) -> Result<Applied, GitError> {
        self.drop_landing()?;
        self.refuse_if_in_progress()?;
        if landing.novelty == Novelty::Unknown
            && let Some(commit) = self.landed(landing.base, landing.trailer)?
        {
            return Ok(Applied::Already(commit));
        }
        let Some(head) = self.head()? else {
            return Err(GitError::Unacceptable {
                what: "a branch without commits",
                value: "HEAD".to_owned(),
            });
        };
        let tree = match self.merge(landing.base, &head, landing.commit)? {
            Merge::Clean(tree) => tree,
            Merge::Conflict(conflict) => return Ok(Applied::Conflict(conflict)),
        };
        let changes = self.differences(&head, &tree)?;
        if changes.is_empty() {
            return Ok(Applied::Nothing);
        }
        let paths = self.in_the_way(&changes)?;
        if !paths.is_empty() {
            return Ok(Applied::Refused { paths });
        }
        let (key, value) = landing.trailer;
        let note = LandingNote {
            trailer: (key.to_owned(), value.to_owned()),
            head,
            tree,
            owner: Noted::of(std::process::id(), self.git_dir()),
        };
        self.change_files(&note, &changes)
    }

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
            let found = self.find_trailer(trailer.0, trailer.1, 1_000)?;
            return Ok(found.map_or(Landed::Moved, Landed::Done));
        };
        if (note.trailer.0.as_str(), note.trailer.1.as_str()) != trailer {
            return Err(GitError::Unacceptable {
                what: "a landing that is not under way",
                value: trailer.1.to_owned(),
            });
        }
        // Hooks may run for long, and some do not know which index is meant: they get on without.
        let mut lock = if self.has_commit_hook() { None } else { Some(IndexLock::take(self)?) };
        let is_at_its_place = self.head()?.as_ref() == Some(&note.head);
        if !is_at_its_place && let Some(commit) = self.landed(&note.head, trailer)? {
            drop(lock);
            return self.finish(&commit, None).map(|()| Landed::Done(commit));
        }
        self.refuse_if_in_progress()?;
        if !is_at_its_place {
            return Ok(Landed::Moved);
        }
        let request = Commit { trailer: Some(trailer), deadline, ..Commit::new(&[], message) };
        let is_untouched = stamps.is_some_and(|stamps| stamps.hold(self.root()));
        let index = LandingIndex::found(self).filter(|_| is_untouched);
        let (answer, meant) = match index.filter(|index| index.holds(&note.tree)) {
            Some(index) => {
                let lead = |lock| self.lead(lock, (&note.head, &note.tree), stamps);
                lock.as_mut().map_or(Ok(()), lead)?;
                (self.commit_through(&index, &request)?, Some(note.tree.clone()))
            }
            None => self.commit_joined(&note, &request, lock.as_mut())?,
        };
        match answer {
            Answer::Done(commit) if self.follows(&commit, &note.head)? => {
                if meant.is_some_and(|meant| self.tree_of(&commit).is_some_and(|tree| tree != meant)) {
                    return Ok(Landed::Changed(commit));
                }
                match lock {
                    Some(lock) => {
                        lock.keep();
                        self.clear_landing()?;
                    }
                    None => self.finish(&commit, stamps)?,
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

    /// What a hook made of a landing stays as it is.
    pub fn accept_landing(&self, commit: &Oid) -> Result<(), GitError> {
        self.finish(commit, None)
    }

    /// Takes a commit back that a hook changed: the landing is applied again and not committed, with what the hook made of
    /// it. Tells what is checked out then.
    pub fn take_back_landing(&self, commit: &Oid) -> Result<Oid, GitError> {
        let (Some(note), Some(tree)) = (LandingNote::read(self.git_dir())?, self.tree_of(commit)) else {
            return Err(GitError::Unacceptable {
                what: "a landing that is not under way",
                value: commit.as_str().to_owned(),
            });
        };
        // First, so that all that the hook touched is known to be half done.
        LandingNote { tree, ..note.clone() }.write(self.git_dir())?;
        let why = "tillgreen: taken back, a hook changed it";
        let back = ["update-ref", "-m", why, "HEAD", note.head.as_str(), commit.as_str()];
        process::run(self.locking_call(&back, Vec::new()))?.success().map(|_| note.head)
    }

    fn tree_of(&self, commit: &Oid) -> Option<Oid> {
        self.read_tree_object(commit.as_str()).map(|(tree, _)| tree)
    }

    /// Commits the index that the work was applied through, which holds the joined tree and nothing else.
    fn commit_through(&self, index: &LandingIndex<'_>, request: &Commit<'_>) -> Result<Answer, GitError> {
        let message = full_message(request)?;
        let ended = self.run_locking(|| {
            let call = index.call(&[self.commit_words(), &["-m", &message]].concat());
            Call { deadline: request.deadline, ..call }
        })?;
        self.judge(ended)
    }

    /// Whether a commit of ours came on top of what it was made for. Somebody who committed in the last moment would
    /// have their work undone by it: then it is taken back.
    fn follows(&self, commit: &Oid, head: &Oid) -> Result<bool, GitError> {
        let parent = self.parent_of(commit)?;
        if parent == *head {
            return Ok(true);
        }
        let why = "tillgreen: taken back, somebody committed meanwhile";
        let back = ["update-ref", "-m", why, "HEAD", parent.as_str(), commit.as_str()];
        process::run(self.locking_call(&back, Vec::new()))?.success().map(|_| false)
    }

    /// Takes back a landing that was applied and not committed; one that was committed is finished. Also what to call
    /// after a crash.
    pub fn drop_landing(&self) -> Result<Dropped, GitError> {
        let Some(note) = LandingNote::read(self.git_dir())? else { return Ok(Dropped::Nothing) };
        // A git that outlived the program is waited for: it may be the one that commits.
        self.clear_stale_lock()?;
        if let Some(commit) = self.landed(&note.head, (&note.trailer.0, &note.trailer.1))? {
            self.finish(&commit, None)?;
            return Ok(Dropped::Committed(commit));
        }
        self.put_back(&note)?;
        LandingIndex::sweep(self);
        scratch_index::sweep(self.git_dir());
        LandingNote::remove(self.git_dir())?;
        Ok(Dropped::PutBack)
    }

    /// The commit with this trailer since another one.
    fn landed(&self, since: &Oid, trailer: (&str, &str)) -> Result<Option<Oid>, GitError> {
        let (key, value) = trailer;
        let range = format!("{since}..HEAD");
        let format = format!("--format=%H%n%(trailers:key={key},valueonly,unfold)");
        let log = ["log", "-z", "--no-show-signature", "--no-color", SEARCH, &format, &range, "--"];
        let stdout = process::run(self.call(&log))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).split('\0').find_map(|record| carries(record, value)))
    }

    fn change_files(&self, note: &LandingNote, changes: &[RawChange]) -> Result<Applied, GitError> {
        note.write(self.git_dir())?;
        let switch =
            [&UNSPARSE[..], &["read-tree", "-m", "-u", note.head.as_str(), note.tree.as_str()]].concat();
        let index = LandingIndex::begin(self)?;
        let mut ended = self.run_locking(|| index.call(&switch))?;
        // Git looks at everything before it changes anything.
        if names_obstacle(&ended) {
            // Files that only look changed, by their times, are looked at once more.
            self.run_locking(|| index.call(&["update-index", "-q", "--refresh"]))?;
            ended = self.run_locking(|| index.call(&switch))?;
        }
        if names_obstacle(&ended) {
            index.remove();
            LandingNote::remove(self.git_dir())?;
            return Ok(Applied::Refused { paths: self.obstacles(changes)? });
        }
        ended.success()?;
        self.update_submodules(&gitlinks(changes), index.environment())?;
        let stamps = Stamps::of(self.root(), changes.iter().map(|change| &change.path));
        let stamps = stamps.with_index(index.main());
        Ok(Applied::Done { paths: changes.iter().map(RawChange::shown).collect(), stamps })
    }

    /// Commits the joined tree, through an index of its own: what people have staged stays out of it and stays staged.
    /// Tells also what was meant to be committed, where hooks could make something else of it.
    fn commit_joined(
        &self,
        note: &LandingNote,
        request: &Commit<'_>,
        lock: Option<&mut IndexLock<'_>>,
    ) -> Result<(Answer, Option<Oid>), GitError> {
        let message = full_message(request)?;
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
        lock.map_or(Ok(()), |lock| self.lead(lock, (&note.head, &meant), None))?;
        let ended = self.run_locking(|| {
            let call = index.call(&[self.commit_words(), &["-m", &message]].concat(), Vec::new());
            Call { deadline: request.deadline, ..call }
        })?;
        Ok((self.judge(ended)?, Some(meant)))
    }

    /// The index follows what was committed, hooks' additions included.
    fn finish(&self, commit: &Oid, stamps: Option<&Stamps>) -> Result<(), GitError> {
        if self.head()?.as_ref() == Some(commit) {
            let parent = self.parent_of(commit)?;
            if self.has_hook("post-index-change") {
                let changes = self.differences(&parent, commit)?;
                self.unstage(&changes.into_iter().map(|change| change.path).collect())?;
            } else {
                let mut lock = IndexLock::take(self)?;
                self.lead(&mut lock, (&parent, commit), stamps)?;
                lock.keep();
            }
        }
        self.clear_landing()
    }

    fn clear_landing(&self) -> Result<(), GitError> {
        LandingIndex::sweep(self);
        scratch_index::sweep(self.git_dir());
        LandingNote::remove(self.git_dir())
    }

    /// Makes the project's index what it is to be once it has come from one tree to another. The one that the work was
    /// applied through is that already, where the project's own is the same otherwise; where somebody has staged
    /// something since, the paths are put into theirs.
    fn lead(
        &self,
        lock: &mut IndexLock<'_>,
        (from, to): (&Oid, &Oid),
        stamps: Option<&Stamps>,
    ) -> Result<(), GitError> {
        if let (Some(index), Some(tree), Some(stamps)) = (LandingIndex::found(self), self.tree_of(to), stamps)
            && index.is_next(&tree, stamps)
        {
            let next = self.git_dir().join(scratch_index::NEXT);
            twin(index.file(), &next).map_err(GitError::io("link", index.file()))?;
            return lock.put(&next);
        }
        let (next, changes) = (ScratchIndex::next(self)?, self.differences(from, to)?);
        next.set(index_info(changes.iter().map(|change| (change.path.as_os_str(), &change.new))))?;
        // What differs on disk is somebody's, and no failure.
        next.run(&["update-index", "-q", "--refresh"], Vec::new())?;
        lock.put(next.file())
    }

    fn has_commit_hook(&self) -> bool {
        const HOOKS: [&str; 5] =
            ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"];
        HOOKS.iter().any(|name| self.has_hook(name))
    }

    /// Makes these paths in the index what they are in HEAD.
    fn unstage(&self, paths: &BTreeSet<OsString>) -> Result<(), GitError> {
        let list = ["diff-index", "--cached", "--name-only", "-z", "--no-renames", "HEAD", "--"];
        let staged = process::run(self.call(&list))?.success()?;
        let staged: Vec<OsString> = split_names(&staged).filter(|path| paths.contains(path)).collect();
        if staged.is_empty() {
            return Ok(());
        }
        let reset = ["reset", "--quiet", "--pathspec-from-file=-", "--pathspec-file-nul", "HEAD"];
        let stdin = pathspecs(staged.iter().map(OsString::as_os_str));
        self.run_locking(|| self.locking_call(&reset, stdin.clone()))?.success().map(drop)
    }

    /// Makes the paths of a landing what they are in HEAD. They were so before it: nothing of anybody's is lost.
    fn put_back(&self, note: &LandingNote) -> Result<(), GitError> {
        let changes = self.differences(&note.head, &note.tree)?;
        let before = self.before(note, &changes)?;
        self.unstage(&before.keys().cloned().collect())?;
        for (path, _) in before.iter().filter(|(_, entry)| entry.is_absent()) {
            delete(self.root(), path.as_ref())?;
        }
        let skipped = self.outside_sparse_checkout()?;
        let files = before
            .iter()
            .filter(|(path, entry)| !entry.is_absent() && !entry.is_gitlink() && !skipped.contains(*path));
        let stdin = names(files.map(|(path, _)| path.as_os_str()));
        if !stdin.is_empty() {
            let list = ["checkout-index", "--force", "--index", "-z", "--stdin"];
            self.run_locking(|| self.locking_call(&list, stdin.clone()))?.success()?;
        }
        self.update_submodules(&gitlinks(&changes), self.environment())
    }

    /// What HEAD has at the paths of a landing; it may have moved on since.
    fn before(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
    ) -> Result<BTreeMap<OsString, Entry>, GitError> {
        let head = self.head()?;
        if head.as_ref() == Some(&note.head) {
            return Ok(changes.iter().map(|change| (change.path.clone(), change.old.clone())).collect());
        }
        let Some(head) = head else { return Ok(BTreeMap::new()) };
        let now = self.differences(&head, &note.tree)?;
        let now: BTreeMap<&OsStr, &Entry> =
            now.iter().map(|change| (change.path.as_os_str(), &change.old)).collect();
        let entry =
            |change: &RawChange| now.get(change.path.as_os_str()).map_or(&change.new, |old| *old).clone();
        Ok(changes.iter().map(|change| (change.path.clone(), entry(change))).collect())
    }

    /// Paths that are in the index and, by a sparse checkout, not on disk.
    fn outside_sparse_checkout(&self) -> Result<BTreeSet<OsString>, GitError> {
        let ended = process::run(self.call(&["config", "--type=bool", "core.sparseCheckout"]))?;
        if ended.stdout.trim_ascii() != b"true" {
            return Ok(BTreeSet::new());
        }
        let listing = process::run(self.call(&["ls-files", "-t", "-z"]))?.success()?;
        let skipped = listing.split(|byte| *byte == 0).filter_map(|record| record.strip_prefix(b"S "));
        Ok(skipped.flat_map(split_names).collect())
    }
}

/// Whether git found changes of somebody's in the way.
fn names_obstacle(ended: &Ended) -> bool {
    const WORDS: [&str; 4] =
        ["not uptodate", "would be overwritten", "would lose untracked files", "would be removed"];
    !ended.is_success() && WORDS.iter().any(|words| ended.stderr.contains(words))
}

pub(super) fn gitlinks(changes: &[RawChange]) -> Vec<&OsStr> {
    let links = changes.iter().filter(|change| change.new.is_gitlink() || change.old.is_gitlink());
    links.map(|change| change.path.as_os_str()).collect()
}
