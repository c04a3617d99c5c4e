//! Untracked files that a project needs in every linked tree: caches to share, settings to copy. They are named by
//! the project's settings and never come back with the work.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::git::commits::commit::is_inside;
use crate::git::error::GitError;
use crate::tree::is_own;

/// What a project wants in every linked tree, as paths from its top folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Furnishing {
    /// Shared: the tree gets a link to the one in the main working tree.
    pub link: Vec<String>,
    /// Copied, so that an agent can change it at will. File systems that can share the blocks do.
    pub copy: Vec<String>,
}

impl Furnishing {
    /// What to say of a path that the project does not have.
    pub(crate) fn missing(path: &str) -> String {
        if path.contains(['*', '?', '{']) {
            return format!(
                "{path} is not there, so its work tree goes without it: patterns are not understood here, so name each path"
            );
        }
        format!("{path} is not there, so its work tree goes without it")
    }

    /// All paths, which are then no work.
    pub fn paths(&self) -> Vec<String> {
        self.link.iter().chain(&self.copy).cloned().collect()
    }

    /// Puts them into a new linked tree. The result names those that the main working tree does not have, or that
    /// the tree has already. A path that leads out of the project is an error.
    pub fn put(&self, root: &Path, tree: &Path) -> Result<Vec<String>, GitError> {
        let mut skipped = Vec::new();
        for path in &self.link {
            place(root, tree, path, |from, to| symlink(from, to), &mut skipped)?;
        }
        for path in &self.copy {
            place(root, tree, path, copy, &mut skipped)?;
        }
        Ok(skipped)
    }
}

fn place(
    root: &Path,
    tree: &Path,
    path: &str,
    act: impl Fn(&Path, &Path) -> io::Result<()>,
    skipped: &mut Vec<String>,
) -> Result<(), GitError> {
    let relative = path.trim_end_matches('/');
    let is_ours = is_own(relative) || relative == ".tillgreen";
    if !is_inside(relative)
        || is_ours
        || leads_through_link(root, relative)
        || leads_through_link(tree, relative)
    {
        return Err(GitError::Unacceptable { what: "a path to link or copy", value: path.to_owned() });
    }
    let (from, to) = (root.join(relative), tree.join(relative));
    if fs::symlink_metadata(&from).is_err() || fs::symlink_metadata(&to).is_ok() {
        skipped.push(path.to_owned());
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
    }
    act(&from, &to).map_err(GitError::io("link or copy", &from))
}

/// Whether a folder on the way to a path is a link: where it leads, nobody has looked.
fn leads_through_link(root: &Path, path: &str) -> bool {
    let folders = Path::new(path).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.into_iter().any(|folder| root.join(folder).is_symlink())
}

/// Copies a file, a link as a link, or a folder with all of these in it. Pipes and the like are left out.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut waiting: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = waiting.pop() {
        let kind = fs::symlink_metadata(&from)?.file_type();
        if kind.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else if kind.is_file() {
            fs::copy(&from, &to)?;
        } else if kind.is_dir() {
            fs::create_dir(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                waiting.push((entry.path(), to.join(entry.file_name())));
            }
        }
    }
    Ok(())
}
