//! What a verify command writes in the project. What belongs to the work is committed with it: a command that formats
//! leaves files that people want to have, and one that builds a lock file without which nobody else can. The rest is told.

use engine::{Evidence, Seen};
use plan::{Script, TaskId};

use crate::check::command::is_cache;
use crate::error::RunError;
use crate::git::{Change, ChangeKind};
use crate::run::effects::Effects;
use crate::work::project_files::listed;

/// Paths that changed while a command ran.
#[derive(Debug, Default, PartialEq, Eq)]
struct Written {
    /// Those that belong to the work.
    work: Vec<String>,
    /// Those of which nobody can say whose they are.
    other: Vec<String>,
}

impl Written {
    fn of(script: &Script, changes: &[Change]) -> Self {
        let rewrites = script.rewrites();
        let mut written = Self::default();
        for Change { path, kind, .. } in changes {
            let comes_along = engine::is_implied(path, std::slice::from_ref(path));
            if is_cache(path) || path.ends_with('/') {
                continue;
            }
            if comes_along || (rewrites && *kind == ChangeKind::Modified) {
                written.work.push(path.clone());
            } else {
                written.other.push(path.clone());
            }
        }
        written
    }
}

impl Effects<'_, '_> {
    /// Takes in what the command of a task changed in the project since a tree lay there.
    pub(crate) fn look_for_written(
        &mut self,
        id: &TaskId,
        script: &Script,
        before: Option<&str>,
    ) -> Result<(), RunError> {
        let (Some(git), Some(before)) = (self.world.files.git(), before) else { return Ok(()) };
        let changes = git.look(&self.project_place(), before)?.changes;
        self.take_in_written(id, script, changes);
        Ok(())
    }

    /// Takes in what changed in the project while the command of a task ran; true if any of it is new and belongs to the work.
    pub(crate) fn take_in_written(&mut self, id: &TaskId, script: &Script, mut changes: Vec<Change>) -> bool {
        let Some(task) = self.state.task(id).filter(|_| !self.is_shared()) else { return false };
        changes.retain(|change| {
            !task.touched.contains(&change.path) && !task.grounds.wrote.contains(&change.path)
        });
        let Written { work, other } = Written::of(script, &changes);
        if !other.is_empty() {
            self.note_of(
                id,
                format!(
                    "while the verify command of task {id} ran, {} changed; that is in no commit",
                    listed(&other)
                ),
            );
        }
        let is_any = !work.is_empty();
        if is_any {
            self.see(Seen::Found { task: id.clone(), evidence: Evidence::Wrote { paths: work } });
        }
        is_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_the_work() {
        let change = |path: &str, kind| Change { path: path.to_owned(), kind, staged: false, unstaged: true };
        let changes = [
            change("src/lib.rs", ChangeKind::Modified),
            change("Cargo.lock", ChangeKind::Untracked),
            change("web/__snapshots__/a.snap", ChangeKind::Untracked),
            change("coverage.xml", ChangeKind::Untracked),
            change("src/__pycache__/a.pyc", ChangeKind::Untracked),
            change(".pytest_cache/v", ChangeKind::Untracked),
        ];
        let check = |command: &str, work: &[&str], other: &[&str]| {
            let written = Written::of(&Script::new(vec![command.to_owned()]), &changes);
            assert_eq!(
                (written.work, written.other),
                (
                    work.iter().map(ToString::to_string).collect(),
                    other.iter().map(ToString::to_string).collect()
                )
            );
        };
        let comes_along = ["Cargo.lock", "web/__snapshots__/a.snap"];
        check("cargo test", &comes_along, &["src/lib.rs", "coverage.xml"]);
        check("cargo fmt && cargo test", &[&["src/lib.rs"], &comes_along[..]].concat(), &["coverage.xml"]);
    }
}
