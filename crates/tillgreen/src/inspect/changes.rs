//! The changes of a task: its commit, or what its latest attempt left where no commit holds it yet.

use engine::{State, Status, Task};
use plan::TaskId;
use runner::Project;
use runner::git::{DiffExtent, Git};

use crate::error::Error;
use crate::view::task_report::{AttemptReport, TaskReport};

/// Where changes are.
#[derive(Debug)]
pub(crate) enum Changes {
    /// In a commit.
    Commit { git: Git, commit: String },
    /// In a working tree, since a commit. Without paths, all that differs is meant.
    Work { git: Git, base: String, paths: Vec<String> },
    /// Nowhere that can be looked at.
    None { why: String },
}

impl Changes {
    /// Those of a task.
    pub(crate) fn of_task(project: &Project, report: &TaskReport, state: &State) -> Result<Self, Error> {
        let none = |why: &str| Ok(Self::None { why: why.to_owned() });
        let Some(task) = state.task(report.task()) else { return none("the run does not know it yet") };
        let Some(git) = project.git() else { return none("the project is no git repository") };
        if let (Status::Done, Some(commit)) = (&task.status, &task.commit) {
            return Ok(Self::Commit { git: git.clone(), commit: commit.clone() });
        }
        let head = report.attempts().iter().rev().find_map(|attempt| attempt.head.clone());
        match head {
            Some(_) if task.status == Status::Done => none("no commit was made for it"),
            Some(_) if task.is_isolated() => Ok(Self::in_slot(git, task)),
            Some(head) => Ok(Self::in_project(git, task, head)),
            None => none("no attempt has changed anything"),
        }
    }

    /// Those of an attempt. What an earlier one left went into the next.
    pub(crate) fn of_attempt(
        (project, report): (&Project, &TaskReport),
        state: &State,
        attempt: &AttemptReport,
    ) -> Result<Self, Error> {
        if let (Some(git), Some(commit)) = (project.git(), &attempt.commit) {
            return Ok(Self::Commit { git: git.clone(), commit: commit.clone() });
        }
        let is_latest = report.attempts().last().is_some_and(|last| std::ptr::eq(last, attempt));
        if is_latest {
            return Self::of_task(project, report, state);
        }
        let files = attempt.failure().map(|failure| failure.files.as_slice()).unwrap_or_default();
        let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let known = if names.is_empty() { "it changed nothing".to_owned() } else { names.join(", ") };
        let why = format!("the next attempt went on from what {} left: {known}", attempt.name());
        Ok(Self::None { why })
    }

    /// The changes of attempts in a slot: what they left is packed into a commit of its own.
    fn in_slot(git: &Git, task: &Task) -> Self {
        match task.work.as_ref().and_then(|work| work.commit.clone()) {
            Some(commit) => Self::Commit { git: git.clone(), commit },
            None if matches!(task.status, Status::Running(_)) => {
                Self::None { why: "its agent is still at work in a work tree of its own".to_owned() }
            }
            None => Self::None { why: "no attempt has changed anything".to_owned() },
        }
    }

    fn in_project(git: &Git, task: &Task, head: String) -> Self {
        let is_at_work = matches!(task.status, Status::Running(_));
        if task.touched.is_empty() && !is_at_work {
            return Self::None { why: "no attempt has changed anything".to_owned() };
        }
        let base = task.base.clone().unwrap_or(head);
        let paths = if is_at_work { Vec::new() } else { task.touched.iter().cloned().collect() };
        Self::Work { git: git.clone(), base, paths }
    }

    /// The files, as git lists them; none where there are none.
    pub(crate) fn files(&self) -> Result<Option<String>, Error> {
        self.read(DiffExtent::Files)
    }

    /// Every changed line; none where there are none.
    pub(crate) fn lines(&self) -> Result<Option<String>, Error> {
        self.read(DiffExtent::Lines)
    }

    fn read(&self, extent: DiffExtent) -> Result<Option<String>, Error> {
        let text = match self {
            Self::Commit { git, commit } => git.commit_diff(commit, extent)?,
            Self::Work { git, base, paths } => git.work_diff(base, paths, extent)?,
            Self::None { .. } => return Ok(None),
        };
        Ok((!text.trim().is_empty()).then_some(text))
    }

    /// The error where there is nothing to show.
    pub(crate) fn why_none(&self, task: &TaskId) -> Error {
        let why = match self {
            Self::None { why } => why.as_str(),
            Self::Commit { .. } => "its commit changes nothing",
            Self::Work { .. } => "nothing differs from what was there before",
        };
        Error::usage(format!("there is no diff of task {task}: {why}"))
    }
}
