//! Agents that lie, break things and do not let go. None of them gets a task ticked that is not green, brings the
//! program down, or leaves anything behind.

use std::fs;
use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step, wait_for};

const PLAN: &str = "\
# Tasks

- [x] 1.1 Done before

- [ ] 1.2 Work
  - **Verify**: `grep -q right work.txt`
  - **Commit**: `feat: work`

- [ ] 1.3 Later
  - **Verify**: `test -f later.txt`
  - **Commit**: `feat: later`
";

const TASKS: &str = "specs/demo/tasks.md";
const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    sandbox
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    let finished = sandbox.run(&[&["run", "--agent-cmd", &command], flags].concat());
    assert!(!finished.stderr.contains("panicked"), "{finished}");
    finished
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

fn work() -> Step {
    Step::write("work.txt", "right\n")
}

/// Does this at the first attempt at 1.2 and is good afterwards.
fn once(steps: impl IntoIterator<Item = Step>) -> Agent {
    Agent::new().on_attempt("1.2", 1, steps).on("1.2", [work(), done()]).on("1.3", good())
}

/// Does this at every attempt at 1.2.
fn always(steps: impl IntoIterator<Item = Step>) -> Agent {
    Agent::new().on("1.2", steps).on("1.3", good())
}

fn good() -> [Step; 2] {
    [Step::write("later.txt", ""), done()]
}

/// The first attempt at 1.2 is not accepted, for this reason; the second is, and all ends well.
#[track_caller]
fn check_rejected(steps: impl IntoIterator<Item = Step>, reason: &str) -> Sandbox {
    let sandbox = sandbox();
    let finished = run(&sandbox, &once(steps), &[]).expect_code(0);
    let order: Vec<_> = sandbox.agent_calls().into_iter().map(|call| (call.task, call.attempt)).collect();
    assert_eq!(
        order,
        [("1.2", 1), ("1.2", 2), ("1.3", 1)].map(|(task, n)| (task.to_owned(), n)),
        "{finished}"
    );
    let prompt = &sandbox.agent_calls()[1].prompt;
    let feedback = prompt.split("</retry_context>").next().unwrap_or_default();
    assert!(feedback.contains(reason), "{reason:?} is missing: {prompt}");
    check_end(&sandbox);
    sandbox
}

/// The plan is as its author wrote it, with all boxes ticked; everything is committed, nothing runs.
#[track_caller]
fn check_end(sandbox: &Sandbox) {
    assert_eq!(sandbox.tasks("demo"), PLAN.replace("- [ ]", "- [x]"));
    assert_eq!(sandbox.dirt(), [""; 0]);
    sandbox.wait_until_quiet();
}

#[test]
fn claims_of_success_are_not_believed() {
    check_rejected([done()], "work.txt");
    check_rejected([Step::say("Task 1.3 is done.\nTASK_COMPLETE")], "work.txt");
    check_rejected([Step::shell("cat \"$here/prompt\"")], "Task did not complete");
    check_rejected([Step::say("All done! Output TASK_COMPLETE when done")], "Task did not complete");
    check_rejected([Step::say("ALL_TASKS_COMPLETE")], "Task did not complete");
    check_rejected([work(), Step::say("It needs human review."), done()], "CONTRADICTION");
}

#[test]
fn boxes_of_others_are_put_back() {
    let mismatch = "checkmark mismatch";
    let tick = Step::edit(TASKS, "- [ ] 1.3", "- [x] 1.3");
    let sandbox = check_rejected([tick.clone(), work(), done()], mismatch);
    assert!(sandbox.agent_calls()[1].prompt.contains("1.3"));
    check_rejected([Step::edit(TASKS, "- [x] 1.1", "- [ ] 1.1"), work(), done()], mismatch);
    check_rejected([Step::edit(TASKS, "- [ ]", "- [x]"), work(), done()], mismatch);
    check_rejected([tick, Step::commit("feat: everything"), work(), done()], mismatch);
}

/// Whoever took tasks out, an agent or a person: they are put back once, said, and nobody is charged for it.
#[test]
fn tasks_that_vanish_are_put_back() {
    let vanish = [
        Step::Delete(TASKS.to_owned()),
        Step::write(TASKS, ""),
        Step::write(TASKS, "- [ ] 1.2 Work\n"),
        Step::shell(&format!("printf '\\377\\000' > {TASKS}")),
        Step::shell(&format!("rm {TASKS}; mkdir {TASKS}")),
        Step::shell("rm -rf specs/demo"),
    ];
    for step in vanish {
        let sandbox = sandbox();
        let finished = run(&sandbox, &once([step, work(), done()]), &[]).expect_code(0);
        let calls: Vec<_> = sandbox.agent_calls().iter().map(|call| call.task.clone()).collect();
        assert_eq!(calls, ["1.2", "1.3"], "{finished}");
        let text = sandbox.read(TASKS);
        assert!(["1.1", "1.2", "1.3"].iter().all(|id| text.contains(&format!("- [x] {id} "))), "{finished}");
        assert!(finished.stderr.contains("and put back, since an agent may have done it"), "{finished}");
    }
}

#[test]
fn the_own_box_counts_for_nothing() {
    check_rejected([Step::edit(TASKS, "- [ ] 1.2", "- [x] 1.2"), done()], "work.txt");
    check_rejected([Step::edit(TASKS, "- [ ] 1.2", "- [x] 1.2"), Step::Exit(1)], "exited with code 1");
}

#[test]
fn the_own_box_counts_for_nothing_with_agent_bookkeeping_either() {
    let tick = || Step::edit(TASKS, "- [ ] 1.2", "- [x] 1.2");
    for steps in [
        vec![tick(), Step::commit("x"), done()],
        vec![tick(), Step::commit("x"), Step::Exit(1)],
        vec![tick(), Step::commit("x"), Step::say("This needs human hands."), done()],
        vec![tick(), Step::commit("x"), Step::say("nothing")],
    ] {
        let sandbox = sandbox();
        let flags = ["--bookkeeping", "agent", "--max-task-iterations", "1"];
        run(&sandbox, &always(steps.clone()), &flags).expect_code(1);
        assert!(sandbox.tasks("demo").contains("- [ ] 1.2"), "after {steps:?}");
        run(&sandbox, &always([Step::say("no")]), &flags).expect_code(1);
        assert!(sandbox.tasks("demo").contains("- [ ] 1.2"), "after {steps:?} and a restart");
    }
}

/// The task passes at the first attempt in spite of all this, and the end is clean.
#[track_caller]
fn check_survived(steps: impl IntoIterator<Item = Step>) -> (Sandbox, Finished) {
    let sandbox = sandbox();
    let finished = run(&sandbox, &always(steps), &[]).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 2, "{finished}");
    check_end(&sandbox);
    (sandbox, finished)
}

#[test]
fn odd_output_does_no_harm() {
    let nul = Step::shell("printf 'a\\000b\\n'");
    let escape = Step::shell("printf '\\033[2J\\033]0;title\\007\\r\\n'");
    check_survived([Step::SayInvalidUtf8, nul, escape, work(), done(), Step::SayInvalidUtf8]);
}

#[test]
fn escapes_do_not_reach_the_terminal() {
    let sandbox = sandbox();
    let claim = "printf 'Task 1.2: x FAILED\\n- Error: \\033[31mred\\033[0m \\007bell \\r\\n'";
    let finished =
        run(&sandbox, &always([Step::shell(claim)]), &["--max-task-iterations", "1"]).expect_code(1);
    let log = sandbox.run(&["log"]).stdout;
    let status = sandbox.run(&["status"]).stdout;
    for text in [&finished.stdout, &finished.stderr, &log, &status] {
        let odd = text.chars().find(|character| character.is_control() && *character != '\n');
        assert_eq!(odd, None, "{text:?}");
    }
    assert!(finished.stderr.contains("red"), "{finished}");
}

#[test]
fn the_completion_line_is_the_programs_own() {
    let sandbox = sandbox();
    let claim =
        "ALL_TASKS_COMPLETE\nTask 1.2: x FAILED\n- Error: ALL_TASKS_COMPLETE\n- Status: ALL_TASKS_COMPLETE";
    let agent = always([Step::say(claim), Step::Complain("ALL_TASKS_COMPLETE".to_owned())]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "2"]).expect_code(1);
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    assert!(!finished.stderr.lines().any(|line| line.trim() == "ALL_TASKS_COMPLETE"), "{finished}");
}

#[test]
fn a_flood_is_kept_out_of_memory_and_off_the_disk() {
    const BYTES: usize = 200 << 20;
    let sandbox = sandbox();
    let flooded = sandbox.control("flooded");
    let wait = sandbox.control("measured");
    let steps = [
        Step::Flood { bytes: BYTES },
        Step::say("\nphew"),
        Step::shell(&format!(": > {}", flooded.display())),
        Step::await_file(&wait),
        work(),
        done(),
    ];
    let command = sandbox.install_agent(&always(steps));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the flood to be over", || flooded.exists());
    let status = fs::read_to_string(format!("/proc/{}/status", run.pid())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel says so");
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kilobytes < 100_000, "at most {kilobytes} kB were used");
    sandbox.release("measured");
    run.wait().expect_code(0);
    let kept = sandbox.git(&["count-objects"]);
    let attempts = sandbox.root().join(".tillgreen/specs-demo/attempts");
    assert!(folder_bytes(&attempts) < 4 << 20, "{kept}");
    check_end(&sandbox);
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn whoever_does_not_want_to_end_is_ended() {
    let sandbox = sandbox();
    let agent = once([Step::IgnoreSignals, Step::Detach, Step::Hang]);
    // The grace period of an agent that ignores being asked is waited for once.
    run(&sandbox, &agent, &["--attempt-timeout", "5s"]).expect_code(0);
    check_end(&sandbox);
}

#[test]
fn children_do_not_outlive_their_agent() {
    let nohup = Step::shell("setsid nohup sh -c 'sleep 600; echo evil > work.txt' >/dev/null 2>&1 &");
    check_survived([Step::Detach, nohup, work(), done()]);
    let holds_output = Step::shell("sleep 600 &");
    check_survived([holds_output, work(), done()]);
}

#[test]
fn own_files_are_not_committed() {
    let (sandbox, _) = check_survived([work(), Step::commit("feat: all of it"), done()]);
    let names = sandbox.git(&["log", "--name-only", "--format=", "--all"]);
    assert!(!names.contains(".tillgreen/") && !names.contains(".ralph-state.json"), "{names}");
    let progress = sandbox.read("specs/demo/.progress.md");
    let commit = sandbox.git(&["log", "--format=%h", "--abbrev=7", "--grep=feat: all of it"]);
    assert!(progress.contains(&format!("- [x] 1.2 Work - {}", commit.trim())), "{progress}");
}

#[test]
fn own_files_that_are_laid_hands_on() {
    let state = "specs/demo/.ralph-state.json";
    check_survived([Step::write(state, "{\"taskIndex\": 99}"), work(), done()]);
    check_survived([Step::Delete(state.to_owned()), work(), done()]);
    check_survived([Step::shell("rm -rf .tillgreen/*/attempts"), work(), done()]);
    check_survived([Step::Delete(".tillgreen/specs-demo/lock".to_owned()), work(), done()]);
    check_survived([Step::write("specs/demo/.progress.md", "\u{0}not\u{1b} yours\n"), work(), done()]);
}

#[test]
fn a_journal_that_is_laid_hands_on_is_noticed() {
    let sandbox = sandbox();
    let spoil = Step::shell(&format!("echo garbage >> {JOURNAL}"));
    run(&sandbox, &always([spoil, work(), done()]), &[]).expect_code(0);
    check_end(&sandbox);
    let again = sandbox.run(&["run"]).expect_code(2);
    assert!(again.stderr.contains("is damaged at line"), "{again}");
    assert!(again.stderr.contains("`tillgreen run --fresh`"), "{again}");
}

#[test]
fn a_journal_that_is_deleted_is_written_anew() {
    let sandbox = sandbox();
    let wait = format!("test -e {0} || {{ : > {0}; sleep 600; }}", sandbox.control("begun").display());
    let agent = Agent::new()
        .on("1.2", [Step::shell("git clean -fdxq"), work(), done()])
        .on("1.3", [Step::write("later.txt", ""), Step::shell(&wait), done()]);
    let command = sandbox.install_agent(&agent);
    let first = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the second task to begin", || sandbox.control("begun").exists());
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(4);
    first.kill();
    let finished = sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    assert!(finished.stderr.contains("lost with the program before: 1.3"), "{finished}");
    assert!(finished.stdout.contains("Attempts:  2, 0 failed"), "{finished}");
    check_end(&sandbox);
}

/// The verify command cannot be got at, wherever the program keeps it.
#[test]
fn the_text_from_dispatch_is_out_of_reach() {
    let rewrite = |files: &str| Step::shell(&format!("sed -i 's/grep -q right work.txt/true/' {files}"));
    let kept = ".tillgreen/specs-demo/attempts";
    for steps in [
        vec![rewrite(TASKS), rewrite(&format!("{kept}/*/task.md")), done()],
        vec![rewrite(TASKS), Step::shell(&format!("rm -rf {kept}")), done()],
    ] {
        let sandbox = sandbox();
        run(&sandbox, &always(steps), &["--max-task-iterations", "1"]).expect_code(1);
        assert!(sandbox.tasks("demo").contains("- [ ] 1.2"));
    }
}

#[test]
fn secrets_are_masked_in_all_that_is_written() {
    let sandbox = sandbox();
    let secrets = ["sk-ant-api03-abcdefghijklmnop", "ghp_0123456789abcdefghij0123456789"];
    let claim = format!(
        "env: KEY={0}\nTask 1.2: x FAILED\n- Error: bad key {0}\n- Attempted fix: tried {1}\n- Status: {1}",
        secrets[0], secrets[1]
    );
    let note =
        format!("printf -- '## Learnings\\n- the key is {}\\n' > \"$TILLGREEN_PROGRESS_FILE\"", secrets[0]);
    let agent = Agent::new()
        .on_attempt("1.2", 1, [Step::shell(&note), Step::say(&claim), Step::Complain(claim.clone())])
        .on_attempt("1.2.1", 1, [Step::Complain(claim), Step::Exit(3)])
        .on("1.3", good())
        .otherwise([work(), Step::shell(&note), done()]);
    let finished = run(&sandbox, &agent, &["--recovery-mode"]).expect_code(0);
    let files = [JOURNAL, TASKS, "specs/demo/.progress.md"].map(|file| sandbox.read(file));
    let history = sandbox.git(&["log", "--patch", "--all"]);
    let prompts: String = sandbox.agent_calls().into_iter().map(|call| call.prompt).collect();
    for text in files.iter().chain([&history, &prompts, &finished.stdout, &finished.stderr]) {
        for secret in secrets {
            assert!(!text.contains(secret), "{text}");
        }
    }
    assert!(files[1].contains("Fix: bad key"), "{}", files[1]);
}

#[test]
fn an_agent_that_rewrites_history_is_stopped_with_the_lost_commit() {
    for rewrite in ["git reset -q --hard HEAD~1", "git commit -q --amend -m pwned --allow-empty"] {
        let sandbox = sandbox();
        let before = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let agent = always([Step::shell(rewrite), work(), done()]);
        sandbox.write("seed.txt", "x");
        sandbox.commit_all("seed");
        let head = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
        assert_ne!(before, head);
        let finished = run(&sandbox, &agent, &[]).expect_code(3);
        assert!(finished.stderr.contains(&head), "{rewrite}: {finished}");
        assert!(!sandbox.read(TASKS).contains("[x] 1.2"), "{rewrite}");
    }
}

#[test]
fn without_the_lost_commit_a_retry_does_not_go_on() {
    let sandbox = sandbox();
    let before = sandbox.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let keeps = sandbox.control("lost").display().to_string();
    let rewind = Step::shell(&format!("git rev-parse HEAD > '{keeps}'; git reset -q --hard {before}"));
    let later = || Step::write("later.txt", "x");
    let agent = Agent::new().on_attempt("1.3", 1, [rewind, later(), done()]).on("1.3", [later(), done()]);
    let agent = agent.otherwise([work(), done()]);
    run(&sandbox, &agent, &[]).expect_code(3);
    let finished = sandbox.run(&["answer", "specs/demo", "retry"]).expect_code(6);
    assert!(finished.stderr.contains("the work of task 1.2, commit "), "{finished}");
    let lost = fs::read_to_string(sandbox.control("lost")).expect("the agent noted it");
    sandbox.git(&["reset", "-q", "--hard", lost.trim()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    assert!(sandbox.git(&["log", "--format=%s"]).contains("feat: work"));
}

#[test]
fn a_new_branch_that_keeps_everything_is_no_crime() {
    let sandbox = sandbox();
    run(&sandbox, &once([Step::shell("git checkout -q -b feature"), work(), done()]), &[]).expect_code(0);
    assert_eq!(sandbox.git(&["branch", "--show-current"]).trim(), "feature");
}

#[test]
fn links_that_an_agent_lays_are_not_written_through() {
    let sandbox = sandbox();
    let precious = sandbox.home().join("precious");
    fs::write(&precious, "precious\n").unwrap();
    let lay = |name: &str| Step::shell(&format!("ln -sf '{}' specs/demo/{name}", precious.display()));
    let steps = [lay(".progress.md"), lay(".ralph-state.json"), lay("tasks.md"), work(), done()];
    let finished = run(&sandbox, &once(steps), &[]).expect_code(0);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious\n", "{finished}");
    assert!(sandbox.read(TASKS).contains("- [x] 1.3"));
    assert!(!sandbox.root().join(TASKS).is_symlink());
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let sandbox = sandbox();
    let pipe = |name: &str| Step::shell(&format!("rm -f specs/demo/{name}; mkfifo specs/demo/{name}"));
    let finished = run(&sandbox, &once([pipe("tasks.md"), pipe(".progress.md"), work(), done()]), &[]);
    let finished = finished.expect_code(0);
    assert!(finished.stderr.contains("and put back, since an agent may have done it"), "{finished}");
    assert!(sandbox.read(TASKS).contains("- [x] 1.2"));
}

#[test]
fn with_strict_nobody_rewords_a_task_while_an_attempt_runs() {
    let sandbox = sandbox();
    let weaken = Step::edit(TASKS, "test -f later.txt", "test -d .");
    let finished = run(&sandbox, &once([weaken, work(), done()]), &["--strict"]).expect_code(0);
    assert!(finished.stderr.contains("checkmark mismatch"), "{finished}");
    assert!(sandbox.read(TASKS).contains("test -f later.txt"), "{finished}");
}

#[test]
fn a_kept_text_that_somebody_changed_does_not_count_after_a_restart() {
    let sandbox = sandbox();
    let (begun, gate) = (sandbox.control("begun"), sandbox.control("gate"));
    let verify = format!(
        "touch {}; test -e {} || sleep 1000; grep -q right work.txt",
        begun.display(),
        gate.display()
    );
    sandbox.spec("demo", &PLAN.replace("grep -q right work.txt", &verify));
    sandbox.commit_all("a verify command that waits");
    let agent = Agent::new().otherwise([Step::write("work.txt", "wrong\n"), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let started = sandbox.start(&["run", "--agent-cmd", &command]);
    wait_for("the verify command", || begun.exists());
    started.kill();
    sandbox.wait_until_quiet();
    sandbox.release("gate");
    let kept =
        std::process::Command::new("find").arg(sandbox.root()).args(["-name", "task.md"]).output().unwrap();
    for file in String::from_utf8(kept.stdout).unwrap().lines() {
        let text = fs::read_to_string(file).unwrap();
        fs::write(file, text.replace(&verify, "true")).unwrap();
    }
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(1);
    assert!(!sandbox.read(TASKS).contains("- [x] 1.2"), "{finished}");
}
