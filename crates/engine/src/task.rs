//! A task as the engine knows it: what the plan declares of it, and what has happened to it so far.

use std::collections::BTreeSet;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::evidence::Grounds;
use crate::failure::{Cause, Failure, FileState, Rung};
use crate::observation::Baseline;
use crate::proof::ProofRecord;
use crate::skip::Skip;
use crate::status::Status;
use crate::usage::{Session, Usage};

/// The declaration of a task in the plan, as far as deciding needs it. Texts stay in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDecl {
    /// The task's identity.
    pub id: TaskId,
    /// Its title, for people.
    pub title: String,
    /// The kind of work, which says who does it.
    pub kind: TaskKind,
    /// How its result can be proved.
    pub verification: Verification,
    /// A digest of its verify command, by which it is known again; none where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<u32>,
    /// The task that this one repairs, if it is a fix task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_of: Option<TaskId>,
    /// True if its box is ticked.
    #[serde(default)]
    pub ticked: bool,
    /// A digest of the block's text without its box, to notice rewording.
    pub digest: u32,
    /// Files that the task is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Tasks that it is declared to depend on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    /// The part of the plan that it is in: the phase of a spec, the wave of a plan with phases.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stage: u32,
    /// True if its author says that it can run beside its neighbours.
    #[serde(default, skip_serializing_if = "is_false")]
    pub parallel: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_zero(stage: &u32) -> bool {
    *stage == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(parallel: &bool) -> bool {
    !parallel
}

/// The kind of a task, which says who works on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// An executor does it.
    Work,
    /// A `[VERIFY]` task: its command is run directly, an agent helps only if that is red.
    Verify,
    /// A person is asked by design.
    Checkpoint,
}

/// How a task's result can be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    /// The program runs a command.
    Command,
    /// The program runs a command that is not the task's own: it never counts alone.
    Borrowed,
    /// Prose, or nothing at all: somebody has to judge.
    Judgement,
}

/// The number of an attempt at a task, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attempt(pub u32);

impl fmt::Display for Attempt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The number of an agent's start in the whole history of the plan. Never reused, unlike the number of an
/// attempt that was lost, so a late report of a dead agent can be told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dispatch(pub u32);

impl fmt::Display for Dispatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The number of a slot, from 1: a work tree that agents use one after another. As many are in use as agents may be at
/// work at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Slot(pub u32);

impl fmt::Display for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The work of a task as a commit that nothing but the task's own reference leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The commit that it was made on.
    pub base: String,
    /// The commit that holds it; none where nothing was changed.
    pub commit: Option<String>,
}

/// The work of a task as it came together with the rest, in the landing tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    /// The commit that it was put on top of.
    pub onto: Option<String>,
    /// The commit that was made there; none where nothing was left to commit.
    pub commit: Option<String>,
}

/// The things that an attempt left behind that claims success, kept for the record in case it is refuted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// Files that it changed.
    pub files: Vec<FileState>,
    /// Notes of the agent.
    pub learnings: Vec<String>,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// A task and its history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The declaration in the plan.
    pub decl: TaskDecl,
    /// Where it stands.
    pub status: Status,
    /// Every failed attempt, oldest first.
    pub failures: Vec<Failure>,
    /// How often an attempt at it passed (more than once if a person unticked it).
    pub passes: u32,
    /// The number of the latest attempt that claimed success or failed; 0 before the first.
    pub attempted: u32,
    /// The agent's start of its latest attempt.
    pub dispatch: Dispatch,
    /// Its fix tasks, oldest first.
    pub fixes: Vec<TaskId>,
    /// The usage of agents on it.
    pub usage: Usage,
    /// The session of the latest agent at it that told one, with that agent's name.
    pub session: Option<(String, Session)>,
    /// Paths that attempts at it changed and that no commit of ours holds yet.
    pub touched: BTreeSet<String>,
    /// The work tree before an attempt that has not ended: should it be lost, or its agent go away, what changed
    /// since then is the task's work all the same.
    pub(crate) unfinished: Option<Baseline>,
    /// The commit that was checked out before the first attempt since it was last done.
    pub base: Option<String>,
    /// The project before the first of these attempts that worked in it: files that differed from the commit then are
    /// somebody else's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Baseline>,
    /// The hooks that git ran on commits before the first of these attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<Vec<String>>,
    /// Those of them that it did not run any more when the latest attempt was checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks_gone: Vec<String>,
    /// The slot in which its latest attempt worked; none for one that worked in the project itself. The slot is its own
    /// only while an agent or a check is at work there: afterwards what it left is packed.
    pub slot: Option<Slot>,
    /// The work that its attempts left, packed as a commit.
    pub work: Option<Work>,
    /// How its work came together with the rest when it last came in.
    pub landed: Option<Landed>,
    /// The tree on which the checks were green then.
    pub verified: Option<String>,
    /// Files that it changes and in which somebody else has uncommitted changes, so that it cannot come in.
    pub held_up: Vec<String>,
    /// How often the work of its latest attempt had to come in once more since the run was started.
    pub(crate) returns: u32,
    /// The instruction of a person for the next attempt.
    pub instruction: Option<String>,
    /// The answer of a person at a checkpoint.
    pub reply: Option<String>,
    /// The things that the latest attempt left behind, from its claim of success until it is done or tried again.
    pub claimed: Option<Claimed>,
    /// Facts that speak against its result, of which a judge said yes.
    pub doubts: Vec<String>,
    /// True if nothing was changed for it when it was judged.
    pub is_unchanged: bool,
    /// How long the agent of the latest attempt that claimed success was at work.
    pub claimed_after_ms: u64,
    /// Why it was left out, if it was.
    pub skip: Option<Skip>,
    /// The red run of a `[VERIFY]` command that the next QA attempt is told of.
    pub proof_failure: Option<Box<Failure>>,
    /// When the first attempt began.
    pub started_at: Option<Timestamp>,
    /// The run's idle time before that.
    pub(crate) idle_before: SignedDuration,
    /// When it was done or skipped.
    pub ended_at: Option<Timestamp>,
    /// The commit that holds its work.
    pub commit: Option<String>,
    /// True if it is done because a person ticked it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_ticked_by_hand: bool,
    /// What is known of how much its green command proves.
    #[serde(default, skip_serializing_if = "Grounds::is_empty")]
    pub grounds: Grounds,
    /// What the latest proof said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofRecord>,
    /// From which failure on the budget of this round counts.
    pub(crate) failures_before: usize,
    /// From which fix task on the budget of this round counts.
    pub(crate) fixes_before: usize,
}

impl TaskDecl {
    /// The title without the `Task 1: ` before it, for where the id stands beside it.
    pub fn short_title(&self) -> &str {
        plan::without_number(&self.title)
    }
}

impl Task {
    pub(crate) fn new(decl: TaskDecl, status: Status) -> Self {
        Self {
            decl,
            status,
            failures: Vec::new(),
            passes: 0,
            attempted: 0,
            dispatch: Dispatch::default(),
            fixes: Vec::new(),
            usage: Usage::default(),
            session: None,
            touched: BTreeSet::new(),
            unfinished: None,
            base: None,
            found: None,
            hooks: None,
            hooks_gone: Vec::new(),
            slot: None,
            work: None,
            landed: None,
            verified: None,
            held_up: Vec::new(),
            returns: 0,
            instruction: None,
            reply: None,
            claimed: None,
            doubts: Vec::new(),
            is_unchanged: false,
            claimed_after_ms: 0,
            skip: None,
            proof_failure: None,
            started_at: None,
            idle_before: SignedDuration::ZERO,
            ended_at: None,
            commit: None,
            is_ticked_by_hand: false,
            grounds: Grounds::default(),
            proof: None,
            failures_before: 0,
            fixes_before: 0,
        }
    }

    /// Somebody begins to work on it, not necessarily for the first time.
    pub(crate) fn begin(&mut self, at: Timestamp, idle: SignedDuration) {
        if self.started_at.is_none() {
            (self.started_at, self.idle_before) = (Some(at), idle);
        }
    }

    /// The task's identity.
    pub fn id(&self) -> &TaskId {
        &self.decl.id
    }

    /// The task as people call it. In a plan with phases titles are numbered already.
    pub fn name(&self) -> String {
        let title = self.decl.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.id().name().contains(":task-") && title.starts_with("Task ") {
            return title;
        }
        format!("{} {title}", self.id())
    }

    /// The number that the next attempt gets. An attempt that was lost gives its number back.
    pub fn next_attempt(&self) -> Attempt {
        Attempt(self.attempted.saturating_add(1))
    }

    /// True if its latest attempt worked in a slot. What it left is packed, so the next one works in a slot as well.
    pub fn is_isolated(&self) -> bool {
        self.slot.is_some()
    }

    /// The slot in which an agent or a check is at work on it now.
    pub(crate) fn occupied(&self) -> Option<Slot> {
        let is_there = matches!(self.status, Status::Running(_) | Status::Checking(_) | Status::Judging(_));
        self.slot.filter(|_| is_there)
    }

    /// True if finished work of it waits for a person to see to files that are in its way.
    pub fn is_held_up(&self) -> bool {
        matches!(self.status, Status::Finished { .. }) && !self.held_up.is_empty()
    }

    /// True if a person is asked about it, or will be if nothing else is left to do.
    pub(crate) fn waits_for_person(&self) -> bool {
        matches!(self.status, Status::Asking(_)) || self.is_held_up()
    }

    /// True if finished work of it is on its way into the project, or waits for its turn.
    pub(crate) fn is_coming_in(&self) -> bool {
        let is_finished = matches!(self.status, Status::Finished { .. }) && self.held_up.is_empty();
        self.is_isolated() && (is_finished || self.status.is_coming_back())
    }

    /// True if work of it that an agent has finished has not come in yet.
    pub fn waits_in_tree(&self) -> bool {
        let is_recorded = matches!(self.status, Status::Recording { .. });
        self.is_isolated() && self.status.is_active() && !is_recorded && !self.is_running()
    }

    fn is_running(&self) -> bool {
        matches!(self.status, Status::Running(_) | Status::Proving)
    }

    /// True if a person is asked instead of an agent: at a checkpoint, until somebody gave an instruction.
    pub(crate) fn asks_by_design(&self) -> bool {
        self.decl.kind == TaskKind::Checkpoint && self.instruction.is_none()
    }

    /// True if attempts at it left something in the project itself that no commit holds.
    pub(crate) fn has_leftovers(&self) -> bool {
        !self.is_isolated() && (self.unfinished.is_some() || !self.touched.is_empty())
    }

    /// Leaves the slot behind: what attempts at it changed is packed, and none of it is in the project.
    pub(crate) fn leave_tree(&mut self) {
        self.slot = None;
        self.touched.clear();
        self.unfinished = None;
        self.base = None;
        self.found = None;
    }

    /// Forgets how its work came in the last time.
    pub(crate) fn forget_landing(&mut self) {
        self.landed = None;
        self.verified = None;
        self.held_up.clear();
    }

    /// How often its work had to be verified once more since the run was started.
    pub fn returns(&self) -> u32 {
        self.returns
    }

    /// The failures of this round.
    pub fn round_failures(&self) -> &[Failure] {
        self.failures.get(self.failures_before..).unwrap_or_default()
    }

    /// The fix tasks of this round.
    pub fn round_fixes(&self) -> &[TaskId] {
        self.fixes.get(self.fixes_before..).unwrap_or_default()
    }

    /// How many failures of this round went to the given rung.
    pub(crate) fn failures_on(&self, rung: Rung) -> u32 {
        let count = self.round_failures().iter().filter(|failure| failure.rung == rung).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The latest failure.
    pub fn last_failure(&self) -> Option<&Failure> {
        self.failures.last()
    }

    /// The failed attempt, or the run of a `[VERIFY]` command, whose command was red on this very tree.
    pub fn red_on(&self, tree: &str) -> Option<&Failure> {
        let is_red = |failure: &&Failure| {
            matches!(failure.cause, Cause::VerifyRed | Cause::VerifyTimeout)
                && failure.tree.as_deref() == Some(tree)
        };
        self.failures.iter().chain(self.proof_failure.as_deref()).rfind(is_red)
    }

    /// A new round gives full budgets; numbering and history go on.
    pub(crate) fn renew_budget(&mut self) {
        self.failures_before = self.failures.len();
        self.fixes_before = self.fixes.len();
    }
}
