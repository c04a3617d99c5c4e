//! References that keep work, and whether linked working trees can be used at all.

pub(super) mod keep;
pub(super) mod orphan;
pub(super) mod parallelism;
