//! The list of runs, and the questions that are open.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use engine::State;
use jiff::Timestamp;
use runner::Project;
use serde_json::{Value, json};

use crate::answer::words;
use crate::command::check;
use crate::command::status::holder_of;
use crate::error::Error;
use crate::inspect::runs::{RunFile, files, subject};
use crate::view::question;
use crate::view::status::{Phase, phase};
use crate::view::subject::Subject;
use crate::view::text::one_line;

/// Characters of a name or a reason.
const TEXT_CHARS_MAX: usize = 300;

/// What tells that nothing has changed: the journal and the plan are as they were, and the same process is there.
type Stamp = (Option<(u64, SystemTime)>, Option<(u64, SystemTime)>, Option<u32>);

/// The list, as far as it was looked at.
#[derive(Debug, Default)]
pub(super) struct Listing {
    known: BTreeMap<String, (Stamp, Value)>,
}

impl Listing {
    /// All runs; only those are read again that have changed.
    pub(super) fn look(&mut self, project: &Project) -> Result<Vec<Value>, Error> {
        let mut listed = Vec::new();
        let mut known = BTreeMap::new();
        for run in files(project)? {
            let id = run.id();
            let holder = holder_of(&run.file).ok().flatten().filter(|_| run.archived.is_none());
            let pid = holder.as_ref().map(|holder| holder.pid);
            let stamp = (stamp(&run.journal()), stamp(&run.file.path), pid);
            let before = self.known.remove(&id).filter(|(before, _)| *before == stamp);
            let (_, row) = before.unwrap_or_else(|| (stamp, row(project, &run, &id)));
            listed.push(row.clone());
            known.insert(id, (stamp, row));
        }
        self.known = known;
        Ok(listed)
    }
}

fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn row(project: &Project, run: &RunFile, id: &str) -> Value {
    let subject = subject(project, &run.file);
    let is_archived = run.archived.is_some();
    let mut row = json!({
        "run": id,
        "plan": one_line(&subject.name, TEXT_CHARS_MAX),
        "path": subject.path,
        "archived": is_archived,
        "state": Phase::NotStarted,
        "done": 0,
        "total": 0,
    });
    let state = match runner::review(&run.journal()) {
        Ok(state) => state.map(|(state, _)| state),
        Err(error) => {
            row["trouble"] = Error::from(error).render(crate::args::Format::Text).into();
            return row;
        }
    };
    let Some(state) = state else {
        let tasks = check::declared_tasks(&run.file).unwrap_or_default();
        (row["total"], row["done"]) =
            (tasks.len().into(), tasks.iter().filter(|task| task.ticked).count().into());
        return row;
    };
    let holder = holder_of(&run.file).ok().flatten().filter(|_| !is_archived);
    let (phase, reason) = phase(&state, holder.as_ref());
    let failed = state.unsettled().filter(|task| !task.failures.is_empty()).count();
    let more = json!({
        "state": phase,
        "reason": reason,
        "done": state.done_count(),
        "total": state.tasks().len(),
        "skipped": state.skipped_count(),
        "failed": failed,
        "cost": state.usage().cost_micros,
        "began": state.first_opened_at().map(Timestamp::as_millisecond),
        "elapsed": u64::try_from(state.elapsed().as_millis()).unwrap_or(u64::MAX),
        "question": if is_archived { None } else { question(&subject, &state) },
    });
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}

/// The open question of a run, for a card.
pub(super) fn question(subject: &Subject, state: &State) -> Option<Value> {
    let (task, asked) = question::open(state)?;
    let error = task.last_failure().map(|failure| one_line(&failure.error, TEXT_CHARS_MAX));
    Some(json!({
        "task": task.id(),
        "title": one_line(task.decl.short_title(), TEXT_CHARS_MAX),
        "since": asked.since,
        "text": question::render(subject, state, task, asked),
        "error": error,
        "words": words(asked.question),
    }))
}
