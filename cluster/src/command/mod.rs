//! One file for each command, and what they share: which plan is meant.

pub(crate) mod answer;
pub(crate) mod cancel;
pub(crate) mod run;
pub(crate) mod status;
pub(crate) mod worker;

mod target;

pub(crate) use target::{PlanArgs, Target};
