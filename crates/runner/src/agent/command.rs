//! An agent that is just a command: the prompt comes on standard input, and what it prints is its answer.

use super::launch::{Input, Launch, Order};
use super::outcome::{Conclusion, Outcome};
use crate::settings::Agent;

/// How it is started.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    Launch::shell(&agent.command, Input::Text(agent.with_system_prompt(order.prompt)))
}

/// What it amounts to. What it printed is kept beside, head and tail, as of any process.
pub(crate) fn end() -> Outcome {
    Outcome { conclusion: Conclusion::Plain, ..Outcome::default() }
}
