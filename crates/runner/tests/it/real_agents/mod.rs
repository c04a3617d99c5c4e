//! The scripted model, as real agents see it: each does the same work by its own tools and its own protocol.

mod answering;
mod failing;
mod program;
