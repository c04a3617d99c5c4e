//! Looking into what a run keeps of a task: for `show`, and for `watch`.

pub(crate) mod changes;
pub(crate) mod output;
