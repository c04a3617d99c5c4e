//! A person edits the plan, before, during and after a run: it is noticed, and nothing they wrote is overwritten.

use std::fs;
use std::path::Path;

use testkit::{Agent, Background, Finished, Sandbox, Step, wait_for};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
const TASKS: &str = "specs/demo/tasks.md";

/// A task that writes a file of its name.
fn task(id: &str, title: &str) -> String {
    format!(
        "- [ ] {id} {title}\n  - **Files**: `{id}.txt`\n  - **Verify**: `grep -q done {id}.txt`\n  - **Commit**: `feat: do {id}`\n\n"
    )
}

fn plan() -> String {
    format!(
        "# Tasks\n\nWords of the author,  with  spaces\tand tabs.   \n\n{}{}{}",
        task("1.1", "One"),
        task("1.2", "Two"),
        task("1.3", "Three")
    )
}

/// Does any task; the first one waits until the test has made its edit.
fn agent(sandbox: &Sandbox) -> Agent {
    let work = "printf 'done\\n' > \"$TILLGREEN_TASK_ID.txt\"";
    Agent::new()
        .on_attempt(
            "1.1",
            1,
            [Step::await_file(&sandbox.control("gate")), Step::shell(work), Step::say("TASK_COMPLETE")],
        )
        .otherwise([Step::shell(work), Step::say("TASK_COMPLETE")])
}

fn prepared() -> (Sandbox, String) {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", &plan());
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&agent(&sandbox));
    (sandbox, command)
}

/// A run whose first agent waits for `gate`.
fn waiting() -> (Sandbox, Background) {
    let (sandbox, command) = prepared();
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the agent", || !sandbox.agent_calls().is_empty());
    (sandbox, run)
}

/// Replaces the file as many editors do.
fn save_by_rename(sandbox: &Sandbox, text: &str) {
    sandbox.write("specs/demo/tasks.md.swp", text);
    let new = sandbox.root().join("specs/demo/tasks.md.swp");
    fs::rename(new, sandbox.root().join(TASKS)).expect("the new file was just written");
}

fn ticked(text: &str) -> String {
    text.replace("- [ ]", "- [x]")
}

/// The tasks and attempts that agents were started on.
fn calls(sandbox: &Sandbox) -> Vec<String> {
    sandbox.agent_calls().iter().map(|call| format!("{}#{}", call.task, call.attempt)).collect()
}

#[track_caller]
fn complete(run: Finished) -> Finished {
    let run = run.expect_code(0);
    assert!(run.stdout.lines().any(|line| line == "ALL_TASKS_COMPLETE"), "{run}");
    run
}

#[test]
fn tasks_added_while_an_agent_works_are_done_as_well() {
    for save in [save_by_rename, |sandbox: &Sandbox, text: &str| sandbox.write(TASKS, text)] {
        let (sandbox, run) = waiting();
        let edited =
            format!("{}{}", plan(), task("1.4", "Four, by hand")).replace("Words of", "More words of");
        save(&sandbox, &edited);
        sandbox.release("gate");
        complete(run.wait());
        assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1", "1.3#1", "1.4#1"]);
        assert_eq!(sandbox.tasks("demo"), ticked(&edited));
        assert_eq!(sandbox.dirt(), Vec::<String>::new());
    }
}

#[test]
fn a_task_added_while_the_last_one_is_worked_on_is_not_forgotten() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let plan = format!("# Tasks\n\n{}", task("1.1", "One"));
    sandbox.spec("demo", &plan);
    sandbox.commit_all("plan");
    let command = sandbox.install_agent(&agent(&sandbox));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the agent", || !sandbox.agent_calls().is_empty());
    let edited = format!("{plan}{}", task("1.2", "Two, by hand"));
    sandbox.write(TASKS, &edited);
    sandbox.release("gate");
    complete(run.wait());
    assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1"]);
    assert_eq!(sandbox.tasks("demo"), ticked(&edited));
}

#[test]
fn tasks_reworded_while_an_agent_works_keep_the_new_words() {
    let (sandbox, run) = waiting();
    let edited = plan()
        .replace("1.2 Two", "1.2 Two, in other words")
        .replace("grep -q done 1.2.txt", "grep -q done 1.2.txt && test -s 1.2.txt")
        .replace("1.1 One", "1.1 One, better")
        .replace("grep -q done 1.1.txt", "grep -q never 1.1.txt");
    save_by_rename(&sandbox, &edited);
    sandbox.release("gate");
    complete(run.wait());
    assert_eq!(sandbox.tasks("demo"), ticked(&edited));
    let prompts = sandbox.agent_calls();
    assert!(prompts[1].prompt.contains("Two, in other words"), "{}", prompts[1].prompt);
    assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1", "1.3#1"], "the running task keeps its text from dispatch");
}

#[test]
fn the_order_after_an_edit_counts() {
    let (sandbox, run) = waiting();
    let edited = format!("# Tasks\n\n{}{}{}", task("1.3", "Three"), task("1.1", "One"), task("1.2", "Two"));
    sandbox.write(TASKS, &edited);
    sandbox.release("gate");
    complete(run.wait());
    assert_eq!(calls(&sandbox), ["1.1#1", "1.3#1", "1.2#1"]);
    assert_eq!(sandbox.tasks("demo"), ticked(&edited));
}

#[test]
fn a_box_ticked_while_an_agent_works_is_taken_for_the_agents_doing() {
    let (sandbox, run) = waiting();
    sandbox.write(TASKS, plan().replace("- [ ] 1.2", "- [x] 1.2"));
    sandbox.release("gate");
    complete(run.wait());
    assert_eq!(calls(&sandbox), ["1.1#1", "1.1#2", "1.2#1", "1.3#1"]);
    assert_eq!(sandbox.tasks("demo"), ticked(&plan()));
    assert!(sandbox.agent_calls()[1].prompt.contains("1.2"));
}

#[test]
fn a_task_removed_while_an_agent_works_comes_back_once_and_everything_else_stays() {
    let (sandbox, run) = waiting();
    let edited = format!("# Tasks\n\nMine.\n\n{}{}", task("1.1", "One"), task("1.3", "Three, better"));
    sandbox.write(TASKS, &edited);
    sandbox.release("gate");
    let run = complete(run.wait());
    let expected = edited.replace(&task("1.3", ""), "");
    let expected = expected.replace("- [ ] 1.3", &format!("{}- [ ] 1.3", task("1.2", "Two")));
    assert_eq!(sandbox.tasks("demo"), ticked(&expected));
    assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1", "1.3#1"], "no attempt is charged for it");
    assert!(run.stderr.contains("and put back, since an agent may have done it: 1.2;"), "{run}");
}

#[test]
fn a_task_that_is_removed_again_stays_out() {
    let (sandbox, _) = prepared();
    let remove = format!("sed -i '/^- \\[ \\] 1.3 /,/^$/d' {TASKS}");
    let work = "printf 'done\\n' > \"$TILLGREEN_TASK_ID.txt\"";
    let agent = Agent::new()
        .on("1.1", [Step::shell(&remove), Step::shell(work), Step::say("TASK_COMPLETE")])
        .on("1.2", [Step::shell(&remove), Step::shell(work), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let run = complete(sandbox.run(&["run", "--agent-cmd", &command]));
    assert!(!sandbox.tasks("demo").contains("1.3 Three"), "{run}");
    assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1"]);
    assert_eq!(run.stderr.matches("to drop it for good, delete it again").count(), 1, "{run}");
}

#[test]
fn an_edit_while_the_verify_command_runs_is_not_overwritten() {
    let (sandbox, _) = prepared();
    let gate = sandbox.control("verify");
    let began = sandbox.control("began");
    let verify = format!(
        "touch {}; while ! test -e {}; do sleep 0.02; done; grep -q done 1.1.txt",
        began.display(),
        gate.display()
    );
    let slow = plan().replace("grep -q done 1.1.txt", &verify);
    sandbox.write(TASKS, &slow);
    sandbox.commit_all("slow");
    sandbox.release("gate");
    let command = sandbox.install_agent(&agent(&sandbox));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the verify command", || began.exists());
    let edited = format!("{slow}{}", task("1.4", "Four"))
        .replace("- [ ] 1.3", "- [x] 1.3")
        .replace("Words", "Other words");
    save_by_rename(&sandbox, &edited);
    sandbox.release("verify");
    complete(run.wait());
    assert_eq!(sandbox.tasks("demo"), ticked(&edited));
    assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1", "1.4#1"], "what a person ticked is done");
}

#[test]
fn an_edit_while_a_hook_runs_is_not_overwritten() {
    let (sandbox, command) = prepared();
    let (began, gate) = (sandbox.control("began"), sandbox.control("hook"));
    let hook = format!(
        "#!/bin/sh\ntouch {}\nwhile ! test -e {}; do sleep 0.02; done\n",
        began.display(),
        gate.display()
    );
    install_hook(&sandbox, &hook);
    sandbox.release("gate");
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the hook", || began.exists());
    let edited = format!("{}{}", plan(), task("1.4", "Four"));
    sandbox.write(TASKS, &edited);
    sandbox.release("hook");
    complete(run.wait());
    assert_eq!(sandbox.tasks("demo"), ticked(&edited));
    assert_eq!(calls(&sandbox), ["1.1#1", "1.2#1", "1.3#1", "1.4#1"]);
}

fn install_hook(sandbox: &Sandbox, script: &str) {
    testkit::write_executable(&sandbox.root().join(".git/hooks/pre-commit"), script);
}

/// A run that did 1.1 and paused at 1.2.
fn paused() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", &plan());
    sandbox.commit_all("plan");
    let away = Agent::new()
        .on("1.1", [Step::write("1.1.txt", "done\n"), Step::say("TASK_COMPLETE")])
        .otherwise([Step::Exit(75)]);
    let command = sandbox.install_agent(&away);
    sandbox.run(&["run", "--agent-cmd", &command, "--infra-retries", "1"]).expect_code(6);
    sandbox.release("gate");
    sandbox.install_agent(&agent(&sandbox));
    sandbox
}

#[test]
fn edits_between_runs_are_taken_as_they_are() {
    let edit = |change: &dyn Fn(String) -> String, expected: &[&str]| {
        let sandbox = paused();
        let before = calls(&sandbox).len();
        let edited = change(sandbox.tasks("demo"));
        sandbox.write(TASKS, &edited);
        complete(sandbox.run(&["run"]));
        assert_eq!(calls(&sandbox)[before..], *expected);
        assert_eq!(sandbox.tasks("demo"), ticked(&edited));
    };
    edit(&|text| text.replace("- [ ] 1.2", "- [x] 1.2"), &["1.3#1"]);
    edit(&|text| text.replace("- [x] 1.1", "- [ ] 1.1"), &["1.1#2", "1.2#1", "1.3#1"]);
    edit(&|text| text.replace(&task("1.2", "Two"), ""), &["1.3#1"]);
    let otherwise = task("1.2", "Two, otherwise");
    edit(&|text| text.replace(&task("1.2", "Two"), &otherwise), &["1.2#1", "1.3#1"]);
    edit(&|text| text.replace(&task("1.2", "Two"), "") + &task("1.2", "Two"), &["1.3#1", "1.2#1"]);
    edit(
        &|text| text.replace("# Tasks\n", &format!("# Tasks\n\n{}", task("0.9", "Before"))),
        &["0.9#1", "1.2#1", "1.3#1"],
    );
}

#[test]
fn a_task_added_to_a_complete_plan_is_done_by_the_next_run() {
    let (sandbox, command) = prepared();
    sandbox.release("gate");
    complete(sandbox.run(&["run", "--agent-cmd", &command]));
    let edited = format!("{}{}", sandbox.tasks("demo"), task("1.4", "Four"));
    sandbox.write(TASKS, &edited);
    complete(sandbox.run(&["run", "--agent-cmd", &command]));
    assert_eq!(calls(&sandbox)[3..], ["1.4#1"]);
    assert_eq!(sandbox.tasks("demo"), ticked(&edited));
}

#[test]
fn a_plan_that_is_deleted_under_way_comes_back() {
    let (sandbox, run) = waiting();
    fs::remove_file(sandbox.root().join(TASKS)).unwrap();
    sandbox.release("gate");
    complete(run.wait());
    assert_eq!(sandbox.tasks("demo"), ticked(&plan()));
}

#[test]
fn a_box_that_an_agent_ticked_does_not_outlive_its_failure() {
    let (sandbox, _) = prepared();
    let liar = Agent::new().otherwise([
        Step::edit(TASKS, "- [ ] 1.1", "- [x] 1.1"),
        Step::shell("git commit -q -a -m tick"),
        Step::say("Task 1.1: One FAILED"),
    ]);
    let command = sandbox.install_agent(&liar);
    let arguments = ["run", "--agent-cmd", &command, "--bookkeeping", "agent", "--max-task-iterations", "2"];
    for round in 1..=2 {
        sandbox.run(&arguments).expect_code(1);
        assert_eq!(sandbox.tasks("demo"), plan());
        assert_eq!(sandbox.agent_calls().len(), 2 * round, "nobody but the agent says that it is done");
    }
}
