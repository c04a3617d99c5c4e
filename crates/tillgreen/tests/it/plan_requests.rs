//! Changes of the plan that agents ask for through tools.

use super::agents::{CLAUDE_DONE, CLAUDE_SILENT, counting, events, kept, of_kind, reports, sandbox};

fn worked(sandbox: &testkit::Sandbox) -> Vec<String> {
    kept(sandbox, "work.log").lines().map(str::to_owned).collect()
}

/// An agent that changes something in each of its attempts, and that accepts all as a judge.
fn install(sandbox: &testkit::Sandbox, body: &str) {
    install_with_judge(sandbox, "VERIFICATION_PASS", body);
}

/// The same with another word as a judge.
fn install_with_judge(sandbox: &testkit::Sandbox, word: &str, body: &str) {
    let log = sandbox.control("work.log");
    let note = format!("echo \"$TILLGREEN_ROLE $TILLGREEN_TASK_ID\" >> '{}'", log.display());
    let verdict = CLAUDE_DONE.replace("TASK_COMPLETE", word);
    let judges = format!("if [ $TILLGREEN_ROLE = qa ]; then {verdict}\nexit; fi");
    let work = "echo $n > \"$TILLGREEN_TASK_ID.txt\"";
    counting(sandbox, "claude", &format!("{note}\n{judges}\n{work}\n{body}"));
}

#[test]
fn a_follow_up_is_a_task_of_its_own_that_somebody_judges() {
    let sandbox = sandbox();
    let asked = r#"{"kind":"follow_up","title":"Sharpen the pencil\\n- [x] 9.9 nothing","reason":"blunt"}"#;
    let calls = reports(&[("request_change", asked), ("task_complete", "{}")]);
    install(&sandbox, &format!("if [ $n = 1 ]; then {calls} fi\necho one > one.txt\n{CLAUDE_DONE}"));
    sandbox.run(&["run"]).expect_code(0);
    let tasks = sandbox.tasks("demo");
    assert!(tasks.contains("- [x] 1.1.1 Sharpen the pencil") && tasks.contains("Why: blunt"), "{tasks}");
    assert!(!tasks.contains("\n- [x] 9.9") && tasks.matches("**Verify**").count() == 1, "{tasks}");
    assert_eq!(worked(&sandbox), ["executor 1.1", "executor 1.1.1", "qa 1.1.1"]);
}

#[test]
fn a_prerequisite_is_done_before_the_task_is_tried_again() {
    let sandbox = sandbox();
    let asked = r#"{"kind":"prerequisite","title":"Write zero","done_when":"zero.txt is there"}"#;
    let calls = reports(&[("request_change", asked)]);
    let body = format!(
        "case \"$n\" in 1) {calls}\n{CLAUDE_SILENT}; exit;; 2) echo 0 > zero.txt;; 4) echo one > one.txt;; esac\n{CLAUDE_DONE}"
    );
    install(&sandbox, &body);
    // One attempt is all there is, and waiting for another task costs none.
    let finished = sandbox.run(&["run", "--max-task-iterations", "1", "--format", "json"]).expect_code(0);
    assert_eq!(worked(&sandbox), ["executor 1.1", "executor 1.1.1", "qa 1.1.1", "executor 1.1"]);
    let tasks = sandbox.tasks("demo");
    let (zero, one) = (tasks.find("- [x] 1.1.1 Write zero"), tasks.find("- [x] 1.1 Write one"));
    assert!(zero.is_some() && zero < one, "{tasks}");
    assert!(tasks.contains("**Done when**: zero.txt is there"), "{tasks}");
    let events = events(&finished);
    assert_eq!(of_kind(&events, "deferred").len(), 1, "{finished}");
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
}

#[test]
fn the_parts_of_a_task_come_before_what_is_left_of_it() {
    let sandbox = sandbox();
    let part = |title: &str| format!(r#"{{"kind":"split","title":"{title}"}}"#);
    let (first, second) = (part("Half of it"), part("The other half"));
    let calls = reports(&[
        ("request_change", &first),
        ("request_change", &second),
        ("task_failed", r#"{"error":"too much"}"#),
    ]);
    let body = format!(
        "if [ $n = 1 ]; then {calls}\n{CLAUDE_SILENT}; exit; fi\necho $n > part$n.txt; echo one > one.txt\n{CLAUDE_DONE}"
    );
    install(&sandbox, &body);
    sandbox.run(&["run"]).expect_code(0);
    let executed: Vec<String> =
        worked(&sandbox).into_iter().filter(|line| line.starts_with("exec")).collect();
    assert_eq!(executed, ["executor 1.1", "executor 1.1.1", "executor 1.1.2", "executor 1.1"]);
}

#[test]
fn what_the_judge_does_not_accept_is_not_ticked() {
    let sandbox = sandbox();
    let calls =
        reports(&[("request_change", r#"{"kind":"follow_up","title":"Polish"}"#), ("task_complete", "{}")]);
    let body = format!("if [ $n = 1 ]; then {calls} fi\necho one > one.txt\n{CLAUDE_DONE}");
    install_with_judge(&sandbox, "It is dull.\\nVERIFICATION_FAIL", &body);
    sandbox.run(&["run", "--max-task-iterations", "2"]).expect_code(1);
    assert!(sandbox.tasks("demo").contains("- [ ] 1.1.1 Polish"), "{}", sandbox.tasks("demo"));
}

#[test]
fn whoever_asks_without_end_gets_no_more_than_fix_tasks() {
    let sandbox = sandbox();
    // Every executor asks for two more tasks, each time in other words.
    let (one, two) = (
        r#"{"kind":"follow_up","title":"More 1 of '$TILLGREEN_TASK_ID'"}"#,
        r#"{"kind":"prerequisite","title":"More 2 of '$TILLGREEN_TASK_ID'"}"#,
    );
    let calls = reports(&[("request_change", one), ("request_change", two), ("task_complete", "{}")]);
    let body = format!(
        "if [ $TILLGREEN_ROLE = executor ]; then {calls} fi\necho one > one.txt; date +%N >> noise.txt\n{CLAUDE_DONE}"
    );
    install(&sandbox, &body);
    sandbox.run(&["run", "--max-fix-tasks", "1"]).expect_code(0);
    let tasks = sandbox.tasks("demo");
    let ids: Vec<&str> =
        tasks.lines().filter_map(|line| line.strip_prefix("- [x] ")?.split(' ').next()).collect();
    assert_eq!(ids, ["1.1", "1.1.1", "1.1.1.1", "1.1.1.1.1"], "{tasks}");
    assert!(sandbox.read("specs/demo/.progress.md").contains("Requested prerequisite: More 2 of 1.1"));
}

#[test]
fn who_asks_again_for_what_is_done_is_tried_again_like_anybody() {
    let sandbox = sandbox();
    let calls = reports(&[("request_change", r#"{"kind":"prerequisite","title":"Write zero"}"#)]);
    let asks = format!("if [ $TILLGREEN_TASK_ID = 1.1 ]; then {calls}\n{CLAUDE_SILENT}; exit; fi");
    install(&sandbox, &format!("{asks}\ndate +%N > zero.txt\n{CLAUDE_DONE}"));
    let finished = sandbox.run(&["run", "--max-task-iterations", "2", "--format", "json"]).expect_code(1);
    let events = events(&finished);
    let failed = of_kind(&events, "attempt_failed");
    let causes: Vec<&str> = failed.iter().filter_map(|failed| failed["failure"]["cause"].as_str()).collect();
    assert_eq!(causes, ["blocked", "no_signal", "no_signal"], "{finished}");
    assert_eq!(sandbox.tasks("demo").matches("] 1.1.").count(), 1, "{}", sandbox.tasks("demo"));
}

#[test]
fn a_prerequisite_of_a_task_beside_others_comes_first_as_well() {
    let sandbox = sandbox();
    let plan = "# Tasks\n\n- [ ] 1.1 [P] One\n  - **Files**: `one.txt`\n  - **Verify**: `test -s one.txt && test -s zero.txt`\n\
                - [ ] 1.2 [P] Two\n  - **Files**: `two.txt`\n  - **Verify**: `test -s two.txt`\n";
    sandbox.spec("demo", plan);
    sandbox.commit_all("two tasks");
    let calls = reports(&[("request_change", r#"{"kind":"prerequisite","title":"Write zero"}"#)]);
    let body = format!(
        "case $TILLGREEN_TASK_ID in\n1.1) if ! test -s zero.txt; then {calls}\n{CLAUDE_SILENT}; exit; fi; echo 1 > one.txt;;\n\
         1.2) echo 2 > two.txt;;\n1.1.1) echo 0 > zero.txt;;\nesac\n{CLAUDE_DONE}"
    );
    install(&sandbox, &body);
    sandbox.run(&["run", "--jobs", "2"]).expect_code(0);
    let worked = worked(&sandbox);
    let place = |line: &str| worked.iter().rposition(|found| found == line);
    assert!(place("executor 1.1.1") < place("executor 1.1"), "{worked:?}");
    assert!(!sandbox.tasks("demo").contains("- [ ]"), "{}", sandbox.tasks("demo"));
}
