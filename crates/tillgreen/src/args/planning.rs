//! Arguments of `plan`.

use std::time::Duration;

use clap::Args;

use crate::settings::{SettingsLayer, limit, nonblank, parse_dollars, parse_duration, parse_tokens};

const AGENT: &str = "Agent";

/// Arguments of `plan`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tillgreen plan [OPTIONS] GOAL…\n       tillgreen plan [OPTIONS] --verify [PLAN]",
    after_help = "Other settings are those of tillgreen.toml, as for a run. Exit code 3 if what is proposed waits to be accepted.

Examples:
  tillgreen plan add rate limiting to the public API
  tillgreen plan --name limits \"$(cat ideas/limits.md)\"
  tillgreen plan --verify auth              commands for tasks of a plan that have none
  tillgreen plan --verify auth --accept     take what is proposed without being asked"
)]
pub(crate) struct PlanningArgs {
    /// What is to be reached; with --verify, a plan [default: the active spec]
    #[arg(value_name = "GOAL|PLAN")]
    pub(crate) words: Vec<String>,
    /// Propose commands for the tasks of a plan that have none
    #[arg(long, conflicts_with = "name")]
    pub(crate) verify: bool,
    /// The new spec's name: its folder under specs/ [default: made from the goal]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Take what is proposed without being asked
    #[arg(long, visible_alias = "yes")]
    pub(crate) accept: bool,
    /// Drop what was begun or proposed before, and begin anew
    #[arg(long)]
    pub(crate) fresh: bool,
    /// The agent that plans, as in `tillgreen agents` [default: that of a run]
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "NAME", conflicts_with = "agent_cmd")]
    agent: Option<String>,
    /// Any command that reads a prompt on standard input, as the agent
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "COMMAND")]
    agent_cmd: Option<String>,
    /// The model that it is to use
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "MODEL")]
    model: Option<String>,
    /// Attempts, the first included [default: 5]
    #[arg(long, help_heading = AGENT, value_parser = limit, value_name = "N")]
    max_task_iterations: Option<u32>,
    /// How long an attempt may take [default: 30m]
    #[arg(long, help_heading = AGENT, value_parser = parse_duration, value_name = "DUR")]
    attempt_timeout: Option<Duration>,
    /// What it may cost, as far as agents tell [default: no limit]
    #[arg(long, help_heading = AGENT, value_parser = parse_dollars, value_name = "USD")]
    max_cost: Option<u64>,
    /// How many tokens it may use, as far as agents tell [default: no limit]
    #[arg(long, help_heading = AGENT, value_parser = parse_tokens, value_name = "N")]
    max_tokens: Option<u64>,
}

impl PlanningArgs {
    /// The settings that are said here.
    pub(crate) fn layer(&self) -> SettingsLayer {
        SettingsLayer {
            agent: self.agent.clone(),
            agent_cmd: self.agent_cmd.clone(),
            model: self.model.clone(),
            max_task_iterations: self.max_task_iterations,
            attempt_timeout: self.attempt_timeout,
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
            ..SettingsLayer::default()
        }
    }
}
