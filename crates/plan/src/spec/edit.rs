//! Edits of a plan's text: as few bytes as possible, the rest stays as its author wrote it.

mod error_type;
mod fix;
mod insert;
mod replace;
mod request;
mod verify;

use std::ops::Range;

use super::plan::Plan;
use super::task::{BoxState, Form, HeaderBox};
use crate::TaskId;
use crate::phase::Dialect;

pub use error_type::ErrorType;
pub use fix::FixTask;
pub use insert::Beside;
pub(crate) use replace::fields_beyond;
pub use request::RequestTask;
pub(crate) use request::verify_lines;

/// Why a plan was not edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no such task.
    #[error("no task {id} in the plan")]
    UnknownTask {
        /// The task asked for.
        id: TaskId,
    },
    /// There is a task with the id that a new one was to get.
    #[error("the plan already has a task {id}")]
    IdTaken {
        /// The id asked for.
        id: TaskId,
    },
    /// The file is a `*-PLAN.md`, which is only ever read.
    #[error("a *-PLAN.md is never written, so task {id} stays as it is")]
    NeverWritten {
        /// The task that was to change or to be added.
        id: TaskId,
    },
    /// The new task cannot be written so that it reads as one task and leaves the others as they are.
    #[error("fix task {id} cannot be inserted after {failing} without changing other tasks")]
    DoesNotFit {
        /// The new task.
        id: TaskId,
        /// The task that it was to follow.
        failing: TaskId,
    },
    /// The command cannot be written into the task so that it is read as it stands and leaves all else as it is.
    #[error("the command for task {id} cannot be written into the plan so that it is read as it stands")]
    CommandDoesNotFit {
        /// The task.
        id: TaskId,
    },
    /// The new task cannot be written at its place so that it reads as one task and leaves the others as they are.
    #[error("task {id} cannot be added without changing other tasks")]
    NoRoom {
        /// The new task.
        id: TaskId,
    },
}

impl Plan {
    /// The text with some tasks that another version of it has, each behind the task that stands before it there. They
    /// are missing here; all else stays byte for byte.
    #[must_use]
    pub fn with_tasks_of(&self, other: &Plan, missing: &[TaskId]) -> String {
        let mut text = self.text.clone();
        // The last first, so that places further up stay what they are.
        for (position, task) in other.tasks.iter().enumerate().rev() {
            if !missing.contains(&task.id) {
                continue;
            }
            let earlier = other.tasks[..position].iter().rev().find_map(|earlier| self.task(&earlier.id));
            let block = other.block(task).trim_end();
            match earlier {
                Some(earlier) => {
                    let end = earlier.block.start + self.block(earlier).trim_end().len();
                    let gap = if other.reading().format.is_foreign() { "\n" } else { "\n\n" };
                    text.insert_str(end, &format!("{gap}{}{block}", other.margin(task)));
                }
                None => {
                    let start = self.tasks.first().map_or(self.text.len(), |first| first.block.start);
                    let margin = self.tasks.first().map_or("", |first| self.margin(first));
                    text.insert_str(start, &format!("{block}\n\n{margin}"));
                }
            }
        }
        text
    }

    /// Ticks a task's box. A ticked box stays as it is.
    ///
    /// # Errors
    /// There is no such task, or the plan is never written.
    pub fn tick(&mut self, id: &TaskId) -> Result<(), EditError> {
        self.set_box(id, BoxState::Done)
    }

    /// Empties a task's box if it is ticked.
    ///
    /// # Errors
    /// There is no such task, or the plan is never written.
    pub fn untick(&mut self, id: &TaskId) -> Result<(), EditError> {
        match self.task(id).map(|task| task.state) {
            Some(BoxState::Open | BoxState::Other(_)) => self.check_writable(id),
            Some(BoxState::Done) | None => self.set_box(id, BoxState::Open),
        }
    }

    /// Makes a task's box say `state`, to put back what it said before.
    ///
    /// # Errors
    /// There is no such task, or the plan is never written.
    pub fn set_box(&mut self, id: &TaskId, state: BoxState) -> Result<(), EditError> {
        let Some(position) = self.position(id) else {
            return Err(EditError::UnknownTask { id: id.clone() });
        };
        self.check_writable(id)?;
        let task = &mut self.tasks[position];
        if task.state == state {
            return Ok(());
        }
        if self.reading().format.is_foreign() && matches!(self.tasks[position].form, Form::Checkbox(_)) {
            self.set_boxes(position, state);
            return Ok(());
        }
        let task = &mut self.tasks[position];
        let mut buffer = [0; 4];
        let mark = &*state.mark().encode_utf8(&mut buffer);
        let (range, replacement) = match &task.form {
            Form::Checkbox(range) | Form::Header(HeaderBox::Box(range)) => (range.clone(), mark.to_owned()),
            Form::Header(HeaderBox::CheckMark(range) | HeaderBox::Appended(range))
                if state == BoxState::Open =>
            {
                (range.clone(), String::new())
            }
            Form::Header(HeaderBox::CheckMark(range) | HeaderBox::Appended(range)) => {
                (range.clone(), format!(" [{mark}]"))
            }
            Form::Element => return Err(EditError::NeverWritten { id: id.clone() }),
            Form::Header(HeaderBox::Missing(at)) => (*at..*at, format!(" [{mark}]")),
        };
        let odd = |state| matches!(state, BoxState::Other(_));
        if range.len() == replacement.len() && !odd(task.state) && !odd(state) {
            // Nothing moves and no problem comes or goes, so the text need not be read again.
            task.state = state;
            self.text.replace_range(range, &replacement);
        } else {
            self.replace_and_read(position, range, &replacement);
        }
        Ok(())
    }

    /// Makes a task's box say `state`, and with it those of its steps and of the groups above it.
    fn set_boxes(&mut self, position: usize, state: BoxState) {
        let task = &self.tasks[position];
        let mut changes = self.boxes_with(task, state);
        if let Form::Checkbox(mark) = &task.form {
            changes.push((mark.clone(), state));
        }
        changes.sort_by_key(|(mark, _)| std::cmp::Reverse(mark.start));
        let mut text = std::mem::take(&mut self.text);
        for (mark, state) in changes {
            text.replace_range(mark, state.mark().encode_utf8(&mut [0; 4]));
        }
        *self = self.read_again(text);
    }

    pub(super) fn check_writable(&self, id: &TaskId) -> Result<(), EditError> {
        match self.dialect() {
            Dialect::Spec => Ok(()),
            Dialect::Phase => Err(EditError::NeverWritten { id: id.clone() }),
        }
    }

    fn replace_and_read(&mut self, position: usize, range: Range<usize>, replacement: &str) {
        let task = &self.tasks[position];
        // Where something else says that the task is done, an empty box has to stay and deny it.
        let appended = matches!(task.form, Form::Header(HeaderBox::Missing(_))) && !task.state.is_done();
        let at = range.start;
        let mut text = std::mem::take(&mut self.text);
        text.replace_range(range, replacement);
        *self = self.read_again(text);
        // A box that was appended here is taken away again when it is emptied.
        if appended && let Some(task) = self.tasks.get_mut(position) {
            task.form = Form::Header(HeaderBox::Appended(at..at + replacement.len()));
        }
    }
}
