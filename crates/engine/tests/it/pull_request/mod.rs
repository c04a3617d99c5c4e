//! The pull request lifecycle in the simulated world.

mod events;
mod forge;
mod killed;
mod random;
mod situations;
mod table;

pub(crate) use forge::Hub;
