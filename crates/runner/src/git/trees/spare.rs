//! Trees that are used again. Writing all files of a large project takes long, and so does removing them; file systems are
//! slow to write where much was removed just before. A tree that is done with is therefore emptied of what does not belong
//! to the project and set aside, and the next one is made of it: git then writes only what differs.
//!
//! What it looked like when it was made is known from a copy of its index from then, which tells by their times what
//! has changed since. Nothing that its agent did to the tree's own index, settings or links is relied on, and the copy
//! only if it is for sure the one that was made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::link::Files;
use super::worktree::{remove_folder, settled};
use crate::git::calls::process::{self, Call};
use crate::git::calls::scratch_index::{TREE_DEADLINE, copy_as_old};
use crate::git::error::GitError;
use crate::git::formats::index_tree;
use crate::git::formats::raw_change::RawChange;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// The index of a tree when it was made.
const PRISTINE: &str = "tillgreen-pristine-index";

/// Trees whose index is smaller than this are written faster than they are looked through: some 1,500 files.
const WORTHWHILE_BYTES: u64 = 128 * 1024;

/// What is being removed.
const GONE: &str = "gone-";

/// How many names are tried for a tree in the pool.
const NAMES_MAX: usize = 10_000;

/// Where trees are set aside.
#[derive(Debug, Clone)]
pub struct Pool {
    folder: PathBuf,
    worthwhile: u64,
}

impl Pool {
    /// A pool in this folder, which is on the same file system as the trees.
    pub fn new(folder: &Path) -> Pool {
        Pool { folder: folder.to_owned(), worthwhile: WORTHWHILE_BYTES }
    }

    /// The same for trees of any size.
    #[cfg(test)]
    pub(in crate::git) fn for_all(folder: &Path) -> Pool {
        Pool { folder: folder.to_owned(), worthwhile: 0 }
    }

    /// How many trees are there.
    pub fn count(&self) -> usize {
        self.trees().count()
    }

    /// Removes all of them. One that is taken at the same moment is somebody's: each is moved away before it is removed,
    /// which works for one of both.
    pub fn clear(&self) {
        let mut gone = (0_u32..).map(|number| self.folder.join(format!("{GONE}{number}")));
        for tree in self.trees() {
            let aside = gone.find(|place| !place.exists()).unwrap_or_else(|| tree.clone());
            if fs::rename(&tree, &aside).is_ok() {
                // Whatever stays is found at the next start.
                let _ = fs::remove_file(tree.with_extension("index"));
                let _ = remove_folder(&aside);
            }
        }
        // With something in it, it is still needed.
        let _ = fs::remove_dir(&self.folder);
    }

    /// Removes whatever is there. Nobody else may be at it.
    pub fn remove(&self) {
        // Whatever stays is found at the next start.
        let _ = remove_folder(&self.folder);
    }

    fn trees(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_gone = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(GONE);
        let trees = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        trees.filter(move |entry| !is_gone(entry)).map(|entry| entry.path())
    }

    /// Moves one of them to where a tree is wanted. Gives its index; none if there is none to be had.
    fn take(&self, tree: &Path) -> Option<PathBuf> {
        self.trees().find_map(|spare| {
            let index = spare.with_extension("index");
            fs::metadata(&index).and_then(|_| fs::rename(&spare, tree)).ok().map(|()| index)
        })
    }

    /// Sets one aside, and tells where its index is then.
    fn put(&self, tree: &Path, index: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let mut places = (0..NAMES_MAX).map(|number| self.folder.join(number.to_string()));
        let place = places.find(|place| !place.exists() && !place.with_extension("index").exists());
        let place = place.ok_or(io::ErrorKind::AlreadyExists)?;
        // Whoever looks for trees wants both; the folder comes last.
        let kept = place.with_extension("index");
        fs::rename(index, &kept)?;
        fs::rename(tree, place)?;
        Ok(kept)
    }
}

impl Git {
    /// Makes a linked working tree at a commit as `add_tree` does, of one from the pool where that is possible.
    pub fn add_tree_from(&self, pool: &Pool, tree: &Path, base: &Oid) -> Result<(), GitError> {
        self.remove_tree(tree)?;
        if let Some(folder) = tree.parent() {
            fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
        }
        // Whatever came of an attempt that did not work out is removed when the tree is made anew.
        if !matches!(self.reuse(pool, tree, base), Ok(true)) {
            self.add_tree(tree, base)?;
        }
        self.note_pristine(pool, tree);
        Ok(())
    }

    fn reuse(&self, pool: &Pool, tree: &Path, base: &Oid) -> Result<bool, GitError> {
        let Some(index) = pool.take(tree) else { return Ok(false) };
        let is_known = self.known_indexes().is_known(&index);
        self.known_indexes().forget(&index);
        if !is_known || !self.writes_alike(&index, base)? {
            let _ = fs::remove_file(index);
            return Ok(false);
        }
        let turn = self.take_turn()?;
        let linked = self.link_plainly(&settled(tree), base, Files::OfIndex(&index));
        drop(turn);
        // It is of no use to anybody any more.
        let _ = fs::remove_file(index);
        if !linked? {
            return Ok(false);
        }
        self.fill_tree(tree)?;
        self.note_files(tree, base);
        Ok(true)
    }

    /// Whether files that are the same in git are the same on disk in a tree of before and in one of now: attributes may
    /// have them written otherwise.
    fn writes_alike(&self, index: &Path, base: &Oid) -> Result<bool, GitError> {
        let Some(before) = index_tree::held(index, base) else { return Ok(false) };
        Ok(!self.differences(&before, base)?.iter().any(RawChange::is_attributes))
    }

    /// What the tree looks like now is what a next one can be made of.
    fn note_pristine(&self, pool: &Pool, tree: &Path) {
        let Ok(state) = self.state_of(tree) else { return };
        let index = state.join("index");
        let is_worth_it = fs::metadata(&index).is_ok_and(|index| index.len() >= pool.worthwhile);
        if is_worth_it && !tree.join(".gitmodules").exists() {
            let pristine = state.join(PRISTINE);
            // Without it, the tree is not used again.
            let _ = copy_as_old(&index, &pristine);
            self.known_indexes().note(&pristine);
        }
    }

    /// Removes a linked working tree and git's knowledge of it as `remove_tree` does. What can be used again is set
    /// aside.
    pub fn retire_tree(&self, pool: &Pool, tree: &Path) -> Result<(), GitError> {
        if let Ok(state) = self.state_of(tree) {
            let pristine = state.join(PRISTINE);
            if self.known_indexes().is_known(&pristine)
                && self.empty_out(&state, tree, &pristine)
                // One that cannot be moved is removed.
                && let Ok(kept) = pool.put(tree, &pristine)
            {
                self.known_indexes().moved(&pristine, &kept);
            }
            self.known_indexes().forget(&pristine);
        }
        self.remove_tree(tree)
    }

    /// Removes from a tree what was not there when it was made. Whether that worked; if not, it is good for nothing.
    fn empty_out(&self, state: &Path, tree: &Path, index: &Path) -> bool {
        let is_folder = fs::symlink_metadata(tree).is_ok_and(|tree| tree.is_dir());
        if !is_folder || remove_folder(&tree.join(".git")).is_err() {
            return false;
        }
        let mut environment = self.environment().clone();
        let places = [("GIT_DIR", state), ("GIT_WORK_TREE", tree), ("GIT_INDEX_FILE", index)];
        environment.extend(places.map(|(name, place)| (name.into(), place.into())));
        // Twice force: repositories inside it go as well.
        let clean = ["-c", "core.fsmonitor=false", "clean", "-ffdxq"];
        let call = Call {
            dir: tree,
            environment: &environment,
            deadline: TREE_DEADLINE,
            ..self.locking_call(&clean, Vec::new())
        };
        process::run(call).is_ok_and(|ended| ended.is_success())
    }
}
