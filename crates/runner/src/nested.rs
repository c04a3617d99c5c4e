//! Repositories of their own inside the project, or inside a work tree of it, that an agent left there. No commit of the
//! project's holds what is in them, so the attempt is no success, wherever it was made; what to do about it is said here.

use std::fs;
use std::path::Path;

use plan::TaskId;

use crate::driver::Driver;
use crate::git::GitError;

impl Driver<'_> {
    /// Those in the project itself that appeared since an attempt at a task began, or with an attempt before it. `new` are
    /// the paths that it changed and that were as they should be when it began.
    pub(crate) fn nested(&self, id: &TaskId, new: &[&str]) -> Result<Vec<String>, GitError> {
        let (Some(git), Some(task)) = (self.tree.git(), self.state.task(id)) else { return Ok(Vec::new()) };
        let before = self.state.opened().map(|opened| opened.dirty.as_slice()).unwrap_or_default();
        let earlier = task.touched.iter().map(String::as_str);
        let paths = new.iter().copied().chain(earlier).filter(|path| !before.iter().any(|old| old == path));
        let mut found = Vec::new();
        for path in paths {
            let name = path.trim_end_matches('/');
            if found.iter().any(|known| known == name) || !git.is_repository(name.as_ref()) {
                continue;
            }
            let is_left = if path.ends_with('/') {
                self.tree.is_untracked(path)
            } else {
                !is_named_submodule(git.root(), name) && !git.is_link_at(task.base.as_deref(), name)?
            };
            if is_left {
                found.push(name.to_owned());
            }
        }
        Ok(found)
    }
}

/// Whether a working tree has a submodule there, or an agent is about to add one.
pub(crate) fn is_named_submodule(root: &Path, path: &str) -> bool {
    let text = fs::read_to_string(root.join(".gitmodules")).unwrap_or_default();
    let mut named =
        text.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
    named.any(|named| named.trim().trim_matches('"') == path)
}

/// What is said in the run's output.
pub(crate) fn told(path: &str) -> String {
    format!("{path} is a repository of its own, whose files cannot be committed with the project")
}

/// What the next attempt is told.
pub(crate) fn advice(path: &str) -> String {
    format!(
        "{path} is a repository of its own inside the project, and its files cannot be committed with the project. If they \
         belong to the project, make them plain files (remove {path}/.git); if not, delete {path} or have git ignore it."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_named_by_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "[submodule \"a\"]\n\tpath = lib/a\n\turl = ../pathology\n[submodule \"b\"]\npath=\"b c\"\n";
        fs::write(folder.path().join(".gitmodules"), text).unwrap();
        let check =
            |path: &str, expected| assert_eq!(is_named_submodule(folder.path(), path), expected, "{path}");
        check("lib/a", true);
        check("b c", true);
        check("a", false);
        check("../pathology", false);
    }
}
