//! Troubles of agents, told in words that they used when it was tried.

use std::time::Duration;

use engine::{AgentEnd, Lasting};

use crate::agent::agent_end;
use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::kind::AgentKind;
use crate::agent::line::Line;
use crate::agent::reader::Reader;
use crate::agent::trouble::TroubleKind;
use crate::process::{Ended, Exit, Kept};

use crate::agent::tests::recordings::words;

fn end(kind: &AgentKind, lines: &[&str], stderr: &str) -> AgentEnd {
    let mut reader = Reader::new(kind, None);
    lines.iter().for_each(|line| reader.line(Line::Whole(line), &mut Vec::new()));
    let outcome = reader.end(Some(1), stderr);
    let ended = Ended {
        exit: Exit::Code(1),
        stdout: Kept::default(),
        stderr: Kept::default(),
        elapsed: Duration::ZERO,
        limit: Duration::ZERO,
    };
    agent_end(&ended, &outcome, words("prompt"))
}

#[test]
fn codex_without_its_key_is_not_authenticated() {
    let failed =
        r#"{"type":"turn.failed","error":{"message":"Missing environment variable: `OPENAI_API_KEY`."}}"#;
    let end = end(&AgentKind::Codex, &[r#"{"type":"turn.started"}"#, failed], "");
    let AgentEnd::OutOfReach { lasting: Lasting::Authentication, reason, .. } = end else {
        panic!("{end:?}")
    };
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

fn limited(text: &str) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"{text}"}}"#
    )
}

#[test]
fn a_subscription_s_limit_is_a_quota_that_may_come_back() {
    let asked = r#"{"type":"assistant","error":"rate_limit","message":{"content":[]}}"#;
    let session = limited("You've hit your session limit · resets 3pm");
    let reached = end(&AgentKind::Claude, &[asked, &session], "");
    let AgentEnd::OutOfReach { lasting: Lasting::Quota, retry_after, .. } = reached else {
        panic!("{reached:?}")
    };
    assert_eq!(retry_after, None, "it is not known in which zone that is");
    let soon = jiff::Timestamp::now().as_second() + 3_600;
    let event = |status: &str| {
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":{soon}}}}}"#
        )
    };
    let told = limited(&format!("Claude AI usage limit reached|{soon}"));
    for lines in [[event("allowed"), told], [event("rejected"), limited("no")]] {
        let end = end(&AgentKind::Claude, &[&lines[0], &lines[1]], "");
        let AgentEnd::OutOfReach { lasting: Lasting::Quota, retry_after, .. } = end else {
            panic!("{end:?}")
        };
        assert!(retry_after.is_some_and(|wait| wait > Duration::from_secs(3_000)), "{retry_after:?}");
    }
    let warned = end(&AgentKind::Claude, &[&event("allowed_warning"), &limited("slow down")], "");
    assert!(matches!(warned, AgentEnd::Unavailable { .. }), "{warned:?}");
}

#[test]
fn gemini_without_a_quota_for_the_day_is_told_from_one_that_is_too_fast() {
    let result = |kind: &str, message: &str| {
        format!(
            r#"{{"type":"result","status":"error","error":{{"type":"{kind}","message":"{message}"}},"stats":{{}}}}"#
        )
    };
    let ended = |line: &str| {
        let mut reader = Reader::new(&AgentKind::Gemini, None);
        reader.line(Line::Whole(line), &mut Vec::new());
        // That is 429 modulo 256.
        reader.end(Some(173), "").conclusion
    };
    let kind = |line: &str| {
        let conclusion = ended(line);
        let Conclusion::Trouble(trouble) = conclusion else { panic!("{conclusion:?}") };
        trouble.kind
    };
    assert_eq!(kind(&result("TerminalQuotaError", "capacity is exhausted")), TroubleKind::Quota);
    let daily = "You have exhausted your daily quota on this model.";
    assert_eq!(kind(&result("Error", daily)), TroubleKind::Quota);
    assert_eq!(kind(&result("Error", "Quota exceeded for requests per minute")), TroubleKind::RateLimit);
}

#[test]
fn who_never_began_says_why_on_standard_error() {
    let lasting = |kind: &AgentKind, stderr: &str| {
        let end = end(kind, &[], stderr);
        let AgentEnd::OutOfReach { lasting, reason, .. } = end else { panic!("{stderr}: {end:?}") };
        (lasting, reason)
    };
    let pi = "\nNo API key found for the selected model.\n\nUse /login to log in.\n";
    assert_eq!(
        lasting(&AgentKind::Pi, pi),
        (Lasting::Authentication, "not authenticated: No API key found for the selected model.".to_owned())
    );
    let claude = "Invalid API key · Please run /login\n";
    assert_eq!(lasting(&AgentKind::Claude, claude).0, Lasting::Authentication);
    let codex = "Not logged in. Please run codex login";
    assert_eq!(lasting(&AgentKind::Codex, codex).0, Lasting::Authentication);
    for option in ["error: unknown option '--tools'", "error: unexpected argument '--json' found\n\nUsage: x"]
    {
        assert_eq!(lasting(&AgentKind::Claude, option).0, Lasting::Misuse, "{option}");
    }
}

#[test]
fn what_stands_on_standard_error_of_one_that_had_begun_is_not_read() {
    let begun = r#"{"type":"item.completed","item":{"type":"agent_message","text":"I look at the API key"}}"#;
    let cut = end(&AgentKind::Codex, &[begun], "Invalid API key");
    assert!(matches!(cut, AgentEnd::Unavailable { .. }), "{cut:?}");
    let crashed = end(&AgentKind::Codex, &[], "Warning: no API key\nthread 'main' panicked");
    assert!(matches!(crashed, AgentEnd::Unavailable { .. }), "{crashed:?}");
}

#[test]
fn a_time_limit_is_told_as_it_was_set() {
    let ended = Ended {
        exit: Exit::DeadlinePassed,
        stdout: Kept::default(),
        stderr: Kept::default(),
        elapsed: Duration::from_secs(7),
        limit: Duration::from_secs(2),
    };
    let end = agent_end(&ended, &Outcome::default(), words("prompt"));
    let AgentEnd::TimedOut { limit, .. } = end else { panic!("{end:?}") };
    assert_eq!(limit, "no end within 2 s");
}
