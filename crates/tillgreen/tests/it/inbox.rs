//! A run is told things from other processes while it goes on, and while it does not: answers, words to the next prompt,
//! a pause, a skip, other limits. Each is taken once, whatever is killed in between.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Agent, Background, Finished, Sandbox, Signal, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";
const INBOX: &str = ".tillgreen/specs-demo/inbox";

/// Tasks that are done when a file of their own holds the word `good`.
fn plan(tasks: &[(&str, &str)]) -> String {
    let task = |(id, marks): &(&str, &str)| {
        format!(
            "- [ ] {id}{marks} Make {id}\n  - **Files**: `{id}.txt`\n  - **Verify**: `grep -q good {id}.txt`\n  \
             - **Commit**: `feat: {id}`\n"
        )
    };
    format!("# Tasks\n\n{}", tasks.iter().map(task).collect::<String>())
}

fn sandbox(tasks: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", &plan(tasks));
    sandbox.commit_all("plan");
    sandbox
}

fn one_by_one() -> Sandbox {
    sandbox(&[("1.1", ""), ("1.2", "")])
}

fn good(task: &str) -> Vec<Step> {
    vec![Step::write(&format!("{task}.txt"), "good\n"), Step::say("TASK_COMPLETE")]
}

/// Does the task once the gate is open, and says that it is there.
fn gated(sandbox: &Sandbox, task: &str) -> Vec<Step> {
    let there = sandbox.control("there").display().to_string();
    let mut steps = vec![Step::write(&there, ""), Step::await_file(&sandbox.control("gate"))];
    steps.extend(good(task));
    steps
}

/// Starts a run, and waits until the agent that is gated is at work.
fn start(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Background {
    let command = sandbox.install_agent(agent);
    let run = sandbox.start(&[&["run", "--agent-cmd", &command], flags].concat());
    wait_for("the agent", || sandbox.control("there").exists());
    run
}

fn events(sandbox: &Sandbox) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.root().join(JOURNAL)).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let event = |line: &str| serde_json::from_str::<Value>(line).ok()?.get("event").cloned();
    whole.skip(1).filter_map(event).collect()
}

/// The events of a kind.
fn of_kind(sandbox: &Sandbox, kind: &str) -> Vec<Value> {
    let is_one = |event: &Value| event["what"].as_str() == Some(kind) || event["what"].get(kind).is_some();
    events(sandbox).into_iter().filter(is_one).collect()
}

fn files(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.root().join(INBOX)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn calls(sandbox: &Sandbox) -> Vec<(String, u32)> {
    sandbox.agent_calls().into_iter().map(|call| (call.task, call.attempt)).collect()
}

#[track_caller]
fn prompt(sandbox: &Sandbox, task: &str) -> String {
    let calls = sandbox.agent_calls();
    calls.iter().rfind(|call| call.task == task).map(|call| call.prompt.clone()).expect("it was started")
}

#[track_caller]
fn expect(finished: &Finished, parts: &[&str]) {
    let text = format!("{}{}", finished.stdout, finished.stderr);
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {finished}");
    }
}

/// A run with a question about task 1.1, while an agent works on task 1.2.
fn asking() -> (Sandbox, Background) {
    let sandbox = sandbox(&[("1.1", " [P]"), ("1.2", " [P]")]);
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::write("1.1.txt", "bad\n"), Step::say("TASK_COMPLETE")])
        .on("1.1", good("1.1"))
        .on("1.2", gated(&sandbox, "1.2"));
    let run = start(&sandbox, &agent, &["--on-exhausted", "ask", "--max-task-iterations", "1"]);
    wait_for("the question", || !of_kind(&sandbox, "escalated").is_empty());
    (sandbox, run)
}

#[test]
fn a_run_that_is_under_way_takes_an_answer_and_goes_on() {
    let (sandbox, run) = asking();
    let answered = sandbox.run(&["answer", "retry"]).expect_code(0);
    expect(&answered, &["The run of 'demo' (process ", "has taken the answer about task 1.1: retry."]);
    wait_for("the next attempt", || calls(&sandbox).contains(&("1.1".to_owned(), 2)));
    sandbox.release("gate");
    run.wait().expect_code(0);
    assert!(files(&sandbox).is_empty(), "{:?}", files(&sandbox));
    let answered = of_kind(&sandbox, "answered");
    assert_eq!(answered.len(), 1);
    assert!(answered[0]["by"]["id"].is_string() && answered[0]["by"]["from"].is_string(), "{answered:?}");
}

#[test]
fn whoever_answers_second_learns_who_was_first() {
    let (sandbox, run) = asking();
    let bad = sandbox.run(&["answer", "perhaps"]).expect_code(2);
    expect(&bad, &["`perhaps` is not an answer; the question stays open"]);
    let mut both = [("retry", None), ("fix: use good", None)];
    for (response, answering) in &mut both {
        *answering = Some(sandbox.start(&["answer", response]));
    }
    let ended = both.map(|(response, answering)| (response, answering.expect("it was started").wait()));
    let mut codes: Vec<_> = ended.iter().map(|(_, finished)| finished.code).collect();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(8)], "{} {}", ended[0].1, ended[1].1);
    let (first, _) = ended.iter().find(|(_, finished)| finished.code == Some(0)).expect("one was first");
    let third = sandbox.run(&["answer", "skip", "--format", "json"]).expect_code(8);
    let error: Value = serde_json::from_str(third.stderr.trim()).expect("an error is an object");
    let note = error["notes"][0].as_str().unwrap_or_default();
    assert!(note.contains(" answered at ") && note.ends_with(&format!(": {first}")), "{third}");
    sandbox.release("gate");
    run.wait().expect_code(0);
    assert_eq!(of_kind(&sandbox, "answered").len(), 1);
}

#[test]
fn a_word_reaches_the_next_prompt() {
    let sandbox = sandbox(&[("1.1", ""), ("1.2", ""), ("1.3", "")]);
    let agent = Agent::new().on("1.1", gated(&sandbox, "1.1")).on("1.2", good("1.2")).on("1.3", good("1.3"));
    let run = start(&sandbox, &agent, &[]);
    let told = sandbox.run(&["tell", "use tabs\nand no spaces"]).expect_code(0);
    expect(&told, &["tells it to the next prompt."]);
    let told = sandbox.run(&["tell", "--task", "1.3", "mind the gap", "--format", "json"]).expect_code(0);
    let document: Value = serde_json::from_str(&told.stdout).expect("a document");
    assert_eq!((&document["plan"], &document["task"]), (&Value::from("demo"), &Value::from("1.3")));
    assert_eq!((&document["taken"], &document["pid"]), (&Value::from(true), &Value::from(run.pid())));
    sandbox.run(&["tell", "and be brief"]).expect_code(0);
    sandbox.release("gate");
    run.wait().expect_code(0);
    assert!(!prompt(&sandbox, "1.1").contains("<user_message>"), "its prompt was written before");
    let second = prompt(&sandbox, "1.2");
    let words = "It is authoritative: where it contradicts the plan or anything else you are given, it counts.\n\
                 <user_message>\n- use tabs\n  and no spaces\n- and be brief\n</user_message>\n";
    assert!(second.contains(words), "{second}");
    let third = prompt(&sandbox, "1.3");
    assert!(third.contains("- mind the gap\n") && !third.contains("use tabs"), "{third}");
}

#[test]
fn who_tells_a_secret_hears_that_it_is_masked() {
    let (sandbox, run) = asking();
    let said = "note: a part of this looks like a secret and is masked: agents read [masked]; name a variable or a file";
    for format in ["text", "json"] {
        let told = sandbox.run(&["tell", "log in with password=hunter2", "--format", format]).expect_code(0);
        assert!(told.stderr.contains(said), "{told}");
    }
    let told = sandbox.run(&["tell", "log in with password=$TEST_PASSWORD"]).expect_code(0);
    assert!(!told.stderr.contains("note:"), "{told}");
    let answered = sandbox.run(&["answer", "fix: the login is password=hunter2"]).expect_code(0);
    assert!(answered.stderr.contains(said), "{answered}");
    sandbox.release("gate");
    run.wait().expect_code(0);
    let prompts: String = sandbox.agent_calls().into_iter().map(|call| call.prompt).collect();
    assert!(prompts.contains("password=[masked]") && !prompts.contains("hunter2"), "{prompts}");
}

#[test]
fn a_word_is_kept_where_no_run_is_under_way() {
    let sandbox = one_by_one();
    let kept = sandbox.run(&["tell", "be kind"]).expect_code(0);
    expect(&kept, &["No run of 'demo' is under way; the next `tillgreen run` takes it."]);
    sandbox.run(&["tell", "--task", "1.2", "be brief"]).expect_code(0);
    assert_eq!(sandbox.dirt(), Vec::<String>::new(), "what waits is kept out of git");
    let agent = Agent::new().on("1.1", good("1.1")).on("1.2", good("1.2"));
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    assert!(prompt(&sandbox, "1.1").contains("- be kind\n"));
    assert!(prompt(&sandbox, "1.2").contains("- be brief\n"));
    assert!(files(&sandbox).iter().all(|file| file.extension().is_some_and(|end| end == "reply")));
}

#[test]
fn a_pause_stops_after_what_is_under_way() {
    let sandbox = one_by_one();
    let agent = Agent::new().on("1.1", gated(&sandbox, "1.1")).on("1.2", good("1.2"));
    let run = start(&sandbox, &agent, &[]);
    let paused = sandbox.run(&["pause"]).expect_code(0);
    expect(&paused, &["pauses after what is under way."]);
    expect(&sandbox.run(&["status"]).expect_code(0), &["pauses after what is under way, as "]);
    sandbox.release("gate");
    let run = run.wait().expect_code(3);
    expect(&run, &["paused: ", " asked for it", "hint: go on with `tillgreen run`"]);
    assert_eq!(calls(&sandbox), [("1.1".to_owned(), 1)]);
    assert!(sandbox.tasks("demo").contains("- [x] 1.1"));
    expect(&sandbox.run(&["status"]).expect_code(0), &["paused"]);
    expect(&sandbox.run(&["pause"]).expect_code(0), &["No run of 'demo' is under way."]);
    sandbox.run(&["run"]).expect_code(0);
    assert_eq!(calls(&sandbox), [("1.1".to_owned(), 1), ("1.2".to_owned(), 1)]);
}

#[test]
fn a_task_that_an_agent_works_on_is_skipped_and_the_agent_ended() {
    for marks in ["", " [P]"] {
        let sandbox = sandbox(&[("1.1", marks), ("1.2", marks)]);
        let there = sandbox.control("there").display().to_string();
        let hangs = [Step::write("1.1.txt", "half\n"), Step::write(&there, ""), Step::Detach, Step::Hang];
        let agent = Agent::new().on("1.1", hangs).on("1.2", good("1.2"));
        let run = start(&sandbox, &agent, &[]);
        let skipped = sandbox.run(&["skip", "1.1"]).expect_code(0);
        expect(&skipped, &["skips task 1.1."]);
        let run = run.wait().expect_code(0);
        sandbox.wait_until_quiet();
        expect(&run, &["[SKIPPED] 1.1", "what the agent had changed for skipped task 1.1"]);
        assert!(!run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
        assert!(sandbox.read("STATE.md").contains("[SKIPPED] 1.1"), "{}", sandbox.read("STATE.md"));
        assert!(sandbox.tasks("demo").contains("- [ ] 1.1") && sandbox.tasks("demo").contains("- [x] 1.2"));
        assert_eq!(of_kind(&sandbox, "task_skipped").len(), 1);
        assert!(of_kind(&sandbox, "attempt_failed").is_empty(), "nobody is blamed");
        assert!(!sandbox.subjects().contains(&"feat: 1.1".to_owned()));
    }
}

#[test]
fn a_task_that_waits_is_skipped_at_once_and_one_that_is_settled_or_unknown_is_not() {
    let sandbox = sandbox(&[("1.1", ""), ("1.2", ""), ("1.3", "")]);
    let agent = Agent::new().on("1.1", good("1.1")).on("1.2", gated(&sandbox, "1.2"));
    let run = start(&sandbox, &agent, &[]);
    let before = events(&sandbox).len();
    let unknown = sandbox.run(&["skip", "1.33"]).expect_code(2);
    expect(&unknown, &["'demo' has no task '1.33'", "did you mean `tillgreen skip 1.3`?"]);
    expect(&sandbox.run(&["skip", "1.1"]).expect_code(2), &["task 1.1 is done or skipped already"]);
    expect(&sandbox.run(&["tell", "--task", "9", "x"]).expect_code(2), &["'demo' has no task '9'"]);
    expect(&sandbox.run(&["tell", " "]).expect_code(2), &["there is nothing to tell"]);
    let long = "x".repeat(5_000);
    expect(&sandbox.run(&["tell", &long]).expect_code(2), &["a word has at most 4000 characters"]);
    expect(&sandbox.run(&["answer", "retry"]).expect_code(2), &["no question of 'demo' is open"]);
    assert_eq!(events(&sandbox).len(), before, "nothing is recorded");
    sandbox.run(&["skip", "1.3"]).expect_code(0);
    wait_for("the skip", || of_kind(&sandbox, "task_skipped").len() == 1);
    sandbox.release("gate");
    run.wait().expect_code(0);
    assert_eq!(calls(&sandbox).len(), 2);
}

#[test]
fn a_skip_is_recorded_where_no_run_is_under_way() {
    let sandbox = sandbox(&[("1.1", ""), ("1.2", ""), ("1.3", "")]);
    expect(&sandbox.run(&["skip", "1.3"]).expect_code(0), &["the next `tillgreen run` takes it"]);
    let agent = Agent::new().on("1.1", gated(&sandbox, "1.1"));
    let mut run = start(&sandbox, &agent, &[]);
    assert_eq!(of_kind(&sandbox, "task_skipped").len(), 1, "what waited comes first");
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
    let before = events(&sandbox).len();
    expect(&sandbox.run(&["skip", "1.3"]).expect_code(2), &["task 1.3 is done or skipped already"]);
    expect(&sandbox.run(&["skip", "7"]).expect_code(2), &["'demo' has no task '7'"]);
    assert_eq!(events(&sandbox).len(), before, "nothing is recorded");
    expect(&sandbox.run(&["skip", "1.2"]).expect_code(0), &["Noted; no run of 'demo' is under way"]);
    assert!(sandbox.read("STATE.md").contains("[SKIPPED] 1.2"));
    sandbox.release("gate");
    sandbox.run(&["run"]).expect_code(0);
    assert!(calls(&sandbox).iter().all(|(task, _)| task == "1.1"), "{:?}", calls(&sandbox));
}

#[test]
fn what_a_run_did_not_take_before_it_was_killed_is_taken_by_the_next() {
    let sandbox = one_by_one();
    let agent = Agent::new().on("1.1", gated(&sandbox, "1.1")).on("1.2", good("1.2"));
    let mut run = start(&sandbox, &agent, &[]);
    // It hears nothing from here on.
    run.signal(Signal::Stop);
    let telling = sandbox.start(&["tell", "use tabs"]);
    let pausing = sandbox.start(&["pause"]);
    wait_for("the words", || files(&sandbox).len() == 2);
    run.kill();
    let told = telling.wait().expect_code(0);
    expect(&told, &["was killed before it took this. It is kept: the next `tillgreen run` takes it."]);
    expect(&pausing.wait().expect_code(0), &["No run of 'demo' is under way."]);
    assert!(of_kind(&sandbox, "told").is_empty());
    sandbox.release("gate");
    sandbox.run(&["run"]).expect_code(0);
    assert_eq!(of_kind(&sandbox, "told").len(), 1);
    assert!(of_kind(&sandbox, "pause_requested").is_empty(), "the pause was meant for another start");
    assert!(prompt(&sandbox, "1.1").contains("- use tabs\n"));
}

#[test]
fn what_is_found_again_is_not_taken_again() {
    let sandbox = one_by_one();
    let message = r#"{"version":1,"directive":{"id":"7","from":"ada","said":{"tell":{"text":"use tabs"}}}}"#;
    let put = || {
        let folder = sandbox.root().join(INBOX);
        fs::create_dir_all(&folder).unwrap();
        // As if the program had been killed after it wrote the journal, and before it replied.
        let _ = fs::remove_file(folder.join("7.reply"));
        fs::write(folder.join("7.json.new"), message).unwrap();
        fs::rename(folder.join("7.json.new"), folder.join("7.json")).unwrap();
    };
    put();
    let agent = Agent::new().on("1.1", gated(&sandbox, "1.1")).on("1.2", good("1.2"));
    let run = start(&sandbox, &agent, &[]);
    assert_eq!(of_kind(&sandbox, "told").len(), 1);
    put();
    wait_for("the reply", || sandbox.root().join(INBOX).join("7.reply").exists());
    run.kill();
    put();
    fs::write(sandbox.root().join(INBOX).join("8.json"), "{").unwrap();
    sandbox.release("gate");
    sandbox.run(&["run"]).expect_code(0);
    let told = of_kind(&sandbox, "told");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["by"], serde_json::json!({"id": "7", "from": "ada"}));
    assert_eq!(sandbox.read(&format!("{INBOX}/7.reply")), "\"taken\"");
    assert!(sandbox.read(&format!("{INBOX}/8.reply")).contains("unreadable"));
    assert_eq!(prompt(&sandbox, "1.1").matches("use tabs").count(), 1);
}

#[test]
fn an_agent_does_not_steer_its_own_run() {
    let sandbox = one_by_one();
    let program = Path::new(PROGRAM).display();
    let tries = Step::shell(&format!("'{program}' skip 1.2 > {}/said 2>&1", sandbox.control("").display()));
    let agent = Agent::new().on("1.1", [vec![tries], good("1.1")].concat()).on("1.2", good("1.2"));
    let command = sandbox.install_agent(&agent);
    let run = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    expect(&run, &["ALL_TASKS_COMPLETE"]);
    let said = fs::read_to_string(sandbox.control("said")).unwrap_or_default();
    assert!(said.contains("an agent of 'demo' cannot steer its own run"), "{said}");
}

#[test]
fn limits_that_change_are_taken_up_and_flags_stay_in_force() {
    let sandbox = one_by_one();
    sandbox.write("tillgreen.toml", "max_task_iterations = 1\nmax_fix_tasks = 3\nverify_timeout = \"1m\"\n");
    let there = sandbox.control("there").display().to_string();
    let fails = [Step::write(&there, ""), Step::await_file(&sandbox.control("gate")), Step::say("no")];
    let agent = Agent::new().on_attempt("1.1", 1, fails).on("1.1", good("1.1")).on("1.2", good("1.2"));
    let run = start(&sandbox, &agent, &["--max-fix-tasks", "2"]);
    sandbox.write("tillgreen.toml", "max_task_iterations = many\n");
    wait_for("a word about it", || run.stderr().contains("the settings were changed and cannot be read"));
    sandbox.write(
        "tillgreen.toml",
        "max_task_iterations = 2\nmax_fix_tasks = 9\nverify_timeout = \"2m\"\njobs = 2\n",
    );
    wait_for("the limits", || !of_kind(&sandbox, "limits_changed").is_empty());
    sandbox.release("gate");
    let run = run.wait().expect_code(0);
    expect(&run, &["settings changed: jobs from 4 to 2; max_task_iterations from 1 to 2"]);
    expect(&run, &["`verify_timeout` was changed in the settings; that counts from the next start on"]);
    assert_eq!(calls(&sandbox)[..2], [("1.1".to_owned(), 1), ("1.1".to_owned(), 2)]);
    let changed = of_kind(&sandbox, "limits_changed");
    let new = &changed[0]["what"]["limits_changed"];
    assert_eq!((changed.len(), &new["limits"]["fix_tasks_max"]), (1, &Value::from(2)), "{changed:?}");
}
