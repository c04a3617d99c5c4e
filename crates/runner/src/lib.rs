//! Carries out what the engine wants: the loop, the journal, processes, checks, git, projections.
//!
//! It touches the world and never prints: what happens is handed to the caller's view as it is recorded.

pub mod forge;
pub mod git;
pub mod journal;
pub mod process;

mod agent;
mod atomic;
mod attempt;
mod attempt_files;
mod book;
mod cancel;
mod check;
mod committable;
mod delegation;
mod documents;
mod driver;
mod error;
mod inbox;
mod judging;
mod landing;
mod last_words;
mod lock_wait;
mod lost_work;
mod mask;
mod neighbours;
mod open;
mod other_text;
mod places;
mod plan_key;
mod plans;
mod project;
mod projection;
mod projections;
mod prompt;
mod record;
mod recording;
mod records;
mod report;
mod requests;
mod settings;
mod shared_customs;
mod shared_names;
mod tree;
mod turn;
mod withdrawn;
mod work;

pub use agent::{
    Activity, AgentKind, Permission, StreamFormat, Support, Transcript, find_program, transcript, version_of,
};
pub use attempt_files::{AttemptFiles, KeptText};
pub use book::{declared, order_problems, running_order, summary_beside};
pub use cancel::{CancelError, Cancelled, cancel};
pub use driver::{Finished, Notice};
pub use error::RunError;
pub use inbox::{LiveSettings, Responder, SendError, Sent, directive, leave, send};
pub use open::{Beginning, Request, Then, run};
pub use plans::plans;
pub use project::{LocateError, PlanFile, Project};
pub use projection::{StateFileError, StateFileProblem};
pub use record::{RecordError, load};
pub use records::{RecordFile, RecordPlace, RecordsError, records, review};
pub use report::{ChangeKind, Report, append_report};
pub use settings::{Agent, Bookkeeping, PullRequest, Scope, Settings};
pub use work::{
    CleanError, PlanTrees, Proposal, TreeOnDisk, Worktrees, bytes_in_words, kept_references, propose_setup,
    remove_trees, trees_on_disk,
};
