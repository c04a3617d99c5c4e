//! Results that no command can prove: whose word counts, what a judge is shown, and what is looked at before anybody is
//! asked. Besides, what agents and verify commands say that nobody can mend by trying again.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const TASK: &str = "# Login\n\nUsers can log in.\n\n## Phase 1\n\n- [ ] 1.1 Add a login page\n  - **Files**: `login.html`\n  \
                    - **Done when**: There is a login page\n";

fn sandbox(tasks: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", tasks);
    sandbox.write("specs/demo/design.md", "# Design\n");
    sandbox.commit_all("plan");
    sandbox
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--agent-cmd", &command], flags].concat())
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

fn accepts() -> Step {
    Step::say("VERIFICATION_PASS")
}

fn writes_page() -> Step {
    Step::write("login.html", "<form>\n")
}

fn roles(sandbox: &Sandbox) -> Vec<String> {
    sandbox.agent_calls().into_iter().map(|call| call.role).collect()
}

#[test]
fn an_executors_word_is_no_verdict() {
    let sandbox = sandbox(TASK);
    let agent = Agent::new().otherwise([writes_page(), done()]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(1);
    let error = "QA gave no verdict, asked twice: it said neither yes nor no";
    assert!(finished.stderr.contains(error), "{finished}");
    assert_eq!(roles(&sandbox), ["executor", "qa", "qa"], "it is asked once more, at once");
    assert!(sandbox.agent_calls()[2].prompt.contains("You were asked this before and gave no verdict."));
}

#[test]
fn a_judge_that_says_both_says_no() {
    let sandbox = sandbox(TASK);
    let says_both = Step::say("There is no login page.\nVERIFICATION_FAIL\nTASK_COMPLETE");
    let agent = Agent::new().on_role("qa", "1.1", [says_both]).otherwise([writes_page(), done()]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(1);
    assert!(finished.stderr.contains("QA said no: There is no login page."), "{finished}");
}

#[test]
fn an_agent_that_does_nothing_gets_nowhere_with_words() {
    let sandbox = sandbox(TASK);
    let agent = Agent::new().on_role("qa", "1.1", [accepts()]).otherwise([done()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(3);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    let missing = "- files that the task names are not there: login.html";
    for fact in ["- nothing was changed for this task\n", missing] {
        assert!(sandbox.agent_calls()[1].prompt.contains(fact), "the judge is told");
        assert!(finished.stderr.contains(fact), "so is the person: {finished}");
    }
    let approved = sandbox.run(&["answer", "approve"]).expect_code(0);
    assert!(approved.stdout.contains("Unchanged: 1 task done without a change (1.1)"), "{approved}");
}

#[test]
fn the_next_attempt_is_told_what_is_missing() {
    let sandbox = sandbox(TASK);
    let refuses = Step::say("Nothing there.\nVERIFICATION_FAIL");
    let agent = Agent::new()
        .on_attempt(
            "1.1",
            2,
            [
                Step::shell("test $TILLGREEN_ROLE = qa && echo VERIFICATION_PASS && exit"),
                writes_page(),
                done(),
            ],
        )
        .on_role("qa", "1.1", [refuses])
        .otherwise([done()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    let second = &sandbox.agent_calls()[2].prompt;
    assert!(second.contains("files that the task names are not there: login.html"), "{second}");
    let judged = "Judged:    1 task without a command to prove it (1.1), by the agent that did the work, in a fresh start";
    assert!(finished.stdout.contains(judged), "{finished}");
}

#[test]
fn what_an_earlier_task_did_counts_where_the_judge_agrees() {
    let second = "- [ ] 1.2 Have a form in it\n  - **Files**: `login.html`\n";
    let sandbox = sandbox(&format!("{TASK}{second}"));
    let agent = Agent::new()
        .on_role("qa", "1.1", [accepts()])
        .on_role("qa", "1.2", [accepts()])
        .on("1.2", [done()])
        .otherwise([writes_page(), done()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    assert!(finished.stdout.contains("Unchanged: 1 task done without a change (1.2)"), "{finished}");
    assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
}

#[test]
fn a_judge_is_shown_the_difference_new_files_included() {
    let beside = "- [ ] 1.1 [P] Add a login page\n  - **Files**: `login.html`\n- [ ] 1.2 [P] Change the start page\n  - **Files**: `index.html`\n";
    for (tasks, flags) in [(beside, ["--jobs", "1"]), (beside, ["--jobs", "2"])] {
        let sandbox = sandbox(tasks);
        sandbox.write("index.html", "old\n");
        sandbox.commit_all("a page");
        let agent = Agent::new()
            .on_role("qa", "1.1", [accepts()])
            .on_role("qa", "1.2", [accepts()])
            .on("1.2", [Step::write("index.html", "new\n"), done()])
            .otherwise([writes_page(), done()]);
        run(&sandbox, &agent, &flags).expect_code(0);
        let calls = sandbox.agent_calls();
        let shown = |task: &str| {
            &calls.iter().find(|call| call.role == "qa" && call.task == task).expect("a judge").prompt
        };
        let (page, start) = (shown("1.1"), shown("1.2"));
        assert!(page.contains("- login.html\n") && page.contains("\n+<form>\n"), "{flags:?}: {page}");
        assert!(start.contains("\n-old\n+new\n") && !start.contains("+<form>"), "{flags:?}: {start}");
    }
}

#[test]
fn what_a_judge_writes_is_nobodys_work() {
    for jobs in ["1", "2"] {
        let beside = "- [ ] 1.1 [P] Add a login page\n  - **Files**: `login.html`\n- [ ] 1.2 [P] Sleep\n  - **Verify**: `true`\n";
        let sandbox = sandbox(beside);
        let meddles = Step::shell("echo judged > login.html");
        let agent = Agent::new()
            .on_role("qa", "1.1", [meddles, accepts()])
            .on("1.2", [done()])
            .otherwise([writes_page(), done()]);
        let finished = run(&sandbox, &agent, &["--jobs", jobs]).expect_code(0);
        assert_eq!(sandbox.git(&["show", "HEAD:login.html"]), "<form>\n", "{finished}");
        assert_eq!(sandbox.read("login.html"), "<form>\n", "{finished}");
        assert!(
            finished.stderr.contains("while the result of task 1.1 was judged, login.html changed"),
            "{finished}"
        );
        assert_eq!(sandbox.dirt(), Vec::<String>::new());
    }
}

#[test]
fn what_is_not_of_the_task_stays_while_its_result_is_judged() {
    let sandbox = sandbox(TASK);
    sandbox.write("notes.txt", "old\n");
    sandbox.commit_all("notes");
    let meddles = Step::shell("echo judged > login.html; echo mine > notes.txt; echo new > new.txt");
    let agent = Agent::new().on_role("qa", "1.1", [meddles, accepts()]).otherwise([writes_page(), done()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    assert_eq!(sandbox.git(&["show", "HEAD:login.html"]), "<form>\n", "{finished}");
    assert_eq!((sandbox.read("notes.txt"), sandbox.read("new.txt")), ("mine\n".into(), "new\n".into()));
    let told = "files changed that are not of the task: new.txt, notes.txt. They stay as they are";
    assert!(finished.stderr.contains(told), "{finished}");
}

#[test]
fn what_a_judge_wrote_that_was_killed_with_the_program_is_not_judged() {
    for flags in [&["--isolate=false"][..], &["--isolate"]] {
        let sandbox = sandbox(TASK);
        let begun = sandbox.control("begun");
        let name = begun.display();
        let meddles = format!("test -e {name} || {{ echo judged > login.html; touch {name}; sleep 1000; }}");
        let agent = Agent::new()
            .on_role("qa", "1.1", [Step::shell(&meddles), accepts()])
            .otherwise([writes_page(), done()]);
        let command = sandbox.install_agent(&agent);
        let started = sandbox.start(&[&["run", "--agent-cmd", &command], flags].concat());
        wait_for("the judge", || begun.exists());
        started.kill();
        sandbox.wait_until_quiet();
        let finished = run(&sandbox, &agent, flags).expect_code(0);
        assert_eq!(sandbox.git(&["show", "HEAD:login.html"]), "<form>\n", "{finished}");
        let calls = sandbox.agent_calls();
        assert_eq!(roles(&sandbox), ["executor", "qa", "qa"], "{finished}");
        assert!(calls[2].prompt.contains("\n+<form>\n"), "{}", calls[2].prompt);
        assert_eq!(sandbox.dirt(), Vec::<String>::new());
    }
}

#[test]
fn agents_know_what_the_plan_is_for() {
    let sandbox = sandbox(TASK);
    let agent = Agent::new().on_role("qa", "1.1", [accepts()]).otherwise([writes_page(), done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    for call in sandbox.agent_calls() {
        assert!(
            call.prompt.contains("What the plan is for:\n# Login\n\nUsers can log in.\n"),
            "{}",
            call.prompt
        );
        assert!(call.prompt.contains("\n- specs/demo/design.md\n"), "{}", call.prompt);
    }
}

#[test]
fn what_is_not_permitted_is_asked_about_at_once() {
    let sandbox = sandbox("- [ ] 1.1 Work\n  - **Verify**: `test -f a`\n");
    let denied = Step::say("Task 1.1: Work FAILED\n- Error: cannot write /etc/hosts: permission denied");
    let finished = run(&sandbox, &Agent::new().otherwise([denied]), &[]).expect_code(3);
    assert!(finished.stderr.contains("Something was not permitted"), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 1);
}

#[test]
fn what_a_verify_command_lacks_is_told_and_then_asked_about() {
    let sandbox = sandbox("- [ ] 1.1 Work\n  - **Verify**: `no-such-program --check`\n");
    let agent = Agent::new().otherwise([Step::append("a", "x\n"), done()]);
    let finished = run(&sandbox, &agent, &[]).expect_code(3);
    let lacks = "the verify command cannot start: the program `no-such-program` is not there";
    assert!(finished.stderr.contains(lacks), "{finished}");
    assert!(finished.stderr.contains("The verify command needs something that is not there."), "{finished}");
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[1].prompt.contains(lacks), "{}", calls[1].prompt);
}

#[test]
fn whoever_waits_for_another_task_is_logged_as_blocked() {
    let sandbox = sandbox(
        "- [ ] 1.1 One\n  - **Verify**: `test -f two`\n- [ ] 1.2 Two\n  - **Verify**: `test -f two`\n",
    );
    let blocked = Step::say("status: blocked\nblocked_by: 1.2\nreason: two is missing");
    let agent = Agent::new().on_attempt("1.1", 1, [blocked]).otherwise([Step::write("two", "2\n"), done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    let log = sandbox.read(".tillgreen/logs/retry.log");
    assert!(log.contains("[1.1] attempt=1 status=blocked by=1.2"), "{log}");
    assert!(log.contains("[1.1] reason=\"two is missing\""), "{log}");
    assert!(!log.contains("status=failed"), "{log}");
    let objects = sandbox.read(".tillgreen/logs/retry.jsonl");
    assert!(
        objects.contains("\"status\":\"blocked\"") && !objects.contains("\"status\":\"failed\""),
        "{objects}"
    );
}
