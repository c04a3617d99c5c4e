//! Carries out what the engine wants: the loop, the journal, processes, checks, git, projections.
//!
//! It touches the world and never prints: what happens is handed to the caller's view as it is recorded.

pub mod forge;
pub mod git;
pub mod journal;
pub mod process;
pub mod rehearsal;

mod agent;
mod atomic;
mod attempt;
mod attempt_files;
mod book;
mod cancel;
mod check;
mod cleaning;
mod clearing;
mod committable;
mod delegation;
mod demo;
mod documents;
mod driver;
mod error;
mod hiding;
mod hooked;
mod in_the_way;
mod inbox;
mod index_only;
mod isolation;
mod judging;
mod kept_trees;
mod last_words;
mod left_inside;
mod lock_wait;
mod lost_trees;
mod lost_work;
mod mask;
mod meddling;
mod meeting;
mod neighbours;
mod nested;
mod offstage;
mod open;
mod original;
mod orphans;
mod other_text;
mod own_place;
mod plan_key;
mod plans;
mod project;
mod projection;
mod projections;
mod prompt;
mod record;
mod recording;
mod records;
mod remnant;
mod report;
mod requests;
mod rewriting;
mod settings;
mod shared_customs;
mod shared_names;
mod stranded;
mod strays;
mod survey;
mod traces;
mod tree;
mod tree_notes;
mod turn;
mod uncovered;
mod withdrawn;
mod work;

pub use agent::{
    Activity, AgentKind, Permission, StreamFormat, Support, Transcript, find_program, transcript, version_of,
};
pub use attempt_files::{AttemptFiles, KeptText};
pub use book::{declared, order_problems, running_order, summary_beside};
pub use cancel::{CancelError, Cancelled, cancel};
pub use demo::{Demo, lay_out_demo};
pub use driver::{Finished, Notice};
pub use error::RunError;
pub use inbox::Responder;
pub use kept_trees::{kept_trees, task_tree};
pub use open::{Beginning, Request, run};
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
