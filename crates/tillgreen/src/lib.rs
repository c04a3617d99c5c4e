//! Takes a plan of tasks and does not stop until it is green: the command line.
//!
//! The only crate that prints, and it starts no processes: what touches the world is the runner's. Its door is [`main`];
//! what else is public is what fuzzers get at.

mod answer;
mod args;
mod checkpoint;
mod cli;
mod command;
mod error;
mod exit;
mod explain;
mod inspect;
mod serve;
mod settings;
mod steering;
mod task_argument;
mod view;
mod watch;

pub use cli::main;
pub use settings::settings_problem;
