//! Files in the project itself that an agent told git not to look at. What people told git so stays as it is; what was said
//! while an agent was at work there is undone when it has ended, so that what it changed is seen.

use plan::TaskId;

use crate::driver::Driver;
use crate::error::RunError;
use crate::traces::listed;

impl Driver<'_> {
    /// Notes what is hidden when an agent begins to work in the project.
    pub(crate) fn note_hidden(&mut self, id: &TaskId) {
        // Where git cannot tell, whoever needs it says why.
        let git = self.tree.git().filter(|_| !self.is_isolated(id));
        let hidden = git.and_then(|git| git.hidden().ok());
        // Who began earlier is at work still: what was hidden then is what people hid.
        let hidden = self.hidden.values().next().cloned().or(hidden);
        self.hidden.extend(hidden.map(|hidden| (id.clone(), hidden)));
    }

    /// Has git look at what was hidden since.
    pub(crate) fn uncover_hidden(&mut self, id: &TaskId) -> Result<(), RunError> {
        let (Some(before), Some(git)) = (self.hidden.remove(id), self.tree.git()) else { return Ok(()) };
        let new: Vec<_> = git.hidden().unwrap_or_default().difference(&before).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        git.uncover(&new)?;
        let names: Vec<String> = new.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        self.note_of(
            id,
            format!("git was told not to look at {} while task {id} was at work; it does", listed(&names)),
        );
        Ok(())
    }
}
