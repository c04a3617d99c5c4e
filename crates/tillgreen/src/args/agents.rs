//! Arguments of `agents`.

use clap::{Args, Subcommand};
use rehearsal::Part;

/// Arguments of `agents`.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
}

/// Commands for agents besides listing them.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// Put an agent to the test: success, failure, hang, flood and cancellation
    ///
    /// Runs it in scratch repositories with a fresh home, a cleared environment and made-up keys, against a
    /// scripted model on this machine, and prints a scorecard. Costs no tokens and asks nobody else. Exit code 0
    /// if every part is passed, 1 if not.
    Test(TestArgs),
}

/// Arguments of `agents test`.
#[derive(Debug, Args)]
#[command(after_long_help = notes())]
pub(crate) struct TestArgs {
    /// An agent in tillgreen.toml, or a known one
    #[arg(required_unless_present = "agent_cmd", conflicts_with = "agent_cmd")]
    pub(crate) name: Option<String>,
    /// A command under development; words in it that name files here are made absolute
    #[arg(long, value_name = "COMMAND")]
    pub(crate) agent_cmd: Option<String>,
    /// Only these parts, separated by commas
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = part)]
    pub(crate) only: Vec<Part>,
}

fn part(word: &str) -> Result<Part, String> {
    let names: Vec<&str> = Part::ALL.iter().map(|part| part.name()).collect();
    let found = Part::ALL.into_iter().find(|part| part.name() == word);
    found.ok_or_else(|| format!("there are the parts {}", names.join(", ")))
}

/// Notes on what a command without a model has to do.
fn notes() -> String {
    let parts: Vec<String> =
        Part::ALL.iter().map(|part| format!("  {:8} {}", part.name(), part.wanted())).collect();
    format!(
        "An agent that talks to a model is told what to do by the scripted one. A command without a model finds the \
         part in the variable TILLGREEN_REHEARSAL and in its prompt, and passes if it does this:\n{}\n\n\
         Examples:\n  tillgreen agents test claude\n  tillgreen agents test --agent-cmd './my-agent.sh' --only \
         success,cancel",
        parts.join("\n")
    )
}
