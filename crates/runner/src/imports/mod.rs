//! Plans that come from trackers: their sources are read, made into specs and taken in again, and what is done is written
//! back there.

mod import;
mod known;
mod source;
mod write_back;

pub use import::{Import, ImportError, ImportReport, import};
pub(crate) use write_back::{Closed, WriteBack};
