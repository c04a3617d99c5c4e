//! Runs plans of Tillgreen on many machines: a workflow of Temporal's for each plan decides with the plain program's own
//! engine, and workers have the plain program carry out what is wanted. `tillgreen … --on ADDRESS` starts this program.

mod activities;
mod command;
mod decision;
mod error;
mod git;
mod order;
mod program;
mod seat;
mod server;
mod workflow;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::command::answer::AnswerArgs;
use crate::command::run::RunArgs;
use crate::command::worker::WorkerArgs;
use crate::command::{PlanArgs, answer, cancel, run, status, worker};

/// Runs plans of Tillgreen on many machines. `tillgreen … --on ADDRESS` starts it
#[derive(Debug, Parser)]
#[command(name = "tillgreen-cluster", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Carry out what runs want, until Ctrl-C
    Worker(WorkerArgs),
    /// Begin a run, or follow the one that is under way
    ///
    /// What is committed goes to branch tillgreen/NAME of the remote, where the work comes in. Besides these, the flags of
    /// `tillgreen run` are understood, after the plan.
    Run(RunArgs),
    /// Show where a run stands
    Status(PlanArgs),
    /// Answer the open question of a run
    Answer(AnswerArgs),
    /// End a run, and wait until all that it started is gone
    Cancel(PlanArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse_from(run::sort_flags(std::env::args_os().collect()));
    let done = match arguments.command {
        Command::Worker(arguments) => worker::run(arguments).await,
        Command::Run(arguments) => run::run(arguments).await,
        Command::Status(arguments) => status::run(&arguments).await,
        Command::Answer(arguments) => answer::run(&arguments).await,
        Command::Cancel(arguments) => cancel::run(&arguments).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is_told() {
                eprintln!("{error}");
            }
            ExitCode::from(error.code)
        }
    }
}
