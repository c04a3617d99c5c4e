//! Changes of the repository that are part of nobody's work, and are told of: branches, tags and stashes that appear
//! while tasks run side by side, and settings and hooks of git, which can have git run any command.

use std::path::PathBuf;

use engine::{Status, Task};
use plan::TaskId;

use crate::git::{Git, References};
use crate::inbox::Message;
use crate::run::effects::Effects;
use crate::work::project_files::listed;

/// The number of names that are told at once.
const TOLD_MAX: usize = 10;

/// The knowledge of such names.
#[derive(Debug, Default)]
pub(crate) enum SharedNames {
    /// Nobody who could make any is at work.
    #[default]
    Idle,
    /// They are being listed.
    Asked,
    /// The names when tasks began to run side by side.
    Before(References),
}

impl Effects<'_, '_> {
    /// Before an attempt in a work tree of its own: what to do there first, beside the loop.
    pub(crate) fn look_at_names(&mut self) -> impl FnOnce(Option<&Git>) + Send + 'static {
        let is_first = matches!(self.world.remarks.shared_names, SharedNames::Idle);
        if is_first {
            self.world.remarks.shared_names = SharedNames::Asked;
        }
        let sender = self.inbox_sender();
        move |git: Option<&Git>| {
            if let Some(Ok(references)) = git.filter(|_| is_first).map(Git::references) {
                // The loop may be over; then nobody compares.
                let _ = sender.send(Message::References(references));
            }
        }
    }

    /// Tells what appeared, once nobody is at work side by side.
    pub(crate) fn tell_of_names(&mut self) {
        if !self.state.attention().any(|task| task.is_isolated() && task.status.is_active()) {
            self.tell_of_new_names();
        }
    }

    /// Tells of new names at the end of a run, whoever is left at work.
    pub(crate) fn tell_of_new_names(&mut self) {
        let SharedNames::Before(before) = &self.world.remarks.shared_names else { return };
        let now = self.world.files.git().and_then(|git| git.references().ok());
        let new = now.map(|now| now.new_since(before)).unwrap_or_default();
        self.world.remarks.shared_names = SharedNames::Idle;
        if new.is_empty() {
            return;
        }
        let (shown, rest) = new.split_at(new.len().min(TOLD_MAX));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        self.note(format!(
            "while tasks ran side by side, this appeared in the repository, which their work trees share: {}{more}; it is \
             not part of their work, and stays",
            shown.join(", ")
        ));
    }
}

impl Effects<'_, '_> {
    /// When an agent starts: what is compared with later, unless others are at work already.
    pub(crate) fn remember_config(&mut self) {
        if self.world.remarks.config.is_none() {
            self.world.remarks.config = self.world.files.git().map(|git| git.config_files());
        }
    }

    /// When one has ended: what changed since.
    pub(crate) fn tell_of_config(&mut self, task: &TaskId) {
        let (Some(git), Some(before)) = (self.world.files.git(), &self.world.remarks.config) else { return };
        let now = git.config_files();
        let changed = now.changed_since(before);
        let is_at_work = |other: &Task| {
            other.id() != task && matches!(other.status, Status::Running(_) | Status::Judging(_))
        };
        // What a person changes while nobody works is their own business.
        self.world.remarks.config = self.state.attention().any(is_at_work).then_some(now);
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
