//! What a green command proves: whether it was red before the work.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

fn sandbox(tasks: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", tasks);
    sandbox.commit_all("plan");
    sandbox
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    let finished = sandbox.run(&[&["run", "--prove", "off", "--agent-cmd", &command], flags].concat());
    sandbox.wait_until_quiet();
    finished
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

fn worker() -> Agent {
    Agent::new().otherwise([Step::shell("echo a >> a.txt"), done()])
}

fn task(id: &str, verify: &str) -> String {
    format!("- [ ] {id} Task {id}\n  - **Verify**: `{verify}`\n\n")
}

/// A test runner that counts its runs, and is found by its name.
fn counting_runner(sandbox: &Sandbox, then: &str) -> String {
    let (runs, folder) = (sandbox.control("runs").display().to_string(), sandbox.control("bin"));
    let program = folder.join("pytest");
    std::fs::create_dir_all(&folder).expect("a program for the test");
    std::fs::write(&program, format!("#!/bin/sh\necho run >> {runs}\n{then}\n"))
        .expect("a program for the test");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("a program for the test");
    format!("{} -q tests", program.display())
}

fn runs(sandbox: &Sandbox) -> usize {
    std::fs::read_to_string(sandbox.control("runs")).unwrap_or_default().lines().count()
}

#[test]
fn a_command_is_tried_before_the_work() {
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = sandbox(&(task("1.1", "grep -q a a.txt") + &task("1.2", "test -d specs")));
        let finished = run(&sandbox, &worker(), flags).expect_code(0);
        assert!(finished.stderr.contains("1.1 verify command is red before the work"), "{finished}");
        let said = "Green:     1 task with a command that was green before the work (1.2)";
        assert!(finished.stdout.contains(said), "{finished}");
        let shown = sandbox.run(&["show", "1.2"]).expect_code(0);
        assert!(shown.stdout.contains("was green before the work"), "{shown}");
        let shown = sandbox.run(&["show", "1.1", "--format", "json"]).expect_code(0);
        assert!(shown.stdout.contains("\"before\": \"red\""), "{shown}");
    }
}

#[test]
fn a_result_that_is_known_is_not_tried_for() {
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = sandbox("");
        let verify = counting_runner(&sandbox, "test -s a.txt");
        sandbox.spec("demo", &(task("1.1", &verify) + &task("1.2", &verify) + &task("1.3", &verify)));
        sandbox.commit_all("tasks");
        let finished = run(&sandbox, &worker(), flags).expect_code(0);
        let per_task = if flags.is_empty() { 1 } else { 2 };
        assert_eq!(runs(&sandbox), 1 + 3 * per_task, "{finished}");
        assert!(finished.stdout.contains("green before the work (1.2, 1.3)"), "{finished}");
    }
}

#[test]
fn a_command_of_which_nobody_knows_what_it_does_is_not_tried() {
    let sandbox = sandbox("");
    let runner = counting_runner(&sandbox, "true");
    let tasks = task("1.1", &format!("sh {runner}"))
        + &format!(
            "- [ ] 1.2 [RED] Task\n  - **Verify**: `{runner}`\n\n- [ ] 1.3 [VERIFY] Task\n  - **Verify**: `{runner}`\n"
        );
    sandbox.spec("demo", &tasks);
    sandbox.commit_all("tasks");
    run(&sandbox, &worker(), &[]).expect_code(0);
    assert_eq!(runs(&sandbox), 3);
}

#[test]
fn it_can_be_left_off() {
    let sandbox = sandbox(&task("1.1", "test -s a.txt"));
    let finished = run(&sandbox, &worker(), &["--red-before", "off"]).expect_code(0);
    assert!(!finished.stderr.contains("before the work"), "{finished}");
}

#[test]
fn a_command_that_takes_long_is_not_waited_for_twice() {
    let sandbox = sandbox("");
    let verify = counting_runner(&sandbox, "test -e a.txt || sleep 600");
    sandbox.spec("demo", &(task("1.1", &verify) + &task("1.2", &verify)));
    sandbox.commit_all("tasks");
    let finished = run(&sandbox, &worker(), &["--verify-timeout", "1s"]).expect_code(0);
    assert!(finished.stderr.contains("takes too long to be tried before the work"), "{finished}");
    assert_eq!(runs(&sandbox), 3, "{finished}");
}

#[test]
fn what_it_writes_is_nobodys_work() {
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = sandbox("");
        let verify = counting_runner(&sandbox, "echo x >> report.txt; test -s a.txt");
        sandbox.spec("demo", &task("1.1", &verify));
        sandbox.commit_all("tasks");
        run(&sandbox, &worker(), flags).expect_code(0);
        let committed = sandbox.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
        assert!(committed.contains("a.txt") && !committed.contains("report.txt"), "{committed}");
    }
}

#[test]
fn red_before_and_green_without_a_change_is_no_warning() {
    let sandbox = sandbox(&task("1.1", "test -s made/a.txt"));
    sandbox.write(".gitignore", "made/\n");
    sandbox.commit_all("ignore");
    let agent = Agent::new().otherwise([Step::write("made/a.txt", "a\n"), done()]);
    let finished = run(&sandbox, &agent, &["--strict"]).expect_code(0);
    assert!(!finished.stderr.contains("proves nothing"), "{finished}");
}
