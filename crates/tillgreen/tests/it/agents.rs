//! Agents that speak their own languages, played by scripts: what a run makes of their streams.

use std::path::Path;

use serde_json::Value;
use testkit::{Finished, Sandbox, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Files**: `one.txt`
  - **Verify**: `grep -q one one.txt`
  - **Commit**: `feat: write one`
";

/// The last line of Claude Code when all went well; it cost a cent and used a hundred tokens.
pub(super) const CLAUDE_DONE: &str = r#"printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"Fine.\nTASK_COMPLETE","session_id":"s-1","total_cost_usd":0.01,"modelUsage":{"m":{"inputTokens":60,"outputTokens":40,"cacheReadInputTokens":0,"costUSD":0.01}},"permission_denials":[]}'"#;

/// The last line when the service failed with a status.
fn claude_failed(status: u32, text: &str) -> String {
    format!(
        r#"echo '{{"type":"result","subtype":"success","is_error":true,"api_error_status":{status},"result":"{text}","session_id":"s-1"}}'; exit 1"#
    )
}

pub(super) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    sandbox
}

/// A script that counts its own calls in `$n` and keeps its arguments and its prompt.
pub(super) fn counting(sandbox: &Sandbox, name: &str, body: &str) {
    let log = sandbox.control(name);
    let log = log.display();
    sandbox.install_program(
        name,
        &format!("echo \"$*\" >> '{log}.args'\nn=$(wc -l < '{log}.args')\ncat > '{log}.prompt'\n{body}"),
    );
}

pub(super) fn kept(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.control(name)).unwrap_or_default()
}

pub(super) fn events(finished: &Finished) -> Vec<Value> {
    finished.stdout.lines().map(|line| serde_json::from_str(line).expect("events are JSON")).collect()
}

/// The values of one kind of event.
pub(super) fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter_map(|event| event["what"].get(kind)).collect()
}

#[test]
fn a_whole_run_with_what_it_used() {
    let sandbox = sandbox();
    counting(&sandbox, "claude", &format!("echo one > one.txt\n{CLAUDE_DONE}"));
    let finished = sandbox.run(&["run", "--model", "m-7"]).expect_code(0);
    assert!(finished.stderr.contains("Agent: claude (claude), model m-7: may edit files"), "{finished}");
    assert!(finished.stdout.contains("Used:      100 tokens (60 in, 0 cached, 40 out), $0.01"), "{finished}");
    let args = kept(&sandbox, "claude.args");
    assert!(args.contains("-p --output-format stream-json") && args.contains("--model m-7"), "{args}");
    let stats = sandbox.run(&["stats", "--format", "json"]).expect_code(0);
    let stats: Value = serde_json::from_str(&stats.stdout).unwrap();
    let text = stats.to_string();
    assert!(text.contains(r#""tokens":100,"cost_usd":0.01"#), "{text}");
}

#[test]
fn a_stream_without_its_end_is_no_success_whatever_the_exit_code() {
    let sandbox = sandbox();
    let said =
        r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"TASK_COMPLETE"}]}}"#;
    counting(&sandbox, "claude", &format!("echo one > one.txt\necho '{said}'"));
    let finished = sandbox.run(&["run", "--infra-retries", "1", "--format", "json"]).expect_code(6);
    let away = events(&finished);
    let away = of_kind(&away, "agent_unavailable");
    assert_eq!(away.len(), 1, "{finished}");
    assert!(away[0]["reason"].as_str().unwrap().contains("without its final event"), "{finished}");
    assert!(sandbox.tasks("demo").contains("- [ ] 1.1"));
}

#[test]
fn output_that_is_no_json_is_named() {
    let sandbox = sandbox();
    let agent = "[agents.mine]\nkind = \"stream\"\ncommand = \"cat >/dev/null; echo; echo All done\"\n";
    sandbox.write("tillgreen.toml", format!("{agent}done = \"type=result\"\ntext = \"result\"\n"));
    let finished = sandbox.run(&["run", "--infra-retries", "1"]).expect_code(6);
    let reason = "its final event (exit code 0); a line of its output is not JSON: `All done`\n";
    assert!(finished.stderr.contains(reason), "{finished}");
    assert!(!finished.stderr.contains("next try"), "{finished}");
}

#[test]
fn a_rate_limit_waits_as_long_as_it_is_told_and_costs_no_attempt() {
    let sandbox = sandbox();
    let limited = claude_failed(429, "slow down, try again in 10ms");
    counting(
        &sandbox,
        "claude",
        &format!("if [ $n -lt 3 ]; then {limited}; fi\necho one > one.txt\n{CLAUDE_DONE}"),
    );
    let finished = sandbox.run(&["run", "--format", "json"]).expect_code(0);
    let events = events(&finished);
    assert_eq!(of_kind(&events, "agent_unavailable").len(), 2, "{finished}");
    assert!(of_kind(&events, "attempt_failed").is_empty());
}

#[test]
fn a_refusal_is_a_failure_of_the_attempt() {
    let sandbox = sandbox();
    let refused = r#"echo '{"type":"result","subtype":"success","is_error":true,"stop_reason":"refusal","result":"no","session_id":"s"}'; exit 1"#;
    counting(&sandbox, "claude", refused);
    let finished = sandbox.run(&["run", "--max-task-iterations", "2", "--format", "json"]).expect_code(1);
    let events = events(&finished);
    let failed = of_kind(&events, "attempt_failed");
    assert_eq!(failed.len(), 2);
    assert!(failed[0]["failure"]["error"].as_str().unwrap().contains("the model refused"), "{finished}");
}

#[test]
fn without_quota_the_next_agent_takes_over() {
    let sandbox = sandbox();
    counting(&sandbox, "claude", &claude_failed(400, "Credit balance is too low"));
    let done = r#"echo '{"type":"thread.started","thread_id":"t"}'; echo '{"type":"item.completed","item":{"type":"agent_message","text":"TASK_COMPLETE"}}'; echo '{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":2}}'"#;
    counting(&sandbox, "codex", &format!("echo one > one.txt\n{done}"));
    let alone = sandbox.run(&["run", "--agent", "claude"]).expect_code(6);
    assert!(alone.stderr.contains("out of quota: Credit balance is too low"), "{alone}");
    let arguments = ["run", "--agent", "claude", "--fallback", "codex", "--format", "json"];
    let finished = sandbox.run(&arguments).expect_code(0);
    let events = events(&finished);
    let dropped = of_kind(&events, "agent_dropped");
    assert_eq!((dropped.len(), &dropped[0]["agent"]), (1, &Value::from("claude")), "{finished}");
    let spent = of_kind(&events, "spent");
    assert_eq!(spent.last().unwrap()["agent"], "codex", "{finished}");
}

#[test]
fn a_budget_ends_the_run_before_the_next_start() {
    let sandbox = sandbox();
    counting(&sandbox, "claude", CLAUDE_DONE);
    let finished = sandbox.run(&["run", "--max-cost", "0.02"]).expect_code(5);
    assert!(finished.stderr.contains("ERROR: Max cost ($0.02) reached"), "{finished}");
    assert_eq!(kept(&sandbox, "claude.args").lines().count(), 2, "each of them cost a cent");
}

#[test]
fn a_budget_stops_an_agent_at_work() {
    let sandbox = sandbox();
    let step = r#"{"type":"step_finish","sessionID":"s","part":{"reason":"tool-calls","tokens":{"input":600,"output":9},"cost":1.5}}"#;
    counting(&sandbox, "opencode", &format!("echo '{step}'\nexec tail -f /dev/null"));
    let arguments = ["run", "--agent", "opencode", "--max-tokens", "500", "--format", "json"];
    let finished = sandbox.run(&arguments).expect_code(5);
    let events = events(&finished);
    assert_eq!(of_kind(&events, "spent")[0]["usage"]["input"], 600, "{finished}");
    assert_eq!(of_kind(&events, "ended")[0]["capped"]["tokens"]["limit"], 500, "{finished}");
    sandbox.wait_until_quiet();
}

#[test]
fn what_an_agent_did_that_tells_its_figures_in_the_end_is_verified() {
    for jobs in ["1", "2"] {
        let sandbox = Sandbox::new(Path::new(PROGRAM));
        let two = PLAN.replace("# Tasks\n", "").replace("one", "two").replace("1.1", "1.2");
        sandbox.spec("demo", &format!("{PLAN}{two}"));
        sandbox.commit_all("plan");
        let done = r#"echo one > one.txt
echo '{"type":"thread.started","thread_id":"t"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"type":"agent_message","text":"TASK_COMPLETE"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":600,"output_tokens":9}}'"#;
        counting(&sandbox, "codex", done);
        let arguments = ["run", "--agent", "codex", "--max-tokens", "500", "--jobs", jobs];
        let finished = sandbox.run(&arguments).expect_code(5);
        let plan = sandbox.read("specs/demo/tasks.md");
        assert!(plan.contains("[x] 1.1") && plan.contains("[ ] 1.2"), "{plan}\n{finished}");
        assert_eq!(kept(&sandbox, "codex.args").lines().count(), 1, "{finished}");
    }
}

#[test]
fn what_a_killed_agent_used_counts_at_the_next_start() {
    let sandbox = sandbox();
    let used = r#"{"type":"assistant","session_id":"s","message":{"id":"m","content":[],"usage":{"input_tokens":600}}}"#;
    counting(&sandbox, "claude", &format!("echo '{used}'; exec tail -f /dev/null"));
    let mut run = sandbox.start(&["run"]);
    let journal = sandbox.root().join(".tillgreen/specs-demo/journal.jsonl");
    let is_noted = || std::fs::read_to_string(&journal).is_ok_and(|text| text.contains(r#""interim":true"#));
    wait_for("what it used to be noted", || is_noted() || !run.is_running());
    run.kill();
    sandbox.wait_until_quiet();
    let finished = sandbox.run(&["run", "--max-tokens", "500"]).expect_code(5);
    assert!(finished.stderr.contains("Max tokens"), "{finished}");
    assert_eq!(kept(&sandbox, "claude.args").lines().count(), 1, "no agent is started any more");
}

#[test]
fn who_tells_no_cost_is_not_held_and_that_is_said() {
    let sandbox = sandbox();
    let done = r#"echo '{"type":"item.completed","item":{"type":"agent_message","text":"TASK_COMPLETE"}}'; echo '{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":2}}'"#;
    counting(&sandbox, "codex", &format!("echo one > one.txt\n{done}"));
    let finished = sandbox.run(&["run", "--agent", "codex", "--max-cost", "1"]).expect_code(0);
    assert!(finished.stderr.contains("--max-cost does not hold codex"), "{finished}");
    assert!(finished.stderr.contains("it does not say what that cost"), "{finished}");
}

#[test]
fn a_session_is_taken_up_again_with_only_the_feedback() {
    let sandbox = sandbox();
    counting(&sandbox, "claude", &format!("if [ $n -gt 1 ]; then echo one > one.txt; fi\n{CLAUDE_DONE}"));
    sandbox.run(&["run", "--resume-sessions"]).expect_code(0);
    let args = kept(&sandbox, "claude.args");
    let calls: Vec<&str> = args.lines().collect();
    assert!(!calls[0].contains("--resume") && calls[1].contains("--resume s-1"), "{args}");
    let prompt = kept(&sandbox, "claude.prompt");
    assert!(prompt.contains("<retry_context") && !prompt.contains("Current task from"), "{prompt}");
}

#[test]
fn an_unknown_session_is_followed_by_a_fresh_one() {
    let sandbox = sandbox();
    let unknown = r#"echo '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s-1","errors":["No conversation found with session ID: s-1"]}'; exit 1"#;
    counting(
        &sandbox,
        "claude",
        &format!(
            "case \"$*\" in *--resume*) {unknown};; esac\nif [ $n -gt 1 ]; then echo one > one.txt; fi\n{CLAUDE_DONE}"
        ),
    );
    sandbox.run(&["run", "--resume-sessions"]).expect_code(0);
    let args = kept(&sandbox, "claude.args");
    let resumed: Vec<bool> = args.lines().map(|line| line.contains("--resume")).collect();
    assert_eq!(resumed, [false, true, false], "{args}");
}

#[test]
fn permission_denied_asks_a_person() {
    let sandbox = sandbox();
    let denied = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"I may not.","session_id":"s","permission_denials":[{"tool_name":"Bash","tool_input":{"command":"make"}}]}'"#;
    counting(&sandbox, "claude", denied);
    let finished = sandbox.run(&["run"]).expect_code(3);
    assert!(finished.stderr.contains("Bash was not permitted: make"), "{finished}");
}

/// An agent of the Agent Client Protocol in a few lines of shell; `work` is done when the prompt comes.
fn acp(work: &str) -> String {
    format!(
        r#"
say() {{ printf '%s\n' "$1"; }}
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) say '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":1,"agentCapabilities":{{}}}}}}';;
    *'"session/new"'*) say '{{"jsonrpc":"2.0","id":'$id',"result":{{"sessionId":"s"}}}}';;
    *'"session/prompt"'*) prompt=$id; {work};;
    *'"session/cancel"'*) touch "$CANCELLED"; say '{{"jsonrpc":"2.0","id":'$prompt',"result":{{"stopReason":"cancelled"}}}}';;
    *'"optionId":"yes"'*) echo one > one.txt
      say '{{"jsonrpc":"2.0","method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"TASK_COMPLETE"}}}}}}}}'
      say '{{"jsonrpc":"2.0","id":'$prompt',"result":{{"stopReason":"end_turn","usage":{{"inputTokens":7,"outputTokens":3}}}}}}';;
  esac
done
"#
    )
}

fn with_acp(sandbox: &Sandbox, work: &str) {
    sandbox.install_program("talker", &acp(work));
    let cancelled = sandbox.control("cancelled");
    let table = format!(
        "[agents.talker]\nkind = \"acp\"\nprogram = \"talker\"\nenv = {{ CANCELLED = \"{}\" }}\n",
        cancelled.display()
    );
    sandbox.write("tillgreen.toml", table);
    sandbox.commit_all("settings");
}

#[test]
fn a_dialogue_to_green() {
    let sandbox = sandbox();
    let asks = r#"say '{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"toolCall":{"kind":"edit","title":"one.txt"},"options":[{"optionId":"no","kind":"reject_once"},{"optionId":"yes","kind":"allow_once"}]}}'"#;
    with_acp(&sandbox, asks);
    let finished = sandbox.run(&["run", "--format", "json"]).expect_code(0);
    let events = events(&finished);
    assert_eq!(
        of_kind(&events, "spent")[0]["usage"],
        serde_json::json!({ "input": 7, "output": 3 }),
        "{finished}"
    );
    sandbox.wait_until_quiet();
}

#[test]
fn who_ends_badly_after_a_dialogue_has_failed() {
    let sandbox = sandbox();
    let asks = r#"trap 'exit 3' EXIT
      say '{"jsonrpc":"2.0","id":"q","method":"session/request_permission","params":{"toolCall":{"kind":"edit","title":"one.txt"},"options":[{"optionId":"yes","kind":"allow_once"}]}}'"#;
    with_acp(&sandbox, asks);
    let arguments = ["run", "--max-task-iterations", "1", "--format", "json"];
    let finished = sandbox.run(&arguments).expect_code(1);
    let events = events(&finished);
    assert_eq!(of_kind(&events, "attempt_failed").len(), 1, "{finished}");
}

#[test]
fn a_dialogue_is_cancelled_before_it_is_killed() {
    let sandbox = sandbox();
    with_acp(&sandbox, "touch \"$CANCELLED.begun\"");
    let run = sandbox.start(&["run"]);
    wait_for("the prompt to be there", || sandbox.control("cancelled.begun").exists());
    sandbox.run(&["cancel"]).expect_code(0);
    run.wait().expect_code(130);
    assert!(sandbox.control("cancelled").exists(), "it was asked to stop in its own language");
    sandbox.wait_until_quiet();
}

#[test]
fn noise_is_no_progress_in_a_dialogue() {
    let sandbox = sandbox();
    // Lines that are no protocol, lines that are but say nothing of the task, and more than can be read in time.
    with_acp(
        &sandbox,
        r#"yes 'noise
{"jsonrpc":"2.0","method":"_log/line","params":{}}'"#,
    );
    let limits = ["--no-progress-timeout", "2s", "--attempt-timeout", "10m", "--max-task-iterations", "1"];
    let finished = sandbox.run(&[&["run", "--format", "json"], &limits[..]].concat()).expect_code(1);
    let events = events(&finished);
    let failed = of_kind(&events, "attempt_failed");
    assert_eq!(failed[0]["failure"]["cause"], "agent_timeout", "{finished}");
    sandbox.wait_until_quiet();
}

/// Lines of shell by which an agent calls tools of the server that it was told of, and waits for each answer.
pub(super) fn reports(calls: &[(&str, &str)]) -> String {
    let mut lines = vec![
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
    ];
    lines.extend(calls.iter().enumerate().map(|(place, (tool, arguments))| {
        let id = place + 2;
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#)
    }));
    let quoted: Vec<String> = lines.iter().map(|line| format!("'{line}'")).collect();
    let last = calls.len() + 1;
    format!(
        r#"server=$(printf '%s' "$*" | sed 's/.*"command":"\([^"]*\)".*/\1/')
report=$(printf '%s' "$*" | sed 's/.*"--report","\([^"]*\)".*/\1/')
heard=$(mktemp)
{{ printf '%s\n' {}; until grep -q '"id":{last},' "$heard"; do sleep 0.02; done; }} | "$server" mcp --report "$report" > "$heard"
"#,
        quoted.join(" ")
    )
}

/// The last line of Claude Code with an answer that has no signal in it.
pub(super) const CLAUDE_SILENT: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"Well.","session_id":"s","permission_denials":[]}'"#;

#[test]
fn tools_report_what_the_answer_does_not_say() {
    let sandbox = sandbox();
    let calls = reports(&[("add_learning", r#"{"text":"one is a word"}"#), ("task_complete", "{}")]);
    counting(&sandbox, "claude", &format!("{calls}\necho one > one.txt\n{CLAUDE_SILENT}"));
    sandbox.run(&["run"]).expect_code(0);
    let progress = sandbox.read("specs/demo/.progress.md");
    assert!(progress.contains("one is a word"), "{progress}");
}

#[test]
fn a_reported_failure_is_a_claim_and_so_is_a_reported_success() {
    let sandbox = sandbox();
    let failed = reports(&[("task_failed", r#"{"error":"no pencil","attempted_fix":"looked for one"}"#)]);
    let complete = reports(&[("task_complete", "{}")]);
    let body = format!("if [ $n = 1 ]; then {failed} else {complete} fi\n{CLAUDE_SILENT}");
    counting(&sandbox, "claude", &body);
    let finished = sandbox.run(&["run", "--max-task-iterations", "2", "--format", "json"]).expect_code(1);
    let events = events(&finished);
    let errors: Vec<&str> = of_kind(&events, "attempt_failed")
        .iter()
        .filter_map(|failed| failed["failure"]["cause"].as_str())
        .collect();
    assert_eq!(errors, ["claimed_failure", "verify_red"], "{finished}");
}

#[test]
fn tools_are_not_offered_where_that_is_not_wanted() {
    let sandbox = sandbox();
    counting(&sandbox, "claude", &format!("echo one > one.txt\n{CLAUDE_DONE}"));
    sandbox.run(&["run", "--report-tools=false"]).expect_code(0);
    assert!(!kept(&sandbox, "claude.args").contains("--mcp-config"));
}
