//! When the loop is told what an agent used.

use std::path::Path;
use std::sync::mpsc;

use crate::agent::kind::AgentKind;
use crate::agent::launch::{Duty, Order};
use crate::agent::{Activity, Conversation, Told};
use crate::process::{Heard, Listener};
use crate::settings::Agent;

/// What the loop is told while an agent says these lines.
fn all_told(kind: AgentKind, lines: &[&str]) -> Vec<Told> {
    let order = Order {
        duty: Duty::Work,
        prompt: "do it",
        cwd: Path::new("/place"),
        dir: Path::new("/dir"),
        resume: None,
        mcp: None,
        budget_micros: None,
    };
    let (sender, receiver) = mpsc::channel();
    let tell = move |told: Told| sender.send(told).expect("it is listened to");
    let mut conversation = Conversation::new(&Agent::new("a", kind, "a"), &order, Box::new(tell));
    for line in lines {
        conversation.hear(Heard::Line(line.as_bytes()));
    }
    receiver.try_iter().collect()
}

/// The tokens that it is told of.
fn told(kind: AgentKind, lines: &[&str]) -> Vec<Option<u64>> {
    all_told(kind, lines).into_iter().filter_map(|told| told.usage).map(|usage| usage.tokens()).collect()
}

#[test]
fn files_are_told_by_their_paths_in_the_place() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"/place/src/a.py"}}]}}"#;
    let told = all_told(AgentKind::Claude, &[line]);
    let expected = Activity::ToolStarted { name: "Read".into(), subject: "src/a.py".into() };
    assert_eq!(told.into_iter().filter_map(|told| told.activity).collect::<Vec<_>>(), [expected]);
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
