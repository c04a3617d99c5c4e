//! The check that an agent which was to do the bookkeeping did it: box ticked, spec files committed.

use engine::{Cause, CheckFailure, Failing, State};
use plan::TaskId;

use crate::git::{Git, GitError};
use crate::plan_file::PlanFiles;

/// The first thing that is missing, with the messages that agents are used to.
pub(crate) fn bookkeeping(
    git: Option<&Git>,
    spec_files: &[String],
    (state, plan_files): (&State, &PlanFiles),
    id: &TaskId,
) -> Result<Option<CheckFailure>, GitError> {
    if let Some(git) = git {
        let status = git.status()?;
        let left: Vec<&str> = spec_files
            .iter()
            .map(String::as_str)
            .filter(|file| status.changes.iter().any(|change| change.path == *file))
            .collect();
        if !left.is_empty() {
            let details = format!("Commit these files as part of the task: {}", left.join(", "));
            return Ok(Some(missing(
                "uncommitted spec files detected - task not properly committed",
                details,
            )));
        }
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
