//! `.ralph-state.json`: where a run stands, in the form that other tools read. Keys that are not ours are kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use engine::{Recovery, Rules, State, Status, Task};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::atomic;

/// The state file of a plan.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    /// The content of the file before, ours and others' keys alike.
    content: Map<String, Value>,
    written: Option<String>,
}

/// The reason why a state file is not used.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// It is not what it should be; it stays untouched.
    #[error("ERROR: State file missing or corrupt at {shown}")]
    Corrupt {
        /// Its path, as it is shown.
        shown: String,
        /// The problem with it.
        #[source]
        problem: Problem,
    },
    /// It could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The problem with a state file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It is not JSON.
    #[error("not valid JSON")]
    Json(#[source] serde_json::Error),
    /// It is JSON of another kind.
    #[error("not a JSON object")]
    NotAnObject,
    /// A key that every state of this phase has is not there.
    #[error("phase is \"execution\" but {0} is missing")]
    Missing(&'static str),
}

impl StateFile {
    /// Reads what is there; nothing is fine, something corrupt is not.
    pub(crate) fn open(path: &Path, shown: &str) -> Result<Self, StateFileError> {
        let text = match atomic::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), content: Map::new(), written: None });
            }
            Err(source) => return Err(StateFileError::Unreadable { path: path.to_owned(), source }),
        };
        let content =
            parse(&text).map_err(|problem| StateFileError::Corrupt { shown: shown.to_owned(), problem })?;
        Ok(Self { path: path.to_owned(), content, written: None })
    }

    /// Writes where the run stands, if that is another place than before.
    pub(crate) fn write(&mut self, state: &State) -> io::Result<()> {
        let Some(rules) = state.rules() else { return Ok(()) };
        for key in KEYS {
            // The keys of a file that was there keep their places.
            if !self.content.contains_key(key) {
                self.content.insert(key.to_owned(), Value::Null);
            }
        }
        let standing = Standing::of(state, rules);
        let filled = Filled { content: &self.content, standing: &standing };
        let mut text = serde_json::to_string_pretty(&filled)?;
        text.push('\n');
        if self.written.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        atomic::replace(&self.path, &text)?;
        self.written = Some(text);
        Ok(())
    }

    /// Its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the file: the run is complete.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// The recovery mode that a state file asks for; none where there is no such file, or it says nothing of it.
pub(crate) fn recovery_mode(path: &Path) -> Option<bool> {
    let content = parse(&atomic::read(path).ok()?).ok()?;
    content.get("recoveryMode").and_then(Value::as_bool)
}

fn parse(text: &[u8]) -> Result<Map<String, Value>, Problem> {
    let Value::Object(content) = serde_json::from_slice(text).map_err(Problem::Json)? else {
        return Err(Problem::NotAnObject);
    };
    let executes = content.get("phase").and_then(Value::as_str) == Some("execution");
    for key in ["taskIndex", "totalTasks"] {
        if executes && !content.contains_key(key) {
            return Err(Problem::Missing(key));
        }
    }
    Ok(content)
}

/// The keys that are ours, in the order in which they are added.
const KEYS: [&str; 12] = [
    "phase",
    "taskIndex",
    "totalTasks",
    "taskIteration",
    "maxTaskIterations",
    "globalIteration",
    "maxGlobalIterations",
    "recoveryMode",
    "maxFixTasksPerOriginal",
    "fixTaskMap",
    "parallelGroup",
    "taskResults",
];

/// The standing of the run. This is written after every event, so what grows with the tasks at work is not copied.
struct Standing<'a> {
    state: &'a State,
    rules: &'a Rules,
    current: Option<&'a Task>,
    index: usize,
    /// The places of the batch that the current task is one of.
    batch: Vec<usize>,
}

impl<'a> Standing<'a> {
    fn of(state: &'a State, rules: &'a Rules) -> Self {
        let current = state.first_unsettled();
        let index = current.and_then(|task| state.position(task.id())).unwrap_or(state.tasks().len());
        let batch = current.map(|task| engine::batch(state, task.id())).unwrap_or_default();
        Self { state, rules, current, index, batch }
    }

    /// The tasks of the batch and whatever else is under way, in the plan's order.
    fn at_work(&self) -> impl Iterator<Item = &Task> {
        let others = self.state.attention_places().map(|(place, _)| place);
        let places: BTreeSet<usize> = self.batch.iter().copied().chain(others).collect();
        places.into_iter().filter_map(|place| self.state.tasks().get(place)).map(AsRef::as_ref)
    }

    /// The value of a key; none for one that is not ours.
    fn value(&self, key: &str) -> Option<Entry<'_>> {
        let (state, limits) = (self.state, &self.rules.limits);
        Some(match key {
            "phase" => Entry::Plain(json!("execution")),
            "taskIndex" => Entry::Plain(json!(self.index)),
            "totalTasks" => Entry::Plain(json!(state.tasks().len())),
            "taskIteration" => Entry::Plain(json!(self.current.map_or(1, iteration))),
            "maxTaskIterations" => Entry::Plain(json!(limits.task_iterations_max)),
            "globalIteration" => Entry::Plain(json!(state.round_dispatches().max(1))),
            "maxGlobalIterations" => Entry::Plain(json!(state.global_cap())),
            "recoveryMode" => Entry::Plain(json!(self.rules.recovery == Recovery::On)),
            "maxFixTasksPerOriginal" => Entry::Plain(json!(limits.fix_tasks_max)),
            "fixTaskMap" => Entry::Plain(fix_task_map(state)),
            "parallelGroup" => Entry::Group(Group::of(state, &self.batch, self.index)),
            "taskResults" => Entry::Results(self),
            _ => return None,
        })
    }
}

/// The content of the file, with our keys as they are now.
struct Filled<'a> {
    content: &'a Map<String, Value>,
    standing: &'a Standing<'a>,
}

impl Serialize for Filled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.content.iter().map(|(key, others)| {
            let value = self.standing.value(key);
            (key, value.unwrap_or(Entry::Others(others)))
        }))
    }
}

/// A value of the file.
enum Entry<'a> {
    Plain(Value),
    Others(&'a Value),
    Group(Group),
    Results(&'a Standing<'a>),
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::Others(value) => value.serialize(serializer),
            Self::Group(group) => group.serialize(serializer),
            Self::Results(standing) => serializer
                .collect_map(standing.at_work().map(|task| (Shown(task), TaskResult { status: word(task) }))),
        }
    }
}

/// The whole batch of marked tasks, else the tasks that are under way side by side; where there is only one, that one.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    start_index: Option<usize>,
    end_index: Option<usize>,
    is_parallel: bool,
    task_indices: Vec<usize>,
}

impl Group {
    fn of(state: &State, batch: &[usize], index: usize) -> Self {
        let active = state.attention_places().filter(|(_, task)| task.status.is_active());
        let mut indices: Vec<usize> =
            if batch.is_empty() { active.map(|(place, _)| place).collect() } else { batch.to_vec() };
        if indices.is_empty() {
            indices.push(index);
        }
        Self {
            start_index: indices.first().copied(),
            end_index: indices.last().copied(),
            is_parallel: indices.len() > 1,
            task_indices: indices,
        }
    }
}

/// A task as a key.
struct Shown<'a>(&'a Task);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0.id())
    }
}

#[derive(Serialize)]
struct TaskResult {
    status: &'static str,
}

/// The status of a task of a batch, or of one that is under way.
fn word(task: &Task) -> &'static str {
    match &task.status {
        Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. } => "success",
        Status::Done => "success",
        Status::Failed | Status::WaitingFor(_) | Status::Asking(_) | Status::Skipped => "failed",
        Status::Ready { .. } if !task.round_failures().is_empty() => "failed",
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_) => "pending",
    }
}

/// The number of this try at the task, in this round.
fn iteration(task: &Task) -> usize {
    task.round_failures().len() + usize::from(task.status != Status::Done)
}

fn fix_task_map(state: &State) -> Value {
    let mut map = Map::new();
    for task in state.tasks_with_fixes() {
        let ids: Vec<String> = task.fixes.iter().map(ToString::to_string).collect();
        let error = task.last_failure().map(|failure| failure.error.clone()).unwrap_or_default();
        map.insert(
            task.id().to_string(),
            json!({"attempts": ids.len(), "fixTaskIds": ids, "lastError": error}),
        );
    }
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_anywhere_is_corrupt() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".ralph-state.json");
        let text = "{\n  \"phase\": \"execution\",\n  \"taskIndex\": 1,\n  \"totalTasks\": 12,\n  \"recoveryMode\": true\n}";
        for length in 0..=text.len() {
            fs::write(&path, &text[..length]).unwrap();
            let opened = StateFile::open(&path, "it");
            assert_eq!(opened.is_ok(), length == text.len(), "{length}: {opened:?}");
            assert_eq!(recovery_mode(&path), (length == text.len()).then_some(true), "{length}");
        }
    }
}
