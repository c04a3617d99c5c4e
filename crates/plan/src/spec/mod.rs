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
pub(crate) use edit::{fields_beyond, verify_lines};
pub use fields::{ANY_FILE, Commit, Fields, Files};
pub use phase::{Phase, PhaseIndex};
pub use plan::{Plan, Rung};
pub(crate) use prose::{commands_of, paths_of};
pub(crate) use task::Form;
pub use task::{BoxState, Markers, Task};
