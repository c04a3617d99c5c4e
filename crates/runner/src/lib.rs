//! Carries out what the engine wants: the loop, the journal, processes, checks, git, projections.
//!
//! It touches the world and never prints: what happens is handed to the caller's view as it is recorded.
//!
//! The rooms, in the order in which a run goes through them: `run` opens a plan and has the loop; `inbox` is what comes in,
//! `journal` what is kept; `plan_file` reads and edits the plan; `attempt` hands a task to an `agent`, `check` looks at the
//! result; `work` and `worktrees` are the places in which that happens; `landing` brings work in, `record` notes that it is
//! done, `imports` takes plans over from elsewhere and writes back what is done; `proof` shows it once more in a clean checkout; `forge` carries the pull request, `notify` tells
//! people who are not there. All of them stand on `git` and `process`.

pub mod forge;
pub mod git;
pub mod journal;
pub mod process;

mod agent;
mod atomic;
mod attempt;
mod check;
mod error;
mod imports;
mod inbox;
mod landing;
mod mask;
mod notify;
mod plan_file;
mod plan_key;
mod planning;
mod project;
mod proof;
mod record;
mod run;
mod settings;
mod work;
mod worktrees;

pub use agent::{
    Activity, AgentKind, Permission, StreamFormat, Support, Transcript, find_program, replay, transcript,
    version_of,
};
pub use attempt::{AttemptFiles, ChangeKind, KeptText, Report, append_report};
pub use check::{ProposedVerify, propose_verify};
pub use error::RunError;
pub use imports::{Import, ImportError, ImportReport, import};
pub use inbox::{LiveSettings, Responder, SendError, Sent, directive, leave, send};
pub use journal::{RecordError, RecordFile, RecordPlace, RecordsError, load, records, review};
pub use mask::{LISTED_CHARS_MIN, mask, mask_values};
pub use notify::{Notification, Notifier, Notify, Occasion, Webhook, deliver_now};
pub use plan_file::{Defaults, declared, order_problems, plans, running_order, summary_beside};
pub use planning::{Brief, Draft, Examined, PlanningError, ProposedPlan, Trial, Tried, Wanted, examine};
pub use project::{LocateError, PLACES, PlanFile, Project};
pub use proof::{ProveError, ProveRequest, prove};
pub use record::{StateFileError, StateFileProblem};
pub use run::{
    Beginning, CancelError, Cancelled, Carried, Finished, Notice, OrderPlace, Request, Then, cancel,
    carry_out, live_as_long_as, opening, run,
};
pub use settings::{Agent, Bookkeeping, PullRequest, RedBefore, Sandboxing, Scope, Settings};
pub use worktrees::{
    CleanError, PlanTrees, Proposal, TreeOnDisk, Variables, Worktrees, bytes_in_words, kept_references,
    propose_setup, remove_trees, trees_on_disk,
};
