//! The engine in a simulated world, and tables over its pure functions.

mod batches;
mod beside;
mod claims;
mod contradictions;
mod crash;
mod decisions;
mod explore;
mod feedback;
mod invariants;
mod journal;
mod obstacles;
mod outdated;
mod outputs;
mod people;
mod pull_request;
mod random;
mod scenario;
mod script;
mod slots;
mod spending;
mod steps;
mod transcript;
mod transcripts;
mod transitions;
mod waiting;
mod world;
