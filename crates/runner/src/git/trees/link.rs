//! Making a linked working tree known to git by writing what git would write: three files there and one in the tree. It
//! takes no process, and nobody else's git ever finds half of it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::worktree::settled;
use crate::git::calls::process::{self, Call};
use crate::git::calls::scratch_index::copy_as_old;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// What is about to become known.
const NEW: &str = "tillgreen-new-";

/// What is in a tree that is made known.
#[derive(Debug, Clone, Copy)]
pub(in crate::git) enum Files<'a> {
    /// Nothing: its folder is made.
    None,
    /// What is in its folder, and an index that tells of another time.
    OfIndex(&'a Path),
    /// What was just written into its folder, and the content of an index that tells of that.
    Written(&'a [u8]),
}

impl Git {
    /// The name under which a tree is made known here; none where git itself has more to do for that.
    pub(in crate::git) fn name_of_plain<'a>(&self, tree: &'a Path) -> Option<&'a str> {
        let name = tree.file_name().and_then(|name| name.to_str()).filter(|name| is_plain(name))?;
        (!self.keeps_more() && !tree.as_os_str().as_bytes().contains(&b'\n')).then_some(name)
    }

    /// Makes a tree known. False, with nothing done: git itself has more to do here. No part of the tree's path may be a
    /// link.
    pub(in crate::git) fn link_plainly(
        &self,
        tree: &Path,
        base: &Oid,
        files: Files<'_>,
    ) -> Result<bool, GitError> {
        let Some(name) = self.name_of_plain(tree) else { return Ok(false) };
        let states = self.common_dir().join("worktrees");
        let (state, new) = (states.join(name), self.common_dir().join(format!("{NEW}{name}")));
        if state.exists() {
            return Ok(false);
        }
        describe(&new, tree, base).map_err(GitError::io("write", &new))?;
        match files {
            Files::None => fs::create_dir(tree).map_err(GitError::io("create", tree))?,
            Files::OfIndex(index) => {
                copy_as_old(index, &new.join("index")).map_err(GitError::io("copy", index))?;
            }
            Files::Written(index) => {
                fs::write(new.join("index"), index).map_err(GitError::io("write into", &new))?;
            }
        }
        fs::create_dir_all(&states).map_err(GitError::io("create", &states))?;
        point(tree, &state).map_err(GitError::io("write into", tree))?;
        fs::rename(&new, &state).map_err(GitError::io("create", &state))?;
        Ok(true)
    }

    /// Makes a tree known again that is there, where somebody deleted what git keeps of it: an agent can do so to all of
    /// them at once. Whether it is known.
    pub fn know_again(&self, tree: &Path, base: &Oid) -> Result<bool, GitError> {
        if self.state_of(tree).is_ok() {
            return Ok(true);
        }
        let tree = settled(tree);
        let is_link = |tree: &Path| !fs::symlink_metadata(tree.join(".git")).is_ok_and(|link| link.is_dir());
        if !tree.is_dir() || !is_link(&tree) {
            return Ok(false);
        }
        let name = tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let index = self.common_dir().join(format!("{NEW}index-{name}"));
        let mut environment = self.environment().clone();
        environment.push(("GIT_INDEX_FILE".into(), index.clone().into()));
        let read = self.locking_call(&["read-tree", base.as_str()], Vec::new());
        process::run(Call { environment: &environment, ..read })?.success()?;
        let turn = self.take_turn()?;
        let is_linked = self.link_plainly(&tree, base, Files::OfIndex(&index));
        drop(turn);
        // It is of no use to anybody any more.
        let _ = fs::remove_file(index);
        is_linked
    }

    /// Whether the state of a tree is more than what is written here: its own settings, another store of references.
    fn keeps_more(&self) -> bool {
        let has = |folder: &Path, name: &str| folder.join(name).exists();
        has(self.common_dir(), "reftable")
            || has(self.common_dir(), "config.worktree")
            || has(self.git_dir(), "config.worktree")
            || has(self.git_dir(), "info/sparse-checkout")
    }
}

/// The name is part of references to the tree's own, so not every name will do.
fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.bytes().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !name.contains("..")
        && !name.ends_with('.')
        && !name.ends_with(".lock")
}

/// What git keeps of a tree.
fn describe(state: &Path, tree: &Path, base: &Oid) -> io::Result<()> {
    match fs::remove_dir_all(state) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    fs::create_dir(state)?;
    fs::write(state.join("HEAD"), format!("{base}\n"))?;
    fs::write(state.join("commondir"), "../..\n")?;
    fs::write(state.join("gitdir"), [tree.join(".git").as_os_str().as_bytes(), b"\n"].concat())
}

/// The tree says where that is.
fn point(tree: &Path, state: &Path) -> io::Result<()> {
    fs::write(tree.join(".git"), [b"gitdir: ", state.as_os_str().as_bytes(), b"\n"].concat())
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn names_that_git_would_change_are_left_to_it() {
        let plain = ["1.1", "03-01_2", "a"];
        assert!(plain.iter().all(|name| is_plain(name)));
        let others = ["", ".a", "-a", "a..b", "a.", "a.lock", "a b", "a~1", "ä", "a/b"];
        assert!(others.iter().all(|name| !is_plain(name)));
    }
}
