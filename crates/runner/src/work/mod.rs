//! Where agents work beside the project: *slots*, linked work trees that are reused from task to task, and the *landing
//! tree*, in which no agent ever works. They lie outside the project, because tools look into parent folders for
//! dependencies and would test the project's files there.
//!
//! Who works in which slot, and what becomes of it, is left to others.

#![cfg_attr(not(test), expect(dead_code, unused_imports, reason = "the driver takes these up"))]

mod environment;
mod setup;
mod slots;
mod unready;

pub(crate) use environment::{environment, relocated};
pub(crate) use setup::SetUpRunner;
pub(crate) use slots::Slots;
pub use slots::Worktrees;
pub(crate) use unready::Unready;
