//! Where a task stands. Each variant carries exactly what is true in it; the legal moves between them are
//! the table in `transition`.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use plan::TaskId;

use crate::task::{Attempt, Dispatch};

/// Where a task stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A fix task that was decided on and is not in the plan file yet.
    Drafted,
    /// It may start as soon as its turn comes. A `[VERIFY]` task that `proves` runs its command first.
    Ready {
        /// True if a `[VERIFY]` command is run directly before any agent.
        proves: bool,
    },
    /// A `[VERIFY]` command is being run directly, without an agent.
    Proving,
    /// An agent works on it.
    Running(Running),
    /// The agent claims success; the program checks.
    Checking(Checking),
    /// The program's own checks are green; an agent or a person judges.
    Judging(Judging),
    /// It passed in a slot, its work is packed, and it waits for its turn to come in.
    Finished {
        /// The attempt that passed.
        attempt: Attempt,
    },
    /// Its work is being brought together with the rest, in the landing tree.
    Landing {
        /// The attempt that passed.
        attempt: Attempt,
    },
    /// Its work is committed in the landing tree; the checks run again on all that came together.
    Joining {
        /// The attempt that passed.
        attempt: Attempt,
    },
    /// Everything is green: the work is being committed, or its commit taken over, and the box ticked.
    Recording {
        /// The attempt that passed; none when a `[VERIFY]` command was green at once.
        attempt: Option<Attempt>,
    },
    /// An attempt failed and what follows is not decided yet.
    Failed,
    /// Waiting until another task is done: its fix task, or one that is in its way.
    WaitingFor(TaskId),
    /// Waiting for a person.
    Asking(Asked),
    /// Done.
    Done,
    /// Left out by a person's word.
    Skipped,
}

/// An agent at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// The attempt it is.
    pub attempt: Attempt,
    /// Its number among all agent starts.
    pub dispatch: Dispatch,
    /// In which role it works.
    pub role: Role,
    /// When it was started.
    pub since: Timestamp,
    /// The commit that was checked out then.
    pub head: Option<String>,
    /// All that lay in the project then, as a tree.
    pub tree: Option<String>,
}

impl Running {
    /// True if the attempt is not the first one.
    pub(crate) fn is_retry(&self) -> bool {
        self.attempt.0 > 1
    }
}

/// A claim under examination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checking {
    /// The attempt that made the claim.
    pub attempt: Attempt,
    /// Its agent's start.
    pub dispatch: Dispatch,
    /// The commit that was checked out when the attempt began.
    pub head: Option<String>,
}

/// A result that somebody judges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judging {
    /// The attempt whose result it is.
    pub attempt: Attempt,
    /// The judge.
    pub judge: Judge,
    /// The state of the judge.
    pub state: JudgeState,
    /// True if it gave no verdict before.
    pub is_asked_again: bool,
}

/// The judge of a result besides the program's own checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The QA agent, where no command can prove the result.
    Qa,
    /// The reviewing agent, against the done criteria.
    Reviewer,
    /// A person, where no command can prove the result.
    Person,
}

/// The state of a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgeState {
    /// Not yet.
    Wanted,
    /// Started as this dispatch.
    AtWork(Dispatch),
}

/// The part that an agent plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Does a task.
    Executor,
    /// Verifies and repairs, or judges a result that no command can prove.
    Qa,
    /// Approves against the done criteria.
    Reviewer,
    /// Writes a plan, or commands for the tasks of one.
    Planner,
}

impl Role {
    /// The name that scripts see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Executor => "executor",
            Self::Qa => "qa",
            Self::Reviewer => "reviewer",
            Self::Planner => "planner",
        }
    }
}

/// An open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The attempt whose result is in question, where one is.
    pub attempt: Option<Attempt>,
    /// Since when.
    pub since: Timestamp,
}

/// Why a person is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Retries or fix tasks are used up.
    Exhausted,
    /// Something was not permitted.
    PermissionDenied,
    /// The result has no command that could prove it: is it right?
    Judge,
    /// Hooks that git ran on commits when the task began are gone: is that as it should be?
    HooksGone,
    /// The command of a task that had failed is green, by changes that nobody committed: are they its work?
    Mended,
    /// The plan asks for a person here.
    Checkpoint,
    /// An agent took commits out of the history.
    HistoryRewritten,
    /// Something else has to be done first, and it is not clear what or not done by waiting.
    Blocked,
    /// An agent says that the task cannot be done.
    Impossible,
    /// An agent says that the requirements contradict each other.
    ConflictingRequirements,
    /// An agent says that a service it needs is away.
    ServiceUnavailable,
    /// The verify command needs something that is not there, and the attempt that was told so did not put it there.
    VerifyCannotStart,
    /// It was opened again because a clean checkout was red, and that is so once more.
    NotProved,
    /// What is left failed before the work as well, and lies outside of the task.
    RedBefore,
    /// Finished work changes files in which somebody has uncommitted changes.
    InTheWay,
}

impl Question {
    /// True if it is asked because an attempt failed, so that another one is an answer.
    pub fn follows_failure(self) -> bool {
        match self {
            Self::Exhausted
            | Self::PermissionDenied
            | Self::HistoryRewritten
            | Self::Blocked
            | Self::Impossible
            | Self::ConflictingRequirements
            | Self::ServiceUnavailable
            | Self::VerifyCannotStart
            | Self::NotProved
            | Self::RedBefore
            | Self::Mended => true,
            Self::Judge | Self::HooksGone | Self::Checkpoint | Self::InTheWay => false,
        }
    }
}

impl Status {
    /// True if the run is occupied with the task right now.
    pub fn is_active(&self) -> bool {
        match self {
            Self::Proving
            | Self::Running(_)
            | Self::Checking(_)
            | Self::Judging(_)
            | Self::Finished { .. }
            | Self::Landing { .. }
            | Self::Joining { .. }
            | Self::Recording { .. } => true,
            Self::Drafted
            | Self::Ready { .. }
            | Self::Failed
            | Self::WaitingFor(_)
            | Self::Asking(_)
            | Self::Done
            | Self::Skipped => false,
        }
    }

    /// True if an agent, or a check of what one did, is at work on it.
    pub(crate) fn is_at_work(&self) -> bool {
        matches!(self, Self::Proving | Self::Running(_) | Self::Checking(_) | Self::Judging(_))
    }

    /// True if it has the project to itself for bringing work in.
    pub fn is_coming_back(&self) -> bool {
        matches!(self, Self::Landing { .. } | Self::Joining { .. } | Self::Recording { .. })
    }

    /// True if nothing is left to do.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Done | Self::Skipped)
    }
}
