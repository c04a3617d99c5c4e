//! The scripted model, as real agents see it: each does the same work by its own tools and its own protocol.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic, in its helpers as well")]

mod answering;
mod failing;
mod program;
