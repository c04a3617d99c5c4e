//! What is not committed inside the submodules of the main working tree. It stays there; in linked trees it is kept instead.

use crate::git::error::GitError;
use crate::git::repository::Git;
use crate::git::status::ChangeKind;

/// What is not committed in one submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// Where the submodule is.
    pub path: String,
    /// The files.
    pub files: Vec<String>,
    /// Whether files that were there before changed. If not, all are new, as what a build leaves is.
    pub is_changed: bool,
}

impl Git {
    /// What is not committed in those submodules that are wanted.
    pub fn unsaved_inside(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Unsaved>, GitError> {
        if !self.root().join(".gitmodules").exists() || self.head()?.is_none() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for submodule in self.submodules("HEAD")? {
            let path = submodule.path.to_string_lossy().into_owned();
            if !is_wanted(&path) {
                continue;
            }
            let changes = self.status_in(&submodule.main)?.changes;
            if !changes.is_empty() {
                let is_changed = changes.iter().any(|change| change.kind != ChangeKind::Untracked);
                let files = changes.into_iter().map(|change| change.path).collect();
                found.push(Unsaved { path, files, is_changed });
            }
        }
        Ok(found)
    }
}
