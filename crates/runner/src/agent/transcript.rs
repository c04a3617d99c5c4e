//! An agent's doings and its final message, read from the log of its output: for people, who do not read JSON.

use super::activity::Activity;
use super::kind::AgentKind;
use super::line::Line;
use super::reader::Reader;
use crate::mask::mask;

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
    let message = mask(&reader.end(None, "").message);
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
