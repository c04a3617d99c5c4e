//! Files of a task's work that change while it is verified in the project itself: somebody saves one of them, or the
//! verify command writes it. What would be committed is then not what was verified, so it is verified once more.
//!
//! Work that comes back from a tree of its own is looked at in `hooked`, where git knows what came in.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use engine::Status;
use plan::TaskId;

use crate::driver::Driver;
use crate::offstage::fingerprint;
use crate::recording::Obstacle;

/// Larger files are known by their size and time alone.
const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// What is said when work in the project itself is red at the second look.
const MADE_RED_BY_HOOK: &str =
    "A git hook changed the work as it was committed. What it made of it is red, and not committed.";
const MADE_RED: &str =
    "Files of the work changed while it was verified. As they are now they are red, and not committed.";

/// The files of a task's work, each with a fingerprint of its content.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    files: BTreeMap<String, String>,
}

impl Driver<'_> {
    /// Before a verify command runs in the project itself.
    pub(crate) fn note_files(&mut self, id: &TaskId) {
        if !self.is_isolated(id) && self.tree.git().is_some() {
            let paths = self.paths_of_work(id).into_iter();
            let files = paths.map(|path| (look(&self.project.root().join(&path)), path));
            let files = files.map(|(look, path)| (path, look)).collect();
            self.verified.insert(id.clone(), Verified { files });
        }
    }

    /// Before the work is committed. A command that makes something else of the files each time is let through.
    pub(crate) fn heed_rewriting_here(&mut self, id: &TaskId, key: &str) -> Result<(), Obstacle> {
        let Some(verified) = self.verified.remove(id) else { return Ok(()) };
        let root = self.project.root();
        let changed = verified.files.iter().filter(|(path, before)| look(&root.join(path)) != **before);
        let changed: Vec<&str> = changed.map(|(path, _)| path.as_str()).collect();
        if changed.is_empty() {
            return Ok(());
        }
        let files = changed.join(", ");
        self.tree.forget();
        if !self.rewritten.insert(key.to_owned()) {
            self.note(format!(
                "files of task {id} change each time it is verified ({files}); they are committed as they are now"
            ));
            return Ok(());
        }
        self.note(format!(
            "files of task {id} changed while it was verified ({files}), so they are verified as they are now"
        ));
        Err(Obstacle::Moved)
    }

    /// Why a task's work in the project itself was verified a second time.
    pub(crate) fn why_again(&self, id: &TaskId) -> &'static str {
        match self.state.task(id).map(|task| &task.status) {
            Some(Status::Joining { attempt })
                if self.rewritten.contains(&self.trailer(id, Some(*attempt))) =>
            {
                MADE_RED
            }
            Some(_) | None => MADE_RED_BY_HOOK,
        }
    }
}

/// By which it shows whether a file changed.
fn look(file: &Path) -> String {
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.len() > READ_BYTES_MAX => {
            format!("{} {} {}", metadata.len(), metadata.mtime(), metadata.mtime_nsec())
        }
        Ok(_) | Err(_) => fingerprint(file),
    }
}
