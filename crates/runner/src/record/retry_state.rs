//! `retry-state.json`: the tasks that are being worked on, with their failures so far. It goes when the run is
//! complete.

use std::path::{Path, PathBuf};
use std::{fs, io};

use engine::{State, Status, Task};
use serde_json::{Map, Value, json};

use crate::atomic;
use crate::record::retry_log::{short, stamp};

/// The state file of the retry protocol.
#[derive(Debug)]
pub(crate) struct RetryState {
    path: PathBuf,
    written: Option<String>,
}

impl RetryState {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join("retry-state.json"), written: None }
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what is being retried, if that changed.
    pub(crate) fn write(&mut self, state: &State) -> io::Result<()> {
        let text = format!("{:#}\n", render(state));
        if self.written.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        atomic::replace(&self.path, &text)?;
        self.written = Some(text);
        Ok(())
    }

    /// Removes the file: the run is complete.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn render(state: &State) -> Value {
    let tasks: Map<String, Value> =
        state.in_progress().map(|task| (task.id().to_string(), task_entry(state, task))).collect();
    json!({
        "task_retries": tasks,
        "global_stats": {
            "total_retries": state.retries(),
            "successful_retries": state.retries_that_worked(),
            "escalations": state.escalations(),
        },
    })
}

fn task_entry(state: &State, task: &Task) -> Value {
    let failures: Vec<Value> = task
        .round_failures()
        .iter()
        .map(|failure| {
            json!({
                "attempt": failure.attempt.0,
                "timestamp": stamp(failure.at),
                "failure_type": failure.cause.failure_type().name(),
                "error_summary": short(&failure.error),
                "suggested_fix": failure.suggested_fix.as_deref().map(short),
            })
        })
        .collect();
    // An instruction of a person's is worth an attempt beyond the limit.
    let allowed = failures.len() + usize::from(task.instruction.is_some());
    let limit = state.rules().map_or(0, |rules| rules.limits.task_iterations_max);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(allowed);
    let last = task.last_failure().map(|failure| failure.at).or(task.started_at);
    json!({
        "task_id": task.id().to_string(),
        "task_name": task.decl.title,
        "retry_count": failures.len(),
        "max_retries": limit,
        "status": word(task),
        "failures": failures,
        "current_attempt": limit.min(failures.len() + 1),
        "started_at": task.started_at.map(stamp),
        "last_attempt_at": last.map(stamp),
    })
}

/// The status of a task, in the protocol's words.
fn word(task: &Task) -> &'static str {
    match &task.status {
        Status::Asking(_) => "escalated",
        Status::Done => "done",
        Status::Skipped => "skipped",
        Status::Ready { .. } if task.failures.is_empty() => "pending",
        Status::Ready { .. } | Status::Failed | Status::WaitingFor(_) => "retrying",
        Status::Running(_) if !task.round_failures().is_empty() => "retrying",
        Status::Drafted => "pending",
        Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. } => "executing",
    }
}
