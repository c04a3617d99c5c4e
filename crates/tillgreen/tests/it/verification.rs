//! What proves a task: its own command, run by the program; a judging agent or a person only where no command can.

use std::fs;
use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step, write_executable};

fn sandbox(tasks: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", tasks);
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

fn work() -> Step {
    Step::write("work.txt", "right\n")
}

fn worker() -> Agent {
    Agent::new().otherwise([work(), done()])
}

/// Roles and attempts of all calls, in order.
fn calls(sandbox: &Sandbox) -> Vec<(String, u32)> {
    sandbox.agent_calls().into_iter().map(|call| (call.role, call.attempt)).collect()
}

#[track_caller]
fn check_calls(sandbox: &Sandbox, expected: &[(&str, u32)]) {
    let expected: Vec<_> = expected.iter().map(|(role, attempt)| ((*role).to_owned(), *attempt)).collect();
    assert_eq!(calls(sandbox), expected);
}

/// Says this the first time that it is called and that afterwards.
fn first_then(sandbox: &Sandbox, first: &str, then: &str) -> Step {
    let said = sandbox.control("said-once").display().to_string();
    Step::shell(&format!("if test -e {said}; then echo '{then}'; else : > {said}; printf '{first}\\n'; fi"))
}

/// One attempt at a task with this verify command; the agent only writes `work.txt` and claims success.
#[track_caller]
fn check_verify(verify: &str, flags: &[&str], code: i32, said: &str) {
    let sandbox = sandbox(&format!("- [ ] 1.1 [RED] Work\n  - **Verify**: `{verify}`\n"));
    let finished = run(&sandbox, &worker(), &[&["--max-task-iterations", "1"], flags].concat());
    assert_eq!(finished.code, Some(code), "for {verify:?}: {finished}");
    assert!(finished.stderr.contains(said), "{said:?} is missing for {verify:?}: {finished}");
    let boxed = if code == 0 { "- [x]" } else { "- [ ]" };
    assert!(sandbox.tasks("demo").starts_with(boxed), "for {verify:?}");
    sandbox.wait_until_quiet();
}

#[test]
fn a_pipeline_that_passes_text_on_does_not_hide_a_failure() {
    check_verify("{ cat work.txt; false; } | tail -5", &[], 1, "Max retries");
    check_verify("(cd specs && false) 2>&1 | tail -5", &[], 1, "Max retries");
    check_verify("cat missing.txt 2>&1 | tee out.log | head -3", &[], 1, "No such file");
    check_verify("cat work.txt | tail -5", &[], 0, "");
}

#[test]
fn the_last_stage_decides_where_it_can() {
    check_verify("{ echo FAILED; false; } | grep -q FAILED", &[], 0, "");
    check_verify("echo passed | grep -q FAILED", &[], 1, "Max retries");
}

#[test]
fn a_broken_pipe_is_green_with_a_warning() {
    check_verify("yes | head -1", &[], 0, "broken pipe");
}

#[test]
fn a_command_that_cannot_fail_proves_nothing() {
    for command in ["test -f nothing || true", "test -f nothing || echo missing"] {
        check_verify(command, &[], 0, "warning: verify proves nothing");
        check_verify(command, &["--strict"], 1, "proves nothing");
    }
}

#[test]
fn a_command_that_was_green_before_proves_nothing() {
    let plan = "- [ ] 1.1 Work\n  - **Verify**: `test -d specs`\n";
    let idle = Agent::new().otherwise([done()]);
    let finished = run(&sandbox(plan), &idle, &[]).expect_code(0);
    assert!(finished.stderr.contains("warning: verify proves nothing"), "{finished}");
    let finished = run(&sandbox(plan), &idle, &["--strict", "--max-task-iterations", "2"]).expect_code(1);
    assert!(finished.stderr.contains("git sees no change"), "{finished}");
    run(&sandbox(plan), &worker(), &["--strict"]).expect_code(0);
}

#[test]
fn a_verify_command_has_a_deadline() {
    check_verify("echo waiting; sleep 600", &["--verify-timeout", "200ms"], 1, "did not end within");
}

#[test]
fn several_commands_are_one_script() {
    check_verify("cd specs && test -f demo/tasks.md", &[], 0, "");
    let plan =
        "- [ ] 1.1 Work\n  - **Verify**:\n    ```bash\n    cd specs\n    false\n    test -d demo\n    ```\n";
    run(&sandbox(plan), &worker(), &["--max-task-iterations", "1"]).expect_code(1);
}

#[test]
fn the_command_is_the_one_from_dispatch() {
    let sandbox = sandbox("- [ ] 1.1 Work\n  - **Verify**: `test -f hard`\n");
    let rewrite = Step::edit("specs/demo/tasks.md", "test -f hard", "true");
    let agent = Agent::new().on_attempt("1.1", 1, [rewrite, work(), done()]);
    let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]).expect_code(1);
    assert!(finished.stderr.contains("`test -f hard` failed with exit code 1"), "{finished}");
    assert!(finished.stderr.contains("reworded"), "it is said: {finished}");
}

const VERIFY_TASK: &str =
    "- [ ] V1 [VERIFY] Check\n  - **Verify**: `test -f ok`\n  - **Commit**: `fix: make it pass`\n";

#[test]
fn a_verify_task_needs_no_agent_while_it_is_green() {
    let sandbox = sandbox(VERIFY_TASK);
    sandbox.write("ok", "");
    sandbox.commit_all("ok");
    run(&sandbox, &Agent::new(), &[]).expect_code(0);
    check_calls(&sandbox, &[]);
    assert_eq!(sandbox.subjects(), ["plan", "ok", "chore(spec): complete task V1"]);
}

#[test]
fn a_verify_task_calls_the_qa_agent_when_it_is_red() {
    let sandbox = sandbox(VERIFY_TASK);
    let agent = Agent::new()
        .on_attempt("V1", 1, [Step::say("VERIFICATION_PASS")])
        .on_attempt("V1", 2, [Step::say("it is broken\nVERIFICATION_FAIL")])
        .on("V1", [Step::write("ok", ""), Step::say("VERIFICATION_PASS")]);
    run(&sandbox, &agent, &["--max-task-iterations", "3"]).expect_code(0);
    check_calls(&sandbox, &[("qa", 1), ("qa", 2), ("qa", 3)]);
    let prompts: Vec<_> = sandbox.agent_calls().into_iter().map(|call| call.prompt).collect();
    assert!(prompts[0].contains("returned exit code 1"), "it is told what was red: {}", prompts[0]);
    assert!(prompts[2].contains("it is broken"), "{}", prompts[2]);
    assert_eq!(sandbox.subjects(), ["plan", "fix: make it pass", "chore(spec): complete task V1"]);
}

const PROSE: &str =
    "- [ ] 1.1 Write a poem\n  - **Done when**: It rhymes\n  - **Verify**: Read it aloud and touch pwned\n";

#[test]
fn prose_is_judged_by_the_qa_agent() {
    let sandbox = sandbox(PROSE);
    let judge =
        first_then(&sandbox, "moon does not rhyme with fork\\nVERIFICATION_FAIL", "VERIFICATION_PASS");
    let agent = Agent::new().on_role("qa", "1.1", [judge]).otherwise([work(), done()]);
    run(&sandbox, &agent, &[]).expect_code(0);
    check_calls(&sandbox, &[("executor", 1), ("qa", 1), ("executor", 2), ("qa", 2)]);
    let calls = sandbox.agent_calls();
    assert!(calls[1].prompt.contains("- work.txt") && calls[1].prompt.contains("Read it aloud"));
    assert!(calls[2].prompt.contains("moon does not rhyme with fork"), "{}", calls[2].prompt);
    assert!(!sandbox.has("pwned"), "prose never reaches a shell");
}

#[test]
fn prose_is_judged_as_it_was_at_dispatch() {
    let sandbox = sandbox(PROSE);
    let rewrite = Step::edit("specs/demo/tasks.md", "It rhymes", "It exists");
    let agent = Agent::new().on_role("qa", "1.1", [Step::say("VERIFICATION_PASS")]).otherwise([
        rewrite,
        work(),
        done(),
    ]);
    run(&sandbox, &agent, &[]).expect_code(0);
    let judge = &sandbox.agent_calls()[1].prompt;
    assert!(judge.contains("It rhymes") && !judge.contains("It exists"), "{judge}");
}

#[test]
fn prose_is_judged_by_a_person_on_request() {
    let sandbox = sandbox(PROSE);
    let finished = run(&sandbox, &worker(), &["--unverifiable", "ask"]).expect_code(3);
    assert!(finished.stderr.contains("waits for an answer"), "{finished}");
    sandbox.run(&["answer", "reject: it does not rhyme"]).expect_code(3);
    check_calls(&sandbox, &[("executor", 1), ("executor", 2)]);
    assert!(sandbox.agent_calls()[1].prompt.contains("it does not rhyme"));
    sandbox.run(&["answer", "approve"]).expect_code(0);
    assert!(sandbox.tasks("demo").starts_with("- [x]"));
}

#[test]
fn prose_can_be_refused() {
    let sandbox = sandbox(PROSE);
    let finished = run(&sandbox, &worker(), &["--unverifiable", "refuse"]).expect_code(2);
    assert!(finished.stderr.contains("1.1"), "{finished}");
    check_calls(&sandbox, &[]);
}

const REVIEWED: &str = "- [ ] 1.1 Work\n  - **Verify**: `test -f work.txt`\n";

#[test]
fn a_reviewer_has_the_last_word() {
    let sandbox = sandbox(REVIEWED);
    let review = first_then(&sandbox, "The edge case is missing.\\nVERIFICATION_FAIL", "VERIFICATION_PASS");
    let agent = Agent::new().on_role("reviewer", "1.1", [review]).otherwise([work(), done()]);
    run(&sandbox, &agent, &["--review", "--recovery-mode"]).expect_code(0);
    check_calls(&sandbox, &[("executor", 1), ("reviewer", 1), ("executor", 2), ("reviewer", 2)]);
    let feedback = &sandbox.agent_calls()[2].prompt;
    for text in ["<type>architect_rejected</type>", "The edge case is missing."] {
        assert!(feedback.contains(text), "{text:?} is missing: {feedback}");
    }
}

#[test]
fn a_reviewer_that_is_away_spends_no_attempt() {
    let sandbox = sandbox(REVIEWED);
    let agent = Agent::new().on_role("reviewer", "1.1", [Step::Exit(75)]).otherwise([work(), done()]);
    run(&sandbox, &agent, &["--review", "--infra-retries", "1"]).expect_code(6);
    assert!(sandbox.tasks("demo").starts_with("- [ ]"));
    let approves = Agent::new().on_role("reviewer", "1.1", [Step::say("VERIFICATION_PASS")]);
    run(&sandbox, &approves, &["--review"]).expect_code(0);
    check_calls(&sandbox, &[("executor", 1), ("reviewer", 1), ("reviewer", 1)]);
}

#[test]
fn regressions_are_checked_at_the_very_end() {
    let sandbox = sandbox(REVIEWED);
    let finished =
        run(&sandbox, &worker(), &["--regression", "echo the old test broke; test -f fixed"]).expect_code(1);
    assert!(finished.stderr.contains("the regression command is red"), "{finished}");
    assert!(finished.stderr.contains("the old test broke"), "{finished}");
    assert!(!finished.stdout.contains("ALL_TASKS_COMPLETE"), "{finished}");
    sandbox.write("fixed", "");
    let finished = run(&sandbox, &worker(), &["--regression", "test -f fixed"]).expect_code(0);
    assert_eq!(finished.stdout.lines().last(), Some("ALL_TASKS_COMPLETE"), "{finished}");
    check_calls(&sandbox, &[("executor", 1)]);
}

#[test]
fn an_admission_contradicts_success_unless_it_is_denied() {
    for (words, code) in [
        ("The rest requires manual testing.", 1),
        ("I could not complete the second step.", 1),
        ("This CANNOT BE AUTOMATED", 1),
        ("No manual intervention needed.", 0),
        ("The log says `requires manual` in places.", 0),
    ] {
        let sandbox = sandbox(REVIEWED);
        let agent = Agent::new().otherwise([work(), Step::say(words), done()]);
        let finished = run(&sandbox, &agent, &["--max-task-iterations", "1"]);
        assert_eq!(finished.code, Some(code), "for {words:?}: {finished}");
        let contradicts =
            finished.stderr.contains("CONTRADICTION: claimed completion while admitting failure");
        assert_eq!(contradicts, code == 1, "for {words:?}: {finished}");
    }
}

#[test]
fn changes_outside_the_tasks_files_are_noticed() {
    let plan = "- [ ] 1.1 Work\n  - **Files**: work.txt, src/*.rs\n  - **Verify**: `test -f work.txt`\n";
    let strays = || {
        Agent::new().otherwise([work(), Step::write("src/a.rs", ""), Step::write("other.txt", ""), done()])
    };
    let outside = "changed outside the task's Files: other.txt";
    let finished = run(&sandbox(plan), &strays(), &[]).expect_code(0);
    assert!(finished.stderr.contains(&format!("warning: {outside}")), "{finished}");
    let flags = ["--scope", "reject", "--max-task-iterations", "1"];
    let finished = run(&sandbox(plan), &strays(), &flags).expect_code(1);
    assert!(finished.stderr.contains(outside), "{finished}");
    let finished = run(&sandbox(plan), &strays(), &["--scope", "off"]).expect_code(0);
    assert!(!finished.stderr.contains("outside"), "{finished}");
}

#[test]
fn what_an_attempt_outside_the_files_took_back_is_no_longer_held_against_the_task() {
    let plan = "- [ ] 1.1 Work\n  - **Files**: work.txt\n  - **Verify**: `test -f work.txt`\n";
    let stray = [work(), Step::write("other.txt", ""), done()];
    let takes_back = [Step::shell("rm other.txt"), done()];
    let flags = ["--scope", "reject", "--max-task-iterations", "2"];
    let agent = Agent::new().on_attempt("1.1", 1, stray.clone()).on("1.1", takes_back);
    run(&sandbox(plan), &agent, &flags).expect_code(0);
    // One that was committed counts until it is taken back, and one that stays is still outside.
    let commits = [work(), Step::write("other.txt", ""), Step::commit("both"), done()];
    for (last, code) in [("git rm -q other.txt; git commit -qm back", 0), ("true", 1)] {
        let agent = Agent::new().on_attempt("1.1", 1, commits.clone()).on("1.1", [Step::shell(last), done()]);
        let finished = run(&sandbox(plan), &agent, &flags).expect_code(code);
        assert_eq!(finished.stderr.contains("Max retries reached"), code == 1, "{finished}");
    }
}

#[test]
fn a_broken_pipe_before_the_end_is_not_green() {
    for verify in ["yes | head -1; test -f nothere", "yes | head -1 && test -f nothere"] {
        let plan = format!("- [ ] 1.1 Work\n  - **Verify**: `{verify}`\n");
        let agent = Agent::new().otherwise([work(), done()]);
        run(&sandbox(&plan), &agent, &["--max-task-iterations", "1"]).expect_code(1);
    }
}

#[test]
fn what_nobody_could_prove_is_said_at_the_end() {
    let plan = "- [ ] 1.1 Work\n  - **Verify**: Look at it\n";
    let agent =
        Agent::new().on_role("qa", "1.1", [Step::say("VERIFICATION_PASS")]).otherwise([work(), done()]);
    let finished = run(&sandbox(plan), &agent, &[]).expect_code(0);
    assert!(finished.stdout.contains("Judged:    1 task without a command to prove it (1.1)"), "{finished}");
}

/// The first run of the verify command leaves the work other than it found it, as somebody does who saves a file
/// meanwhile.
#[track_caller]
fn check_rewritten(first_leaves: &str, expected: &[(&str, u32)], said: &[&str]) -> Sandbox {
    let sandbox = sandbox("- [ ] 1.1 Work\n  - **Verify**: `sh verify.sh`\n");
    let (runs, once) = (sandbox.control("runs").display().to_string(), sandbox.control("once"));
    let verify = format!(
        "echo run >> {runs}\ngrep -qx right work.txt || exit 1\n\
         if ! test -e {once}; then : > {once}; {first_leaves}; fi\n",
        once = once.display()
    );
    sandbox.write("verify.sh", &verify);
    sandbox.commit_all("how it is verified");
    let finished = run(&sandbox, &worker(), &["--prove", "off"]).expect_code(0);
    check_calls(&sandbox, expected);
    for said in said {
        assert!(finished.stderr.contains(said), "{said:?} is missing: {finished}");
    }
    assert_eq!(sandbox.git(&["show", "HEAD~1:work.txt"]).trim_end(), "right");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    sandbox
}

fn runs(sandbox: &Sandbox) -> usize {
    std::fs::read_to_string(sandbox.control("runs")).unwrap_or_default().lines().count()
}

#[test]
fn what_somebody_makes_of_the_work_while_it_is_verified_is_verified_too() {
    let said =
        ["files of task 1.1 changed since it was verified (work.txt), so they are verified as they are now"];
    let sandbox = check_rewritten("echo wrong > work.txt", &[("executor", 1), ("executor", 2)], &said);
    assert_eq!(runs(&sandbox), 3);
    let prompt = sandbox.agent_calls().pop().expect("a second call").prompt;
    assert!(prompt.contains("Files of the work changed while it was verified."), "{prompt}");
}

#[test]
fn what_is_written_once_more_as_it_was_is_not_verified_again() {
    let sandbox = check_rewritten("cat work.txt > copy; mv copy work.txt", &[("executor", 1)], &[]);
    assert_eq!(runs(&sandbox), 1);
}

#[test]
fn what_a_verify_command_makes_of_the_work_each_time_is_not_committed_unverified() {
    let sandbox = sandbox("- [ ] 1.1 Work\n  - **Verify**: `sh verify.sh`\n");
    let runs = sandbox.control("runs").display().to_string();
    sandbox.write(
        "verify.sh",
        format!("echo run >> {runs}\ngrep -qx right work.txt && echo again >> work.txt\n"),
    );
    sandbox.commit_all("how it is verified");
    let finished = run(&sandbox, &worker(), &["--prove", "off"]).expect_code(0);
    check_calls(&sandbox, &[("executor", 1)]);
    assert_eq!(self::runs(&sandbox), 3);
    assert_eq!(sandbox.git(&["show", "HEAD~1:work.txt"]).lines().count(), 3, "{finished}");
    assert_eq!(sandbox.read("work.txt").lines().count(), 4, "{finished}");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M work.txt\n");
    assert!(
        finished.stderr.contains("files of task 1.1 change each time it is verified (work.txt)"),
        "{finished}"
    );
}

/// A verify command that comes to these results one after the other, and stays with the last.
fn flaky(sandbox: &Sandbox, results: &str) -> String {
    let file = sandbox.control("results").display().to_string();
    fs::write(&file, results.split(' ').map(|word| format!("{word}\n")).collect::<String>())
        .expect("it is written");
    format!(
        "test -f work.txt; first=$(head -n 1 {file}); echo $first >> {file}.ran; \
         test $(wc -l < {file}) = 1 || sed -i 1d {file}; test $first = green"
    )
}

/// A task whose command comes to these results: how often it ran, what was told, and whether it is done.
#[track_caller]
fn check_flaky(results: &str, later: Vec<Step>, flags: &[&str]) -> (usize, Finished) {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let command = flaky(&sandbox, results);
    sandbox.spec("demo", &format!("- [ ] 1.1 Work\n  - **Verify**: `{command}`\n"));
    sandbox.commit_all("plan");
    let agent = Agent::new().on_attempt("1.1", 1, [work(), done()]).otherwise([later, vec![done()]].concat());
    let finished =
        run(&sandbox, &agent, &[&["--prove", "off", "--max-task-iterations", "2"], flags].concat());
    let ran = fs::read_to_string(sandbox.control("results.ran")).expect("it ran");
    (ran.lines().count(), finished)
}

#[test]
fn a_command_that_is_red_and_green_on_the_same_files_is_run_again_and_told() {
    let (ran, finished) = check_flaky("red green", vec![], &[]);
    assert_eq!((ran, finished.code), (5, Some(0)), "{finished}");
    let told = "the verify command of task 1.1 was red in attempt 1 and is green now, on the same files: it is flaky, or \
                goes by something that git does not see; run again, it was green, green, green";
    assert!(finished.stderr.contains(told), "{finished}");
    let (ran, finished) = check_flaky("red green red green green", vec![], &[]);
    assert_eq!((ran, finished.code), (5, Some(0)), "one more red costs nothing: {finished}");
    assert!(finished.stderr.contains("it is flaky; run again, it was red, green, green"), "{finished}");
    let (ran, finished) = check_flaky("red green red", vec![], &[]);
    assert_eq!((ran, finished.code), (5, Some(1)), "it was luck: {finished}");
    let (ran, finished) = check_flaky("red green green", vec![], &["--isolate"]);
    assert!(finished.stderr.contains("green, green, green"), "{finished}");
    assert_eq!((ran, finished.code), (6, Some(0)), "and once more in the landing tree: {finished}");
}

#[test]
fn what_changed_or_stayed_red_is_not_run_again() {
    let (ran, finished) = check_flaky("red green", vec![Step::write("work.txt", "other\n")], &[]);
    assert_eq!((ran, finished.code), (2, Some(0)), "{finished}");
    assert!(!finished.stderr.contains("flaky"), "{finished}");
    let (ran, finished) = check_flaky("red", vec![], &[]);
    assert_eq!((ran, finished.code), (2, Some(1)), "{finished}");
    let (ran, finished) = check_flaky("green", vec![], &[]);
    assert_eq!((ran, finished.code), (1, Some(0)), "{finished}");
}

#[test]
fn work_that_is_red_where_it_lands_as_it_was_green_in_its_work_tree_is_looked_at_again() {
    let (ran, finished) = check_flaky("green red green", vec![], &["--isolate"]);
    assert_eq!((ran, finished.code), (5, Some(0)), "no attempt is spent: {finished}");
    assert!(
        finished.stderr.contains("was green in its work tree and is red now, on the same files"),
        "{finished}"
    );
    assert!(!finished.stderr.contains("attempt 2"), "{finished}");
    let (ran, finished) =
        check_flaky("green red red red red green", vec![Step::write("work.txt", "other\n")], &["--isolate"]);
    assert_eq!((ran, finished.code), (7, Some(0)), "{finished}");
    assert!(finished.stderr.contains("attempt 2"), "{finished}");
}

#[test]
fn the_next_agent_is_told_that_a_command_is_flaky() {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    let command = flaky(&sandbox, "red green red red red green");
    sandbox.spec("demo", &format!("- [ ] 1.1 Work\n  - **Verify**: `{command}`\n"));
    sandbox.commit_all("plan");
    let agent = Agent::new().on_attempt("1.1", 2, [done()]).otherwise([work(), done()]);
    run(&sandbox, &agent, &["--prove", "off"]);
    let prompt = sandbox.agent_calls().last().map(|call| call.prompt.clone()).unwrap_or_default();
    assert!(prompt.contains("was red in attempt 1 and is green now, on the same files"), "{prompt}");
}

#[test]
fn what_a_verification_formats_is_committed() {
    let plan = "- [ ] 1.1 Work\n  - **Verify**: `test -s work.txt`\n- [ ] V1 [VERIFY] Format\n  - **Verify**: `black . && \
                grep -q formatted old.txt`\n";
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = sandbox(plan);
        sandbox.write("old.txt", "old\n");
        sandbox.commit_all("more");
        sandbox.install_program("black", "echo formatted > old.txt; echo seen > report.txt");
        let finished = run(&sandbox, &worker(), flags).expect_code(0);
        assert!(finished.stdout.ends_with("ALL_TASKS_COMPLETE\n"), "{finished}");
        let subjects = sandbox.subjects();
        assert!(subjects.contains(&"chore(demo): format".to_owned()), "{flags:?}: {subjects:?}");
        assert_eq!(sandbox.git(&["show", "HEAD:old.txt"]).trim(), "formatted");
        assert_eq!(sandbox.dirt(), ["?? report.txt"], "{flags:?}");
    }
}

#[test]
fn lock_files_that_commands_write_come_along() {
    // The first is written before the agent begins, the second once it is done.
    let locks =
        "test -e work.txt && name=pnpm-lock.yaml || name=Cargo.lock; echo locked > $name; test -e work.txt";
    let sandbox = sandbox("- [ ] 1.1 Work\n  - **Files**: work.txt\n  - **Verify**: `cargo test`\n");
    sandbox.install_program("cargo", locks);
    run(&sandbox, &worker(), &["--scope", "reject"]).expect_code(0);
    assert_eq!(sandbox.dirt(), [""; 0]);
    let files = sandbox.git(&["log", "--format=", "--name-only", "--grep=feat"]);
    for file in ["Cargo.lock", "pnpm-lock.yaml", "work.txt"] {
        assert!(files.contains(file), "{file} is not in {files}");
    }
}

#[test]
fn a_message_that_a_hook_refuses_is_mended_without_an_agent() {
    const HOOK: &str =
        "#!/bin/sh\nhead -n 1 \"$1\" | grep -q '^SHOP-' && exit\necho 'a ticket is missing' >&2\nexit 1\n";
    for flags in [&[][..], &["--isolate"]] {
        let sandbox = sandbox("- [ ] 1.1 Work\n  - **Verify**: `test -s work.txt`\n");
        write_executable(&sandbox.root().join(".git/hooks/commit-msg"), HOOK);
        let finished = run(&sandbox, &worker(), flags).expect_code(6);
        for part in ["the commit message \"feat(demo): work\": a ticket is missing", "set commit_prefix"] {
            assert!(finished.stderr.contains(part), "{part:?} is missing: {finished}");
        }
        let tasks = sandbox.tasks("demo") + "  - **Commit**: `SHOP-12 work`\n";
        sandbox.write("specs/demo/tasks.md", tasks);
        let finished = run(&sandbox, &worker(), flags).expect_code(6);
        assert!(finished.stderr.contains("\"chore(spec): complete task 1.1\""), "{finished}");
        run(&sandbox, &worker(), &[flags, &["--commit-prefix", "SHOP-13"]].concat()).expect_code(0);
        check_calls(&sandbox, &[("executor", 1)]);
        let subjects = sandbox.subjects();
        for subject in ["SHOP-12 work", "SHOP-13 chore(spec): complete task 1.1"] {
            assert!(subjects.contains(&subject.to_owned()), "{flags:?}: {subjects:?}");
        }
    }
}
