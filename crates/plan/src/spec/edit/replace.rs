//! A task's text in place of the one that it has: its box stays, and so does everything around it.

use super::EditError;
use super::fix::line_ending;
use crate::TaskId;
use crate::markdown::regions;
use crate::spec::fields::raw_fields;
use crate::spec::plan::Plan;

impl Plan {
    /// Gives a task another text, which is that of a checkbox with fields. The state of its box stays what it is.
    ///
    /// # Errors
    /// There is no such task, the plan is never written, or other tasks would change.
    pub fn replace_block(&mut self, id: &TaskId, block: &str) -> Result<(), EditError> {
        let Some(task) = self.task(id) else { return Err(EditError::UnknownTask { id: id.clone() }) };
        self.check_writable(id)?;
        let rest = block.split_once(']').map_or(block, |(_, rest)| rest).trim_end();
        let ending = line_ending(&self.text);
        let block = format!("- [{}]{}", task.state.mark(), rest).replace('\n', ending);
        let mut text = self.text.clone();
        text.replace_range(task.block.clone(), &block);
        let edited = self.read_again(text);
        let is_alike = edited.tasks.len() == self.tasks.len()
            && self.tasks.iter().zip(&edited.tasks).all(|(before, after)| {
                let is_other = before.id != *id;
                before.id == after.id
                    && before.state == after.state
                    && (!is_other || self.block(before) == edited.block(after))
            });
        if !is_alike {
            return Err(EditError::NoRoom { id: id.clone() });
        }
        *self = edited;
        Ok(())
    }
}

/// The lines of the fields of a block that another block has none of, as they stand there.
pub(crate) fn fields_beyond(block: &str, other: &str) -> Vec<String> {
    let (own, theirs) = (regions(block), regions(other));
    let theirs = raw_fields(other, &theirs);
    let beyond = raw_fields(block, &own)
        .into_iter()
        .filter(|field| !theirs.iter().any(|known| known.name == field.name));
    let lines = beyond.map(|field| {
        let start = block[..field.text.start].rfind('\n').map_or(0, |newline| newline + 1);
        block[start..field.text.end].trim_end().replace("\r\n", "\n")
    });
    lines.collect()
}
