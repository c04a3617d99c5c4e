//! All that is written beside the journal after an event, in one place. Each of these files can be made again
//! from the record.

use engine::{End, Event, State, What};
use plan::Dialect;

use crate::error::RunError;
use crate::project::{PlanFile, Project};
use crate::record::{RetryLog, RetryState, StateFile, note_skipped};

/// The files that follow the journal.
#[derive(Debug)]
pub(crate) struct Projections {
    state_file: Option<StateFile>,
    retry_log: RetryLog,
    retry_state: Option<RetryState>,
    /// True if something has happened that the files which say how things stand do not tell yet.
    is_behind: bool,
}

impl Projections {
    /// Opens the files of a plan; logs that are too old are pruned.
    pub(crate) fn open(project: &Project, file: &PlanFile) -> Result<Self, RunError> {
        let root = project.root();
        let (state_file, logs, retry_state) = match file.dialect {
            Dialect::Spec => {
                let shown = format!("./{}", project.relative(&file.state()).display());
                (Some(StateFile::open(&file.state(), &shown)?), root.join(".tillgreen/logs"), None)
            }
            Dialect::Phase => {
                let retry_state = RetryState::new(&root.join(".ultraplan/state"));
                (None, root.join(".ultraplan/logs"), Some(retry_state))
            }
        };
        let retry_log =
            RetryLog::open(&logs, crate::run::driver::now()).map_err(RunError::io("prune", &logs))?;
        Ok(Self { state_file, retry_log, retry_state, is_behind: false })
    }

    /// Brings the logs up to date with an event that is in the journal.
    pub(crate) fn follow(&mut self, project: &Project, event: &Event, state: &State) -> Result<(), RunError> {
        self.retry_log
            .write(event, state)
            .map_err(RunError::io("write", project.root().join("retry.log")))?;
        self.is_behind = true;
        self.note_skip(project, event, state)
    }

    /// After a crash: the last event may have been recorded and not followed.
    pub(crate) fn catch_up(
        &mut self,
        project: &Project,
        event: &Event,
        state: &State,
    ) -> Result<(), RunError> {
        self.retry_log
            .catch_up(event, state)
            .map_err(RunError::io("write", project.root().join("retry.log")))?;
        self.note_skip(project, event, state)
    }

    fn note_skip(&self, project: &Project, event: &Event, state: &State) -> Result<(), RunError> {
        let What::TaskSkipped { task, .. } = &event.what else { return Ok(()) };
        let Some((task, skip)) = state.task(task).and_then(|task| Some((task, task.skip.as_ref()?))) else {
            return Ok(());
        };
        let path = project.state_md();
        note_skipped(&path, task, skip, event.at).map_err(RunError::io("write", path))
    }

    /// Brings the files up to date that say how things stand. Of events that follow each other at once, the last tells.
    pub(crate) fn settle(&mut self, project: &Project, state: &State) -> Result<(), RunError> {
        if !std::mem::take(&mut self.is_behind) {
            return Ok(());
        }
        let is_complete = matches!(state.end(), Some(End::Complete { .. }));
        let path = match (&self.state_file, &self.retry_state) {
            (Some(file), _) => file.path().to_owned(),
            (None, Some(file)) => file.path().to_owned(),
            (None, None) => project.root().to_owned(),
        };
        let failed = RunError::io("write", path);
        let written = match (&mut self.state_file, &mut self.retry_state) {
            (Some(file), _) if is_complete => file.remove(),
            (Some(file), _) => file.write(state),
            (None, Some(file)) if is_complete => file.remove(),
            (None, Some(file)) => file.write(state),
            (None, None) => Ok(()),
        };
        written.map_err(failed)
    }
}
