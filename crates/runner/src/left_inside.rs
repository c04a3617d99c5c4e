//! What an attempt in the project itself left there that no commit of the project's can hold: repositories of their own, and
//! what is uncommitted inside submodules. As in a work tree, the attempt is no success then; what is there stays where it is.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use engine::{Baseline, Cause, CheckFailure, Failing, FileState};
use plan::TaskId;

use crate::driver::Driver;
use crate::git::{GitError, Unsaved};
use crate::nested;
use crate::traces::listed;
use crate::tree::changed_since;

/// What cannot be committed.
#[derive(Debug, Default)]
pub(crate) struct LeftInside {
    repositories: Vec<String>,
    submodules: Vec<Unsaved>,
}

impl Driver<'_> {
    /// Right after an agent has ended, before any command leaves its own traces there. What others left there before is not
    /// its doing.
    pub(crate) fn look_inside(
        &mut self,
        id: &TaskId,
        (baseline, since): (&Baseline, SystemTime),
        touched: &[FileState],
    ) -> Result<(), GitError> {
        self.left_inside.remove(id);
        let Some(git) = self.tree.git() else { return Ok(()) };
        let before: BTreeSet<&str> = baseline.dirty.iter().map(String::as_str).collect();
        let new: Vec<&str> = touched.iter().map(|file| file.path.as_str()).collect();
        let new: Vec<&str> = new.into_iter().filter(|path| !before.contains(path)).collect();
        let mut repositories = self.nested(id, &new)?;
        // What an attempt before left there and this one did not see to is still its work.
        let earlier = self.state.task(id).map(|task| &task.touched);
        let is_own =
            |path: &str| !before.contains(path) || earlier.is_some_and(|earlier| earlier.contains(path));
        let mut submodules = git.unsaved_inside(&self.tree.changed())?;
        for unsaved in submodules.iter_mut().filter(|unsaved| !is_own(&unsaved.path)) {
            let folder = git.root().join(&unsaved.path);
            unsaved.files.retain(|file| is_recent(&folder.join(&file.path), since));
            unsaved.repositories.retain(|path| is_recent(&git.root().join(path), since));
        }
        repositories
            .extend(submodules.iter_mut().flat_map(|unsaved| std::mem::take(&mut unsaved.repositories)));
        submodules.retain(|unsaved| !unsaved.files.is_empty());
        self.tell_of_left(id, &repositories, &submodules);
        if !repositories.is_empty() || !submodules.is_empty() {
            self.left_inside.insert(id.clone(), LeftInside { repositories, submodules });
        }
        Ok(())
    }

    fn tell_of_left(&mut self, id: &TaskId, repositories: &[String], submodules: &[Unsaved]) {
        for path in repositories {
            self.note_of(id, format!("task {id} left what cannot be committed: {}", nested::told(path)));
        }
        for unsaved in submodules {
            let (path, files) = (&unsaved.path, listed(&unsaved.names()));
            self.note_of(id, format!(
                "task {id} left changes in the submodule {path} that are not committed there, and so not with its work: {files}"
            ));
        }
    }

    /// Why the attempt is no success. New files in a submodule alone are no reason: builds leave such.
    pub(crate) fn unsaved_failure(&self, id: &TaskId) -> Option<CheckFailure> {
        let left = self.left_inside.get(id)?;
        let repositories = left.repositories.iter().map(|path| (path.as_str(), nested_advice(path)));
        let changed = left.submodules.iter().filter(|unsaved| unsaved.is_changed());
        let changed = changed.map(|unsaved| (unsaved.path.as_str(), advice(unsaved)));
        let (names, advice): (Vec<&str>, Vec<String>) = repositories.chain(changed).unzip();
        (!names.is_empty()).then(|| CheckFailure {
            cause: Cause::CommitRefused,
            error: format!("the work cannot be committed as it is: {}", names.join(", ")),
            details: advice.join("\n"),
            command: None,
            exit_code: None,
            failing: Failing::default(),
        })
    }
}

/// Whether a file changed since then, or is gone from a folder that did.
fn is_recent(file: &Path, since: SystemTime) -> bool {
    let parent = || file.parent().and_then(|folder| changed_since(folder, since));
    changed_since(file, since).or_else(parent).unwrap_or(true)
}

fn nested_advice(path: &str) -> String {
    format!(
        "{} A repository that is to stay one is added as a submodule (git submodule add). It is still there.",
        nested::advice(path)
    )
}

fn advice(unsaved: &Unsaved) -> String {
    let (path, files) = (&unsaved.path, listed(&unsaved.names()));
    format!(
        "The submodule {path} has uncommitted changes ({files}). Only commits of a submodule are part of the work: commit the \
         changes inside of it (git -C {path} commit), or take them back. They are still there."
    )
}
