//! Tasks that the pull request asks for, as far as plan files are concerned.

use std::io;

use engine::{Kept, Request, State, Status, TaskDecl};
use plan::{Dialect, EditError, Script};

use crate::plan_file::files::decl;
use crate::plan_file::text::Wording;
use crate::plan_file::{Excerpt, PlanFiles};

impl PlanFiles {
    /// Notes the command that has to be green at the very end: tasks of the pull request are held to it as well.
    pub(crate) fn with_regression(mut self, command: Option<&String>) -> Self {
        self.regression = command.cloned();
        self
    }

    /// True if a plan asks for a pull request to be looked after.
    pub(crate) fn names_pr_lifecycle(&self) -> bool {
        self.sources.iter().any(|source| source.plan.names_pr_lifecycle())
    }

    /// The prefix of the ids of tasks that the pull request asks for.
    pub(crate) fn pull_request_series(&self) -> String {
        self.sources.first().map(|source| source.plan.pull_request_series()).unwrap_or_default()
    }

    /// The verify command of a task of the pull request: what a failing check runs elsewhere is not known here, so it
    /// is what the user, or the plan's author, checks the whole by.
    fn quality(&self) -> Option<Script> {
        let regression = self.regression.as_ref().map(|command| Script::new(vec![command.clone()]));
        regression.or_else(|| self.sources.first().and_then(|source| source.plan.quality_command()))
    }

    /// The text of a task that is in no file.
    pub(super) fn request_text(&self, request: &Request) -> String {
        Wording::of(request).block(request, self.quality().as_ref(), self.dialect)
    }

    /// Writes tasks, unless they are there already. Where the files are never written, or do not allow it, the
    /// record has them.
    pub(crate) fn insert_requests(&mut self, requests: &[Request]) -> io::Result<Kept> {
        self.catch_up()?;
        if self.dialect == Dialect::Phase {
            return Ok(Kept::InRecord);
        }
        let quality = self.quality();
        let Some(source) = self.sources.first_mut() else { return Ok(Kept::InRecord) };
        let mut edited = source.plan.clone();
        for request in requests {
            let wording = Wording::of(request);
            match edited.insert_request(&wording.task(request, quality.as_ref())) {
                Ok(()) | Err(EditError::IdTaken { .. }) => {}
                Err(
                    EditError::NoRoom { .. }
                    | EditError::CommandDoesNotFit { .. }
                    | EditError::NeverWritten { .. }
                    | EditError::UnknownTask { .. }
                    | EditError::DoesNotFit { .. },
                ) => return Ok(Kept::InRecord),
            }
        }
        if edited.text() != source.plan.text() {
            source.plan = edited;
            source.save()?;
        }
        Ok(Kept::InPlan)
    }

    /// The declaration of a task that was asked for.
    pub(crate) fn requested_decl(&self, request: &Request) -> Option<TaskDecl> {
        if let Some((plan, task)) = self.find(&request.id) {
            return Some(decl(plan, task, &self.file.defaults));
        }
        let excerpt = Excerpt::of(&self.file, &self.request_text(request))?;
        Some(TaskDecl { id: request.id.clone(), ..excerpt.decl(&self.file.defaults) })
    }

    /// Tasks that are in the record alone stand behind all others.
    pub(super) fn push_requests(&self, state: &State, decls: &mut Vec<TaskDecl>) {
        for id in state.pull_request().in_record() {
            if let Some(known) = state.task(id) {
                decls.push(TaskDecl { ticked: known.status == Status::Done, ..known.decl.clone() });
            }
        }
    }
}
