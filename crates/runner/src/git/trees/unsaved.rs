//! What is not committed inside the submodules of the main working tree. It stays there; in linked trees it is kept instead.

use std::ffi::OsStr;
use std::path::Path;

use super::uncommitted::Uncommitted;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::error::GitError;
use crate::git::repository::Git;
use crate::git::status::Change;

/// What is not committed in one submodule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// Where the submodule is.
    pub path: String,
    /// What differs in it.
    pub files: Vec<Change>,
    /// Repositories of their own in it, from the top folder of the project.
    pub repositories: Vec<String>,
}

impl Unsaved {
    /// The names of the files.
    pub fn names(&self) -> Vec<String> {
        self.files.iter().map(|change| change.path.clone()).collect()
    }

    /// Whether files that were there before changed, or new ones were added. If not, all are what a build may leave.
    pub fn is_changed(&self) -> bool {
        self.files.iter().any(Change::is_meant)
    }
}

impl Git {
    /// What is not committed in those submodules that are among some changed paths.
    pub fn unsaved_inside(&self, changed: &[&str]) -> Result<Vec<Unsaved>, GitError> {
        let is_checked_out = |path: &&&str| self.is_repository(OsStr::new(path));
        let suspects: Vec<&&str> = changed.iter().filter(is_checked_out).collect();
        let Some(head) = self.head()?.filter(|_| !suspects.is_empty()) else { return Ok(Vec::new()) };
        let links = self.links_of(&head)?;
        let mut found = Vec::new();
        for path in suspects.into_iter().filter(|path| links.contains(OsStr::new(path))) {
            let main = self.root().join(path);
            let index = ScratchIndex::copy(self, &main, &self.store_of(&main))?;
            let uncommitted = Uncommitted::find(&index, Path::new(path))?;
            if !uncommitted.is_empty() {
                let (path, files) = ((*path).to_owned(), uncommitted.told());
                found.push(Unsaved { path, files, repositories: uncommitted.repositories });
            }
        }
        Ok(found)
    }
}
