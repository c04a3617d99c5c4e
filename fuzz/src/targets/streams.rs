//! Streams of agents: whatever they print, a run goes on, and only a success of theirs is one.

use engine::AgentEnd;
use runner::{Agent, AgentKind, StreamFormat, replay, transcript};

use super::expect_harmless;

/// An output of an agent, and after a NUL what it complains of; its length says of which, so that each is read once. A
/// recorded exchange has marks before its lines, of which those of the agent count.
pub(super) fn streams(data: &[u8]) {
    let mut parts = data.splitn(2, |byte| *byte == 0);
    let mut part = || parts.next().unwrap_or_default();
    let (stdout, stderr) = (part(), part());
    let heard: Vec<&[u8]> =
        stdout.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"< ")).collect();
    let heard = heard.join(&b'\n');
    let mut kinds = Vec::from(kinds());
    let agent = Agent::new("agent", kinds.swap_remove(data.len() % kinds.len()), "agent");
    let printed = if heard.is_empty() { stdout } else { &heard };
    expect_end(&replay(&agent, [printed, stderr], 0));
    let failed = replay(&agent, [printed, stderr], 1);
    assert!(!matches!(failed, AgentEnd::Answered { .. }), "{agent:?} failed: {failed:?}");
    expect_end(&failed);
    drop(transcript(&agent.kind, &String::from_utf8_lossy(printed)));
}

fn kinds() -> [AgentKind; 9] {
    let format = StreamFormat {
        done: "type=result".to_owned(),
        success: Some("is_error=false".to_owned()),
        text: "result.text".to_owned(),
        error: Some("error.message".to_owned()),
        session: Some("session_id".to_owned()),
        input_tokens: Some("usage.input_tokens".to_owned()),
        cached_tokens: Some("usage.cached".to_owned()),
        output_tokens: Some("usage.output_tokens".to_owned()),
        cost: Some("total_cost_usd".to_owned()),
    };
    [
        AgentKind::Claude,
        AgentKind::Codex,
        AgentKind::Gemini,
        AgentKind::Opencode,
        AgentKind::Aider,
        AgentKind::Pi,
        AgentKind::Acp,
        AgentKind::Stream(Box::new(format)),
        AgentKind::Command,
    ]
}

/// Expects that nothing but harmless text comes out of an agent.
fn expect_end(end: &AgentEnd) {
    let texts: [&str; 2] = match end {
        AgentEnd::Answered { tail, .. } | AgentEnd::Exited { tail, .. } => [tail, ""],
        AgentEnd::TimedOut { limit, tail } => [limit, tail],
        AgentEnd::GaveUp { reason, tail } => [reason, tail],
        AgentEnd::PermissionDenied { text } => [text, ""],
        AgentEnd::Unavailable { reason, .. } | AgentEnd::OutOfReach { reason, .. } => [reason, ""],
    };
    texts.into_iter().for_each(expect_harmless);
}
