//! What the progress file says when a run has ended. How it ended is decided elsewhere.

use engine::{End, StopReason};

use crate::effects::Effects;
use crate::error::RunError;
use crate::projection::Progress;

impl Effects<'_, '_> {
    /// What the progress file says of how it ended.
    pub(crate) fn last_words(&mut self) -> Result<(), RunError> {
        let path = self.world.file.progress();
        let mut progress =
            Progress::open(&path, &self.world.file.name).map_err(RunError::io("read", &path))?;
        self.note_limit(&mut progress)?;
        let stuck = match self.state.end() {
            Some(End::Stopped(
                StopReason::Retries { task, .. }
                | StopReason::FixTasks { task, .. }
                | StopReason::FixDepth { task, .. },
            )) => self.state.task(task),
            _ => None,
        };
        let failure = stuck.and_then(|task| task.last_failure().map(|failure| (task, failure)));
        let Some((task, failure)) = failure else { return Ok(()) };
        let learning =
            format!("Task {} failed after {} attempts: {}", task.id(), task.failures.len(), failure.error);
        progress.history(self.state, None);
        progress.learnings(&[learning]);
        progress.save().map_err(RunError::io("write", &path))?;
        if let Err(error) = self.commit_spec("chore(spec): note where the run stopped") {
            self.note(format!("the progress file could not be committed: {error}"));
        }
        Ok(())
    }
}
