//! Recordings of real agents, replayed through their adapters.

mod acp;
mod figures;
mod launches;
mod recordings;
mod sessions;
mod streams;
mod troubles;
