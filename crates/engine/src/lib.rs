//! Decides what a run does next and touches nothing.
//!
//! An [`Observation`] gives at most one [`Event`] through [`decide`]; what follows from the state alone
//! (a retry, a fix task, a question, the end) comes from [`due`]; what should be under way right now comes
//! from [`schedule`]. The only thing that changes a [`State`] is [`State::apply`] of an event, so that folding
//! the journal gives back the run.
//!
//! ```
//! use engine::{decide, due, schedule, Observation, Opening, Seen, State};
//!
//! let mut state = State::default();
//! let at = "2026-01-26T14:30:00Z".parse().expect("a valid timestamp");
//! let seen = Seen::Started(Opening::default());
//! let event = decide(&state, Observation { at, seen }).expect("a start is an event");
//! state.apply(&event).expect("a run can always be opened");
//! assert!(schedule(&state, at).is_empty(), "a plan without tasks wants nothing");
//! let end = due(&state, at).expect("so the run is over");
//! state.apply(&end).expect("which can be applied");
//! assert!(state.end().is_some());
//! ```

mod account;
mod action;
mod batch;
mod claim;
mod contradiction;
mod decide;
mod dependence;
mod diagnosis;
mod directive;
mod due;
mod event;
mod evidence;
mod failure;
mod feedback;
mod fold;
mod index;
mod judgement;
mod ladder;
mod leaning;
mod observation;
mod order;
mod outdated;
mod output;
mod plan_changes;
mod position;
mod proof;
mod pull_request;
mod result;
mod roster;
mod rules;
mod schedule;
mod signs;
mod skip;
mod spending;
mod state;
mod statistics;
mod status;
mod steps;
mod summary;
mod task;
mod transition;
mod usage;
mod versioned;
mod warning;

pub use account::{Account, Chain, Point};
pub use action::{Action, ActionKey};
pub use batch::{batch, overlaps, proves_in_landing_tree, starts_in_project};
pub use claim::{Claim, FailureClaim, Stuck, StuckKind};
pub use contradiction::contradiction;
pub use decide::{decide, did_its_job};
pub use directive::{
    Directive, DirectiveId, FirstAnswer, Refusal, Said, Taken, WORD_CHARS_MAX, WORDS_MAX, Word, weigh,
};
pub use due::due;
pub use event::{
    CapKind, ClockMoved, End, Event, FixPlan, NewLimits, Opened, SettingChanged, Started, StopReason, What,
};
pub use evidence::{Before, BeforeWork, Evidence, Former, Grounds};
pub use failure::{Cause, Failure, FailureType, FileState, Rung};
pub use feedback::retry_context;
pub use fold::Impossible;
pub use judgement::{Changes, Facts};
pub use leaning::{
    ChangedPart, PartChange, TouchedFile, is_implied, names, new_tests, speaks_of_tests, suspects,
    told_put_back,
};
pub use observation::{
    AgentEnd, AgentReport, Baseline, CheckFailure, ChecksReport, Landing, Observation, Opening, Record,
    Response, Seen,
};
pub use order::{Hold, Waits, Why, why};
pub use outdated::outdated;
pub use output::{Failing, Item, ItemStage, Reading, Tool, is_repaired};
pub use plan::Dialect;
pub use plan_changes::PlanChanges;
pub use proof::{Proof, ProofRecord, ProofVerdict, TaskProof};
pub use pull_request::{
    Absence, Awaited, Caveat, Check, CheckLog, CheckRef, CheckState, ForgeAction, ForgeReport, Kept,
    Lifecycle, LimitReached, Look, MergeMethod, MergeState, Obstacle, Openness, Origin, Outcome,
    PULL_REQUEST_MOVES, Place, Published, PullRequestEvent, PullRequestEventKind, PullRequestRules, Request,
    Review, ReviewState, Reviewer, Source, Stage, StageKind, Thread, Watch, WhichChecks,
    pull_request_mermaid,
};
pub use roster::{Agents, Lasting};
pub use rules::{
    Isolation, Limits, OnEscalation, OnExhausted, Parallel, Prove, Recovery, Rules, Toggle, Unverifiable,
};
pub use schedule::schedule;
pub use signs::{Sign, Signs};
pub use skip::Skip;
pub use spending::Spent;
pub use state::{Backoff, State};
pub use statistics::{
    AgentStatistics, History, Mark, MarkKind, Pattern, PatternKind, Span, SpanKind, SpanOutcome, Spread,
    Statistics, TaskResult, TaskStatistics,
};
pub use status::{Asked, Checking, Judge, JudgeState, Judging, Question, Role, Running, Status};
pub use steps::steps;
pub use summary::Summary;
pub use task::{Attempt, Claimed, Dispatch, Landed, Slot, Task, TaskDecl, TaskKind, Verification, Work};
pub use transition::{EventKind, StatusKind, TRANSITIONS, mermaid};
pub use usage::{Session, Usage};
pub use versioned::{Versioned, WIRE_VERSION};
pub use warning::Warnings;
