//! Looking into what a run keeps of a task: for `show`, `watch`, `serve` and `report`.

pub(crate) mod changes;
pub(crate) mod output;
pub(crate) mod reading;
pub(crate) mod record;
pub(crate) mod runs;
