//! Observations of the edge. An observation is a fact without a judgement; what it means is decided here.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::action::ActionKey;
use crate::claim::Claim;
use crate::directive::Directive;
use crate::event::{ClockMoved, NewLimits};
use crate::evidence::Evidence;
use crate::failure::{Cause, FileState};
use crate::judgement::Facts;
use crate::output::Failing;
use crate::proof::Proof;
use crate::pull_request::ForgeReport;
use crate::roster::Lasting;
use crate::rules::Rules;
use crate::spending::Spent;
use crate::task::{Dispatch, TaskDecl};

/// Something seen, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// When it was seen.
    pub at: Timestamp,
    /// The fact.
    pub seen: Seen,
}

/// The facts that can be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The program was started; resuming is no different.
    Started(Opening),
    /// The plan file is not what it was.
    PlanRead(Vec<TaskDecl>),
    /// All is ready for a task to start.
    Prepared {
        /// The task.
        task: TaskId,
        /// The state of the work tree.
        baseline: Baseline,
    },
    /// An agent that worked on a task has ended.
    AgentEnded {
        /// The task.
        task: TaskId,
        /// Which start of an agent.
        dispatch: Dispatch,
        /// The outcome.
        report: AgentReport,
    },
    /// An agent at work told what it used so far.
    Spending {
        /// The report.
        spent: Box<Spent>,
    },
    /// The work that an attempt left in its slot was packed as a commit.
    Packed {
        /// The task.
        task: TaskId,
        /// Which start of an agent.
        dispatch: Dispatch,
        /// The commit that the work was made on.
        base: String,
        /// The commit that holds it; none where nothing was changed.
        commit: Option<String>,
    },
    /// The work tree in which an agent was to work, or in which its work was to be checked or to come together with the
    /// rest, could not be made or is of no use.
    TreeFailed {
        /// The task.
        task: TaskId,
        /// Which start of an agent.
        dispatch: Dispatch,
        /// Why, in words.
        reason: String,
    },
    /// The usage of an agent, now that it has ended.
    Spent {
        /// The report.
        spent: Box<Spent>,
    },
    /// A `[VERIFY]` command, run directly, has ended: red with a failure, green without.
    ProofEnded {
        /// The task.
        task: TaskId,
        /// The result of the command.
        report: ChecksReport,
        /// Files of the project that are changed and not committed, and were not so before the run.
        uncommitted: Vec<String>,
    },
    /// The program's own checks have ended.
    ChecksEnded {
        /// The task.
        task: TaskId,
        /// The agent's start whose claim was checked.
        dispatch: Dispatch,
        /// The result.
        report: ChecksReport,
        /// The tree that they ran on, in the project itself.
        tree: Option<String>,
    },
    /// Something was found out about what the command of a task proves.
    Found {
        /// The task.
        task: TaskId,
        /// The finding.
        evidence: Evidence,
    },
    /// A judging agent has ended.
    JudgeEnded {
        /// The task.
        task: TaskId,
        /// Which start of an agent.
        dispatch: Dispatch,
        /// The report.
        report: AgentReport,
        /// The facts that were known without it.
        facts: Facts,
    },
    /// Bringing the work of a task together with the rest ended.
    LandingEnded {
        /// The task.
        task: TaskId,
        /// The agent's start whose work it is.
        dispatch: Dispatch,
        /// How it went.
        landing: Landing,
    },
    /// The checks on all that came together ended.
    JoinEnded {
        /// The task.
        task: TaskId,
        /// The agent's start whose work came in.
        dispatch: Dispatch,
        /// Their result.
        report: ChecksReport,
        /// The tree that they ran on.
        tree: Option<String>,
    },
    /// While they ran, what had come together was changed: they say nothing of it.
    Displaced {
        /// The task.
        task: TaskId,
        /// The agent's start whose work came in.
        dispatch: Dispatch,
    },
    /// Nothing can go on before a person has seen to something.
    Obstructed {
        /// The obstacle, for people.
        reason: String,
    },
    /// The work was committed, the box ticked, the progress noted.
    Recorded {
        /// The task.
        task: TaskId,
        /// How that went.
        record: Record,
    },
    /// A fix task stands in the plan.
    FixInserted {
        /// The fix task as it reads there.
        decl: Box<TaskDecl>,
    },
    /// The regression command has ended.
    RegressionEnded {
        /// The result.
        report: ChecksReport,
    },
    /// The final proof was taken.
    ProofTaken {
        /// What it says.
        proof: Box<Proof>,
    },
    /// Something was done at the forge.
    Forge {
        /// For which action.
        key: ActionKey,
        /// The outcome.
        report: ForgeReport,
    },
    /// A person answered the question about a task.
    Answered {
        /// The task.
        task: TaskId,
        /// The answer.
        response: Response,
    },
    /// A person told the run something from another process.
    Directed(Box<Directive>),
    /// The settings were read again: their limits, as far as they can be changed while the run goes on.
    LimitsRead(Box<NewLimits>),
    /// The person who was asked went away.
    NobodyAnswers {
        /// The task in question.
        task: TaskId,
    },
    /// Something that people should be told and that decides nothing.
    Noted {
        /// The task that it is about.
        task: Option<TaskId>,
        /// The text, in words that stand for themselves.
        text: String,
        /// True if it is about this start of the program alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        passing: bool,
    },
    /// Somebody wants the run to stop now.
    Interrupted,
    /// The program did not run for some time, or somebody set the clock.
    ClockMoved(ClockMoved),
    /// Nothing happened, but time went by.
    TimePassed,
}

/// With what a run is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// The policy.
    pub rules: Rules,
    /// The settings that are not the engine's, kept so that a run can be continued with them.
    pub launch: BTreeMap<String, String>,
    /// The plan as it stands.
    pub tasks: Vec<TaskDecl>,
    /// Paths that were changed already and that no commit of ours may take in.
    pub dirty: Vec<String>,
    /// Tasks whose work was waiting in trees of their own and is nowhere any more.
    pub gone: Vec<TaskId>,
    /// Tasks whose text is not the known one, and whose finished work is good all the same: what differs does not matter,
    /// or the work is committed already.
    pub holding: Vec<TaskId>,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// What git ignores in the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surroundings: Vec<String>,
}

/// The work tree before an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    /// The commit that is checked out.
    pub head: Option<String>,
    /// All that lies in the project, as a tree; none for an attempt in a slot.
    pub tree: Option<String>,
    /// The hooks that git runs on commits, by their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<String>,
}

/// The outcome of an agent's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentReport {
    /// How it ended.
    pub end: AgentEnd,
    /// Tasks whose boxes it changed though they were not its own, or that it removed; already put back. Boxes that are no
    /// tasks are among them by their words.
    pub tampered: Vec<TaskId>,
    /// The commit that was checked out when it was started, if it is no longer part of the history.
    pub lost_commit: Option<String>,
    /// Paths that changed since it was started.
    pub touched: Vec<FileState>,
    /// Why no commit can hold what it left, if that is so.
    pub unfit: Option<CheckFailure>,
    /// Notes of the agent for whoever comes next.
    pub learnings: Vec<String>,
    /// How long it took.
    pub elapsed: Duration,
}

/// How an agent ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEnd {
    /// With exit code 0 and an answer.
    Answered {
        /// The claim of the answer.
        claim: Claim,
        /// An admission of failure found beside the claim.
        contradiction: Option<String>,
        /// The end of the answer.
        tail: String,
    },
    /// With another exit code.
    Exited {
        /// The code.
        code: i32,
        /// The claim of its answer, which counts all the same.
        claim: Claim,
        /// The end of what it printed.
        tail: String,
    },
    /// It was stopped because it took too long.
    TimedOut {
        /// Which limit it passed, in words.
        limit: String,
        /// The end of what it printed.
        tail: String,
    },
    /// It could not be had: not the task's fault.
    Unavailable {
        /// Why, in words.
        reason: String,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// It could not be had, and asking again is of no use.
    OutOfReach {
        /// The reason.
        lasting: Lasting,
        /// Why, in words.
        reason: String,
        /// When it is of use again, if that is known; where nobody else can take over, it is waited for.
        retry_after: Option<Duration>,
    },
    /// It gave up by its own account: a refusal, a limit of its own.
    GaveUp {
        /// Why, in words.
        reason: String,
        /// The end of what it said.
        tail: String,
    },
    /// It was not permitted to do what it had to.
    PermissionDenied {
        /// The message.
        text: String,
    },
}

/// The result of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChecksReport {
    /// The first red check, if any.
    pub failure: Option<CheckFailure>,
    /// Warnings, which are no errors.
    pub warnings: Vec<String>,
    /// The tree of the place in which the command ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Hooks that git ran when the task began and does not run any more, though the task has nothing to do with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks_gone: Vec<String>,
    /// The facts about the result of a task whose command is not its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Facts>,
}

/// A red check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFailure {
    /// Which check it was.
    pub cause: Cause,
    /// The error in a line.
    pub error: String,
    /// The output: bounded.
    pub details: String,
    /// The command, if it was one.
    pub command: Option<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// The items that fail in its output.
    pub failing: Failing,
}

/// How bringing work together with the rest went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landing {
    /// It is committed in the landing tree.
    Done {
        /// The paths that it changed.
        touched: Vec<String>,
        /// The commit that it was put on top of.
        onto: Option<String>,
        /// The commit that was made; none where nothing was left to commit.
        commit: Option<String>,
    },
    /// It does not fit to what came in since the attempt began, or a hook refused it. Nothing was changed.
    Failed(CheckFailure),
    /// Something is in the way that is not the task's fault. Nothing was changed.
    Blocked {
        /// The obstacle, for people.
        reason: String,
    },
}

/// How recording the work went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// All is recorded.
    Kept {
        /// The commit that holds the work, if there was anything to commit.
        commit: Option<String>,
    },
    /// The work could not be committed, for example because a hook refused it.
    Refused(CheckFailure),
    /// Somebody committed after the work had come together with what was there: it has to come in once more.
    Moved,
    /// Somebody has uncommitted changes in files that the work changes. Nothing was changed.
    InTheWay {
        /// The files.
        files: Vec<String>,
    },
    /// Nothing can be recorded at the moment, for example because the disk is full.
    Blocked {
        /// Why, in words.
        reason: String,
    },
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// Once more, with full budgets.
    Retry,
    /// Leave the task out.
    Skip,
    /// End the run.
    Abort,
    /// One more attempt, with this instruction.
    Fix(String),
    /// The result is right.
    Approve,
    /// The result is not right, and why.
    Reject(String),
    /// The reply that a checkpoint asked for.
    Reply(String),
}
