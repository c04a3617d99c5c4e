//! Commits, ticks and progress: what the program commits and what it never touches, and what an agent has to do that
//! keeps its own books.

use std::fs;
use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

const PLAN: &str = "\
- [ ] 1.1 Work
  - **Verify**: `grep -q right work.txt`
  - **Commit**: `feat: work`
";

const PROGRESS: &str = "specs/demo/.progress.md";
const TASKS: &str = "specs/demo/tasks.md";

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tillgreen"))
}

fn sandbox(tasks: &str) -> Sandbox {
    let sandbox = Sandbox::new(program());
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

/// The subjects after the plan's own.
#[track_caller]
fn check_commits(sandbox: &Sandbox, expected: &[&str]) {
    assert_eq!(sandbox.subjects()[1..], *expected);
}

fn hook(sandbox: &Sandbox, name: &str, script: &str) {
    let file = sandbox.root().join(".git/hooks").join(name);
    testkit::write_executable(&file, &format!("#!/bin/sh\n{script}\n"));
}

/// A task with this Commit field, whose agent writes `work.txt`.
#[track_caller]
fn check_field(field: &str, expected: &[&str]) -> Sandbox {
    let sandbox = sandbox(&format!("- [ ] 1.1 Add a thing\n  - **Verify**: `test -f work.txt`\n{field}"));
    run(&sandbox, &worker(), &[]).expect_code(0);
    check_commits(&sandbox, expected);
    sandbox
}

#[test]
fn the_work_is_committed_as_the_task_says() {
    let spec = "chore(spec): complete task 1.1";
    check_field("  - **Commit**: `feat(x): add it`\n", &["feat(x): add it", spec]);
    check_field("", &["feat(demo): add a thing", spec]);
    check_field("  - **Commit**: `chore: tidy` (only if fixes needed)\n", &["chore: tidy", spec]);
    let sandbox = check_field("  - **Commit**: None\n", &[spec]);
    assert_eq!(sandbox.dirt(), ["?? work.txt"], "no commit was wanted, and none was made");
}

#[test]
fn nothing_to_commit_is_no_commit() {
    let sandbox = sandbox("- [ ] 1.1 Look\n  - **Verify**: `test -d specs`\n  - **Commit**: `feat: look`\n");
    run(&sandbox, &Agent::new().otherwise([done()]), &[]).expect_code(0);
    check_commits(&sandbox, &["chore(spec): complete task 1.1"]);
    assert!(sandbox.read(PROGRESS).contains("- [x] 1.1 Look\n"));
}

#[test]
fn a_commit_of_the_agents_own_is_left_as_it_is() {
    let sandbox = sandbox(PLAN);
    run(&sandbox, &Agent::new().otherwise([work(), Step::commit("mine"), done()]), &[]).expect_code(0);
    check_commits(&sandbox, &["mine", "chore(spec): complete task 1.1"]);
    let mine = sandbox.git(&["rev-parse", "--short=7", "HEAD~1"]);
    assert!(sandbox.read(PROGRESS).contains(&format!("- [x] 1.1 Work - {}", mine.trim())));
}

#[test]
fn only_what_the_attempt_touched_is_committed() {
    let sandbox = sandbox(PLAN);
    run(&sandbox, &Agent::new().otherwise([work(), Step::write("a b/ü.txt", ""), done()]), &[])
        .expect_code(0);
    let names = sandbox.git(&["-c", "core.quotePath=off", "show", "--name-only", "--format=", "HEAD~1"]);
    assert_eq!(names.lines().collect::<Vec<_>>(), ["a b/ü.txt", "work.txt"]);
    let names = sandbox.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert_eq!(names.lines().collect::<Vec<_>>(), [PROGRESS, TASKS]);
    assert_eq!(sandbox.dirt(), [""; 0]);
}

#[test]
fn a_hook_that_refuses_the_work_is_feedback() {
    let sandbox = sandbox(PLAN);
    hook(
        &sandbox,
        "pre-commit",
        "grep -q ugly work.txt && { echo 'lint: no ugly words' >&2; exit 1; }; exit 0",
    );
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::write("work.txt", "right but ugly\n"), done()])
        .on("1.1", [work(), done()]);
    run(&sandbox, &agent, &["--recovery-mode"]).expect_code(0);
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[1].prompt.contains("lint: no ugly words"), "{}", calls[1].prompt);
    check_commits(&sandbox, &["feat: work", "chore(spec): complete task 1.1"]);
}

#[test]
fn a_hook_that_refuses_the_spec_files_pauses_the_run() {
    let sandbox = sandbox(PLAN);
    hook(&sandbox, "commit-msg", "grep -q '^feat' \"$1\" || { echo 'ticket number missing' >&2; exit 1; }");
    let finished = run(&sandbox, &worker(), &[]).expect_code(6);
    assert!(finished.stderr.contains("ticket number missing"), "{finished}");
    hook(&sandbox, "commit-msg", "exit 0");
    run(&sandbox, &worker(), &[]).expect_code(0);
    assert_eq!(sandbox.agent_calls().len(), 1, "the work is not done again");
    check_commits(&sandbox, &["feat: work", "chore(spec): complete task 1.1"]);
    assert_eq!(sandbox.dirt(), [""; 0]);
}

/// With agent bookkeeping: the first attempt does these steps and is rejected for this; the second does all.
#[track_caller]
fn check_own_books(steps: Vec<Step>, reason: &str) {
    let sandbox = sandbox(PLAN);
    let tick = Step::edit(TASKS, "- [ ] 1.1", "- [x] 1.1");
    let note = Step::append(PROGRESS, "## Learnings\n- easy\n");
    let agent = Agent::new()
        .on_attempt("1.1", 1, steps)
        .on("1.1", [work(), tick, note, Step::commit("feat: work"), done()]);
    run(&sandbox, &agent, &["--bookkeeping", "agent"]).expect_code(0);
    let calls = sandbox.agent_calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].prompt.contains("Mark task [x]"), "{}", calls[0].prompt);
    assert!(calls[1].prompt.contains(reason), "{reason:?} is missing: {}", calls[1].prompt);
    assert!(sandbox.tasks("demo").starts_with("- [x]"));
    assert_eq!(sandbox.dirt(), [""; 0]);
}

#[test]
fn an_agent_that_keeps_its_own_books_has_to_do_so() {
    let tick = || Step::edit(TASKS, "- [ ] 1.1", "- [x] 1.1");
    let uncommitted = "uncommitted spec files detected - task not properly committed";
    check_own_books(vec![work(), Step::commit("feat: work"), tick(), done()], uncommitted);
    check_own_books(
        vec![work(), Step::commit("feat: work"), done()],
        "checkmark mismatch: expected 1, found 0",
    );
    let books = || Step::shell(&format!("git add {TASKS} && git commit -qm 'tick it'"));
    let unsaved = "uncommitted work detected - task not properly committed";
    check_own_books(vec![work(), tick(), books(), done()], unsaved);
    let half = Step::shell("echo more > new.txt; git add work.txt");
    check_own_books(vec![work(), tick(), half, books(), done()], "new.txt");
}

/// With agent bookkeeping: what an honest agent leaves uncommitted besides its work is nobody's business.
#[test]
fn what_is_no_work_need_not_be_committed_by_who_keeps_the_books() {
    let tick = || Step::edit(TASKS, "- [ ] 1.1", "- [x] 1.1");
    let check = |plan: &str, agent: Vec<Step>, flags: &[&str]| {
        let sandbox = sandbox(plan);
        sandbox.write("notes.txt", "mine\n");
        let flags = [&["--bookkeeping", "agent", "--allow-dirty"], flags].concat();
        run(&sandbox, &Agent::new().otherwise(agent), &flags).expect_code(0);
        assert_eq!(sandbox.agent_calls().len(), 1);
    };
    let add =
        |more: &str| Step::shell(&format!("git add work.txt {TASKS} && git commit -qm 'feat: work' {more}"));
    // What was there before, what tests leave, what the verify command writes, and a task that asks for no commit.
    check(PLAN, vec![work(), tick(), add(""), done()], &[]);
    let cache = || Step::write("__pycache__/work.cpython-312.pyc", "compiled");
    check(PLAN, vec![work(), cache(), tick(), add(""), done()], &[]);
    let formats = PLAN.replace("`grep", "`echo formatted >> work.txt; grep");
    check(&formats, vec![work(), tick(), add(""), done()], &[]);
    let none = PLAN.replace("`feat: work`", "None");
    check(&none, vec![work(), tick(), Step::shell(&format!("git commit -qm tick {TASKS}")), done()], &[]);
}

#[test]
fn an_ignored_progress_file_is_not_committed() {
    let sandbox = sandbox(PLAN);
    sandbox.write(".gitignore", ".progress.md\n");
    sandbox.commit_all("ignore");
    run(&sandbox, &worker(), &[]).expect_code(0);
    assert!(sandbox.read(PROGRESS).contains("- [x] 1.1 Work - "));
    assert!(!sandbox.git(&["ls-files"]).contains(".progress.md"));
    assert_eq!(sandbox.dirt(), [""; 0]);
}

#[test]
fn ignored_specs_are_not_committed() {
    let sandbox = sandbox(PLAN);
    sandbox.git(&["rm", "-r", "--cached", "--quiet", "specs"]);
    sandbox.write(".gitignore", "specs/\n");
    sandbox.commit_all("ignore");
    run(&sandbox, &worker(), &[]).expect_code(0);
    assert_eq!(sandbox.subjects(), ["plan", "ignore", "feat: work"]);
    assert!(sandbox.tasks("demo").starts_with("- [x]"));
}

#[test]
fn without_git_it_runs_with_a_warning() {
    let sandbox = Sandbox::without_git(program());
    sandbox.spec("demo", PLAN);
    let finished = run(&sandbox, &worker(), &[]).expect_code(0);
    assert!(finished.stderr.to_lowercase().contains("git"), "{finished}");
    assert_eq!(finished.stdout.lines().last(), Some("ALL_TASKS_COMPLETE"), "{finished}");
    assert!(sandbox.tasks("demo").starts_with("- [x]"));
    assert!(sandbox.read(PROGRESS).contains("- [x] 1.1 Work\n"));
    assert!(!sandbox.has(".git"));
}

#[test]
fn a_repository_without_commits_will_do() {
    let sandbox = Sandbox::new(program());
    sandbox.spec("demo", PLAN);
    run(&sandbox, &worker(), &[]).expect_code(0);
    assert_eq!(sandbox.subjects(), ["feat: work", "chore(spec): complete task 1.1"]);
}

#[test]
fn a_dirty_tree_is_refused_unless_that_is_accepted() {
    let sandbox = sandbox(PLAN);
    sandbox.write("notes.txt", "mine\n");
    let finished = run(&sandbox, &worker(), &[]).expect_code(2);
    assert!(finished.stderr.contains("notes.txt") && finished.stderr.contains("--allow-dirty"), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 0);
    run(&sandbox, &worker(), &["--allow-dirty"]).expect_code(0);
    assert_eq!(sandbox.dirt(), ["?? notes.txt"]);
}

#[test]
fn what_was_dirty_before_is_never_committed() {
    let sandbox = sandbox(PLAN);
    sandbox.write("shared.txt", "one\n");
    sandbox.write("gone.txt", "one\n");
    sandbox.commit_all("files");
    sandbox.write("shared.txt", "mine\n");
    fs::remove_file(sandbox.root().join("gone.txt")).expect("it was just written");
    sandbox.write("staged.txt", "staged\n");
    sandbox.git(&["add", "staged.txt"]);
    let agent = Agent::new().otherwise([work(), Step::append("shared.txt", "agent's\n"), done()]);
    let finished = run(&sandbox, &agent, &["--allow-dirty"]).expect_code(0);
    let told = "what task 1.1 changed in shared.txt stays uncommitted: there were changes in it before";
    assert!(finished.stderr.contains(told), "{finished}");
    assert_eq!(sandbox.dirt(), [" D gone.txt", " M shared.txt", "A  staged.txt"], "staged stays staged");
    let names = sandbox.git(&["log", "--name-only", "--format=", "HEAD~2.."]);
    assert_eq!(
        names.lines().filter(|name| !name.is_empty()).collect::<Vec<_>>(),
        [PROGRESS, TASKS, "work.txt"]
    );
}

/// Somebody writes a draft while a run goes on, before a task begins that changes the same file.
#[test]
fn what_was_dirty_before_a_task_is_neither_committed_nor_taken_back() {
    const PLAN: &str = "- [ ] 1.1 [VERIFY] Somebody writes\n  - **Verify**: `echo draft >> notes.txt`\n\n\
                        - [ ] 1.2 Work\n  - **Verify**: `test -f work.txt`\n";
    for flags in [&[][..], &["--clean-retry"][..]] {
        let sandbox = sandbox(PLAN);
        sandbox.write("notes.txt", "one\n");
        sandbox.commit_all("notes");
        let appends = Step::append("notes.txt", "agent's\n");
        let agent = Agent::new().on_attempt("1.2", 1, [appends.clone(), Step::say("no claim")]).otherwise([
            appends,
            work(),
            done(),
        ]);
        let finished = run(&sandbox, &agent, flags).expect_code(0);
        assert!(
            finished.stderr.contains("what task 1.2 changed in notes.txt stays uncommitted"),
            "{finished}"
        );
        assert!(sandbox.read("notes.txt").starts_with("one\ndraft\n"), "{finished}");
        assert_eq!(sandbox.git(&["show", "HEAD:notes.txt"]), "one\n", "{finished}");
        assert_eq!(sandbox.dirt(), [" M notes.txt"], "{finished}");
    }
}

#[test]
fn the_tree_is_kept_for_a_retry_or_cleaned_on_request() {
    for (flags, kept) in [(&["--allow-dirty"][..], true), (&["--allow-dirty", "--clean-retry"][..], false)] {
        let sandbox = sandbox(PLAN);
        sandbox.write("base.txt", "one\n");
        sandbox.commit_all("base");
        sandbox.write("mine.txt", "mine\n");
        let look = sandbox.control("seen").display().to_string();
        let agent = Agent::new()
            .on_attempt("1.1", 1, [Step::write("junk.txt", ""), Step::write("base.txt", "two\n"), done()])
            .on("1.1", [Step::shell(&format!("ls > {look}; cat base.txt >> {look}")), work(), done()]);
        run(&sandbox, &agent, flags).expect_code(0);
        let seen = fs::read_to_string(&look).expect("the second attempt looked");
        assert_eq!(seen.contains("junk.txt") && seen.contains("two"), kept, "{seen}");
        assert!(seen.contains("mine.txt"), "what a person left stays: {seen}");
        assert_eq!(sandbox.dirt(), ["?? mine.txt"]);
    }
}

#[test]
fn the_progress_file_keeps_what_others_wrote() {
    let sandbox = sandbox(PLAN);
    sandbox.write(PROGRESS, "# Mine\n\nSome words.\n\n## Learnings\n- known\n\n## More\ntext\n");
    sandbox.commit_all("progress");
    let note = Step::shell("printf '## Learnings\\n- new\\n- known\\n' > \"$TILLGREEN_PROGRESS_FILE\"");
    run(&sandbox, &Agent::new().otherwise([work(), note, done()]), &[]).expect_code(0);
    let commit = sandbox.git(&["rev-parse", "--short=7", "HEAD~1"]);
    let expected = format!(
        "# Mine\n\nSome words.\n\n## Completed Tasks\n- [x] 1.1 Work - {}\n\n## Learnings\n- known\n- new\n\n## More\ntext\n",
        commit.trim()
    );
    assert_eq!(sandbox.read(PROGRESS), expected);
    assert!(!sandbox.has("specs/demo/.progress-task-1.1.md"), "it was merged");
}
