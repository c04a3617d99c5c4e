//! What an attempt in the project itself left uncommitted inside submodules: no commit of the project's can hold it. As in a
//! work tree, the attempt is no success then; what is there stays where it is.

use engine::{Cause, CheckFailure, FileState};
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{GitError, Unsaved};
use crate::traces::listed;

impl Driver<'_> {
    /// Right after an agent has ended, before any command leaves its own traces there.
    pub(crate) fn look_inside(&mut self, id: &TaskId, touched: &[FileState]) -> Result<(), GitError> {
        self.left_inside.remove(id);
        let Some(git) = self.tree.git() else { return Ok(()) };
        // What an attempt before left there and this one did not see to is still its work.
        let earlier = self.state.task(id).map(|task| &task.touched);
        let is_wanted = |path: &str| {
            touched.iter().any(|file| file.path == path)
                || earlier.is_some_and(|earlier| earlier.contains(path))
        };
        let unsaved = git.unsaved_inside(is_wanted)?;
        for Unsaved { path, files, .. } in &unsaved {
            let files = listed(files);
            self.note(format!(
                "task {id} left changes in the submodule {path} that are not committed there, and so not with its work: {files}"
            ));
        }
        if !unsaved.is_empty() {
            self.left_inside.insert(id.clone(), unsaved);
        }
        Ok(())
    }

    /// Why the attempt is no success. New files alone are no reason: builds leave such.
    pub(crate) fn unsaved_failure(&self, id: &TaskId) -> Option<CheckFailure> {
        let changed = self.left_inside.get(id)?.iter().filter(|unsaved| unsaved.is_changed);
        let (names, advice): (Vec<&str>, Vec<String>) =
            changed.map(|unsaved| (unsaved.path.as_str(), advice(unsaved))).unzip();
        (!names.is_empty()).then(|| CheckFailure {
            cause: Cause::CommitRefused,
            error: format!("the work cannot be committed as it is: {}", names.join(", ")),
            details: advice.join("\n"),
            command: None,
            exit_code: None,
        })
    }
}

fn advice(Unsaved { path, files, .. }: &Unsaved) -> String {
    format!(
        "The submodule {path} has uncommitted changes ({}). Only commits of a submodule are part of the work: commit the \
         changes inside of it (git -C {path} commit), or take them back. They are still there.",
        listed(files)
    )
}
