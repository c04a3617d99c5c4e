//! Ignored files of a linked working tree that the main one does not have. They do not come back, and whoever wonders
//! why something works in the one and not in the other wants to know of them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::raw_change::split_names;
use crate::git::repository::Git;
use crate::tree::is_own;

/// How many are told.
const TOLD_MAX: usize = 20;

/// How many are looked at in folders that both trees have.
const LOOKED_AT_MAX: usize = 20_000;

impl Git {
    /// Ignored files, or folders of them, that are in a linked tree only; the first of them, by name.
    pub fn ignored_only_in(&self, tree: &Path, furnished: &[String]) -> Result<Vec<String>, GitError> {
        let state = self.state_of(tree)?;
        let index = ScratchIndex::copy(self, tree, &state)?;
        let list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let listing = index.run(&list, Vec::new())?.success()?;
        let named: Vec<PathBuf> = split_names(&listing).map(PathBuf::from).collect();
        let is_wanted = |path: &Path| {
            !is_own(&path.to_string_lossy())
                && !furnished.iter().any(|place| path.starts_with(place.trim_end_matches('/')))
        };
        let mut found = Vec::new();
        let mut waiting: Vec<PathBuf> = named.into_iter().rev().filter(|path| is_wanted(path)).collect();
        for _ in 0..LOOKED_AT_MAX {
            let Some(path) = waiting.pop().filter(|_| found.len() < TOLD_MAX) else { break };
            let is_folder =
                |root: &Path| fs::symlink_metadata(root.join(&path)).is_ok_and(|metadata| metadata.is_dir());
            if fs::symlink_metadata(self.root().join(&path)).is_err() {
                found.push(path.to_string_lossy().into_owned());
            } else if is_folder(self.root()) && is_folder(tree) {
                waiting.extend(inside(tree, &path).into_iter().filter(|path| is_wanted(path)));
            }
        }
        Ok(found)
    }
}

/// What is in a folder, last names first.
fn inside(tree: &Path, folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(tree.join(folder)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| folder.join(entry.file_name())).collect();
    paths.sort();
    paths.reverse();
    paths
}
