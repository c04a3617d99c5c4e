//! Verify commands as bash will run them.
//!
//! Nothing here runs anything: a script is put together from what the plan says and looked at for ways in
//! which it proves nothing.

mod assemble;
mod basis;
mod beyond;
mod checks;
mod lint;
mod packages;
mod programs;
mod shell;

pub use assemble::{Pipefail, Script};
pub use basis::{Basis, Part, is_source, may_configure};
pub use checks::{Check, Runner};
pub use lint::ScriptLint;
pub use packages::Python;
pub(crate) use shell::{Word, read as read_shell};
