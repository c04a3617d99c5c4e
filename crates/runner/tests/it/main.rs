//! What the runner does to the world, tested on the world.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic, in its helpers as well")]

mod process;
