//! Branches, tags and stashes that appear while tasks run side by side. They are not part of anybody's work and stay in
//! the repository, so they are told of: when the first of several starts, and when all are done, one look each.

use crate::effects::Effects;
use crate::git::{Git, References};
use crate::inbox::Message;

/// How many are named at once.
const TOLD_MAX: usize = 10;

/// What is known of such names.
#[derive(Debug, Default)]
pub(crate) enum SharedNames {
    /// Nobody who could make any is at work.
    #[default]
    Idle,
    /// Somebody looks.
    Asked,
    /// What there was when tasks began to run side by side.
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

    /// The same at the end of a run, whoever is left at work.
    pub(crate) fn tell_of_new_names(&mut self) {
        let SharedNames::Before(before) = &self.world.remarks.shared_names else { return };
        let now = self.world.tree.git().and_then(|git| git.references().ok());
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
