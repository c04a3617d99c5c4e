//! Plans with phases: a folder of `*-PLAN.md` files run in order, results read as agents write them, and files that
//! are never written.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const FOLDER: &str = ".planning/phases";
const FIRST: &str = ".planning/phases/03-x/03-01-PLAN.md";

/// A plan of phase 3 with what else its front matter says.
fn plan(number: &str, front: &str, tasks: &[String]) -> String {
    format!(
        "---\nphase: 03-x\nplan: {number}\ntype: execute\n{front}---\n\n<objective>\nTests.\n</objective>\n\n\
         <tasks>\n\n{}</tasks>\n",
        tasks.concat()
    )
}

/// A task that is done when a file is there.
fn task(name: &str, file: &str) -> String {
    format!(
        "<task type=\"auto\">\n  <name>{name}</name>\n  <files>{file}</files>\n  <action>Write {file}.</action>\n  \
         <verify>\n    <automated>test -f {file}</automated>\n  </verify>\n  <done>{file} is there</done>\n</task>\n\n"
    )
}

fn sandbox(plans: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    for (number, text) in plans {
        sandbox.write(&format!("{FOLDER}/03-x/03-{number}-PLAN.md"), text);
    }
    sandbox.commit_all("plan");
    sandbox
}

/// A project whose only plan has the tasks 1 and 2, for the files `a` and `b`.
fn two_tasks() -> (Sandbox, String) {
    let text = plan("01", "wave: 1\n", &[task("Task 1: Make a", "a"), task("Task 2: Make b", "b")]);
    (sandbox(&[("01", &text)]), text)
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", FOLDER, "--agent-cmd", &command], flags].concat())
}

fn success() -> Step {
    Step::say("All done.\n\n```yaml\nstatus: success\n```")
}

/// Writes a file and reports success.
fn writes(file: &str) -> [Step; 2] {
    [Step::write(file, ""), success()]
}

/// The tasks that the agent was given, in order.
fn order(sandbox: &Sandbox) -> Vec<String> {
    sandbox.agent_calls().iter().map(|call| call.task.clone()).collect()
}

/// The objects of the retry log about a task.
fn logged(sandbox: &Sandbox, task: &str) -> Vec<Value> {
    let log = sandbox.read(".ultraplan/logs/retry.jsonl");
    let objects = log.lines().map(|line| serde_json::from_str(line).expect("each line is an object"));
    objects.filter(|object: &Value| object["task_id"] == task).collect()
}

#[test]
fn waves_and_dependencies_decide_the_order() {
    let late = plan("01", "wave: 2\n", &[task("Task 1: Make a", "a"), task("Task 2: Make `a b`", "b")]);
    let early = plan("02", "wave: 1\ndepends_on: []\n", &[task("Make c", "c")]);
    let next = plan("03", "wave: 1\ndepends_on: [\"03-02\"]\n", &[task("Task 1: Make d", "d")]);
    let last = plan("04", "wave: 1\ndepends_on: [03-01, 99-09]", &[task("Task 1: Make e", "e")])
        .replace("99-09]---", "99-09]\r\n---")
        + "\n\t trailing \u{a0} text without an end";
    let plans = [("01", &*late), ("02", &*early), ("03", &*next), ("04", &*last)];
    let sandbox = sandbox(&plans);
    let agent = Agent::new()
        .on("03-01:task-1", writes("a"))
        .on("03-01:task-2", writes("b"))
        .on("03-02:task-1", writes("c"))
        .on("03-03:task-1", writes("d"))
        .on("03-04:task-1", writes("e"));
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    assert!(finished.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{finished}");
    let expected = ["03-02:task-1", "03-03:task-1", "03-01:task-1", "03-01:task-2", "03-04:task-1"];
    assert_eq!(order(&sandbox), expected);
    let expected = [
        "plan",
        "feat(03-02): make c",
        "feat(03-03): make d",
        "feat(03-01): make a",
        "feat(03-01): make 'a b'",
        "feat(03-04): make e",
    ];
    assert_eq!(sandbox.subjects(), expected);
    for (number, text) in plans {
        assert_eq!(sandbox.read(&format!("{FOLDER}/03-x/03-{number}-PLAN.md")), text, "plan {number}");
    }
    assert_eq!(sandbox.dirt(), [""; 0]);
    let again = run(&sandbox, &agent, &[]).expect_code(0);
    assert!(again.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{again}");
    assert_eq!(order(&sandbox).len(), 5, "what is done is not done again");
}

#[test]
fn phases_run_one_after_another_and_what_has_its_summary_is_done() {
    let earlier = |number: &str, file: &str| {
        plan(number, "wave: 2\n", &[task("Make it", file)]).replace("phase: 03-x", "phase: 2-w")
    };
    let later = plan("01", "wave: 1\ndepends_on: [\"02-02\"]\n", &[task("Make c", "c")]);
    let sandbox = sandbox(&[("01", &later)]);
    sandbox.write(&format!("{FOLDER}/2-w/02-01-PLAN.md"), earlier("01", "a"));
    sandbox.write(&format!("{FOLDER}/2-w/02-02-PLAN.md"), earlier("02", "b"));
    sandbox.write(&format!("{FOLDER}/2-w/02-02-SUMMARY.md"), "# Done\n");
    sandbox.commit_all("phase 2");
    let agent = Agent::new()
        .on(
            "2-01:task-1",
            [Step::write(&format!("{FOLDER}/03-x/03-01-SUMMARY.md"), ""), Step::write("a", ""), success()],
        )
        .on("03-01:task-1", writes("c"));
    let checked = sandbox.run(&["check", FOLDER]).expect_code(0);
    assert!(checked.stdout.contains("2-02 is done already: its summary lies beside it"), "{checked}");
    let dry = run(&sandbox, &agent, &["--dry-run"]).expect_code(0);
    let wanted: Vec<&str> = dry.stdout.lines().filter_map(|line| line.strip_prefix("would run ")).collect();
    assert_eq!(wanted, ["2-01:task-1 Make it", "03-01:task-1 Make c"], "{dry}");
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    assert_eq!(order(&sandbox), ["2-01:task-1", "03-01:task-1"], "what an agent writes proves nothing");
    assert!(finished.stderr.contains("2-02 is done already and skipped"), "{finished}");
    assert!(finished.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{finished}");
}

#[test]
fn one_plan_of_a_folder_runs_alone() {
    let (sandbox, text) = two_tasks();
    sandbox.write(&format!("{FOLDER}/03-x/03-02-PLAN.md"), plan("02", "", &[task("Make c", "c")]));
    sandbox.commit_all("another");
    let agent = Agent::new().on("03-01:task-1", writes("a")).on("03-01:task-2", writes("b"));
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["run", FIRST, "--agent-cmd", &command]).expect_code(0);
    assert_eq!(order(&sandbox), ["03-01:task-1", "03-01:task-2"]);
    assert_eq!(sandbox.read(FIRST), text);
}

/// What an agent prints, and what is logged of it: `success`, or the error.
#[track_caller]
fn check_results(cases: &[(&str, &str)]) {
    let tasks: Vec<_> = (1..=cases.len()).map(|n| task(&format!("Task {n}: x"), "a")).collect();
    let sandbox = sandbox(&[("01", &plan("01", "", &tasks))]);
    sandbox.write("a", "");
    sandbox.commit_all("a");
    let agent = (1..).zip(cases).fold(Agent::new(), |agent, (number, (output, _))| {
        agent.on(&format!("03-01:task-{number}"), [Step::say(output)])
    });
    run(&sandbox, &agent, &["--max-task-iterations", "1", "--on-escalation", "skip"]).expect_code(0);
    for (number, (output, expected)) in (1..).zip(cases) {
        let objects = logged(&sandbox, &format!("03-01:task-{number}"));
        let attempt = objects.iter().find(|object| object["event"] == "attempt").expect("it was tried");
        let found = match attempt["error"].as_str() {
            Some(error) => format!("{}: {error}", attempt["failure_type"].as_str().unwrap_or_default()),
            None => attempt["status"].as_str().unwrap_or_default().to_owned(),
        };
        assert_eq!(found, *expected, "for {output:?}");
    }
}

#[test]
fn results_are_read_as_agents_write_them() {
    check_results(&[
        ("status: success", "success"),
        ("I did it.\n\n```yaml\nstatus: success\nfiles_modified: [a]\n```\nBye.", "success"),
        ("```yaml\nstatus: failure\nerror: first\n```\nAgain.\n```yaml\nstatus: \"success\"\n```", "success"),
        ("status: success\n\nWait.\n\nstatus: failure\nerror: no: not yet", "execution_error: no: not yet"),
        (
            "```yaml\nstatus: failure\nerror: Cannot find: module 'uuid'\n",
            "execution_error: Cannot find: module 'uuid'",
        ),
        ("result:\n  status: failed\n  error: |\n    two\n    lines", "execution_error: two lines"),
        ("```yaml\nstatus: failure\nerror: [unclosed\n```", "execution_error: [unclosed"),
        (
            "The status: success of it",
            "execution_error: the result cannot be read: The status: success of it",
        ),
        ("status: splendid", "execution_error: the result cannot be read: status: splendid"),
    ]);
}

#[test]
fn the_beginning_of_an_unreadable_result_is_the_error() {
    let (sandbox, _) = two_tasks();
    let long = format!("BEGIN{}", "0123456789".repeat(6_000));
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [Step::say(&long)])
        .on("03-01:task-1", writes("a"))
        .otherwise(writes("b"));
    run(&sandbox, &agent, &[]).expect_code(0);
    let prompt = &sandbox.agent_calls()[1].prompt;
    let expected: String = long.chars().take(500).collect();
    assert!(prompt.contains("<type>execution_error</type>"), "{prompt}");
    assert!(prompt.contains(&format!("the result cannot be read: {expected}\n")), "{prompt}");
}

#[test]
fn three_attempts_in_all_and_then_a_person() {
    let (sandbox, text) = two_tasks();
    let agent = Agent::new().otherwise([success()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(3);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    let calls = sandbox.agent_calls();
    let attempts: Vec<_> = calls.iter().map(|call| (call.task.as_str(), call.attempt)).collect();
    assert_eq!(attempts, [("03-01:task-1", 1), ("03-01:task-1", 2), ("03-01:task-1", 3)]);
    assert!(!calls[0].prompt.contains("<retry_context"), "{}", calls[0].prompt);
    assert!(
        calls[1].prompt.contains("<retry_context attempt=\"2\" max_attempts=\"3\">"),
        "{}",
        calls[1].prompt
    );
    assert!(calls[2].prompt.contains("This is retry attempt 3 of 3."), "{}", calls[2].prompt);
    let (context, block) = (calls[2].prompt.find("<retry_context"), calls[2].prompt.find("<task type"));
    assert!(context < block, "the history comes before the task");
    let again = sandbox.run(&["run", FOLDER]).expect_code(3);
    assert!(again.stderr.contains("03-01:task-1 waits for an answer"), "{again}");
    assert_eq!(sandbox.agent_calls().len(), 3, "a person was asked, not the agent again");
    assert_eq!(sandbox.read(FIRST), text);
}

fn blocked(by: &str) -> Step {
    Step::say(&format!("status: blocked\nreason: needs b\n{by}"))
}

#[test]
fn what_blocks_a_task_is_done_first() {
    for spelling in ["03-01:task-2", "03-01-task-2", "03-01-02"] {
        let (sandbox, _) = two_tasks();
        let agent = Agent::new()
            .on_attempt("03-01:task-1", 1, [blocked(&format!("blocked_by: {spelling}"))])
            .on("03-01:task-1", writes("a"))
            .otherwise(writes("b"));
        let finished = run(&sandbox, &agent, &[]);
        assert_eq!(finished.code, Some(0), "for {spelling}: {finished}");
        assert_eq!(order(&sandbox), ["03-01:task-1", "03-01:task-2", "03-01:task-1"], "for {spelling}");
    }
}

#[test]
fn blocked_twice_or_by_nothing_asks_a_person() {
    let (sandbox, _) = two_tasks();
    let agent = Agent::new().on("03-01:task-1", [blocked("blocked_by: 03-01:task-2")]).otherwise(writes("b"));
    let finished = run(&sandbox, &agent, &[]).expect_code(3);
    assert!(finished.stderr.contains("needs b"), "{finished}");
    assert_eq!(order(&sandbox), ["03-01:task-1", "03-01:task-2", "03-01:task-1"]);
    for by in ["", "blocked_by: the weather", "blocked_by: 03-01:task-1", "blocked_by: 03-01:task-9"] {
        let (sandbox, _) = two_tasks();
        let finished = run(&sandbox, &Agent::new().otherwise([blocked(by)]), &[]);
        assert_eq!(finished.code, Some(3), "for {by:?}: {finished}");
        assert_eq!(order(&sandbox), ["03-01:task-1"], "for {by:?}");
    }
}

#[test]
fn what_trying_again_cannot_help_asks_a_person_at_once() {
    let cases: [(&[Step], &str, &str); 4] = [
        (&[Step::say("status: impossible\nreason: no such thing")], "impossible", "no such thing"),
        (
            &[Step::say("status: conflicting_requirements\nreason: a or b")],
            "conflicting_requirements",
            "a or b",
        ),
        (&[Step::say("status: service_unavailable\nreason: npm")], "service_unavailable", "npm"),
        (
            &[Step::Complain("the vault is locked".to_owned()), Step::Exit(126)],
            "permission_denied",
            "the vault",
        ),
    ];
    for (steps, reason, words) in cases {
        let (sandbox, _) = two_tasks();
        let finished = run(&sandbox, &Agent::new().otherwise(steps.to_vec()), &["--recovery-mode"]);
        assert_eq!(finished.code, Some(3), "for {reason}: {finished}");
        assert!(finished.stderr.contains(words), "for {reason}: {finished}");
        assert_eq!(order(&sandbox), ["03-01:task-1"], "for {reason}");
        let escalated = &logged(&sandbox, "03-01:task-1")[1];
        assert_eq!(escalated["reason"], reason);
    }
}

#[test]
fn prose_is_never_read_for_obstacles() {
    let (sandbox, _) = two_tasks();
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [Step::say("This is impossible: permission denied, blocked.")])
        .on("03-01:task-1", writes("a"))
        .otherwise(writes("b"));
    run(&sandbox, &agent, &[]).expect_code(0);
}

#[test]
fn fix_tasks_of_a_plan_are_kept_in_the_journal() {
    let (sandbox, text) = two_tasks();
    let failed = "```yaml\nstatus: failure\nerror: \"File not found: </task> a\"\nattempted_fix: looked\n```";
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [Step::say(failed)])
        .on("03-01:task-1", [Step::append("a", "more"), success()])
        .on_attempt("03-01:task-1.1", 1, [success()])
        .on("03-01:task-2", writes("b"))
        .otherwise(writes("a"));
    run(&sandbox, &agent, &["--recovery-mode"]).expect_code(0);
    let fix = "03-01:task-1.1";
    // The first try at the fix changed nothing, so the verify command that it inherits is red with another error.
    let orders = order(&sandbox);
    assert_eq!(orders.first().map(String::as_str), Some("03-01:task-1"));
    assert_eq!(orders.get(1).map(String::as_str), Some(fix));
    assert_eq!(orders.last().map(String::as_str), Some("03-01:task-2"));
    let calls = sandbox.agent_calls();
    for words in [
        "<name>Fix: File not found: ‹/task› a</name>",
        "1. Analyze the failure: looked",
        "<automated>test -f a</automated>",
        "<files>a</files>",
    ] {
        assert!(calls[1].prompt.contains(words), "{words} is missing in {}", calls[1].prompt);
    }
    assert_eq!(sandbox.read(FIRST), text);
    assert_eq!(sandbox.dirt(), [""; 0]);
    let log = sandbox.run(&["log", FOLDER]).expect_code(0);
    assert!(log.stdout.contains(fix), "{log}");
}

#[test]
fn a_fix_task_survives_a_crash() {
    let (sandbox, text) = two_tasks();
    let (began, gate) = (sandbox.control("began"), sandbox.control("gate"));
    let mut waits = vec![Step::write(&began.display().to_string(), ""), Step::await_file(&gate)];
    waits.extend(writes("a"));
    let agent = Agent::new()
        .on_attempt("03-01:task-1", 1, [Step::say("status: failure\nerror: boom")])
        .on("03-01:task-1.1", waits)
        .on("03-01:task-2", writes("b"))
        .otherwise([Step::append("a", "more"), success()]);
    let command = sandbox.install_agent(&agent);
    let first = sandbox.start(&["run", FOLDER, "--recovery-mode", "--agent-cmd", &command]);
    wait_for("the fix task", || began.exists());
    first.kill();
    sandbox.wait_until_quiet();
    sandbox.release("gate");
    sandbox.run(&["run", FOLDER]).expect_code(0);
    let expected = ["03-01:task-1", "03-01:task-1.1", "03-01:task-1.1", "03-01:task-1", "03-01:task-2"];
    assert_eq!(order(&sandbox), expected, "the fix is written once, and no other takes its place");
    assert_eq!(sandbox.read(FIRST), text);
    assert_eq!(sandbox.dirt(), [""; 0]);
}

#[test]
fn an_architect_can_reject_a_result() {
    let (sandbox, _) = two_tasks();
    let rejected = sandbox.control("rejected");
    let judge = format!(
        "if test -e {0}; then echo VERIFICATION_PASS; else touch {0}; \
         printf 'The edge case of an empty a is missing\\nVERIFICATION_FAIL\\n'; fi",
        rejected.display()
    );
    let agent = Agent::new()
        .on_role("reviewer", "03-01:task-1", [Step::shell(&judge)])
        .on_role("reviewer", "03-01:task-2", [Step::say("VERIFICATION_PASS")])
        .on("03-01:task-1", [Step::append("a", "x"), success()])
        .otherwise(writes("b"));
    run(&sandbox, &agent, &["--review"]).expect_code(0);
    let calls = sandbox.agent_calls();
    let roles: Vec<_> = calls.iter().map(|call| call.role.as_str()).collect();
    assert_eq!(roles, ["executor", "reviewer", "executor", "reviewer", "executor", "reviewer"]);
    assert!(calls[1].prompt.contains("<done>a is there</done>"), "{}", calls[1].prompt);
    assert!(calls[2].prompt.contains("<type>architect_rejected</type>"), "{}", calls[2].prompt);
    assert!(calls[2].prompt.contains("The edge case of an empty a is missing"), "{}", calls[2].prompt);
    assert_eq!(logged(&sandbox, "03-01:task-1")[0]["failure_type"], "architect_rejected");
}

#[test]
fn killed_in_the_middle_it_goes_on() {
    let (sandbox, text) = two_tasks();
    let (began, gate) = (sandbox.control("began"), sandbox.control("gate"));
    let mut waits = vec![Step::write(&began.display().to_string(), ""), Step::await_file(&gate)];
    waits.extend(writes("b"));
    let agent = Agent::new().on("03-01:task-1", writes("a")).otherwise(waits);
    let command = sandbox.install_agent(&agent);
    let first = sandbox.start(&["run", FOLDER, "--agent-cmd", &command]);
    wait_for("the second task", || began.exists());
    first.kill();
    sandbox.wait_until_quiet();
    sandbox.release("gate");
    let finished = sandbox.run(&["run", FOLDER]).expect_code(0);
    assert!(finished.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{finished}");
    let calls = sandbox.agent_calls();
    let attempts: Vec<_> = calls.iter().map(|call| (call.task.as_str(), call.attempt)).collect();
    assert_eq!(attempts, [("03-01:task-1", 1), ("03-01:task-2", 1), ("03-01:task-2", 1)]);
    assert_eq!(sandbox.subjects(), ["plan", "feat(03-01): make a", "feat(03-01): make b"]);
    assert_eq!((sandbox.read(FIRST), sandbox.dirt().len()), (text, 0));
}

#[test]
fn a_plan_edited_between_runs() {
    let (sandbox, text) = two_tasks();
    let agent = Agent::new()
        .on("03-01:task-1", writes("a"))
        .on_attempt("03-01:task-2", 1, [Step::say("status: blocked")])
        .on("03-01:task-2", writes("b"))
        .on("03-01:task-3", writes("c"))
        .otherwise(writes("d"));
    run(&sandbox, &agent, &[]).expect_code(3);
    let reworded = text.replace("Task 2: Make b", "Task 2: Make b quickly");
    let edited = reworded.replace("</tasks>", &format!("{}</tasks>", task("Task 3: Make c", "c")));
    sandbox.write(FIRST, &edited);
    let other = plan("02", "depends_on: [\"01\"]\n", &[task("Task 1: Make d", "d")]);
    sandbox.write(&format!("{FOLDER}/03-x/03-02-PLAN.md"), &other);
    sandbox.commit_all("edit");
    sandbox.run(&["answer", FOLDER, "retry"]).expect_code(0);
    let expected = ["03-01:task-1", "03-01:task-2", "03-01:task-2", "03-01:task-3", "03-02:task-1"];
    assert_eq!(order(&sandbox), expected);
    assert!(sandbox.agent_calls()[2].prompt.contains("Make b quickly"));
    assert_eq!(sandbox.read(FIRST), edited);
    assert_eq!(sandbox.read(&format!("{FOLDER}/03-x/03-02-PLAN.md")), other);
}

#[test]
fn an_agent_that_edits_the_plan_is_put_right() {
    let (sandbox, text) = two_tasks();
    let agent = Agent::new()
        .on("03-01:task-1", [Step::write(FIRST, "nothing"), Step::write("a", ""), success()])
        .otherwise(writes("b"));
    run(&sandbox, &agent, &[]).expect_code(0);
    assert_eq!(sandbox.read(FIRST), text, "a plan whose tasks were removed is put back");
    assert_eq!(order(&sandbox), ["03-01:task-1", "03-01:task-2"]);
}

#[test]
fn plans_that_depend_on_each_other_are_refused() {
    let one = plan("01", "depends_on: [03-02]\n", &[task("Task 1: Make a", "a")]);
    let two = plan("02", "depends_on: [03-01]\n", &[task("Task 1: Make b", "b")]);
    let sandbox = sandbox(&[("01", &one), ("02", &two)]);
    let finished = run(&sandbox, &Agent::new(), &[]).expect_code(2);
    assert!(finished.stderr.contains("03-01 depends on itself through depends_on"), "{finished}");
    assert_eq!(sandbox.agent_calls(), []);
    let checked = sandbox.run(&["check", FOLDER]).expect_code(2);
    assert!(checked.stdout.contains("03-01 depends on itself through depends_on"), "{checked}");
}

#[test]
fn plans_with_the_same_number_are_refused() {
    let (sandbox, text) = two_tasks();
    sandbox.write(&format!("{FOLDER}/03-y/03-01-PLAN.md"), text.replace("03-x", "03-y"));
    sandbox.commit_all("another");
    let finished = run(&sandbox, &Agent::new(), &[]).expect_code(2);
    assert!(
        finished.stderr.contains("03-y/03-01-PLAN.md:1: error: 03-01 is the number of another"),
        "{finished}"
    );
    assert_eq!(sandbox.agent_calls(), []);
    sandbox.run(&["check", FOLDER]).expect_code(2);
    sandbox.run(&["check", FIRST]).expect_code(0);
}

#[test]
fn an_error_in_a_folder_of_plans_names_its_file() {
    let (sandbox, _) = two_tasks();
    sandbox.write(&format!("{FOLDER}/03-x/03-02-PLAN.md"), "---\nphase: 03-x\nplan: 02\n---\n<task>\nopen\n");
    sandbox.commit_all("broken");
    let finished = run(&sandbox, &Agent::new(), &[]).expect_code(2);
    assert!(finished.stderr.contains("03-02-PLAN.md:5: error"), "{finished}");
    assert!(finished.stderr.contains(&format!("`tillgreen check {FOLDER}`")), "{finished}");
}

#[test]
fn a_spec_can_ask_a_person_too() {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", "- [ ] 1.1 Make a\n  - **Files**: a\n  - **Verify**: `test -f a`\n");
    sandbox.commit_all("plan");
    let agent = Agent::new()
        .on_attempt("1.1", 3, [Step::write("a", ""), Step::say("TASK_COMPLETE")])
        .otherwise([Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let flags = ["run", "--on-exhausted", "ask", "--max-task-iterations", "2", "--agent-cmd", &command];
    sandbox.run(&flags).expect_code(3);
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(
        status.stdout.contains("**Task:** 1.1 Make a\n**Plan:** demo\n**Attempts:** 2 of 2\n"),
        "{status}"
    );
    let finished = sandbox.run(&["answer", "retry"]).expect_code(0);
    assert!(finished.stdout.ends_with("\nALL_TASKS_COMPLETE\n"), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 3);
}

#[test]
fn real_plans_are_read() {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/plans"));
    let Ok(index) = fs::read_to_string(corpus.join("INDEX.jsonl")) else {
        eprintln!("skipped: no corpus of plans at {}", corpus.display());
        return;
    };
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let entries = index.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object a line"));
    for entry in entries.step_by(60) {
        let file = entry["file"].as_str().expect("it names a file");
        let text = fs::read(corpus.join(file)).expect("the file is there");
        let path = format!("plans/{}-PLAN.md", file.split(".md").next().unwrap_or_default());
        sandbox.write(&path, &text);
        let checked = sandbox.run(&["--format", "json", "check", &path]);
        assert!(matches!(checked.code, Some(0 | 2)), "{file}: {checked}");
        let report: Value = serde_json::from_str(&checked.stdout).expect("it is JSON");
        let titles: Vec<_> = report["tasks"].as_array().expect("it has tasks").iter().collect();
        assert_eq!(titles.len() as u64, entry["tasks"].as_u64().unwrap_or_default(), "{file}");
        assert_eq!(fs::read(sandbox.root().join(&path)).expect("it is still there"), text, "{file}");
    }
}
