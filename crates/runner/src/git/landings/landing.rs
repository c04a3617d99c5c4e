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
use std::path::PathBuf;

use super::landed_files::Entries;
use super::landing_index::LandingIndex;
use super::landing_note::LandingNote;
use super::merge::{Conflict, Merge};
use crate::git::calls::child_note::Noted;
use crate::git::calls::process::{self, Ended};
use crate::git::calls::scratch_index::UNSPARSE;
use crate::git::commits::put_back::Left;
use crate::git::commits::restore::delete;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::raw_change::{Entry, RawChange, names, split_names};
use crate::git::repository::Git;
use crate::git::stamps::Stamps;

/// How far back a commit of ours is looked for: more than can have landed since a tree was made.
const SEARCH: &str = "--max-count=10000";

/// How often files are put back while somebody commits all the time.
const PUT_BACK_MAX: usize = 5;

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
        /// Those that somebody had deleted, and that are there again.
        revived: Vec<String>,
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

/// What was left of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dropped {
    /// None was under way.
    Nothing,
    /// Its files are what they were.
    PutBack,
    /// The same, and what somebody had made of them, or put in their place, is kept.
    Kept(Left),
    /// It had been committed: it stays.
    Committed(Oid),
}

impl Git {
    /// Joins packed work with what is checked out and puts the result into index and working tree. A landing that a
    /// killed program had begun is finished or taken back first.
    pub fn apply_landing(&self, landing: &Landing<'_>) -> Result<Applied, GitError> {
        self.settle_landing()?;
        self.refuse_if_in_progress()?;
        self.refuse_without_index()?;
        if landing.novelty == Novelty::Unknown
            && let Some(commit) =
                self.landed((landing.base, landing.trailer), (landing.base, landing.commit))?
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
        let folders = self.attributes_since(landing.base, &note.head)?;
        self.change_files(&note, (&changes, &folders))
    }

    /// Takes back a landing that was applied and not committed, or that a hook made something else of which nobody
    /// verified; one that was committed as it was applied is finished. Also what to call after a crash.
    pub fn drop_landing(&self) -> Result<Dropped, GitError> {
        let dropped = self.settle_landing()?;
        self.weigh_anchor();
        Ok(dropped)
    }

    /// The same where another landing is to follow, which needs the anchor again.
    pub fn settle_landing(&self) -> Result<Dropped, GitError> {
        let Some(mut note) = LandingNote::read(self.git_dir())? else { return Ok(Dropped::Nothing) };
        self.refuse_if_misdirected()?;
        // A git that outlived the program is waited for: it may be the one that commits. Somebody whose editor is open is
        // not: the files can go without their lock.
        let is_held = self.lock_holder().is_some();
        if !is_held {
            self.clear_stale_lock()?;
        }
        if let Some(commit) = self.landed_as_noted(&note)? {
            if !self.is_made_otherwise(&note, &commit)? {
                if self.tree_of(&commit)? != note.tree {
                    self.follow_changed(&note.tree, &commit)?;
                }
                self.finish(&commit)?;
                return Ok(Dropped::Committed(commit));
            }
            match self.take_back_noted(note, &commit)? {
                Some(noted) => note = noted,
                // Somebody committed on top: it is verified where it is.
                None => return Ok(Dropped::Committed(commit)),
            }
        }
        let mut left = None;
        for _ in 0..PUT_BACK_MAX {
            let head = self.head()?;
            self.put_back(&note, &mut left)?;
            // A commit that came meanwhile may hold files of it, which must not be missing then.
            if self.head()? == head {
                break;
            }
        }
        self.clear_landing()?;
        Ok(left.map_or(Dropped::PutBack, Dropped::Kept))
    }

    /// The commit with this trailer since another one, with something of the work between two trees.
    fn landed(
        &self,
        (since, trailer): (&Oid, (&str, &str)),
        (base, work): (&Oid, &Oid),
    ) -> Result<Option<Oid>, GitError> {
        let found = self.first_carrying(trailer, &[SEARCH, &format!("{since}..HEAD")])?;
        let Some(commit) = found else { return Ok(None) };
        Ok(self.has_of(&commit, &self.differences(base, work)?)?.then_some(commit))
    }

    /// The commit of a landing that is noted.
    pub(in crate::git) fn landed_as_noted(&self, note: &LandingNote) -> Result<Option<Oid>, GitError> {
        let trailer = (note.trailer.0.as_str(), note.trailer.1.as_str());
        self.landed((&note.head, trailer), (&note.head, &note.tree))
    }

    /// Changes the files; those in some folders are stored anew.
    fn change_files(
        &self,
        note: &LandingNote,
        (changes, folders): (&[RawChange], &[PathBuf]),
    ) -> Result<Applied, GitError> {
        let revived = self.missing(changes)?;
        self.note_landing(note)?;
        self.make_room(changes)?;
        let Some(index) = self.switch(note, changes)? else {
            self.put_submodules_back(changes)?;
            return Ok(Applied::Refused { paths: self.obstacles(changes)? });
        };
        self.follow_submodules(changes, index.environment())?;
        self.store_anew(note, (changes, folders), &index)?;
        let stamps = index.stamps(changes)?;
        Ok(Applied::Done { paths: changes.iter().map(RawChange::shown).collect(), stamps, revived })
    }

    /// Before any file is changed: what is about to be is noted, and nobody tidies the tree away.
    pub(in crate::git) fn note_landing(&self, note: &LandingNote) -> Result<(), GitError> {
        self.anchor(&note.tree)?;
        note.write(self.git_dir())
    }

    /// Has git change the files. None: something of somebody's is in the way, and nothing was changed.
    fn switch(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
    ) -> Result<Option<LandingIndex<'_>>, GitError> {
        let switch =
            [&UNSPARSE[..], &["read-tree", "-m", "-u", note.head.as_str(), note.tree.as_str()]].concat();
        let index = LandingIndex::begin(self)?;
        let mut ended = self.run_locking(|| index.call(&switch))?;
        // Git looks at everything before it changes anything.
        if names_obstacle(&ended) && !self.is_overlooked(changes)? {
            // Files that only look changed, by their times, are looked at once more.
            self.run_locking(|| index.call(&["update-index", "-q", "--refresh"]))?;
            ended = self.run_locking(|| index.call(&switch))?;
        }
        if names_obstacle(&ended) {
            index.remove();
            self.weigh_anchor();
            LandingNote::remove(self.git_dir())?;
            return Ok(None);
        }
        ended.success()?;
        Ok(Some(index))
    }

    /// Makes the paths of a landing what they are in HEAD. They were so before it; what they became since is kept.
    fn put_back(&self, note: &LandingNote, left: &mut Option<Left>) -> Result<(), GitError> {
        let changes = self.differences(&note.head, &note.tree)?;
        let before = self.before(note, &changes)?;
        self.set_aside(self.rewritten(&changes, &before)?, left)?;
        self.set_to(&before, left)?;
        self.put_submodules_back(&changes)
    }

    /// Makes paths what they were before a landing.
    pub(in crate::git) fn set_to(&self, before: &Entries, left: &mut Option<Left>) -> Result<(), GitError> {
        self.unstage(&before.keys().cloned().collect())?;
        for (path, _) in before.iter().filter(|(_, entry)| entry.is_absent()) {
            delete(self.root(), path.as_ref())?;
        }
        let skipped = self.outside_sparse_checkout()?;
        let files = before
            .iter()
            .filter(|(path, entry)| !entry.is_absent() && !entry.is_gitlink() && !skipped.contains(*path));
        let files: Vec<&OsString> = files.map(|(path, _)| path).collect();
        self.set_aside(self.occupants(files.iter().copied()), left)?;
        let stdin = names(files.iter().map(|path| path.as_os_str()));
        if !stdin.is_empty() {
            let mut list = vec!["checkout-index", "--force", "-z", "--stdin"];
            // What the index knows of the looks of files only saves time, and is somebody else's while they have its lock.
            list.extend(self.lock_holder().is_none().then_some("--index"));
            self.run_locking(|| self.locking_call(&list, stdin.clone()))?.success()?;
        }
        Ok(())
    }

    /// What HEAD has at the paths of a landing; it may have moved on since.
    pub(in crate::git) fn before(
        &self,
        note: &LandingNote,
        changes: &[RawChange],
    ) -> Result<Entries, GitError> {
        let head = self.head()?;
        if head.as_ref() == Some(&note.head) {
            return Ok(changes.iter().map(|change| (change.path.clone(), change.old.clone())).collect());
        }
        let Some(head) = head else { return Ok(Entries::new()) };
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

pub(in crate::git) fn gitlinks(changes: &[RawChange]) -> Vec<&OsStr> {
    let links = changes.iter().filter(|change| change.new.is_gitlink() || change.old.is_gitlink());
    links.map(|change| change.path.as_os_str()).collect()
}
