//! The list of all runs.

use runner::Project;

use super::keys::Motion;
use crate::error::Error;
use crate::inspect::runs::{RunRow, look};

/// The list.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) rows: Vec<RunRow>,
    pub(super) cursor: usize,
}

impl Runs {
    /// Looks at all of them.
    pub(super) fn look(project: &Project) -> Result<Self, Error> {
        Ok(Self { rows: look(project)?, cursor: 0 })
    }

    /// Moves the selection.
    pub(super) fn moved(&mut self, motion: Motion) {
        let last = self.rows.len().saturating_sub(1);
        self.cursor = match motion {
            Motion::Down => (self.cursor + 1).min(last),
            Motion::Up => self.cursor.saturating_sub(1),
            Motion::Start | Motion::PageUp => 0,
            Motion::End | Motion::PageDown => last,
            Motion::Left | Motion::Right => self.cursor,
        };
    }
}
