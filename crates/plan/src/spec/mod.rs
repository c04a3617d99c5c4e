//! The spec dialect: `tasks.md`.

mod beside;
mod dependency;
mod edit;
mod error_type;
mod fields;
mod fix;
mod header_state;
mod id_token;
mod lint;
mod mark;
mod parse;
mod phase;
mod plan;
mod request;
mod role;
mod stray;
mod task;
mod task_line;

pub use beside::Beside;
pub use edit::EditError;
pub use error_type::ErrorType;
pub use fields::{ANY_FILE, Commit, Fields, Files};
pub use fix::FixTask;
pub use phase::{Phase, PhaseIndex};
pub use plan::Plan;
pub use request::RequestTask;
pub(crate) use task::Form;
pub use task::{BoxState, Markers, Task};
