//! Somebody stops a run: Ctrl-C, a closed terminal, another process. It ends cleanly, leaves nothing behind and
//! goes on later as if nothing had been.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use testkit::{Agent, Background, Finished, Sandbox, Signal, Step, wait_for, write_executable};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write the file
  - **Files**: `out.txt`
  - **Verify**: `grep -q done out.txt`
  - **Commit**: `feat: write the file`
";

fn prepared(plan: &str, agent: &Agent) -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", plan);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(agent);
    (sandbox, command)
}

fn worker() -> Agent {
    Agent::new().otherwise([Step::write("out.txt", "done\n"), Step::say("TASK_COMPLETE")])
}

/// Ctrl-Z for longer than an attempt may take, and longer than an agent may say nothing.
#[test]
fn time_in_which_the_program_was_stopped_is_no_attempts() {
    let (sandbox, _) = prepared(PLAN, &Agent::new());
    let (started, go_on) = (sandbox.control("started"), sandbox.control("go-on"));
    let wait = format!(": > '{}'; until [ -e '{}' ]; do sleep 0.1; done", started.display(), go_on.display());
    let steps = [Step::shell(&wait), Step::write("out.txt", "done\n"), Step::say("TASK_COMPLETE")];
    let command = sandbox.install_agent(&Agent::new().otherwise(steps));
    let limits = ["--attempt-timeout", "8s", "--no-progress-timeout", "8s"];
    let mut run = sandbox.start(&[&["run", "--agent-cmd", &command], &limits[..]].concat());
    wait_for("the agent", || started.exists());
    run.signal(Signal::Stop);
    std::thread::sleep(std::time::Duration::from_secs(10));
    run.signal(Signal::Continue);
    fs::write(&go_on, "").expect("a file");
    let finished = run.wait().expect_code(0);
    assert!(finished.stdout.contains("Attempts:  1, 0 failed"), "{finished}");
    assert!(finished.stderr.contains("the program stood still for"), "{finished}");
}

/// A run whose agent has left a process behind and waits.
fn hanging(steps: &[Step]) -> (Sandbox, Background) {
    let (sandbox, _) = prepared(PLAN, &Agent::new());
    let started = sandbox.control("started").display().to_string();
    let mut steps = steps.to_vec();
    steps.extend([Step::Detach, Step::write(&started, ""), Step::Hang]);
    let command = sandbox.install_agent(&Agent::new().otherwise(steps));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the agent", || sandbox.control("started").exists());
    (sandbox, run)
}

/// After an interruption: nothing lives, nothing is ticked, and the next run makes the same attempt again.
#[track_caller]
fn expect_resumable(sandbox: &Sandbox, run: Finished) {
    let run = run.expect_code(130);
    sandbox.wait_until_quiet();
    assert!(!run.stdout.contains("ALL_TASKS_COMPLETE"), "{run}");
    assert_eq!(sandbox.tasks("demo"), PLAN);
    let before = sandbox.agent_calls().len();
    sandbox.install_agent(&worker());
    let again = sandbox.run(&["run"]).expect_code(0);
    assert!(again.stdout.contains("ALL_TASKS_COMPLETE"), "{again}");
    let calls = sandbox.agent_calls();
    assert_eq!((calls.len(), calls[before].attempt), (before + 1, 1), "no attempt was spent");
    assert!(!calls[before].prompt.contains("<retry_context"), "an interruption is no failure");
    assert_eq!(sandbox.tasks("demo"), PLAN.replace("[ ]", "[x]"));
    assert_eq!(sandbox.subjects(), ["plan", "feat: write the file", "chore(spec): complete task 1.1"]);
    assert_eq!(sandbox.dirt(), Vec::<String>::new());
}

/// Whether this test itself was started so that it outlives its terminal, which its children inherit.
fn ignores_hang_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0) & 1 == 1
}

#[test]
fn ctrl_c_stops_cleanly() {
    let (sandbox, mut run) = hanging(&[]);
    run.signal_group(Signal::Interrupt);
    let run = run.wait();
    assert!(
        run.stderr.contains("the run was interrupted") && run.stderr.contains("`tillgreen run`"),
        "{run}"
    );
    expect_resumable(&sandbox, run);
}

#[test]
fn a_box_that_an_agent_ticked_before_it_was_stopped_proves_nothing() {
    let (sandbox, _) = prepared(PLAN, &Agent::new());
    let started = sandbox.control("started").display().to_string();
    let ticks = || Step::edit("specs/demo/tasks.md", "[ ]", "[x]");
    let hangs = [ticks(), Step::write(&started, ""), Step::Hang];
    let command = sandbox.install_agent(&Agent::new().otherwise(hangs));
    let mut run = sandbox.start(&["run", "--bookkeeping", "agent", "--agent-cmd", &command]);
    wait_for("the agent", || sandbox.control("started").exists());
    run.signal_group(Signal::Interrupt);
    run.wait().expect_code(130);
    assert_eq!(sandbox.tasks("demo"), PLAN);
}

#[test]
fn a_box_that_an_agent_ticked_proves_nothing_when_its_examination_was_stopped() {
    for signal in [Signal::Interrupt, Signal::Kill] {
        let (sandbox, _) = prepared(PLAN, &Agent::new());
        sandbox.spec("demo", &slow_verify(&sandbox));
        sandbox.commit_all("slow");
        let ticks = Step::edit("specs/demo/tasks.md", "[ ]", "[x]");
        let command = sandbox.install_agent(&Agent::new().otherwise([ticks, Step::say("TASK_COMPLETE")]));
        let mut run = sandbox.start(&["run", "--bookkeeping", "agent", "--agent-cmd", &command]);
        wait_for("the verify command", || sandbox.control("began").exists());
        run.signal_group(signal);
        run.wait();
        sandbox.wait_until_quiet();
        sandbox.release("gate");
        let again =
            sandbox.run(&["run", "--bookkeeping", "agent", "--max-task-iterations", "1"]).expect_code(1);
        assert!(!again.stdout.contains("ALL_TASKS_COMPLETE"), "{again}");
        assert!(sandbox.tasks("demo").contains("[ ] 1.1"));
    }
}

#[test]
fn the_second_ctrl_c_does_not_wait_for_an_agent_that_ignores_the_first() {
    let (sandbox, mut run) = hanging(&[Step::IgnoreSignals]);
    run.signal_group(Signal::Interrupt);
    wait_for("the first to be noticed", || run.stderr().contains("interrupted"));
    run.signal_group(Signal::Interrupt);
    expect_resumable(&sandbox, run.wait());
}

#[test]
fn a_termination_and_a_closed_terminal_are_interruptions() {
    for signal in [Signal::Terminate, Signal::HangUp] {
        if signal == Signal::HangUp && ignores_hang_up() {
            eprintln!("skipped: SIGHUP is ignored here");
            continue;
        }
        let (sandbox, mut run) = hanging(&[]);
        run.signal(signal);
        expect_resumable(&sandbox, run.wait());
    }
}

#[test]
fn cancelling_from_elsewhere_is_an_interruption() {
    let (sandbox, run) = hanging(&[]);
    let cancelled = sandbox.run(&["cancel"]).expect_code(0);
    assert!(cancelled.stdout.contains(&format!("(process {})", run.pid())), "{cancelled}");
    expect_resumable(&sandbox, run.wait());
}

#[test]
fn who_wants_to_outlive_the_terminal_does() {
    let (sandbox, _) = prepared(PLAN, &Agent::new());
    let gate = sandbox.control("gate");
    let waits = [Step::await_file(&gate), Step::write("out.txt", "done\n"), Step::say("TASK_COMPLETE")];
    let agent = sandbox.install_agent(&Agent::new().otherwise(waits));
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" run --agent-cmd \"$1\"", PROGRAM, &agent]);
    command.current_dir(sandbox.root()).env_clear().envs(sandbox.environment()).process_group(0);
    let mut run = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the agent", || !sandbox.agent_calls().is_empty());
    let hang_up = Command::new("sh").args(["-c", &format!("kill -HUP {}", run.id())]).status().unwrap();
    assert!(hang_up.success());
    sandbox.release("gate");
    assert_eq!(run.wait().unwrap().code(), Some(0));
}

#[test]
fn ctrl_c_while_the_agent_is_away() {
    let (sandbox, command) = prepared(PLAN, &Agent::new().otherwise([Step::Exit(75)]));
    let mut run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the wait", || run.stderr().contains("agent unavailable (time 2 in a row)"));
    run.signal_group(Signal::Interrupt);
    expect_resumable(&sandbox, run.wait());
}

#[test]
fn ctrl_c_before_a_question_is_answered_keeps_the_question() {
    let (sandbox, command) = prepared(PLAN, &Agent::new().otherwise([Step::say("TASK_COMPLETE")]));
    let asks = ["--max-task-iterations", "1", "--on-exhausted", "ask", "--on-escalation", "ask"];
    let mut run = sandbox.start(&[["run", "--agent-cmd", &command].as_slice(), &asks].concat());
    wait_for("the question or the end", || run.stderr().contains("needs a person"));
    run.signal_group(Signal::Interrupt);
    let code = run.wait().code;
    assert!(matches!(code, Some(130 | 3)), "{code:?}");
    sandbox.install_agent(&worker());
    sandbox.run(&["answer", "retry"]).expect_code(0);
}

/// A plan whose verify command waits for a file, and that file's name.
fn slow_verify(sandbox: &Sandbox) -> String {
    let (began, gate) = (sandbox.control("began"), sandbox.control("gate"));
    let wait =
        format!("touch {}; while ! test -e {}; do sleep 0.02; done; ", began.display(), gate.display());
    PLAN.replace("grep -q done", &format!("{wait}grep -q done"))
}

#[test]
fn stopped_while_the_verify_command_runs() {
    for signal in [Signal::Interrupt, Signal::Kill] {
        let (sandbox, command) = prepared(PLAN, &worker());
        let plan = slow_verify(&sandbox);
        sandbox.spec("demo", &plan);
        sandbox.commit_all("slow");
        let mut run = sandbox.start(&["run", "--agent-cmd", &command]);
        wait_for("the verify command", || sandbox.control("began").exists());
        run.signal_group(signal);
        let code = run.wait().code;
        assert_eq!(code, (signal == Signal::Interrupt).then_some(130));
        sandbox.wait_until_quiet();
        assert_eq!(sandbox.tasks("demo"), plan);
        sandbox.release("gate");
        sandbox.run(&["run"]).expect_code(0);
        assert_eq!(sandbox.agent_calls().len(), 1, "the work is checked again, not done again");
        assert_eq!(sandbox.subjects()[2..], ["feat: write the file", "chore(spec): complete task 1.1"]);
    }
}

#[test]
fn stopped_while_a_git_hook_runs() {
    for signal in [Signal::Interrupt, Signal::Kill] {
        let (sandbox, command) = prepared(PLAN, &worker());
        let (began, gate) = (sandbox.control("began"), sandbox.control("gate"));
        let hook = format!(
            "#!/bin/sh\ntouch {}\nwhile ! test -e {}; do sleep 0.02; done\n",
            began.display(),
            gate.display()
        );
        write_executable(&sandbox.root().join(".git/hooks/pre-commit"), &hook);
        let mut run = sandbox.start(&["run", "--agent-cmd", &command]);
        wait_for("the hook", || began.exists());
        run.signal_group(signal);
        if signal == Signal::Kill {
            assert_eq!(run.wait().code, None);
            sandbox.release("gate");
        } else {
            sandbox.release("gate");
            // A commit that has begun is finished, and with it everything was done.
            assert!(matches!(run.wait().code, Some(0 | 130)));
        }
        sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
        assert_eq!(sandbox.agent_calls().len(), 1, "the work is not done twice");
        assert_eq!(sandbox.subjects(), ["plan", "feat: write the file", "chore(spec): complete task 1.1"]);
        assert_eq!(sandbox.tasks("demo"), PLAN.replace("[ ]", "[x]"));
        assert_eq!(sandbox.dirt(), Vec::<String>::new());
    }
}
