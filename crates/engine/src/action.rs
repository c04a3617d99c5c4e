//! The things that should be under way. Actions are level-triggered: `schedule` names all that is wanted now, and the
//! driver starts what is not under way yet. A result whose key is no longer wanted changes nothing.

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::pull_request::ForgeAction;
use crate::status::Role;
use crate::task::{Attempt, Dispatch};

/// Something that should be under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Look at the plan and the work tree, then report that the task can start.
    Prepare {
        /// The task.
        task: TaskId,
    },
    /// Run a `[VERIFY]` command without an agent.
    Prove {
        /// The task.
        task: TaskId,
    },
    /// Let an agent work on a task.
    RunAgent {
        /// The task.
        task: TaskId,
        /// The attempt.
        attempt: Attempt,
        /// The agent's start.
        dispatch: Dispatch,
        /// In which role.
        role: Role,
    },
    /// Check what the agent claims.
    Check {
        /// The task.
        task: TaskId,
        /// The attempt.
        attempt: Attempt,
        /// The agent's start.
        dispatch: Dispatch,
    },
    /// Let an agent judge.
    RunJudge {
        /// The task.
        task: TaskId,
        /// The attempt whose result is judged.
        attempt: Attempt,
        /// The agent's start.
        dispatch: Dispatch,
        /// The judge.
        role: Role,
    },
    /// Bring the work of a task from its own tree into the project.
    Land {
        /// The task.
        task: TaskId,
        /// The attempt that passed.
        attempt: Attempt,
        /// Its agent's start.
        dispatch: Dispatch,
    },
    /// Check again, on all that came together.
    Join {
        /// The task.
        task: TaskId,
        /// The attempt that passed.
        attempt: Attempt,
        /// Its agent's start.
        dispatch: Dispatch,
    },
    /// Commit, tick, note down.
    Record {
        /// The task.
        task: TaskId,
        /// The attempt that passed, if there was one.
        attempt: Option<Attempt>,
    },
    /// Write a fix task into the plan.
    InsertFix {
        /// The fix task.
        fix: TaskId,
    },
    /// Put the question to a person.
    Ask {
        /// The task in question.
        task: TaskId,
    },
    /// Run the regression command.
    Regress,
    /// Run the commands of all done tasks once more, in a clean checkout.
    ProveAll,
    /// Do something at the forge, for the pull request.
    Forge(ForgeAction),
}

/// The deterministic name of an action: the same state gives the same keys, after a restart as well.
pub type ActionKey = String;

impl Action {
    /// The action's key.
    pub fn key(&self) -> ActionKey {
        match self {
            Self::Prepare { task } => format!("prepare {task}"),
            Self::Prove { task } => format!("prove {task}"),
            Self::RunAgent { task, dispatch, .. } => format!("agent {task} {dispatch}"),
            Self::Check { task, dispatch, .. } => format!("check {task} {dispatch}"),
            Self::RunJudge { task, dispatch, .. } => format!("judge {task} {dispatch}"),
            Self::Land { task, dispatch, .. } => format!("land {task} {dispatch}"),
            Self::Join { task, dispatch, .. } => format!("join {task} {dispatch}"),
            Self::Record { task, attempt } => match attempt {
                Some(attempt) => format!("record {task} {attempt}"),
                None => format!("record {task}"),
            },
            Self::InsertFix { fix } => format!("insert {fix}"),
            Self::Ask { task } => format!("ask {task}"),
            Self::Regress => "regress".to_owned(),
            Self::ProveAll => "prove".to_owned(),
            Self::Forge(action) => action.key(),
        }
    }
}
