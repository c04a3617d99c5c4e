//! The pull request lifecycle in the simulated world.

mod checks;
mod events;
mod forge;
mod killed;
mod merging;
mod random;
mod situations;
mod table;

pub(crate) use forge::{Hub, fine};
