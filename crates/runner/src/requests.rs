//! Changes of the plan that agents ask for. They are bounded as fix tasks are, and what goes beyond is only noted.

use engine::Dialect;
use plan::{FixTask, TaskId};

use crate::driver::Driver;
use crate::error::RunError;
use crate::report::{ChangeKind, ChangeRequest};
use crate::settings::Bookkeeping;

impl Driver<'_> {
    /// Writes the tasks that an attempt asked for into the plan, behind its own. Returns what was not written, to be
    /// noted as learnings: a task that has to come first is for a person to put there.
    pub(crate) fn request_changes(
        &mut self,
        task: &TaskId,
        requests: &[ChangeRequest],
    ) -> Result<Vec<String>, RunError> {
        let mut notes = Vec::new();
        for request in requests {
            match self.id_for_request(task, request) {
                Some(id) => self.insert_request(task, &id, request)?,
                None => notes.push(request.note()),
            }
        }
        Ok(notes)
    }

    /// The id of the task to be written, if the limits allow one more.
    fn id_for_request(&self, task: &TaskId, request: &ChangeRequest) -> Option<TaskId> {
        let limits = &self.settings.rules.limits;
        let is_writable = self.file.dialect == Dialect::Spec
            && self.settings.bookkeeping == Bookkeeping::Coordinator
            && request.kind != ChangeKind::Prerequisite
            && self.state.fix_depth(task) < limits.fix_depth_max;
        let free = (1..=limits.fix_tasks_max)
            .map(|number| TaskId::from(format!("{}.{number}", task.name()).as_str()))
            .find(|id| self.state.task(id).is_none() && self.book.text(&self.state, id).is_none());
        free.filter(|_| is_writable)
    }

    fn insert_request(
        &mut self,
        task: &TaskId,
        id: &TaskId,
        request: &ChangeRequest,
    ) -> Result<(), RunError> {
        let fix =
            FixTask { id, failing: task, error: &request.title, attempted_fix: request.reason.as_deref() };
        self.book.insert_fix(&fix).map_err(RunError::io("write a task into", &self.file.path))?;
        self.read_plan_again();
        self.note(format!("task {id} was added to the plan because the agent of {task} asked for it"));
        if let Err(error) = self.commit_spec(&format!("chore(spec): add task {}", id.name())) {
            self.note(format!("the plan could not be committed: {error}"));
        }
        Ok(())
    }
}
