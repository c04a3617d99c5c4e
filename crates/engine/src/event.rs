//! The events: the only thing that the journal holds and the only thing that changes a state.
//!
//! Events say what was decided, not only what was seen, so that replaying an old journal with a newer program
//! cannot decide otherwise.

use std::collections::BTreeMap;

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::directive::Taken;
use crate::evidence::Evidence;
use crate::failure::{Failure, FileState};
use crate::observation::Response;
use crate::plan_changes::PlanChanges;
use crate::proof::Proof;
use crate::pull_request::{LimitReached, Obstacle, PullRequestEvent};
use crate::roster::Lasting;
use crate::rules::{Limits, Rules};
use crate::spending::Spent;
use crate::status::{Judge, Question, Role};
use crate::task::{Attempt, Dispatch, Slot, TaskDecl};

/// Something that has happened, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// The thing that happened.
    pub what: What,
    /// The directive that it came of, if it came of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Box<Taken>>,
}

impl Event {
    /// An event that came of no directive.
    pub fn new(at: Timestamp, what: What) -> Self {
        Self { at, what, by: None }
    }

    /// The person who told the directive that it came of.
    pub fn from(&self) -> Option<&str> {
        self.by.as_ref().map(|taken| taken.from.as_str())
    }
}

/// The thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A run was started or taken up again.
    Opened(Box<Opened>),
    /// A person changed the plan.
    PlanChanged(PlanChanges),
    /// A `[VERIFY]` command was started without an agent.
    ProofStarted {
        /// The task.
        task: TaskId,
        /// The commit that was checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    /// That command was green.
    ProofPassed {
        /// The task.
        task: TaskId,
        /// Warnings that are worth saying all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// That command was red.
    ProofFailed {
        /// The task.
        task: TaskId,
        /// The failure that it showed.
        failure: Box<Failure>,
    },
    /// The command of a task that had failed for good is green without an agent, and not all of what made it so is
    /// committed: a person is asked about it.
    Mended {
        /// The task.
        task: TaskId,
        /// The files that are not committed.
        files: Vec<String>,
    },
    /// An agent was started on a task.
    AttemptStarted(Started),
    /// The agent claims success.
    AttemptClaimed {
        /// The task.
        task: TaskId,
        /// The agent's start.
        dispatch: Dispatch,
        /// Files that the attempt changed.
        touched: Vec<FileState>,
        /// Notes of the agent.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        learnings: Vec<String>,
        /// How long it took.
        elapsed_ms: u64,
    },
    /// An attempt failed.
    AttemptFailed {
        /// The task.
        task: TaskId,
        /// The record of it.
        failure: Box<Failure>,
        /// Paths that changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        touched: Vec<String>,
    },
    /// The agent could not be had; no attempt is spent.
    AgentUnavailable {
        /// The task.
        task: TaskId,
        /// The agent's start.
        dispatch: Dispatch,
        /// Why.
        reason: String,
        /// How often in a row.
        nth: u32,
        /// When to try again.
        until: Timestamp,
    },
    /// An agent cannot be had and is not asked again by this start of the program; no attempt is spent.
    AgentDropped {
        /// The task.
        task: TaskId,
        /// The agent's start.
        dispatch: Dispatch,
        /// The agent's name.
        agent: String,
        /// The reason why it is useless to ask again.
        lasting: Lasting,
        /// Why, in words.
        reason: String,
    },
    /// The work that an attempt left in its slot was packed as a commit.
    Packed {
        /// The task.
        task: TaskId,
        /// The agent's start whose attempt it was.
        dispatch: Dispatch,
        /// The commit that the work was made on.
        base: String,
        /// The commit that holds it; none where nothing was changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// A work tree could not be made or used: from here to the end of the run, tasks start one by one in the project itself. No
    /// attempt is spent.
    TreeUnavailable {
        /// The task.
        task: TaskId,
        /// The agent's start, or the one whose work was about to be checked or to come in.
        dispatch: Dispatch,
        /// Why, in words; that is said once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An agent told what it used.
    Spent(Box<Spent>),
    /// The program's own checks are green.
    ChecksPassed {
        /// The task.
        task: TaskId,
        /// Warnings that are worth saying all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// The judge that is asked besides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judge: Option<Judge>,
        /// The tree that they were green on, in the project itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
        /// Hooks that git does not run any more, of which a person is asked.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hooks_gone: Vec<String>,
    },
    /// Something was found out about what the command of a task proves.
    Found {
        /// The task.
        task: TaskId,
        /// The finding.
        evidence: Evidence,
    },
    /// A judging agent was started.
    JudgeStarted {
        /// The task.
        task: TaskId,
        /// The agent's start.
        dispatch: Dispatch,
    },
    /// The judge said neither yes nor no, and is asked once more.
    NoVerdict {
        /// The task.
        task: TaskId,
        /// The agent's start.
        dispatch: Dispatch,
        /// Why, in words.
        reason: String,
    },
    /// The judge said yes.
    JudgePassed {
        /// The task.
        task: TaskId,
        /// Facts that speak against the result all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// True if nothing was changed for the task.
        #[serde(default, skip_serializing_if = "is_false")]
        unchanged: bool,
        /// The judge that is asked after this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Judge>,
    },
    /// The work of a task that passed in a slot is about to come together with the rest, in the landing tree.
    LandingStarted {
        /// The task.
        task: TaskId,
    },
    /// It is committed there; the project does not have it yet.
    Landed {
        /// The task.
        task: TaskId,
        /// The paths that it changed there.
        touched: Vec<String>,
        /// The commit that it was put on top of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        onto: Option<String>,
        /// The commit that was made there; none where nothing was left to commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// The checks are green on all that came together.
    JoinPassed {
        /// The task.
        task: TaskId,
        /// Warnings that are worth saying all the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// The tree that was green.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<String>,
    },
    /// The work cannot come in: it changes files in which somebody else has uncommitted changes. Others come in
    /// meanwhile.
    HeldUp {
        /// The task.
        task: TaskId,
        /// The files.
        files: Vec<String>,
    },
    /// The task is done: committed, ticked, noted.
    TaskDone {
        /// The task.
        task: TaskId,
        /// The commit that holds the work.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    },
    /// The task will be tried again.
    RetryPlanned {
        /// The task.
        task: TaskId,
        /// The number of the coming attempt.
        attempt: Attempt,
    },
    /// A fix task was decided on.
    FixPlanned(FixPlan),
    /// The fix task stands in the plan.
    FixInserted {
        /// The fix task as it reads there.
        decl: Box<TaskDecl>,
    },
    /// The task waits for another one that is in its way.
    Deferred {
        /// The task.
        task: TaskId,
        /// The task that it waits for.
        by: TaskId,
    },
    /// A person has to be asked.
    Escalated {
        /// The task.
        task: TaskId,
        /// Why.
        question: Question,
    },
    /// A person answered.
    Answered {
        /// The task.
        task: TaskId,
        /// The answer.
        response: Response,
    },
    /// A task is left out.
    TaskSkipped {
        /// The task.
        task: TaskId,
        /// Why.
        reason: String,
        /// Tasks that depend on it, or that come later and share a file with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dependents: Vec<TaskId>,
    },
    /// Something was told of a task or of the run that decides nothing.
    Noted {
        /// The task that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The text, in words that stand for themselves.
        text: String,
        /// True if it is about this start of the program alone: the next one looks again.
        #[serde(default, skip_serializing_if = "is_false")]
        passing: bool,
    },
    /// A person told something to the next prompt.
    Told {
        /// The task whose prompt is meant; none: that of whatever starts next.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The text.
        text: String,
    },
    /// A person wants nothing new to start.
    PauseRequested,
    /// A person wants a task to be left out that is worked on: it is, as soon as nobody does any more.
    SkipRequested {
        /// The task.
        task: TaskId,
    },
    /// Limits were changed while the run goes on.
    LimitsChanged(Box<NewLimits>),
    /// The program did not run for some time, or somebody set the clock.
    ClockMoved(ClockMoved),
    /// The regression command is green.
    RegressionPassed,
    /// The commands of all done tasks ran once more, in a clean checkout.
    Proved(Box<Proof>),
    /// A done task is open again, because of that proof.
    Reopened {
        /// The task.
        task: TaskId,
        /// The failure of its latest attempt, as it turned out.
        failure: Box<Failure>,
    },
    /// Something happened to the pull request.
    PullRequest(Box<PullRequestEvent>),
    /// The run ended, for now or for good.
    Ended(End),
}

impl What {
    /// The failure that it tells of.
    pub fn failure(&self) -> Option<&Failure> {
        let (Self::AttemptFailed { failure, .. }
        | Self::ProofFailed { failure, .. }
        | Self::Reopened { failure, .. }) = self
        else {
            return None;
        };
        Some(failure)
    }

    /// The task that it is about; none where it is about the run as a whole.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::ProofStarted { task, .. }
            | Self::ProofPassed { task, .. }
            | Self::ProofFailed { task, .. }
            | Self::Mended { task, .. }
            | Self::AttemptClaimed { task, .. }
            | Self::AttemptFailed { task, .. }
            | Self::AgentUnavailable { task, .. }
            | Self::AgentDropped { task, .. }
            | Self::Packed { task, .. }
            | Self::TreeUnavailable { task, .. }
            | Self::ChecksPassed { task, .. }
            | Self::Found { task, .. }
            | Self::JudgeStarted { task, .. }
            | Self::NoVerdict { task, .. }
            | Self::JudgePassed { task, .. }
            | Self::LandingStarted { task }
            | Self::Landed { task, .. }
            | Self::JoinPassed { task, .. }
            | Self::HeldUp { task, .. }
            | Self::TaskDone { task, .. }
            | Self::Reopened { task, .. }
            | Self::RetryPlanned { task, .. }
            | Self::Deferred { task, .. }
            | Self::Escalated { task, .. }
            | Self::Answered { task, .. }
            | Self::SkipRequested { task }
            | Self::TaskSkipped { task, .. } => Some(task),
            Self::AttemptStarted(started) => Some(&started.task),
            Self::Spent(spent) => Some(&spent.task),
            Self::FixPlanned(fix) => Some(&fix.failing),
            Self::FixInserted { decl } => Some(&decl.id),
            Self::Noted { task, .. } | Self::Told { task, .. } => task.as_ref(),
            Self::Opened(_)
            | Self::PlanChanged(_)
            | Self::PauseRequested
            | Self::LimitsChanged(_)
            | Self::ClockMoved(_)
            | Self::RegressionPassed
            | Self::Proved(_)
            | Self::PullRequest(_)
            | Self::Ended(_) => None,
        }
    }
}

/// Time on the clock in which nobody worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockMoved {
    /// The time in which the program or the whole machine stood still.
    pub still_ms: u64,
    /// The time by which the clock was set forward; negative: back.
    pub set_ms: i64,
}

/// How a run was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The round: it counts up when budgets start afresh.
    pub round: u32,
    /// The policy.
    pub rules: Rules,
    /// The settings that are not the engine's.
    #[serde(default)]
    pub launch: BTreeMap<String, String>,
    /// How the plan differs from what was known of it.
    pub changes: PlanChanges,
    /// Paths that no commit of ours may take in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dirty: Vec<String>,
    /// Tasks whose attempts were lost with the program that watched them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<TaskId>,
    /// Tasks whose work was waiting in trees of their own and is nowhere any more: they are worked on again, and no attempt
    /// is spent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<TaskId>,
    /// Tasks whose finished work was made for another text than the plan has now: they are worked on again, and no attempt
    /// is spent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<TaskId>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// What git ignored in the project, where the run began with this start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Vec<String>>,
}

/// The limits that are in force from now on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewLimits {
    /// Every limit.
    pub limits: Limits,
    /// How many agents may be at work at once.
    pub jobs: u32,
    /// The settings that are not what they were.
    pub changes: Vec<SettingChanged>,
}

/// A setting that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChanged {
    /// Its name.
    pub key: String,
    /// The value that it had; none: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The value that it has; none: the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// An agent's start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The task.
    pub task: TaskId,
    /// The attempt.
    pub attempt: Attempt,
    /// The agent's start.
    pub dispatch: Dispatch,
    /// In which role.
    pub role: Role,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// All that lay in the project, as a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// The hooks that git ran on commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
    /// The slot in which it works; none for the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Slot>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A fix task, as decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixPlan {
    /// Its id.
    pub fix: TaskId,
    /// The task that failed.
    pub failing: TaskId,
    /// The error it is to repair.
    pub error: String,
    /// The fix that was tried already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted_fix: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every task is done or skipped.
    Complete {
        /// How many were skipped.
        skipped: usize,
    },
    /// A task's budgets are used up.
    Stopped(StopReason),
    /// A cap on the whole run was reached.
    Capped(CapKind),
    /// A person has to answer first.
    Waiting {
        /// The task in question.
        task: TaskId,
    },
    /// A person has to do something before the pull request can go on.
    PullRequest {
        /// The obstacle.
        obstacle: Obstacle,
    },
    /// The agent stays away.
    Unavailable {
        /// Why.
        reason: String,
    },
    /// A person wanted nothing new to start, and what was under way has come to its end.
    Paused {
        /// The person.
        from: String,
    },
    /// A person's answer ended it.
    Aborted,
    /// It was interrupted.
    Interrupted,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// No retries are left.
    Retries {
        /// The task.
        task: TaskId,
        /// How many attempts failed.
        attempts: u32,
    },
    /// No fix tasks are left.
    FixTasks {
        /// The task.
        task: TaskId,
        /// How many there were.
        limit: u32,
    },
    /// Fixes of fixes nest too deep.
    FixDepth {
        /// The task.
        task: TaskId,
        /// How deep they may.
        limit: u32,
    },
    /// All tasks are done, but the regression command is red.
    Regression {
        /// The error in a line.
        error: String,
    },
    /// A limit of the pull request's lifecycle was reached.
    PullRequest {
        /// Which.
        limit: LimitReached,
        /// Where the pull request is, once it is there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
}

/// Which cap was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapKind {
    /// Agent starts.
    Iterations {
        /// The cap.
        limit: u32,
    },
    /// Time.
    Time {
        /// The cap.
        seconds: u64,
    },
    /// Money.
    Cost {
        /// The cap, in millionths of a dollar.
        micros: u64,
    },
    /// Tokens.
    Tokens {
        /// The cap.
        limit: u64,
    },
}
