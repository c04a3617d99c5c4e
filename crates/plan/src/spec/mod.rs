//! The spec dialect: `tasks.md`.

mod dependency;
mod edit;
mod fields;
mod lint;
mod parse;
mod phase;
mod plan;
mod task;

pub use edit::{Beside, EditError, ErrorType, FixTask, RequestTask};
pub use fields::{ANY_FILE, Commit, Fields, Files};
pub use phase::{Phase, PhaseIndex};
pub use plan::Plan;
pub(crate) use task::Form;
pub use task::{BoxState, Markers, Task};
