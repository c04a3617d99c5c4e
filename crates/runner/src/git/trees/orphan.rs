//! What git still knows of trees and work of ours after a person deleted the program's own folder by hand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::keep::{Keep, place_of, place_of_left};
use crate::git::calls::process::{self, Call};
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

impl Git {
    /// Forgets linked trees that stood below a folder and are gone. Nobody puts them back there: it is our own.
    pub fn forget_gone_trees(&self, folder: &Path) -> Result<(), GitError> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let is_gone = |tree: &&Path| tree.starts_with(&folder) && fs::symlink_metadata(tree).is_err();
        let trees = self.known_trees();
        trees.iter().map(|tree| tree.as_path()).filter(is_gone).try_for_each(|tree| self.remove_tree(tree))
    }

    /// The same for those of a plan that git knows at another place: the repository was moved or renamed since. `home` is
    /// the plan's folder, whose last two parts they have in their names.
    pub fn forget_moved_trees(&self, home: &Path) -> Result<(), GitError> {
        let (Some(name), Some(folder)) = (home.file_name(), home.parent().and_then(Path::file_name)) else {
            return Ok(());
        };
        let place = Path::new(folder).join(name);
        let trees = self.known_trees();
        // A working tree that is somewhere else, and not to be had just now, has trees of its own.
        let has_owner = |root: &Path| trees.iter().any(|tree| root.starts_with(tree));
        let is_moved = |tree: &&Path| {
            let Some(from) = tree.ancestors().nth(2).filter(|from| from.ends_with(&place)) else {
                return false;
            };
            let root = from.ancestors().nth(2).unwrap_or(from);
            fs::symlink_metadata(tree).is_err() && fs::symlink_metadata(from).is_err() && !has_owner(root)
        };
        trees.iter().map(|tree| tree.as_path()).filter(is_moved).try_for_each(|tree| self.remove_tree(tree))
    }

    /// Work that is kept for a plan under other names than these is put where nothing touches it. Tells the references
    /// that it is kept under then.
    pub fn set_kept_aside(&self, plan: &str, known: &BTreeSet<Keep>) -> Result<Vec<String>, GitError> {
        let place = place_of(plan);
        if !self.may_keep(&place) {
            return Ok(Vec::new());
        }
        let listing =
            process::run(self.call(&["for-each-ref", "--format=%(refname) %(objectname)", &place]))?;
        let listing = String::from_utf8_lossy(&listing.success()?).into_owned();
        let commits = self.commits_among(listing.lines().filter_map(|line| Some(line.split_once(' ')?.1)))?;
        // What is gone cannot be put anywhere.
        let kept = listing.lines().filter_map(|line| line.split_once(' '));
        let kept = kept.filter(|(_, object)| commits.contains(*object));
        let known: BTreeSet<&str> = known.iter().map(Keep::reference).collect();
        let (mut commands, mut moved) = (String::new(), Vec::new());
        for (name, object) in kept.filter(|(name, _)| !known.contains(Keep::owner_of(name))) {
            let key = name.strip_prefix(&place).unwrap_or(name).trim_start_matches('/');
            let short = object.get(..12).unwrap_or(object);
            let aside = format!("{}/{key}-{short}", place_of_left(plan));
            commands.push_str(&format!("update {aside} {object}\ndelete {name} {object}\n"));
            moved.push(aside);
        }
        if !moved.is_empty() {
            let update = ["update-ref", "--stdin"];
            self.run_locking(|| self.locking_call(&update, commands.clone().into_bytes()))?.success()?;
        }
        Ok(moved)
    }

    /// Which of these objects are commits that are there.
    fn commits_among<'a>(
        &self,
        objects: impl Iterator<Item = &'a str>,
    ) -> Result<BTreeSet<String>, GitError> {
        let stdin: String = objects.map(|object| format!("{object}\n")).collect();
        if stdin.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
        let told = process::run(Call { stdin: stdin.into_bytes(), ..self.call(&list) })?.success()?;
        let told = String::from_utf8_lossy(&told).into_owned();
        Ok(told.lines().filter_map(|line| line.strip_prefix("commit ")).map(str::to_owned).collect())
    }

    /// The commit that a linked tree has checked out. None: git does not know the tree. The tree itself is not asked: an
    /// agent can write there.
    pub fn checked_out_in(&self, tree: &Path) -> Result<Option<Oid>, GitError> {
        let Ok(state) = self.state_of(tree) else { return Ok(None) };
        let mut environment = self.environment().clone();
        environment.extend(
            [("GIT_DIR", &*state), ("GIT_WORK_TREE", tree)].map(|(name, at)| (name.into(), at.into())),
        );
        let call = self.call(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let ended = process::run(Call { environment: &environment, ..call })?;
        Ok(if ended.is_success() { Some(Oid::printed(ended)?) } else { None })
    }

    /// Whether what is kept under a key is just this tree.
    pub fn is_kept_as(&self, keep: &Keep, tree: &Oid) -> Result<bool, GitError> {
        let kept = format!("{}^{{tree}}", keep.reference());
        let ended = process::run(self.call(&["rev-parse", "--verify", "--quiet", &kept]))?;
        Ok(ended.is_success() && Oid::printed(ended)? == *tree)
    }

    /// Whether there can be references at a place, which mostly there are not. That saves a process.
    pub(in crate::git) fn may_keep(&self, place: &str) -> bool {
        let packed = || fs::read(self.common_dir().join("packed-refs")).unwrap_or_default();
        let is_packed = || packed().windows(place.len()).any(|bytes| bytes == place.as_bytes());
        self.common_dir().join(place).is_dir() || self.common_dir().join("reftable").is_dir() || is_packed()
    }
}
