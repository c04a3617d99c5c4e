//! Repositories of submodules that an agent added in a linked working tree. Git keeps them with what it knows of the tree, and
//! they would go with it.

use std::fs;
use std::io;
use std::path::Path;

use super::worktree::state_in;
use crate::git::commits::commit::is_inside;
use crate::git::repository::Git;

/// Where a repository waits for its place to be free.
const WAITING: &str = ".git-tillgreen";

impl Git {
    /// Moves the repository of such a submodule into it, so that it is whole wherever it is moved. Others are left alone.
    pub fn embed(&self, tree: &Path, path: &str) -> io::Result<()> {
        let folder = tree.join(path);
        let link = folder.join(".git");
        let is_link = fs::symlink_metadata(&link).is_ok_and(|link| link.is_file());
        let Some(state) = state_in(self.common_dir(), tree).filter(|_| is_link && is_inside(path)) else {
            return Ok(());
        };
        let text = fs::read_to_string(&link)?;
        let named = folder.join(text.trim_end().trim_start_matches("gitdir: "));
        // An agent can write there, and name any folder.
        let (Ok(store), Ok(modules)) = (named.canonicalize(), state.join("modules").canonicalize()) else {
            return Ok(());
        };
        if store == modules || !store.starts_with(&modules) {
            return Ok(());
        }
        let config = store.join("config");
        let settings = fs::read_to_string(&config)?;
        let is_kept = |line: &&str| !line.trim_start().starts_with("worktree = ");
        let settings: String = settings.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
        let waiting = folder.join(WAITING);
        fs::rename(&store, &waiting)?;
        fs::write(waiting.join("config"), settings)?;
        fs::remove_file(&link)?;
        fs::rename(&waiting, &link)
    }
}
