//! The plan dialect: `*-PLAN.md`, front matter and `<task>` blocks.
//!
//! Blocks look like XML and are not: real ones hold generics, HTML and shell as they are. What is structure is
//! therefore decided by the few names that plans use, where they stand, and that code is opaque.

mod checkpoint;
mod element;
mod fields;
mod front_matter;
mod id;
mod opaque;
mod parse;
mod tag;
mod task_block;
mod task_type;
mod verify;

pub use checkpoint::Choice;
pub use front_matter::{FrontMatter, MustHaves};
pub use id::PhaseNumber;
pub use parse::{Dialect, without_number};
pub use task_type::TaskType;

pub(crate) use fields::read as read_fields;
pub(crate) use parse::Head;
pub(crate) use task_block::head_elements;
pub(crate) use verify::read as read_verify;
