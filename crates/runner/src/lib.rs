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
mod book;
mod cancel;
mod check;
mod cleaning;
mod delegation;
mod demo;
mod driver;
mod error;
mod hooked;
mod in_the_way;
mod inbox;
mod isolation;
mod last_words;
mod line;
mod lost_work;
mod mask;
mod meddling;
mod meeting;
mod neighbours;
mod offstage;
mod open;
mod orphans;
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
mod shared_names;
mod stranded;
mod traces;
mod tree;
mod turn;
mod uncovered;
mod withdrawn;

pub use agent::{Activity, AgentKind, Permission, StreamFormat, Support, find_program, version_of};
pub use book::{declared, order_problems};
pub use cancel::{CancelError, Cancelled, cancel};
pub use demo::{Demo, lay_out_demo};
pub use driver::{Finished, Notice};
pub use error::RunError;
pub use inbox::Responder;
pub use open::{Beginning, Request, run};
pub use project::{LocateError, PlanFile, Project};
pub use projection::{StateFileError, StateFileProblem};
pub use record::{RecordError, load};
pub use records::{RecordFile, RecordPlace, RecordsError, records, review};
pub use report::{ChangeKind, Report, append_report};
pub use settings::{Agent, Bookkeeping, PullRequest, Scope, Settings};
