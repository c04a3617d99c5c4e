//! The task that an argument names, in any of the ways that tasks are spelled.

use std::path::PathBuf;

use engine::State;
use plan::{Plan, TaskId, nearest};
use runner::Project;

use crate::cli::Context;
use crate::error::Error;
use crate::view::subject::Subject;

/// Where tasks are looked for: in the plan, and in what a run knows of it.
pub(crate) struct Tasks<'a> {
    pub(crate) plans: &'a [(PathBuf, Plan)],
    pub(crate) state: Option<&'a State>,
}

/// A task as it was typed, and by which command, so that a mistake can be explained.
pub(crate) struct Spelled<'a> {
    pub(crate) verb: &'static str,
    pub(crate) plan: Option<&'a str>,
    pub(crate) task: &'a str,
}

impl Tasks<'_> {
    /// The task that is meant: by its id, or in any of the ways that tasks are spelled.
    pub(crate) fn find(
        &self,
        context: &Context,
        (project, subject): (&Project, &Subject),
        spelled: &Spelled<'_>,
    ) -> Result<TaskId, Error> {
        let id = TaskId::from(spelled.task.trim());
        let is_known = self.state.is_some_and(|state| state.task(&id).is_some());
        let mut planned = self.plans.iter().filter_map(|(_, plan)| plan.find(spelled.task));
        let found = if is_known { Some(id) } else { planned.next().map(|task| task.id.clone()) };
        found.ok_or_else(|| self.unknown(context, (project, subject), spelled))
    }

    fn unknown(
        &self,
        context: &Context,
        (project, subject): (&Project, &Subject),
        Spelled { verb, plan, task }: &Spelled<'_>,
    ) -> Error {
        let error = Error::usage(format!("'{}' has no task '{task}'", subject.name));
        let names: Vec<String> = self.names().collect();
        if let Some(near) = nearest(task, names.iter().map(String::as_str)) {
            return error.hint(format!("did you mean {}?", subject.about_task(verb, &TaskId::from(near))));
        }
        if plan.is_none() && project.locate(&context.dir, Some(task)).is_ok() {
            let named = Subject { argument: Some((*task).to_owned()), ..subject.clone() };
            return error.hint(format!("that is a plan: name a task of it, {}", named.command(verb, "TASK")));
        }
        error.hint(format!("{} shows the tasks", subject.command("check", "")))
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let planned = self.plans.iter().flat_map(|(_, plan)| plan.tasks()).map(|task| task.id.to_string());
        let known = self.state.into_iter().flat_map(State::tasks).map(|task| task.id().to_string());
        planned.chain(known)
    }
}
