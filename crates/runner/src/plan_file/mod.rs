//! The plan files on disk: read when they changed, edited in the smallest way, and put back where an agent laid
//! hands on what is not its own.

mod defaults;
mod files;
mod list;
mod order;
mod requests;
mod source;
mod text;

pub use defaults::Defaults;
pub use files::declared;
pub(crate) use files::{Freshness, OwnBox, PlanFiles, digest};
pub use list::plans;
pub use order::{order_problems, running_order};
pub use source::summary_beside;
pub(crate) use text::Excerpt;
