//! Which of the plan's own files are committed: those that git does not leave out. Asked once in a run.

use std::sync::{Arc, OnceLock};

use crate::git::{Git, GitError};

/// The plan file and the progress file, and which of them git is to know, once that was asked by anybody.
#[derive(Clone, Debug, Default)]
pub(crate) struct Committable {
    files: Vec<String>,
    known: Arc<OnceLock<Vec<String>>>,
}

impl Committable {
    pub(crate) fn among(files: &[Option<String>]) -> Self {
        Self { files: files.iter().flatten().cloned().collect(), known: Arc::default() }
    }

    /// Those that are not ignored, and those that are tracked all the same.
    pub(crate) fn ask(&self, git: &Git) -> Result<&[String], GitError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let ignored = git.ignored_among(&self.files)?;
        let mut wanted = Vec::new();
        for path in &self.files {
            if !ignored.contains(path) || git.is_tracked(path)? {
                wanted.push(path.clone());
            }
        }
        // Whoever was first has found the same.
        Ok(self.known.get_or_init(|| wanted))
    }
}
