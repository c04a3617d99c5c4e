//! The agents: one file for each that says how it is started, how a line of its output becomes an activity,
//! and how it ends. All of that is pure, so that recordings replay through it.
//!
//! What a final message claims is the engine's business; processes and pipes are `process`'s.

mod acp;
mod activity;
mod aider;
mod claude;
mod codex;
mod command;
mod conversation;
mod ending;
mod false_start;
mod gemini;
mod kind;
mod launch;
mod line;
mod mcp;
mod opencode;
mod outcome;
mod pi;
mod program;
mod reader;
mod stream;
mod transcript;
mod trouble;
mod wait;

#[cfg(test)]
mod tests;

pub use activity::Activity;
pub use kind::{AgentKind, Support};
pub use launch::Permission;
pub use program::{find_program, version_of};
pub use stream::StreamFormat;
pub use transcript::{Transcript, transcript};

pub(crate) use conversation::{Conversation, Told};
pub(crate) use ending::{Words, agent_end};
pub(crate) use launch::{Duty, Input, Order};
pub(crate) use mcp::McpServer;
pub(crate) use outcome::Outcome;
