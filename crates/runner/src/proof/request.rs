//! A proof that somebody asks for, outside of a run: nothing is recorded, since it is about what is committed now.

use std::time::{Duration, SystemTime};

use engine::{Observation, Opening, Proof, Seen, State, Status, Task, Toggle, decide};
use plan::TaskId;

use crate::attempt::invocation::MARKER;
use crate::error::RunError;
use crate::journal::{RecordError, RunLock, load};
use crate::plan_file::PlanFiles;
use crate::project::{PlanFile, Project};
use crate::proof::done_task::done_tasks;
use crate::proof::facts::Facts;
use crate::proof::take::{Limits, Taking};
use crate::run::driver::now;
use crate::run::open::{keep_own_files_out, make_private, runtime};
use crate::work::project_files::ProjectFiles;
use crate::worktrees::{SET_UP_DEADLINE, SetUpRunner, Slots, Worktrees};

/// What is to be proved.
#[derive(Debug)]
pub struct ProveRequest<'a> {
    /// The project.
    pub project: &'a Project,
    /// The plan.
    pub file: &'a PlanFile,
    /// The tasks; none named: all that are done.
    pub tasks: &'a [TaskId],
    /// What the clean checkout is given.
    pub worktrees: &'a Worktrees,
    /// The time that a command may take.
    pub verify_timeout: Duration,
    /// The time that all of them may take.
    pub budget: Option<Duration>,
    /// The number of commands at once, where tasks had work trees of their own.
    pub jobs: u32,
}

/// Why nothing can be proved.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// There is no repository, or no commit in it.
    #[error("there is no commit to prove")]
    NoCommit,
    /// A task that was named is not in the plan.
    #[error("the plan has no task {0}")]
    UnknownTask(TaskId),
    /// Somebody wants it to stop.
    #[error("the proof was interrupted")]
    Interrupted,
    /// The journal cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Something that would stop a run as well.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs the commands of done tasks in a clean checkout of what is committed, and says what came of it, and what is to be told
/// besides. How far it has come is told meanwhile. Where there is no journal, as in a fresh clone, the boxes say what is done.
pub fn prove(
    request: &ProveRequest<'_>,
    tell: impl Fn(String) + Send + Sync + 'static,
) -> Result<(Proof, Vec<String>), ProveError> {
    let ProveRequest { project, file, tasks, worktrees, verify_timeout, budget, jobs } = request;
    let git = project.git().ok_or(ProveError::NoCommit)?;
    let head = git.head().map_err(RunError::from)?.ok_or(ProveError::NoCommit)?;
    let plans =
        PlanFiles::open(file, Toggle::Off).map_err(|(path, source)| RunError::Plan { path, source })?;
    make_private(&file.home).map_err(RunError::io("create", &file.home))?;
    keep_own_files_out(git).map_err(RunError::from)?;
    let _lock = RunLock::acquire(&file.lock()).map_err(RunError::from)?;
    let runtime = runtime().map_err(RunError::io("start a thread for", &file.home))?;
    let recorded = load(file, |_| ())?;
    let has_record = recorded.is_some();
    let state = recorded.unwrap_or_else(|| by_boxes(&plans));
    if let Some(unknown) = tasks.iter().find(|id| state.task(id).is_none()) {
        return Err(ProveError::UnknownTask(unknown.clone()));
    }
    let is_meant = |task: &&Task| {
        if tasks.is_empty() {
            if has_record { task.is_done_here() } else { task.status == Status::Done }
        } else {
            tasks.contains(task.id())
        }
    };
    let own = ProjectFiles::new(project, Some(git), file).plan_files();
    let markers = vec![(MARKER.into(), file.home.clone().into())];
    let facts = Facts::read(file);
    let meant = state.tasks().iter().map(AsRef::as_ref).filter(is_meant);
    let taking = Taking {
        git: git.clone(),
        slots: Slots::new(git, &file.key(), worktrees),
        by: SetUpRunner::new(runtime, file.home.join("setup"), SET_UP_DEADLINE)
            .with_variables(markers)
            .without(&worktrees.variables),
        project: project.root().to_owned(),
        home: file.home.clone(),
        head,
        tasks: done_tasks(&state, (file, &plans), (&facts, &own), meant),
        facts,
        own,
        surroundings: state.surroundings().map(<[String]>::to_vec),
        began: state.first_opened_at().map(SystemTime::from),
        limits: Limits { budget: *budget, verify_timeout: *verify_timeout, jobs: *jobs },
        tell: Box::new(tell),
    };
    let (proof, mut notes) = taking.take().ok_or(ProveError::Interrupted)?;
    if !has_record {
        notes.insert(
            0,
            "there is no record of a run here, so the boxes of the plan say what is done".to_owned(),
        );
    }
    Ok((proof, notes))
}

/// The state that the boxes alone amount to.
fn by_boxes(plans: &PlanFiles) -> State {
    let mut state = State::default();
    let opening = Opening { tasks: plans.decls(&state), ..Opening::default() };
    let event = decide(&state, Observation { at: now(), seen: Seen::Started(opening) });
    if let Some(event) = event {
        // A state that knows nothing yet takes every opening.
        let _ = state.apply(&event);
    }
    state
}
