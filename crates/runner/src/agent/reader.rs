//! What is read of an agent's output, whichever agent it is.

use engine::Session;

use super::acp::Dialogue;
use super::activity::Activity;
use super::kind::AgentKind;
use super::line::Line;
use super::outcome::Outcome;
use super::{aider, claude, codex, command, false_start, gemini, opencode, pi, stream};

/// The output of one agent, as far as it was read.
#[derive(Debug)]
pub(crate) enum Reader {
    Claude(claude::Reader),
    Codex(codex::Reader),
    Gemini(gemini::Reader),
    Opencode(opencode::Reader),
    Aider(aider::Reader),
    Pi(pi::Reader),
    Stream(stream::Reader),
    Acp(Box<Dialogue>),
    Command,
}

impl Reader {
    /// For an agent that speaks of its own accord; one that has to be spoken to has a dialogue.
    pub(crate) fn new(kind: &AgentKind, resume: Option<&Session>) -> Self {
        match kind {
            AgentKind::Claude => Self::Claude(claude::Reader::resuming(resume)),
            AgentKind::Codex => Self::Codex(codex::Reader::resuming(resume)),
            AgentKind::Gemini => Self::Gemini(gemini::Reader::resuming(resume)),
            AgentKind::Opencode => Self::Opencode(opencode::Reader::default()),
            AgentKind::Aider => Self::Aider(aider::Reader::default()),
            AgentKind::Pi => Self::Pi(pi::Reader::default()),
            AgentKind::Stream(format) => Self::Stream(stream::Reader::new(format.as_ref().clone())),
            AgentKind::Acp | AgentKind::Command => Self::Command,
        }
    }

    /// Takes in a line of standard output.
    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        match self {
            Self::Claude(reader) => reader.line(line, activities),
            Self::Codex(reader) => reader.line(line, activities),
            Self::Gemini(reader) => reader.line(line, activities),
            Self::Opencode(reader) => reader.line(line, activities),
            Self::Aider(reader) => reader.line(line, activities),
            Self::Pi(reader) => reader.line(line, activities),
            Self::Stream(reader) => reader.line(line, activities),
            Self::Acp(dialogue) => dialogue.line(line, activities),
            Self::Command => {}
        }
    }

    /// Whether the agent has said that it is through; what it used is told with its end then.
    pub(crate) fn is_through(&self) -> bool {
        match self {
            Self::Claude(reader) => reader.is_through(),
            Self::Codex(reader) => reader.is_through(),
            Self::Gemini(reader) => reader.is_through(),
            Self::Opencode(reader) => reader.is_through(),
            Self::Aider(reader) => reader.is_through(),
            Self::Pi(reader) => reader.is_through(),
            Self::Stream(reader) => reader.is_through(),
            Self::Acp(dialogue) => dialogue.is_over(),
            Self::Command => false,
        }
    }

    /// What it all amounts to, given the exit code, if there is one, and what stands on standard error.
    pub(crate) fn end(self, code: Option<i32>, stderr: &str) -> Outcome {
        let outcome = match self {
            Self::Claude(reader) => reader.end(),
            Self::Codex(reader) => reader.end(stderr),
            Self::Gemini(reader) => reader.end(code, stderr),
            Self::Opencode(reader) => reader.end(stderr),
            Self::Aider(reader) => reader.end(),
            Self::Pi(reader) => reader.end(stderr),
            Self::Stream(reader) => reader.end(),
            Self::Acp(dialogue) => dialogue.end(),
            Self::Command => command::end(),
        };
        false_start::explained(outcome, code, stderr)
    }
}
