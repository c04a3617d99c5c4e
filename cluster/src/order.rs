//! The values that travel between the workflow of a plan and the workers: by name and small, since all of them stay in
//! the history. The state itself is asked for when it is needed.

use engine::{Action, Event, Seen, State};
use plan::TaskId;
use serde::{Deserialize, Serialize};

/// The queue of workflows, and of what needs no agent: looking, landing, plan edits, the final proof.
pub(crate) const HOME_QUEUE: &str = "tillgreen/home";

/// The queue of what needs one of a worker's slots: agents, and the checks of what they made.
pub(crate) const AGENT_QUEUE: &str = "tillgreen/agents";

/// A run as it is begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    /// Where the plan is and where its work comes in.
    pub(crate) site: Site,
    /// The flags of `tillgreen run`.
    pub(crate) flags: Vec<String>,
    /// The time after which a worker that says nothing is taken for dead.
    pub(crate) lost_after_ms: u64,
    /// The run so far, where its history became too long for one workflow.
    pub(crate) so_far: Option<Box<SoFar>>,
}

/// The run so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SoFar {
    pub(crate) state: State,
    /// The number of events before those that are kept.
    pub(crate) gone: usize,
    /// The latest events.
    pub(crate) events: Vec<Event>,
}

/// A plan at a remote that all workers reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Site {
    /// The address of the remote, as git takes it.
    pub(crate) remote: String,
    /// The branch that the work comes in on.
    pub(crate) branch: String,
    /// The plan, from the project's root.
    pub(crate) plan: String,
}

impl Site {
    /// The name of the run at the server: one plan at one remote has one run at a time.
    pub(crate) fn workflow_id(&self) -> String {
        format!("tillgreen {} {}", without_password(&self.remote), self.plan)
    }

    /// The place of references to work at the remote.
    pub(crate) fn work_references(&self) -> String {
        format!("refs/tillgreen-work/{}", self.branch)
    }
}

/// The address of a remote without what is secret in it.
fn without_password(remote: &str) -> String {
    let Some((scheme, rest)) = remote.split_once("://") else { return remote.to_owned() };
    let host = rest.find('/').unwrap_or(rest.len());
    let address = rest[..host].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    format!("{scheme}://{address}")
}

/// An order to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) site: Site,
    pub(crate) what: Wanted,
}

/// The content of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Wanted {
    /// Say with what a run with these flags would begin.
    Open(Vec<String>),
    /// Read the plan as it is at the remote, and carry out these actions of the run there.
    Do(Vec<Action>),
    /// Remove the references to work: the run is complete.
    Tidy,
}

impl Wanted {
    /// The name of the order among those of one run that are under way.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Open(_) => "open".to_owned(),
            Self::Tidy => "tidy".to_owned(),
            Self::Do(actions) => actions.first().map_or_else(|| "look".to_owned(), Action::key),
        }
    }

    /// The tasks that the order is about.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &TaskId> {
        let actions = if let Self::Do(actions) = self { actions.as_slice() } else { &[] };
        actions.iter().filter_map(task_of)
    }

    /// True if it changes the branch at the remote: what others read of the plan meanwhile may be of before or after.
    pub(crate) fn writes(&self) -> bool {
        let is_writing = |action: &Action| match action {
            Action::Land { .. }
            | Action::Join { .. }
            | Action::Record { .. }
            | Action::Prove { .. }
            | Action::InsertFix { .. } => true,
            Action::Prepare { .. }
            | Action::RunAgent { .. }
            | Action::Check { .. }
            | Action::RunJudge { .. }
            | Action::Ask { .. }
            | Action::Regress
            | Action::ProveAll
            | Action::Forge(_) => false,
        };
        if let Self::Do(actions) = self { actions.iter().any(is_writing) } else { false }
    }

    /// True if it needs one of a worker's slots.
    pub(crate) fn needs_slot(&self) -> bool {
        let is_agents = |action: &Action| {
            matches!(action, Action::RunAgent { .. } | Action::Check { .. } | Action::RunJudge { .. })
        };
        if let Self::Do(actions) = self { actions.iter().any(is_agents) } else { false }
    }
}

/// The task that an action is about.
pub(crate) fn task_of(action: &Action) -> Option<&TaskId> {
    match action {
        Action::Prepare { task }
        | Action::Prove { task }
        | Action::RunAgent { task, .. }
        | Action::Check { task, .. }
        | Action::RunJudge { task, .. }
        | Action::Land { task, .. }
        | Action::Join { task, .. }
        | Action::Record { task, .. }
        | Action::Ask { task } => Some(task),
        Action::InsertFix { fix } => Some(fix),
        Action::Regress | Action::ProveAll | Action::Forge(_) => None,
    }
}

/// The answer of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) seen: Vec<Seen>,
}

/// Events of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Events {
    /// The number of events before the first of these.
    pub(crate) before: usize,
    pub(crate) events: Vec<Event>,
}
