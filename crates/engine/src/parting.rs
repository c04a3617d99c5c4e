//! Work that was to come in together with that of others and does not: it comes in one by one, and it is said why.

use plan::TaskId;

use crate::batch::company;
use crate::event::What;
use crate::observation::{Landing, Record};
use crate::state::State;
use crate::task::Task;

/// All of the company that a task is in comes in one by one; none if it comes in by itself.
pub(crate) fn parted(state: &State, task: &Task, why: Option<String>) -> Option<What> {
    let tasks: Vec<TaskId> = company(state).map(|task| task.id().clone()).collect();
    tasks.contains(task.id()).then_some(What::Parted { tasks, why })
}

/// The same where bringing the work of a task in did not go well.
pub(crate) fn parted_by_landing(state: &State, task: &Task, landing: &Landing) -> Option<What> {
    let why = match landing {
        Landing::Done { .. } => return None,
        Landing::Conflict(red) => format!("{}: {}", task.id(), red.error),
        Landing::Blocked { reason } => reason.clone(),
    };
    parted(state, task, Some(why))
}

/// The same where recording it did not.
pub(crate) fn parted_by_record(state: &State, task: &Task, record: &Record) -> Option<What> {
    let why = match record {
        Record::Kept { .. } => return None,
        Record::Refused(red) => red.error.clone(),
        Record::Moved => "somebody committed meanwhile".to_owned(),
        Record::Blocked { reason } => reason.clone(),
    };
    parted(state, task, Some(why))
}
