//! Work trees that are kept because their tasks failed in them, for whoever asks where a run stands. Only looks.

use std::path::PathBuf;

use engine::{State, Task};
use plan::TaskId;

use crate::delegation::file_name;
use crate::project::PlanFile;

/// The work tree of a task, which may not be there.
pub fn task_tree(file: &PlanFile, task: &TaskId) -> PathBuf {
    file.trees().join(file_name(task))
}

/// The tasks whose failed work is kept in a tree, and where that is.
pub fn kept_trees(file: &PlanFile, state: &State) -> Vec<(TaskId, PathBuf)> {
    let tasks = state.tasks().iter().map(AsRef::as_ref);
    let is_kept = |task: &&Task| task.is_isolated() && !task.failures.is_empty() && !task.status.is_active();
    let places = tasks.filter(is_kept).map(|task| (task.id().clone(), task_tree(file, task.id())));
    places.filter(|(_, place)| place.is_dir()).collect()
}
