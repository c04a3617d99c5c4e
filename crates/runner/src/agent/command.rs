//! An agent that is just a command: the prompt comes on standard input, and what it prints is its answer.

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Input, Launch, Order};
use crate::agent::stream::MODEL_VARIABLE;
use crate::settings::Agent;

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let launch = Launch::shell(&agent.command, Input::Text(agent.with_system_prompt(order.prompt)));
    match &agent.model {
        Some(model) => launch.with_env(MODEL_VARIABLE, model),
        None => launch,
    }
}

/// The outcome of its end. What it printed is kept beside, head and tail, as of any process.
pub(crate) fn end() -> Outcome {
    Outcome { conclusion: Conclusion::Plain, ..Outcome::default() }
}
