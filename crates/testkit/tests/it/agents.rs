use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Signal, Step, wait_for};

fn shell() -> Sandbox {
    Sandbox::new(Path::new("/bin/sh"))
}

/// Calls the agent as the program does: by a shell, with its three variables and a prompt.
fn call(sandbox: &Sandbox, command: &str, task: &str, attempt: u32) -> Finished {
    let (attempt, prompt) = (attempt.to_string(), format!("do {task}"));
    let call =
        sandbox.command(&["-c", command]).env("TILLGREEN_ROLE", "executor").env("TILLGREEN_TASK_ID", task);
    call.env("TILLGREEN_ATTEMPT", &attempt).input(&prompt).run()
}

#[test]
fn the_first_rule_that_fits_counts() {
    let sandbox = shell();
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::say("first try")])
        .on_role("qa", "1.1", [Step::say("qa")])
        .on("1.1", [Step::say("again")])
        .on("#1", [Step::say("number sign")])
        .on("03-01:task-3", [Step::say("plan")])
        .on("it's *", [Step::say("odd")])
        .otherwise([Step::say("other")]);
    let command = sandbox.install_agent(&agent);
    let check = |task: &str, attempt: u32, expected: &str| {
        assert_eq!(call(&sandbox, &command, task, attempt).expect_code(0).stdout, format!("{expected}\n"));
    };
    check("1.1", 1, "first try");
    check("1.1", 2, "again");
    check("1.1", 11, "again");
    check("1.10", 1, "other");
    check("1.1.1", 1, "other");
    check("#1", 1, "number sign");
    check("03-01:task-3", 1, "plan");
    check("it's *", 1, "odd");
    check("it's x", 1, "other");
}

#[test]
fn calls_are_remembered_with_their_prompts() {
    let sandbox = shell();
    let command = sandbox.install_agent(&Agent::new().on("1.1", [Step::say("ok")]));
    call(&sandbox, &command, "1.1", 1).expect_code(0);
    let run = call(&sandbox, &command, "1.2", 3).expect_code(9);
    assert_eq!(run.stderr, "no rule for executor|1.2|3\n");
    let calls = sandbox.agent_calls();
    let seen: Vec<_> =
        calls.iter().map(|call| (call.task.as_str(), call.attempt, call.prompt.as_str())).collect();
    assert_eq!(seen, [("1.1", 1, "do 1.1"), ("1.2", 3, "do 1.2")]);
    assert_eq!(calls[0].role, "executor");
    assert_eq!(Path::new(&calls[0].folder), sandbox.root());
}

#[test]
fn steps_change_files_and_commit() {
    let sandbox = shell();
    sandbox.spec("demo", "- [ ] 1.1 One\n- [ ] 1.10 Ten & \\1 [ ] 1.1\n");
    let agent = Agent::new().otherwise([
        Step::write("deep/er/it's.txt", "one\n$HOME `x` \\n\n"),
        Step::append("deep/er/it's.txt", "end"),
        Step::write("gone.txt", ""),
        Step::Delete("gone.txt".to_owned()),
        Step::edit("specs/demo/tasks.md", "[ ] 1.1 ", "[x] 1.1 & \\0 "),
        Step::commit("feat: it's done"),
        Step::shell("echo shell"),
        Step::Exit(4),
    ]);
    let command = sandbox.install_agent(&agent);
    let run = call(&sandbox, &command, "1.1", 1).expect_code(4);
    assert_eq!(run.stdout, "shell\n");
    assert_eq!(sandbox.read("deep/er/it's.txt"), "one\n$HOME `x` \\n\nend");
    assert_eq!(sandbox.tasks("demo"), "- [x] 1.1 & \\0 One\n- [ ] 1.10 Ten & \\1 [ ] 1.1\n");
    assert!(!sandbox.has("gone.txt"));
    assert_eq!(sandbox.subjects(), ["feat: it's done"]);
}

#[test]
fn steps_flood_and_say_what_is_no_text() {
    let sandbox = shell();
    let agent = Agent::new()
        .on("flood", [Step::Flood { bytes: 100_000 }, Step::Complain("wet".to_owned())])
        .otherwise([Step::SayInvalidUtf8]);
    let command = sandbox.install_agent(&agent);
    let run = call(&sandbox, &command, "flood", 1);
    assert_eq!((run.stdout.len(), run.stderr.as_str()), (100_000, "wet\n"));
    assert!(call(&sandbox, &command, "else", 1).stdout.contains('\u{fffd}'));
}

#[test]
fn an_agent_waits_ignores_signals_and_leaves_children() {
    let sandbox = shell();
    let steps = [
        Step::IgnoreSignals,
        Step::Detach,
        Step::say("waiting"),
        Step::await_file(&sandbox.control("go")),
        Step::say("gone on"),
    ];
    let command = sandbox.install_agent(&Agent::new().otherwise(steps));
    let mut agent = sandbox.command(&["-c", &command]).input("").start();
    wait_for("the agent to wait", || agent.stdout() == "waiting\n");
    agent.signal(Signal::Terminate);
    agent.signal_group(Signal::Interrupt);
    assert!(agent.is_running());
    sandbox.release("go");
    assert_eq!(agent.wait().expect_code(0).stdout, "waiting\ngone on\n");
    wait_for("the child left behind", || !sandbox.processes().is_empty());
    sandbox.kill_everything();
}

#[test]
fn an_agent_hangs() {
    let sandbox = shell();
    let command = sandbox.install_agent(&Agent::new().otherwise([Step::say("bye"), Step::Hang]));
    let mut agent = sandbox.command(&["-c", &command]).input("").start();
    wait_for("the agent to hang", || agent.stdout() == "bye\n");
    assert!(agent.is_running());
    drop(agent);
    sandbox.wait_until_quiet();
}
