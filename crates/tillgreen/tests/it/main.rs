//! The real program in scratch repositories, with scripted agents.

mod bad_input;
mod bookkeeping;
mod commands;
mod hand_edits;
mod hostile_agents;
mod interruption;
mod recovery;
mod resuming;
mod retrying;
mod tidy;
mod verification;
