//! Reads the output of a red command: the line that a person would point at, the items that fail, and the part that is
//! worth showing. Two failures are compared by their items.

mod compare;
mod excerpt;
mod failing;
mod general;
mod reading;
mod text;
mod tools;

pub use compare::is_repaired;
pub(crate) use compare::was_failing;
pub use failing::{Failing, Item, ItemStage, Tool};
pub use reading::Reading;
