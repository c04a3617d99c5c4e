//! The check that an agent which was to do the bookkeeping did it: work and spec files committed, box ticked.

use engine::{Cause, CheckFailure, Failing, State};
use plan::TaskId;

use crate::git::{Git, GitError};
use crate::plan_file::PlanFiles;
use crate::work::project_files::listed;

/// The first thing that is missing, given the files of the work that are in no commit, with the messages that agents are used to.
pub(crate) fn bookkeeping(
    git: Option<&Git>,
    (spec_files, work): (&[String], &[String]),
    (state, plan_files): (&State, &PlanFiles),
    id: &TaskId,
) -> Result<Option<CheckFailure>, GitError> {
    let changes = git.map_or(Ok(Vec::new()), |git| git.status().map(|status| status.changes))?;
    let is_left = |file: &&String| changes.iter().any(|change| change.path == **file);
    let left: Vec<String> = spec_files.iter().filter(is_left).cloned().collect();
    let what = if left.is_empty() { "work" } else { "spec files" };
    let left = [left, work.to_vec()].concat();
    if !left.is_empty() {
        let error = format!("uncommitted {what} detected - task not properly committed");
        let details = format!(
            "Commit these files as part of the task, or remove what is no part of it: {}",
            listed(&left)
        );
        return Ok(Some(missing(&error, details)));
    }
    if plan_files.is_ticked(id) {
        return Ok(None);
    }
    let (expected, found) = (state.done_count() + 1, plan_files.ticked());
    let details = format!("Tick the box of task {id}, that one and no other.");
    Ok(Some(missing(&format!("checkmark mismatch: expected {expected}, found {found}"), details)))
}

fn missing(error: &str, details: String) -> CheckFailure {
    CheckFailure {
        cause: Cause::Bookkeeping,
        error: error.to_owned(),
        details,
        command: None,
        exit_code: None,
        failing: Failing::default(),
    }
}
