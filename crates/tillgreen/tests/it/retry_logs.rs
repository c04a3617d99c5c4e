//! The files of the retry protocol: `retry-state.json` while something runs, `retry.log` for people, `retry.jsonl`
//! for programs. Their form is a promise: other people's commands read them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const FOLDER: &str = ".planning/phases";
const TEXT: &str = ".ultraplan/logs/retry.log";
const OBJECTS: &str = ".ultraplan/logs/retry.jsonl";
const STATE: &str = ".ultraplan/state/retry-state.json";

const PLAN: &str = "\
---
phase: 03-x
plan: 01
---

<task type=\"auto\">
  <name>Task 1: Make a</name>
  <files>a.txt</files>
  <action>Write it.</action>
  <verify><automated>grep -q good a.txt</automated></verify>
  <done>a.txt is good</done>
</task>

<task type=\"auto\">
  <name>Task 2: Make b</name>
  <files>b.txt</files>
  <action>Write it.</action>
  <verify><automated>grep -q good b.txt</automated></verify>
  <done>b.txt is good</done>
</task>
";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.write(&format!("{FOLDER}/03-x/03-01-PLAN.md"), PLAN);
    sandbox.commit_all("plan");
    sandbox
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", FOLDER, "--agent-cmd", &command], flags].concat())
}

fn success() -> Step {
    Step::say("status: success")
}

fn good(file: &str) -> [Step; 2] {
    [Step::write(file, "good\n"), success()]
}

fn failure(error: &str, more: &str) -> Step {
    Step::say(&format!("```yaml\nstatus: failure\nerror: {error}\n{more}```"))
}

/// Task 1 fails twice in different ways and then works; task 2 never does.
fn eventful() -> Agent {
    Agent::new()
        .on_attempt(
            "03-01:task-1",
            1,
            [failure("'2 tests failed: \"null\" check'", "suggested_fix: Add a check\n")],
        )
        .on_attempt("03-01:task-1", 2, [success()])
        .on("03-01:task-1", good("a.txt"))
        .on("03-01:task-2", [failure("no luck", "")])
}

/// The log with `TIME` for each time, which has to have the protocol's form.
#[track_caller]
fn lines(sandbox: &Sandbox, path: &str) -> Vec<String> {
    let text = sandbox.read(path);
    assert!(text.ends_with('\n'), "{text}");
    text.lines().map(timeless).collect()
}

/// A line of the log without its time.
#[track_caller]
fn timeless(line: &str) -> String {
    let time = line.strip_prefix('[').and_then(|rest| rest.split(']').next()).unwrap_or_default();
    let form: String = time.chars().map(|sign| if sign.is_ascii_digit() { '0' } else { sign }).collect();
    assert_eq!(form, "0000-00-00T00:00:00Z", "{line}");
    line.replacen(time, "TIME", 1)
}

fn objects(sandbox: &Sandbox, path: &str) -> Vec<Value> {
    sandbox.read(path).lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

#[test]
fn the_log_for_people() {
    let sandbox = sandbox();
    run(&sandbox, &eventful(), &[]).expect_code(3);
    sandbox.run(&["answer", FOLDER, "skip"]).expect_code(0);
    let expected = [
        "[TIME] [RETRY] [03-01:task-1] attempt=1 status=failed type=execution_error",
        r#"[TIME] [RETRY] [03-01:task-1] error="2 tests failed: \"null\" check""#,
        r#"[TIME] [RETRY] [03-01:task-1] suggested_fix="Add a check""#,
        "[TIME] [RETRY] [03-01:task-1] injecting_feedback attempt=2",
        "[TIME] [RETRY] [03-01:task-1] attempt=2 status=failed type=verification_failed",
        r#"[TIME] [RETRY] [03-01:task-1] error="grep: a.txt: No such file or directory""#,
        "[TIME] [RETRY] [03-01:task-1] injecting_feedback attempt=3",
        "[TIME] [RETRY] [03-01:task-1] attempt=3 status=success",
        "[TIME] [RETRY] [03-01:task-1] resolved status=success",
        "[TIME] [RETRY] [03-01:task-2] attempt=1 status=failed type=execution_error",
        r#"[TIME] [RETRY] [03-01:task-2] error="no luck""#,
        "[TIME] [RETRY] [03-01:task-2] injecting_feedback attempt=2",
        "[TIME] [RETRY] [03-01:task-2] attempt=2 status=failed type=execution_error",
        r#"[TIME] [RETRY] [03-01:task-2] error="no luck""#,
        "[TIME] [RETRY] [03-01:task-2] injecting_feedback attempt=3",
        "[TIME] [RETRY] [03-01:task-2] attempt=3 status=failed type=execution_error",
        r#"[TIME] [RETRY] [03-01:task-2] error="no luck""#,
        r#"[TIME] [RETRY] [03-01:task-2] escalating reason="max_retries_exceeded""#,
        r#"[TIME] [RETRY] [03-01:task-2] user_response="skip""#,
        "[TIME] [RETRY] [03-01:task-2] resolved status=skipped",
    ];
    assert_eq!(lines(&sandbox, TEXT), expected);
}

/// The lines of the log that follow the question.
#[track_caller]
fn check_response(flags: &[&str], response: Option<&str>, expected: &[&str]) {
    let sandbox = sandbox();
    let agent = Agent::new().on("03-01:task-1", [success()]).otherwise(good("b.txt"));
    run(&sandbox, &agent, &[&["--max-task-iterations", "1"], flags].concat());
    if let Some(response) = response {
        sandbox.run(&["answer", FOLDER, response]);
    }
    let found = lines(&sandbox, TEXT);
    let of_task: Vec<_> =
        found.iter().filter_map(|line| line.strip_prefix("[TIME] [RETRY] [03-01:task-1] ")).collect();
    assert_eq!(of_task[2], "escalating reason=\"max_retries_exceeded\"", "for {flags:?} {response:?}");
    assert_eq!(of_task[3..], *expected, "for {flags:?} {response:?}");
}

#[test]
fn only_what_a_person_said_is_a_response() {
    check_response(&[], Some("abort"), &["user_response=\"abort\""]);
    check_response(&[], Some("skip"), &["user_response=\"skip\"", "resolved status=skipped"]);
    check_response(&["--on-escalation", "skip"], None, &["resolved status=skipped"]);
    check_response(&["--on-escalation", "abort"], None, &[]);
    check_response(&[], Some("perhaps"), &[]);
}

#[test]
fn the_log_for_programs() {
    let sandbox = sandbox();
    run(&sandbox, &eventful(), &[]).expect_code(3);
    sandbox.run(&["answer", FOLDER, "skip"]).expect_code(0);
    let keys = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let of = |event: &str| {
        let found: Vec<Value> =
            objects(&sandbox, OBJECTS).into_iter().filter(|object| object["event"] == event).collect();
        assert!(!found.is_empty(), "no {event}");
        found
    };
    for object in of("attempt") {
        let expected = if object["status"] == "failed" {
            "timestamp event task_id attempt status failure_type error duration_ms"
        } else {
            "timestamp event task_id attempt status duration_ms"
        };
        assert_eq!(keys(&object), expected, "{object}");
        assert!(object["duration_ms"].as_u64().is_some_and(|millis| millis > 0), "{object}");
    }
    let feedback = of("feedback_injected");
    assert_eq!(keys(&feedback[0]), "timestamp event task_id attempt feedback_lines");
    let prompt = &sandbox.agent_calls()[1].prompt;
    let block = prompt.lines().skip_while(|line| !line.starts_with("<retry_context"));
    let count = block.take_while(|line| *line != "</retry_context>").count() + 1;
    assert_eq!(feedback[0]["feedback_lines"], count);
    assert_eq!(keys(&of("escalated")[0]), "timestamp event task_id attempts reason");
    assert_eq!(of("escalated")[0]["attempts"], 3);
    let resolved = of("resolved");
    assert_eq!(keys(&resolved[0]), "timestamp event task_id resolution total_attempts total_duration_ms");
    assert_eq!((&resolved[1]["resolution"], &resolved[1]["total_attempts"]), (&json!("skipped"), &json!(3)));
    let log = sandbox.read(OBJECTS);
    let begins = "{\"timestamp\":\"20";
    assert!(
        log.lines().all(|line| line.starts_with(begins)),
        "the objects are written without blanks: {log}"
    );
}

/// Runs one of the protocol's own commands.
#[track_caller]
fn shell(sandbox: &Sandbox, command: &str) -> String {
    let mut shell = Command::new("bash");
    shell.args(["-c", command]).current_dir(sandbox.root()).stdin(Stdio::null());
    let output = shell.output().expect("bash is installed");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it is text")
}

#[test]
fn the_protocols_own_commands_work() {
    let sandbox = sandbox();
    run(&sandbox, &eventful(), &[]).expect_code(3);
    sandbox.run(&["answer", FOLDER, "skip"]).expect_code(0);
    let recent = shell(&sandbox, "tail -50 .ultraplan/logs/retry.log");
    assert_eq!(recent, sandbox.read(TEXT));
    let counts = "grep \"attempt=\" .ultraplan/logs/retry.log | cut -d']' -f3 | sort | uniq -c";
    let counts = shell(&sandbox, counts);
    let counts: Vec<_> = counts.lines().map(str::trim).collect();
    // The lines about feedback name an attempt too: two of each task's five.
    assert_eq!(counts, ["5  [03-01:task-1", "5  [03-01:task-2"]);
    let escalations = shell(&sandbox, "grep \"escalating\" .ultraplan/logs/retry.log");
    assert_eq!(
        timeless(escalations.trim_end()),
        "[TIME] [RETRY] [03-01:task-2] escalating reason=\"max_retries_exceeded\""
    );
    if Command::new("jq").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("skipped: `jq` is not installed");
        return;
    }
    let pattern = "cat .ultraplan/logs/retry.jsonl | \
                   jq 'select(.event==\"resolved\") | {task: .task_id, attempts: .total_attempts}'";
    let patterns = shell(&sandbox, pattern);
    let found: Vec<Value> =
        serde_json::Deserializer::from_str(&patterns).into_iter().map(|value| value.unwrap()).collect();
    let expected =
        [json!({"task": "03-01:task-1", "attempts": 3}), json!({"task": "03-01:task-2", "attempts": 3})];
    assert_eq!(found, expected);
}

#[test]
fn the_state_file_shows_what_is_being_retried() {
    let sandbox = sandbox();
    let copy = |name: &str| Step::shell(&format!("cp {STATE} {}", sandbox.control(name).display()));
    let agent = Agent::new()
        .on_attempt(
            "03-01:task-1",
            1,
            [copy("first"), failure("2 tests failed", "suggested_fix: Add null check\n")],
        )
        .on_attempt("03-01:task-1", 2, [copy("second"), success()])
        .on("03-01:task-1", [copy("third"), Step::write("a.txt", "good\n"), success()])
        .on("03-01:task-2", [copy("other"), Step::write("b.txt", "good\n"), success()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(sandbox.control(name)).expect("the agent copied it");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let first = &read("first")["task_retries"]["03-01:task-1"];
    assert_eq!((&first["retry_count"], &first["status"]), (&json!(0), &json!("executing")));
    assert_eq!((&first["failures"], &first["current_attempt"]), (&json!([]), &json!(1)));
    let third = read("third");
    let entry = third["task_retries"]["03-01:task-1"].as_object().expect("it is being retried");
    let keys: Vec<_> = entry.keys().map(String::as_str).collect();
    let expected = "task_id task_name retry_count max_retries status failures current_attempt started_at last_attempt_at";
    assert_eq!(keys.join(" "), expected);
    assert_eq!(entry["task_id"], "03-01:task-1");
    assert_eq!(entry["task_name"], "Task 1: Make a");
    assert_eq!((&entry["retry_count"], &entry["max_retries"]), (&json!(2), &json!(3)));
    assert_eq!((&entry["status"], &entry["current_attempt"]), (&json!("retrying"), &json!(3)));
    let failures = entry["failures"].as_array().expect("it has failures");
    let keys: Vec<_> = failures[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["attempt", "timestamp", "failure_type", "error_summary", "suggested_fix"]);
    assert_eq!((&failures[0]["attempt"], &failures[1]["attempt"]), (&json!(1), &json!(2)));
    assert_eq!(failures[0]["failure_type"], "execution_error");
    assert_eq!(failures[0]["error_summary"], "2 tests failed");
    assert_eq!(failures[0]["suggested_fix"], "Add null check");
    assert_eq!(failures[1]["failure_type"], "verification_failed");
    assert_eq!(entry["last_attempt_at"], failures[1]["timestamp"]);
    let other = read("other");
    let tasks: Vec<_> = other["task_retries"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(tasks, ["03-01:task-2"], "a task that is done is cleared");
    assert_eq!(other["global_stats"], json!({"total_retries": 2, "successful_retries": 1, "escalations": 0}));
    assert!(!sandbox.has(STATE), "it goes when the run is complete");
}

#[test]
fn the_state_file_stays_while_a_person_is_asked() {
    let sandbox = sandbox();
    run(&sandbox, &eventful(), &[]).expect_code(3);
    let state: Value = serde_json::from_str(&sandbox.read(STATE)).expect("it is JSON");
    let entry = &state["task_retries"]["03-01:task-2"];
    assert_eq!((&entry["status"], &entry["retry_count"]), (&json!("escalated"), &json!(3)));
    assert_eq!((&entry["current_attempt"], &entry["max_retries"]), (&json!(3), &json!(3)));
    assert_eq!(state["global_stats"], json!({"total_retries": 4, "successful_retries": 1, "escalations": 1}));
    sandbox.run(&["answer", FOLDER, "skip"]).expect_code(0);
    assert!(!sandbox.has(STATE));
}

#[test]
fn the_current_attempt_is_never_above_the_maximum() {
    let sandbox = sandbox();
    let agent = Agent::new().otherwise([success()]);
    run(&sandbox, &agent, &["--max-task-iterations", "2"]).expect_code(3);
    let check = |response: &str, expected: (u32, u32, u32)| {
        sandbox.run(&["answer", FOLDER, response]).expect_code(3);
        let state: Value = serde_json::from_str(&sandbox.read(STATE)).expect("it is JSON");
        let entry = &state["task_retries"]["03-01:task-1"];
        let found = (&entry["retry_count"], &entry["current_attempt"], &entry["max_retries"]);
        assert_eq!(found, (&json!(expected.0), &json!(expected.1), &json!(expected.2)), "{response}");
    };
    check("fix: try", (3, 3, 3));
    check("retry", (2, 2, 2));
}

#[test]
fn errors_are_short_and_on_one_line() {
    let sandbox = sandbox();
    let long = format!("|\n    line 1: äöü\n    line 2 {}", "x".repeat(400));
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [failure(&long, "")])
        .on("03-01:task-1", good("a.txt"))
        .otherwise(good("b.txt"));
    run(&sandbox, &agent, &[]).expect_code(0);
    let error = objects(&sandbox, OBJECTS)[0]["error"].as_str().expect("it failed").to_owned();
    assert_eq!(error.chars().count(), 200, "{error}");
    assert!(error.starts_with("line 1: äöü line 2 xxx"), "{error}");
    let line = &lines(&sandbox, TEXT)[1];
    assert_eq!(*line, format!("[TIME] [RETRY] [03-01:task-1] error=\"{error}\""));
}

#[test]
fn a_crash_neither_loses_nor_repeats_an_entry() {
    for has_followed in [true, false] {
        let sandbox = sandbox();
        let (began, gate) = (sandbox.control("began"), sandbox.control("gate"));
        let second = [
            Step::write(&began.display().to_string(), ""),
            Step::await_file(&gate),
            Step::write("a.txt", "good\n"),
            success(),
        ];
        let agent = Agent::new()
            .on_attempt("03-01:task-1", 1, [failure("boom", "")])
            .on("03-01:task-1", second)
            .otherwise(good("b.txt"));
        let command = sandbox.install_agent(&agent);
        let killed = sandbox.start(&["run", FOLDER, "--agent-cmd", &command]);
        wait_for("the second attempt", || began.exists());
        killed.kill();
        sandbox.wait_until_quiet();
        if !has_followed {
            // The crash came after the journal's last event and before what follows from it.
            for path in [TEXT, OBJECTS] {
                let text = sandbox.read(path);
                let kept = text.trim_end().rfind('\n').map_or(0, |end| end + 1);
                sandbox.write(path, &text[..kept]);
            }
        }
        sandbox.release("gate");
        sandbox.run(&["run", FOLDER]).expect_code(0);
        let of_task = lines(&sandbox, TEXT).into_iter();
        let of_task: Vec<_> = of_task
            .filter_map(|line| Some(line.strip_prefix("[TIME] [RETRY] [03-01:task-1] ")?.to_owned()))
            .collect();
        let expected = [
            "attempt=1 status=failed type=execution_error",
            "error=\"boom\"",
            "injecting_feedback attempt=2",
            // The attempt was lost, so it is made again, with the same number.
            "injecting_feedback attempt=2",
            "attempt=2 status=success",
            "resolved status=success",
        ];
        assert_eq!(of_task, expected, "has followed: {has_followed}");
        assert_eq!(objects(&sandbox, OBJECTS).len(), 7, "has followed: {has_followed}");
    }
}

/// So many days ago, as the logs write it.
fn days_ago(days: u32) -> String {
    let output =
        Command::new("date").args(["-u", "-d", &format!("{days} days ago"), "+%Y-%m-%dT%H:%M:%SZ"]).output();
    String::from_utf8(output.expect("date is installed").stdout).expect("it is text").trim().to_owned()
}

#[test]
fn old_entries_are_dropped_when_a_run_starts() {
    let sandbox = sandbox();
    let line = |days: u32| format!("[{}] [RETRY] [01-01:task-1] attempt=1 status=success\n", days_ago(days));
    let object = |days: u32| format!("{{\"timestamp\":\"{}\",\"event\":\"attempt\"}}\n", days_ago(days));
    let strange = "somebody's own line\n";
    sandbox.write(TEXT, format!("{}{}{strange}{}", line(31), line(8), line(6)));
    sandbox.write(OBJECTS, format!("{}{}{strange}{}", object(31), object(29), object(8)));
    let agent = Agent::new().on("03-01:task-1", good("a.txt")).otherwise(good("b.txt"));
    run(&sandbox, &agent, &[]).expect_code(0);
    let (text, objects) = (sandbox.read(TEXT), sandbox.read(OBJECTS));
    assert!(text.starts_with(strange), "{text}");
    assert_eq!(text.matches("[01-01:task-1]").count(), 1, "{text}");
    assert!(text.contains(&days_ago(6)[..10]), "{text}");
    assert_eq!(objects.matches("\"event\":\"attempt\"}").count(), 2, "{objects}");
    assert!(objects.contains(&days_ago(29)[..10]) && objects.contains(strange), "{objects}");
}

#[test]
fn specs_have_these_logs_too() {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", "- [ ] 1.1 Make a\n  - **Files**: a\n  - **Verify**: `test -f a`\n");
    sandbox.commit_all("plan");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::say("TASK_COMPLETE")])
        .otherwise([Step::write("a", ""), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    let expected = [
        "[TIME] [RETRY] [1.1] attempt=1 status=failed type=verification_failed",
        "[TIME] [RETRY] [1.1] error=\"`test -f a` failed with exit code 1\"",
        "[TIME] [RETRY] [1.1] injecting_feedback attempt=2",
        "[TIME] [RETRY] [1.1] attempt=2 status=success",
        "[TIME] [RETRY] [1.1] resolved status=success",
    ];
    assert_eq!(lines(&sandbox, ".tillgreen/logs/retry.log"), expected);
    let events: Vec<_> = objects(&sandbox, ".tillgreen/logs/retry.jsonl");
    assert_eq!(events.len(), 4, "{events:?}");
    assert!(!sandbox.has(".ultraplan"));
}

#[test]
fn keys_are_masked_wherever_they_would_be_written() {
    let sandbox = sandbox();
    let secret = "sk-ant-api03-0123456789abcdef";
    let copy = Step::shell(&format!("cp {STATE} {}", sandbox.control("state").display()));
    let more = format!("suggested_fix: use {secret}\nroot_cause: {secret}\nattempted_fix: {secret}\n");
    let verify = PLAN.replacen("grep -q good a.txt", &format!("echo {secret}; grep -q good a.txt"), 1);
    sandbox.write(&format!("{FOLDER}/03-x/03-01-PLAN.md"), verify);
    sandbox.commit_all("verify");
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [failure(&format!("denied for {secret}"), &more)])
        .on_attempt("03-01:task-1", 2, [copy, success()])
        .otherwise([Step::say(&format!("status: blocked\nreason: {secret} is missing"))]);
    run(&sandbox, &agent, &[]).expect_code(3);
    for path in [TEXT, OBJECTS, STATE, ".tillgreen/.planning-phases/journal.jsonl"] {
        let text = sandbox.read(path);
        assert!(!text.contains(secret), "{path}: {text}");
    }
    let state = fs::read_to_string(sandbox.control("state")).expect("the agent copied it");
    assert!(state.contains("denied for [masked]") && !state.contains(secret), "{state}");
    let status = sandbox.run(&["status", FOLDER]).stdout;
    assert!(!status.contains(secret), "{status}");
    let prompt = &sandbox.agent_calls()[2].prompt;
    let feedback = prompt.split("</retry_context>").next().unwrap_or_default();
    assert!(feedback.contains("[masked]") && !feedback.contains(secret), "{prompt}");
}

#[test]
fn an_agent_that_commits_everything_does_not_commit_them() {
    let sandbox = sandbox();
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [success()])
        .on("03-01:task-1", [Step::write("a.txt", "good\n"), Step::commit("all"), success()])
        .otherwise(good("b.txt"));
    run(&sandbox, &agent, &[]).expect_code(0);
    assert!(sandbox.has(TEXT) && sandbox.has(OBJECTS));
    let tracked = sandbox.git(&["ls-files"]);
    assert!(!tracked.contains(".ultraplan") && !tracked.contains(".tillgreen"), "{tracked}");
    assert_eq!(sandbox.dirt(), [""; 0]);
}
