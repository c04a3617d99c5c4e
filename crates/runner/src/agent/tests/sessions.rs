//! Sessions that are taken up again: what is told for all of them becomes what one attempt used.

use engine::{Session, Usage};
use serde_json::{Value, json};

use crate::agent::acp::{Dialogue, SessionRequest};
use crate::agent::ending::Outcome;
use crate::agent::kind::AgentKind;
use crate::agent::launch::{Duty, Permission};
use crate::agent::line::Line;
use crate::agent::reader::Reader;
use crate::agent::tests::recordings::read;

fn play(lines: &[String], resume: Option<&Session>) -> Outcome {
    let mut reader = Reader::new(&AgentKind::Claude, resume);
    lines.iter().for_each(|line| reader.line(Line::Whole(line), &mut Vec::new()));
    reader.end(Some(0), "")
}

/// The last line of claude: what the run used, what it tells for the session, what since the last result.
fn result(run: u64, [session, cost]: [u64; 2], since: Option<u64>) -> String {
    let models = |tokens: u64, cost: u64| json!({ "m": { "inputTokens": tokens, "outputTokens": 0, "costUSD": dollars(cost) } });
    let mut value = json!({
        "type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "done",
        "usage": { "input_tokens": run, "output_tokens": 0 },
        "modelUsage": models(session, cost), "total_cost_usd": dollars(cost),
    });
    if let Some(since) = since {
        value["model_usage_since_last_result"] = models(since, since);
    }
    value.to_string()
}

fn dollars(micros: u64) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let micros = micros as f64;
    json!(micros / 1_000_000.0)
}

fn used(outcome: &Outcome) -> (Option<u64>, Option<u64>) {
    (outcome.usage.input, outcome.usage.cost_micros)
}

#[test]
fn claude_counts_on_and_only_what_is_new_counts() {
    for since in [Some(1_000), None] {
        let first = play(&[result(1_000, [1_000, 1_000], since)], None);
        let second = play(&[result(1_000, [2_000, 2_000], since)], first.session.as_ref());
        let third = play(&[result(1_000, [3_000, 3_000], since)], second.session.as_ref());
        for outcome in [&first, &second, &third] {
            assert_eq!(used(outcome), (Some(1_000), Some(1_000)), "with {since:?}");
        }
    }
}

#[test]
fn claude_that_does_not_count_on_is_not_taken_to() {
    let first = play(&[result(1_000, [1_000, 1_000], None)], None);
    // More than before, yet all of it is this run's.
    let second = play(&[result(4_000, [4_000, 4_000], None)], first.session.as_ref());
    let third = play(&[result(500, [500, 500], None)], second.session.as_ref());
    assert_eq!((used(&second), used(&third)), ((Some(4_000), Some(4_000)), (Some(500), Some(500))));
    let Some((one, two)) = read("claude-resume-1.jsonl").zip(read("claude-resume-2.jsonl")) else { return };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let first = play(&lines(&one), None);
    let second = play(&lines(&two), first.session.as_ref());
    assert_eq!((used(&first), used(&second)), ((Some(100), Some(600)), (Some(100), Some(600))));
}

#[test]
fn an_end_that_was_none_counts_as_well() {
    let goes_on = r#"{"type":"assistant","message":{"content":[]}}"#.to_owned();
    let lines = [result(10, [10, 10], Some(10)), goes_on, result(25, [25, 25], Some(15))];
    assert_eq!(used(&play(&lines, None)), (Some(25), Some(25)));
}

#[test]
fn a_run_that_was_cut_off_leaves_the_figures_of_before() {
    let first = play(&[result(1_000, [1_000, 1_000], None)], None);
    let cut =
        play(&[r#"{"type":"system","subtype":"init","session_id":"s"}"#.to_owned()], first.session.as_ref());
    assert_eq!(cut.session, first.session);
    let third = play(&[result(1_000, [2_000, 2_000], None)], cut.session.as_ref());
    assert_eq!(used(&third), (Some(1_000), Some(1_000)));
}

#[test]
fn a_run_that_came_to_nothing_cost_nothing_and_forgets_nothing() {
    let first = play(&[result(1_000, [1_000, 1_000], Some(1_000))], None);
    let nothing = r#"{"type":"result","subtype":"success","is_error":true,"session_id":"s","result":"no","api_error_status":429,
        "usage":{"input_tokens":0},"modelUsage":{},"total_cost_usd":0,"model_usage_since_last_result":{}}"#;
    let limited = play(&[nothing.replace('\n', "")], first.session.as_ref());
    assert_eq!(used(&limited), (None, Some(0)));
    assert_eq!(limited.session, first.session);
}

/// The cost of an exchange in which the agent tells these costs of its session.
fn acp_cost(before: Option<u64>, told: &[u64]) -> (Option<u64>, Option<u64>) {
    let resume = before.map(|micros| Session {
        id: "s".to_owned(),
        total: Usage { cost_micros: Some(micros), ..Usage::default() },
    });
    let mut dialogue = Dialogue::new(SessionRequest {
        prompt: "do it".to_owned(),
        cwd: "/sandbox".into(),
        resume,
        permission: Permission::Workspace,
        duty: Duty::Work,
        model: None,
        mcp: None,
    });
    let capabilities = json!({ "sessionCapabilities": { "resume": {} } });
    let mut say = |value: Value| dialogue.line(Line::Whole(&value.to_string()), &mut Vec::new());
    say(json!({ "id": 1, "result": { "protocolVersion": 1, "agentCapabilities": capabilities } }));
    say(json!({ "id": 2, "result": { "sessionId": "s" } }));
    for micros in told {
        let update = json!({ "sessionUpdate": "usage_update", "cost": { "amount": dollars(*micros), "currency": "USD" } });
        say(json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } }));
    }
    say(json!({ "id": 3, "result": { "stopReason": "end_turn" } }));
    let outcome = dialogue.end();
    (outcome.usage.cost_micros, outcome.session.and_then(|session| session.total.cost_micros))
}

#[test]
fn a_session_s_cost_over_the_protocol_counts_on() {
    assert_eq!(acp_cost(None, &[5, 8]), (Some(8), Some(8)));
    assert_eq!(acp_cost(Some(8), &[10, 20]), (Some(12), Some(20)));
    assert_eq!(acp_cost(Some(8), &[3, 12]), (Some(12), Some(12)), "it began anew");
    assert_eq!(acp_cost(Some(8), &[]), (None, Some(8)), "what is unknown stays unknown");
}
