//! What keeps agents from going on, told in words that they used when it was tried.

use std::time::Duration;

use engine::{AgentEnd, Dialect, Lasting};

use crate::agent::agent_end;
use crate::agent::kind::AgentKind;
use crate::agent::line::Line;
use crate::agent::reader::Reader;
use crate::process::{Ended, Exit, Kept};

fn end(kind: &AgentKind, lines: &[&str], stderr: &str) -> AgentEnd {
    let mut reader = Reader::new(kind, None);
    lines.iter().for_each(|line| reader.line(Line::Whole(line), &mut Vec::new()));
    let outcome = reader.end(Some(1), stderr);
    let ended = Ended {
        exit: Exit::Code(1),
        stdout: Kept::default(),
        stderr: Kept::default(),
        elapsed: Duration::ZERO,
    };
    agent_end(&ended, &outcome, "prompt", Dialect::Spec)
}

#[test]
fn codex_without_its_key_is_not_authenticated() {
    let failed =
        r#"{"type":"turn.failed","error":{"message":"Missing environment variable: `OPENAI_API_KEY`."}}"#;
    let end = end(&AgentKind::Codex, &[r#"{"type":"turn.started"}"#, failed], "");
    let AgentEnd::OutOfReach { lasting: Lasting::Authentication, reason } = end else { panic!("{end:?}") };
    assert_eq!(reason, "not authenticated: Missing environment variable: `OPENAI_API_KEY`.");
}

#[test]
fn a_refusal_is_told_from_its_beginning() {
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"stop_reason":"refusal","result":"I cannot help with that.\n\nMessage ID: msg_1"}"#;
    let end = end(&AgentKind::Claude, &[refused], "");
    let AgentEnd::GaveUp { reason, .. } = end else { panic!("{end:?}") };
    assert_eq!(reason, "the model refused: I cannot help with that. Message ID: msg_1");
}

#[test]
fn an_answer_that_was_cut_off_is_said_to_be() {
    let cut = r#"{"type":"result","subtype":"success","is_error":false,"stop_reason":"max_tokens","result":"half an ans"}"#;
    let end = end(&AgentKind::Claude, &[cut], "");
    let AgentEnd::GaveUp { reason, .. } = end else { panic!("{end:?}") };
    assert!(reason.starts_with("the answer was longer than the model may write"), "{reason}");
}

#[test]
fn a_wait_that_the_service_asked_for_is_kept_when_claude_gives_up() {
    let retry = |delay: &str| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","retry_delay_ms":{delay},"error_status":429,"error":"rate_limit"}}"#
        )
    };
    let limited = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"slow down"}"#;
    for (delay, expected) in [("30000", Some(30)), ("615", None), ("38412.7", None), ("90500", Some(90))] {
        let end = end(&AgentKind::Claude, &[&retry(delay), limited], "");
        let AgentEnd::Unavailable { retry_after, .. } = end else { panic!("{end:?}") };
        assert_eq!(retry_after.map(|wait| wait.as_secs()), expected, "for {delay}");
    }
}
