//! Recorded exchanges of the Agent Client Protocol: what the agent said is said again, what the client said is ours.

use serde_json::Value;

use crate::agent::acp::{Dialogue, SessionRequest};
use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, Permission};
use crate::agent::line::Line;
use crate::agent::tests::recordings::{Ending, ending, read};

fn session_request(permission: Permission) -> SessionRequest {
    SessionRequest {
        prompt: "write a file and run a command".to_owned(),
        cwd: "/sandbox".into(),
        resume: None,
        permission,
        duty: Duty::Work,
        model: None,
        mcp: None,
    }
}

/// Says to a dialogue what the agent said in a recording, and returns what was answered.
fn exchange(dialogue: &mut Dialogue, recording: &str) -> Vec<Value> {
    let mut sent = Vec::new();
    let mut collect = |dialogue: &mut Dialogue| {
        let text = dialogue.take_outbox();
        sent.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("we send JSON")));
    };
    collect(dialogue);
    for line in recording.lines().filter_map(|line| line.strip_prefix("< ")) {
        dialogue.line(Line::Whole(line), &mut Vec::new());
        collect(dialogue);
    }
    sent
}

fn replay(name: &str, permission: Permission) -> Option<(Outcome, Vec<Value>)> {
    let text = read(name)?;
    let mut dialogue = Dialogue::new(session_request(permission));
    let sent = exchange(&mut dialogue, &text);
    Some((dialogue.end(), sent))
}

const RECORDINGS: &[(&str, Permission, Ending)] = &[
    ("acp-claude-agent-success.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-claude-agent-0.99-success.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-claude-agent-reject.jsonl", Permission::ReadOnly, Ending::Denied),
    ("acp-claude-agent-error-400.jsonl", Permission::Workspace, Ending::GaveUp),
    ("acp-claude-agent-error-529.jsonl", Permission::Workspace, Ending::Away),
    ("acp-claude-agent-stop-max_tokens.jsonl", Permission::Workspace, Ending::GaveUp),
    ("acp-claude-agent-stop-refusal.jsonl", Permission::Workspace, Ending::GaveUp),
    ("acp-claude-agent-cancel-model.jsonl", Permission::Workspace, Ending::Away),
    ("acp-claude-agent-cancel-tool.jsonl", Permission::Workspace, Ending::Away),
    ("acp-claude-zed-success.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-codex-acp2.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-codex-success.jsonl", Permission::Full, Ending::Answered),
    ("acp-codex-permission.jsonl", Permission::ReadOnly, Ending::Denied),
    ("acp-codex-error-400.jsonl", Permission::ReadOnly, Ending::GaveUp),
    ("acp-codex-error-529.jsonl", Permission::ReadOnly, Ending::Away),
    ("acp-gemini-success.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-gemini-reject.jsonl", Permission::ReadOnly, Ending::Denied),
    ("acp-gemini-error-400.jsonl", Permission::Workspace, Ending::GaveUp),
    ("acp-gemini-error-529.jsonl", Permission::Workspace, Ending::Away),
    ("acp-gemini-cancel-model.jsonl", Permission::Workspace, Ending::Away),
    ("acp-gemini-cancel-tool.jsonl", Permission::Workspace, Ending::Away),
    ("acp-gemini-stop-max_tokens.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-gemini-stop-refusal.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-opencode-success.jsonl", Permission::Workspace, Ending::Answered),
    ("acp-opencode-reject.jsonl", Permission::ReadOnly, Ending::Denied),
    ("acp-opencode-error-400.jsonl", Permission::Workspace, Ending::GaveUp),
    ("acp-opencode-error-529.jsonl", Permission::Workspace, Ending::Away),
    ("acp-opencode-cancel-model.jsonl", Permission::Workspace, Ending::Away),
    ("acp-opencode-cancel-tool.jsonl", Permission::Workspace, Ending::Away),
];

#[test]
fn every_exchange_ends_as_it_did() {
    for (name, permission, expected) in RECORDINGS {
        let Some((outcome, sent)) = replay(name, *permission) else { return };
        let (found, end) = ending(&outcome, 0);
        assert_eq!(found, *expected, "{name}: {end:?}");
        let methods: Vec<&str> = sent.iter().filter_map(|message| message.get("method")?.as_str()).collect();
        assert_eq!(methods[..2], ["initialize", "session/new"], "{name}");
        assert!(methods.contains(&"session/prompt"), "{name}: {methods:?}");
    }
}

#[test]
fn no_exchange_that_is_cut_off_is_a_success() {
    for (name, permission, _) in RECORDINGS {
        let Some(text) = read(name) else { return };
        let lines: Vec<&str> = text.lines().collect();
        let last = lines.iter().rposition(|line| line.contains("stopReason"));
        for end in 0..last.unwrap_or(lines.len()) {
            let mut dialogue = Dialogue::new(session_request(*permission));
            exchange(&mut dialogue, &lines[..end].join("\n"));
            let outcome = dialogue.end();
            assert_ne!(outcome.conclusion, Conclusion::Finished, "{name} cut after {end} lines");
        }
    }
}

#[test]
fn messages_sessions_and_usage() {
    let done = "All done: hello.txt was written and the command ran.";
    let cases = [
        ("acp-claude-agent-success.jsonl", [Some(3_300), Some(500), Some(92), Some(19_050)]),
        ("acp-gemini-success.jsonl", [Some(3_300), None, Some(92), None]),
        ("acp-opencode-success.jsonl", [None, None, None, Some(9_780)]),
        ("acp-codex-acp2.jsonl", [Some(2_800), Some(500), Some(92), None]),
    ];
    for (name, expected) in cases {
        let Some((outcome, _)) = replay(name, Permission::Workspace) else { return };
        assert_eq!(outcome.message, done, "{name}");
        assert!(outcome.session.is_some(), "{name}");
        let usage = outcome.usage;
        assert_eq!([usage.input, usage.cached, usage.output, usage.cost_micros], expected, "{name}");
    }
}

#[test]
fn permission_is_answered_by_kind_and_other_requests_are_declined() {
    let Some((_, sent)) = replay("acp-gemini-success.jsonl", Permission::Workspace) else { return };
    let options: Vec<&str> =
        sent.iter().filter_map(|message| message.pointer("/result/outcome/optionId")?.as_str()).collect();
    assert!(!options.is_empty() && options.iter().all(|option| *option == "proceed_once"), "{options:?}");
    let Some((_, sent)) = replay("acp-opencode-success.jsonl", Permission::Workspace) else { return };
    let declined =
        sent.iter().filter(|message| message.pointer("/error/code") == Some(&Value::from(-32_601)));
    assert!(declined.count() > 0, "it asks to write a file though nobody said that it could");
}

fn resuming(id: &str) -> SessionRequest {
    let session = engine::Session { id: id.to_owned(), total: engine::Usage::default() };
    SessionRequest { resume: Some(session), ..session_request(Permission::Workspace) }
}

#[test]
fn a_session_is_taken_up_again_where_that_is_safe() {
    let Some(text) = read("acp-claude-agent-resume.jsonl") else { return };
    let mut dialogue = Dialogue::new(resuming("0cfcc18f-3a67-4c84-9da9-75ed6bd05ee3"));
    let sent = exchange(&mut dialogue, &text);
    assert_eq!(sent[1]["method"], "session/resume");
    let outcome = dialogue.end();
    assert_eq!((outcome.message.as_str(), &outcome.conclusion), ("It was BANANA.", &Conclusion::Finished));

    let Some(text) = read("acp-gemini-load.jsonl") else { return };
    let mut dialogue = Dialogue::new(resuming("e8475a2a-1c48-410a-9ee9-52feca63c967"));
    exchange(&mut dialogue, &text);
    assert!(dialogue.is_over(), "its history would be taken for its answer");
    let (found, _) = ending(&dialogue.end(), 0);
    assert_eq!(found, Ending::Away);
}

#[test]
fn cancelling_is_asked_for_in_its_own_language() {
    let Some(text) = read("acp-claude-agent-cancel-model.jsonl") else { return };
    let mut dialogue = Dialogue::new(session_request(Permission::Workspace));
    let before: Vec<&str> = text.lines().filter(|line| !line.contains("cancelled")).collect();
    exchange(&mut dialogue, &before.join("\n"));
    dialogue.cancel();
    let cancel: Value = serde_json::from_str(&dialogue.take_outbox()).expect("we send JSON");
    assert_eq!(cancel["method"], "session/cancel");
    assert!(!dialogue.is_over(), "the answer is waited for");
    let mut early = Dialogue::new(session_request(Permission::Workspace));
    early.cancel();
    assert!(early.is_over(), "there is nothing to cancel");
}

#[test]
fn an_agent_that_asks_without_reading_gets_no_endless_answers() {
    let mut dialogue = Dialogue::new(session_request(Permission::Workspace));
    for id in 0..100_000 {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"fs/read_text_file","params":{{}}}}"#);
        dialogue.line(Line::Whole(&line), &mut Vec::new());
    }
    assert!(dialogue.take_outbox().len() < 2 * 1024 * 1024);
}
