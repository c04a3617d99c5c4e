//! The agents: one file for each that says how it is started, how a line of its output becomes an activity,
//! and how it ends. All of that is pure, so that recordings replay through it.
//!
//! What a final message claims is the engine's business; processes and pipes are `process`'s.

mod acp;
mod aider;
mod claude;
mod codex;
mod command;
mod conversation;
mod ending;
mod gemini;
mod kind;
mod launch;
mod line;
mod opencode;
mod pi;
mod reader;
mod stream;
mod trouble;
mod wait;

#[cfg(test)]
mod tests;

pub use conversation::replay;
pub use kind::{AgentKind, Support};
pub use launch::{Permission, find_program, version_of};
pub use reader::{Activity, Transcript, transcript};
pub use stream::StreamFormat;

pub(crate) use conversation::{Conversation, Told};
pub(crate) use ending::{Outcome, Words, agent_end};
pub(crate) use launch::{Duty, Input, McpServer, Order};
