//! The reader of an agent's output, whichever agent it is: its activity while it works, and afterwards its doings and
//! its final message for people, who do not read JSON.

use engine::{Session, Usage};

use crate::agent::acp::Dialogue;
use crate::agent::ending::Outcome;
use crate::agent::kind::AgentKind;
use crate::agent::line::Line;
use crate::agent::{aider, claude, codex, command, gemini, opencode, pi, stream, trouble};
use crate::mask::mask;

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

    /// Whether each line of its output should be JSON.
    pub(crate) fn speaks_json(&self) -> bool {
        !matches!(self, Self::Aider(_) | Self::Command)
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

    /// True if the agent has said that it is through; its usage is told with its end then.
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

    /// The outcome, given the exit code, if there is one, and standard error.
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
        trouble::explained(outcome, code, stderr)
    }
}

/// Something that an agent did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It said something.
    Said(String),
    /// It began to use a tool.
    ToolStarted {
        /// The tool.
        name: String,
        /// The subject: a command, a file.
        subject: String,
    },
    /// It is through with a tool.
    ToolEnded,
    /// The model's service did not answer as it should, and the agent tries again.
    Retrying {
        /// The reason, in its words.
        reason: String,
    },
    /// The usage so far.
    Used(Usage),
}

/// An agent's doings and its final message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// Its doings, in order.
    pub activities: Vec<Activity>,
    /// Its final message; empty while it is at work.
    pub message: String,
}

/// Reads the log of an agent's standard output; none where it is text anyway, or nothing in it is understood. The middle
/// of a long one may be missing.
pub fn transcript(kind: &AgentKind, log: &str) -> Option<Transcript> {
    match kind {
        AgentKind::Claude
        | AgentKind::Codex
        | AgentKind::Gemini
        | AgentKind::Opencode
        | AgentKind::Pi
        | AgentKind::Stream(_) => {}
        AgentKind::Aider | AgentKind::Acp | AgentKind::Command => return None,
    }
    let mut reader = Reader::new(kind, None);
    let mut activities = Vec::new();
    log.lines().for_each(|line| reader.line(Line::Whole(line), &mut activities));
    activities.retain(|activity| !matches!(activity, Activity::ToolEnded | Activity::Used(_)));
    let message = mask(&plan::harmless_lines(&reader.end(None, "").message));
    let is_understood = !activities.is_empty() || !message.trim().is_empty();
    is_understood.then_some(Transcript { activities, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"type":"assistant","message":{"id":"1","content":[{"type":"text","text":"I look first"}]}}
{"type":"assistant","message":{"id":"2","content":[{"type":"tool_use","name":"Bash","input":{"command":"npm test"}}]}}
not JSON
{"type":"result","subtype":"success","is_error":false,"result":"Done.\nTASK_COMPLETE"}
"#;

    #[test]
    fn json_becomes_what_it_tells() {
        let read = transcript(&AgentKind::Claude, LOG).unwrap();
        let tool = Activity::ToolStarted { name: "Bash".to_owned(), subject: "npm test".to_owned() };
        assert_eq!(read.activities, [Activity::Said("I look first".to_owned()), tool]);
        assert_eq!(read.message, "Done.\nTASK_COMPLETE");
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(transcript(&AgentKind::Claude, "not JSON\n"), None);
        assert_eq!(transcript(&AgentKind::Command, LOG), None);
    }
}
