//! An attempt at a task: what an agent is told and given, how it is started, what its end amounts to, who judges the result.

pub(crate) mod dispatch;
pub(crate) mod invocation;
pub(crate) mod judge;

mod documents;
mod files;
mod prompt;
mod report;
mod requests;
mod task_text;

pub(crate) use documents::{beside, of_project};
#[cfg(test)]
pub(crate) use prompt::Around;
pub(crate) use prompt::{AttemptPart, Subject, documents_told, fill, told};

pub use files::{AttemptFiles, KeptText};
pub use report::{ChangeKind, Report, append_report};
