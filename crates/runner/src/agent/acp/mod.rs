//! The Agent Client Protocol over standard input and output: JSON-RPC, one message a line.
//!
//! The program is the client and needs six methods of it, so that they are written out here. What an agent asks for
//! beyond permission is answered by "there is no such method", because the client said that it can do nothing else.

mod dialogue;
mod message;
mod permission;

pub(super) use dialogue::{Dialogue, SessionRequest};

use crate::agent::launch::{Input, Launch};
use crate::settings::Agent;

/// The command that starts it.
pub(super) fn launch(agent: &Agent) -> Launch {
    // One agent uses no tools in a folder that nobody trusted yet; to the others this says nothing.
    Launch::new(&agent.command, agent.args.clone(), Input::Dialogue)
        .with_env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .with_env("GEMINI_CLI_NO_RELAUNCH", "true")
}
