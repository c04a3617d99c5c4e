//! What a green command proves: whether it was red before the work, and whether it is the author's.

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

const PLAN: &str = "specs/demo/tasks.md";

#[test]
fn a_verify_that_an_attempt_changed_counts_together_with_the_authors() {
    let tasks = task("1.1", "test -s a.txt") + &task("1.2", "grep -q b b.txt");
    let rewrite = Step::edit(PLAN, "grep -q b b.txt", "test -d specs");
    let works = || Agent::new().on("1.1", [rewrite.clone(), Step::write("a.txt", "a\n"), done()]);
    let flags = ["--max-task-iterations", "2"];
    let said = "the Verify of task 1.2 was changed while task 1.1 was running";
    // Without the work that the author asked for it fails, in every attempt.
    let one = sandbox(&tasks);
    let finished =
        run(&one, &works().otherwise([Step::write("c.txt", "c\n"), done()]), &flags).expect_code(1);
    assert!(finished.stderr.contains(said), "{finished}");
    assert!(finished.stderr.contains("`grep -q b b.txt` has to be green as well"), "{finished}");
    // With it, it is done, and the summary says what happened.
    let one = sandbox(&tasks);
    let finished =
        run(&one, &works().otherwise([Step::write("b.txt", "b\n"), done()]), &flags).expect_code(0);
    assert!(finished.stdout.contains(said), "{finished}");
    let shown = one.run(&["show", "1.2"]).expect_code(0);
    assert!(shown.stdout.contains("`grep -q b b.txt` had to be green as well"), "{shown}");
    // With --strict the attempt is refused, and the plan put back.
    let one = sandbox(&tasks);
    run(&one, &works(), &["--strict", "--max-task-iterations", "1"]).expect_code(1);
    assert!(one.tasks("demo").contains("grep -q b b.txt"));
}

#[test]
fn a_task_does_not_get_an_easier_verify_by_its_own_second_attempt() {
    let sandbox = sandbox(&task("1.1", "grep -q hard a.txt"));
    let rewrite = Step::edit(PLAN, "grep -q hard a.txt", "test -s a.txt");
    let agent = Agent::new()
        .on_attempt("1.1", 1, [rewrite, Step::write("a.txt", "easy\n"), done()])
        .on_attempt(
            "1.1",
            2,
            [Step::edit(PLAN, "Task 1.1", "Task  1.1"), Step::write("b.txt", "b\n"), done()],
        )
        .otherwise([done()]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "3"]).expect_code(1);
    assert!(finished.stderr.contains("attempt 3 failed (verification_failed)"), "{finished}");
    // A person who edits it while nobody works confirms it.
    let plan = sandbox.tasks("demo").replace("Task  1.1", "The easy task");
    sandbox.write(PLAN, &plan);
    run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(0);
}

#[test]
fn formatting_the_plan_is_no_tampering() {
    let sandbox = sandbox(&(task("1.1", "test -s a.txt") + &task("1.2", "test -s b.txt")));
    let format = Step::shell(&format!("sed -i 's/^  - /    * /; s/Task 1.2/Task   1.2  /' {PLAN}"));
    let agent = Agent::new()
        .on("1.1", [format, Step::write("a.txt", "a\n"), done()])
        .otherwise([Step::write("b.txt", "b\n"), done()]);
    let finished = run(&sandbox, &agent, &["--strict"]).expect_code(0);
    assert!(!finished.stderr.contains("were reworded"), "{finished}");
}
