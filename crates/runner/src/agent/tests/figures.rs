//! When the loop is told what an agent used.

use std::path::Path;
use std::sync::mpsc;

use crate::agent::kind::AgentKind;
use crate::agent::launch::{Duty, Order};
use crate::agent::{Conversation, Told};
use crate::process::{Heard, Listener};
use crate::settings::Agent;

/// The tokens that the loop is told of while an agent says these lines.
fn told(kind: AgentKind, lines: &[&str]) -> Vec<Option<u64>> {
    let order = Order {
        duty: Duty::Work,
        prompt: "do it",
        cwd: Path::new("/work"),
        dir: Path::new("/dir"),
        resume: None,
        mcp: None,
        budget_micros: None,
    };
    let (sender, receiver) = mpsc::channel();
    let tell = move |told: Told| sender.send(told.usage).expect("it is listened to");
    let mut conversation = Conversation::new(&Agent::new("a", kind, "a"), &order, Box::new(tell));
    for line in lines {
        conversation.hear(Heard::Line(line.as_bytes()));
    }
    receiver.try_iter().flatten().map(|usage| usage.tokens()).collect()
}

#[test]
fn figures_that_come_with_the_end_are_told_with_the_end() {
    let completed = r#"{"type":"turn.completed","usage":{"input_tokens":900,"cached_input_tokens":0,"output_tokens":100}}"#;
    assert!(told(AgentKind::Codex, &[r#"{"type":"turn.started"}"#, completed]).is_empty());
    let result = r#"{"type":"result","status":"success","stats":{"input_tokens":900,"output_tokens":100}}"#;
    assert!(told(AgentKind::Gemini, &[result]).is_empty());
}

#[test]
fn figures_on_the_way_are_told_on_the_way() {
    let step = |reason: &str| {
        format!(
            r#"{{"type":"step_finish","part":{{"reason":"{reason}","tokens":{{"input":5,"output":1}}}}}}"#
        )
    };
    let (tools, stop) = (step("tool-calls"), step("stop"));
    assert_eq!(told(AgentKind::Opencode, &[&tools, &stop]), [Some(6)]);
    let again = r#"{"type":"step_start"}"#;
    assert_eq!(told(AgentKind::Opencode, &[&tools, &stop, again]), [Some(6), Some(12)], "that was no end");
}
