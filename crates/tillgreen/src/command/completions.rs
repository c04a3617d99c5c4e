//! `tillgreen completions SHELL`.

use clap::CommandFactory;

use crate::args::Arguments;
use crate::cli::{Context, Ended};
use crate::exit;

/// Prints completions for a shell.
pub(crate) fn run(context: &mut Context, shell: clap_complete::Shell) -> Ended {
    // The generator does not pass write errors on, so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "tillgreen", &mut script);
    context.out.write_all(&script)?;
    Ok(exit::DONE)
}
