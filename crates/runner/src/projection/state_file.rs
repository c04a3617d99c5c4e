//! `.ralph-state.json`: where a run stands, in the form that other tools read. Keys that are not ours are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use engine::{Recovery, Rules, State, Status, Task};
use serde_json::{Map, Value, json};

use crate::atomic;

/// The state file of a plan.
#[derive(Debug)]
pub(crate) struct StateFile {
    path: PathBuf,
    /// What the file held before, ours and others' keys alike.
    content: Map<String, Value>,
    written: Option<String>,
}

/// Why a state file is not used.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// It is not what it should be; it stays untouched.
    #[error("ERROR: State file missing or corrupt at {shown}")]
    Corrupt {
        /// Its path, as it is shown.
        shown: String,
        /// What is wrong with it.
        #[source]
        problem: Problem,
    },
    /// It could not be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What is wrong with a state file.
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
        fill(&mut self.content, state, rules);
        let text = format!("{:#}\n", Value::Object(self.content.clone()));
        if self.written.as_deref() == Some(text.as_str()) {
            return Ok(());
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

fn fill(content: &mut Map<String, Value>, state: &State, rules: &Rules) {
    let current = state.first_unsettled();
    let index = current.and_then(|task| state.position(task.id())).unwrap_or(state.tasks().len());
    let mut set = |key: &str, value: Value| content.insert(key.to_owned(), value);
    set("phase", json!("execution"));
    set("taskIndex", json!(index));
    set("totalTasks", json!(state.tasks().len()));
    set("taskIteration", json!(current.map_or(1, iteration)));
    set("maxTaskIterations", json!(rules.limits.task_iterations_max));
    set("globalIteration", json!(state.round_dispatches().max(1)));
    set("maxGlobalIterations", json!(state.global_cap()));
    set("recoveryMode", json!(rules.recovery == Recovery::On));
    set("maxFixTasksPerOriginal", json!(rules.limits.fix_tasks_max));
    set("fixTaskMap", fix_task_map(state));
    set("parallelGroup", group(state, index));
    set("taskResults", results(state));
}

/// The tasks that are under way side by side; where there is only one, that one.
fn group(state: &State, index: usize) -> Value {
    let active = state.attention().filter(|task| task.status.is_active());
    let mut indices: Vec<usize> = active.filter_map(|task| state.position(task.id())).collect();
    if indices.is_empty() {
        indices.push(index);
    }
    json!({
        "startIndex": indices.first(),
        "endIndex": indices.last(),
        "isParallel": indices.len() > 1,
        "taskIndices": indices,
    })
}

/// How the tasks that are under way stand.
fn results(state: &State) -> Value {
    let word = |task: &Task| match &task.status {
        Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. } => "success",
        Status::Failed | Status::WaitingFor(_) | Status::Asking(_) => "failed",
        Status::Drafted
        | Status::Ready { .. }
        | Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Done
        | Status::Skipped => "pending",
    };
    let all = state.attention().map(|task| (task.id().to_string(), json!({"status": word(task)})));
    Value::Object(all.collect())
}

/// Which try at the task this is, in this round.
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
