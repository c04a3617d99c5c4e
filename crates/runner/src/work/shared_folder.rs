//! Whose changes are whose in a work tree that several tasks share: git sees all of them, whoever made them. What lies
//! in the files that another task lists, and not in those of the task in question, is that other task's, as long as it
//! has not come to its end. Which files an entry stands for is left to the scope check.

use std::time::SystemTime;

use engine::{FileState, Isolation, State, Status, Task};
use plan::{ANY_FILE, TaskId};

use crate::check::covers;

/// Takes out of what was found changed after an attempt what other tasks are about.
pub(crate) fn without_others(
    state: &State,
    id: &TaskId,
    since: SystemTime,
    touched: Vec<FileState>,
) -> Vec<FileState> {
    let is_shared = state.rules().is_some_and(|rules| rules.parallel.isolation == Isolation::Shared);
    let chain = repaired(state, id);
    let own: Vec<&String> = chain.iter().flat_map(|task| &task.decl.files).collect();
    if !is_shared || own.is_empty() || touched.is_empty() {
        return touched;
    }
    let is_other = |task: &&Task| chain.iter().all(|link| link.id() != task.id());
    let others = state.tasks().iter().map(AsRef::as_ref).filter(is_other);
    let others: Vec<Neighbour<'_>> = others.filter_map(|task| Neighbour::of(state, task, since)).collect();
    let is_own = |path: &str| own.iter().any(|entry| covers(entry, path));
    let is_anothers = |file: &FileState| others.iter().any(|other| other.owns(file));
    touched.into_iter().filter(|file| is_own(&file.path) || !is_anothers(file)).collect()
}

/// A task, and for a fix task what it repairs, which is what it is about as well.
fn repaired<'a>(state: &'a State, id: &TaskId) -> Vec<&'a Task> {
    let first = state.task(id);
    std::iter::successors(first, |task| state.task(&state.fix_plan(task.id())?.failing)).collect()
}

/// Another task, with files of its own.
struct Neighbour<'a> {
    task: &'a Task,
    files: Vec<&'a String>,
    standing: Standing,
}

/// The progress of another task.
#[derive(Clone, Copy)]
enum Standing {
    /// It is at work, or about to be recorded.
    UnderWay,
    /// Attempts at it failed and left something behind.
    Unfinished,
    /// It was done while the attempt in question was under way.
    DoneMeanwhile,
}

impl<'a> Neighbour<'a> {
    /// None where a task has nothing to do with what is changed now, or where nobody can tell what it is about.
    fn of(state: &'a State, task: &'a Task, since: SystemTime) -> Option<Self> {
        let ended_at = task.ended_at.map(SystemTime::from);
        let standing = if task.status.is_active() {
            Standing::UnderWay
        } else if task.status == Status::Done {
            ended_at.filter(|ended| *ended >= since).map(|_| Standing::DoneMeanwhile)?
        } else {
            (!task.touched.is_empty()).then_some(Standing::Unfinished)?
        };
        let files = repaired(state, task.id()).into_iter().flat_map(|task| &task.decl.files);
        let files: Vec<&String> = files.filter(|entry| *entry != ANY_FILE).collect();
        (!files.is_empty()).then_some(Self { task, files, standing })
    }

    fn owns(&self, file: &FileState) -> bool {
        let is_of_it = match self.standing {
            Standing::UnderWay => true,
            Standing::Unfinished => self.task.touched.contains(&file.path),
            Standing::DoneMeanwhile => true,
        };
        is_of_it && self.files.iter().any(|entry| covers(entry, &file.path))
    }
}
