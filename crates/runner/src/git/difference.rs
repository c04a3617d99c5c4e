//! Some paths of a working tree as they lie there at a moment: kept as a tree, shown as a difference, put back. All of it
//! goes through an index of its own, for which the caller has a place: the one that people and agents use stays as it is.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::calls::process::{self, Call, Ended};
use super::error::GitError;
use super::history::Oid;
use super::repository::Git;

/// Paths of a working tree.
#[derive(Debug, Clone, Copy)]
pub struct Paths<'a> {
    /// Its top folder.
    pub tree: &'a Path,
    /// The paths in it.
    pub paths: &'a [String],
    /// Where an index of its own can lie.
    pub scratch: &'a Path,
}

impl Git {
    /// The tree that a commit would hold if these paths were as they lie in the working tree now, new files included.
    pub fn tree_of_paths(&self, base: &str, paths: &Paths<'_>) -> Result<Oid, GitError> {
        let tree = self
            .with_scratch(paths, &["read-tree", base], Vec::new())
            .and_then(Ended::success)
            .and_then(|_| {
                let list = ["update-index", "--add", "--remove", "-z", "--stdin"];
                self.with_scratch(paths, &list, listed(paths.paths))?.success()
            })
            .and_then(|_| Oid::printed(self.with_scratch(paths, &["write-tree"], Vec::new())?));
        forget(paths.scratch);
        tree
    }

    /// The difference between a commit and such a tree, as text.
    pub fn difference(&self, base: &str, tree: &Oid) -> Result<String, GitError> {
        let list = ["diff", "--no-color", "--no-ext-diff", "--no-renames", base, tree.as_str(), "--"];
        let shown = process::run(self.call(&list))?.success()?;
        Ok(String::from_utf8_lossy(&shown).into_owned())
    }

    /// Writes paths as such a tree has them. What is not in it has to be out of the way already.
    pub fn write_as_in(&self, tree: &Oid, paths: &Paths<'_>) -> Result<(), GitError> {
        self.with_scratch(paths, &["read-tree", tree.as_str()], Vec::new())?.success()?;
        // It complains of paths that the tree does not have.
        let written =
            self.with_scratch(paths, &["checkout-index", "-f", "-q", "-z", "--stdin"], listed(paths.paths));
        forget(paths.scratch);
        written.map(drop)
    }

    fn with_scratch(&self, paths: &Paths<'_>, list: &[&str], stdin: Vec<u8>) -> Result<Ended, GitError> {
        let mut environment = self.environment().clone();
        environment.push((OsString::from("GIT_INDEX_FILE"), paths.scratch.into()));
        process::run(Call { dir: paths.tree, environment: &environment, stdin, ..self.call(list) })
    }
}

fn listed(paths: &[String]) -> Vec<u8> {
    paths.iter().flat_map(|path| path.bytes().chain([0])).collect()
}

fn forget(scratch: &Path) {
    // One that stays lies among the files of an attempt and is in nobody's way.
    let _ = fs::remove_file(scratch);
}
