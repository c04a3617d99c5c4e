//! Settings and hooks of git that change while agents are at work. No commit holds them, and they can have git run any
//! command, so they are told of.

use std::path::PathBuf;

use engine::{Status, Task};
use plan::TaskId;

use crate::effects::Effects;
use crate::tree::listed;

impl Effects<'_, '_> {
    /// When an agent starts: what is compared with later, unless others are at work already.
    pub(crate) fn look_at_customs(&mut self) {
        if self.world.remarks.customs.is_none() {
            self.world.remarks.customs = self.world.tree.git().map(|git| git.own_customs());
        }
    }

    /// When one has ended: what changed since.
    pub(crate) fn tell_of_customs(&mut self, task: &TaskId) {
        let (Some(git), Some(before)) = (self.world.tree.git(), &self.world.remarks.customs) else { return };
        let now = git.own_customs();
        let changed = now.changed_since(before);
        let is_at_work = |other: &Task| {
            other.id() != task && matches!(other.status, Status::Running(_) | Status::Judging(_))
        };
        // What a person changes while nobody works is their own business.
        self.world.remarks.customs = self.state.attention().any(is_at_work).then_some(now);
        let shown = |path: &PathBuf| self.world.project.relative(path).display().to_string();
        let changed: Vec<String> = changed.iter().map(shown).collect();
        if !changed.is_empty() {
            self.note_of(task, format!(
                "changed while task {task} was worked on, and part of no commit: {}; what stands there can have git run \
                 commands, so look at it",
                listed(&changed)
            ));
        }
    }
}
