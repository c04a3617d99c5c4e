//! The spec dialect: `tasks.md`.

mod boxes;
mod dependency;
mod edit;
mod fields;
mod lint;
mod parse;
mod phase;
mod plan;
mod prose;
mod task;

pub use boxes::{BoxRole, OtherBox};
pub use edit::{Beside, EditError, ErrorType, FixTask, RequestTask};
pub use fields::{ANY_FILE, Commit, Fields, Files};
pub use phase::{Phase, PhaseIndex};
pub use plan::{Plan, Rung};
pub(crate) use task::Form;
pub use task::{BoxState, Markers, Task};
