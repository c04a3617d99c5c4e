//! What is not committed inside the submodules of the main working tree. It stays there; in linked trees it is kept instead.

use crate::git::error::GitError;
use crate::git::repository::Git;
use crate::git::status::{Change, ChangeKind};

/// What is not committed in one submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// Where the submodule is.
    pub path: String,
    /// What differs in it.
    pub files: Vec<Change>,
}

impl Unsaved {
    /// The names of the files.
    pub fn names(&self) -> Vec<String> {
        self.files.iter().map(|change| change.path.clone()).collect()
    }

    /// Whether files that were there before changed. If not, all are new, as what a build leaves is.
    pub fn is_changed(&self) -> bool {
        self.files.iter().any(|change| change.kind != ChangeKind::Untracked)
    }
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
            let files = self.status_in(&submodule.main)?.changes;
            if !files.is_empty() {
                found.push(Unsaved { path, files });
            }
        }
        Ok(found)
    }
}
