//! Changes in the project itself that do not go by the names of files alone: what git ignores changes, a file becomes a
//! folder, a file is no longer tracked, a name is not text.

use std::path::Path;

use testkit::{Agent, Finished, Sandbox, Step};

const PLAN: &str = "\
- [ ] 1.1 Work
  - **Verify**: `test -e work.txt`
  - **Commit**: `feat: work`
";

/// A project with these files, and with others that git ignores.
fn sandbox(files: &str, ignored: &str) -> Sandbox {
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", PLAN);
    sandbox.write(".gitignore", ".env\nmodules/\n*.log\n");
    shell(&sandbox, files);
    sandbox.commit_all("plan");
    shell(&sandbox, ignored);
    sandbox
}

#[track_caller]
fn shell(sandbox: &Sandbox, script: &str) {
    let run = std::process::Command::new("sh").args(["-ec", script]).current_dir(sandbox.root()).status();
    assert!(run.expect("a shell can be started").success(), "{script}");
}

/// An agent that does this and then the work.
fn agent(script: &str) -> Agent {
    let work = Step::write("work.txt", "right\n");
    Agent::new().otherwise([Step::shell(script), work, Step::say("TASK_COMPLETE")])
}

#[track_caller]
fn run(sandbox: &Sandbox, agent: &Agent, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(agent);
    sandbox.run(&[&["run", "--agent-cmd", &command], flags].concat())
}

/// What the commit of the work changed, as letters and paths.
fn committed(sandbox: &Sandbox) -> Vec<String> {
    let show = ["show", "--name-status", "--no-renames", "--format=", "HEAD~1"];
    sandbox.git(&show).lines().map(|line| line.replace('\t', " ")).collect()
}

const SECRETS: &str = "mkdir -p modules/deep; echo 1 > modules/deep/x; echo SECRET > .env";

#[test]
fn what_was_ignored_until_then_is_not_the_tasks_work() {
    let sandbox = sandbox("true", SECRETS);
    let done = run(&sandbox, &agent("echo '*.log' > .gitignore; echo 2 > modules/deep/new"), &[]);
    let done = done.expect_code(0);
    assert_eq!(committed(&sandbox), ["M .gitignore", "A modules/deep/new", "A work.txt"], "{done}");
    assert_eq!(sandbox.dirt(), ["?? .env", "?? modules/deep/x"], "{done}");
    let told = ".env, modules/deep/x were ignored by git until task 1.1 changed that";
    assert_eq!(done.stderr.matches(told).count(), 1, "{done}");
}

#[test]
fn what_was_ignored_until_then_is_not_taken_back() {
    let sandbox = sandbox("true", SECRETS);
    let agent = Agent::new()
        .on_attempt("1.1", 1, [Step::shell("rm .gitignore"), Step::say("TASK_COMPLETE")])
        .on("1.1", [Step::write("work.txt", "right\n"), Step::say("TASK_COMPLETE")]);
    let done = run(&sandbox, &agent, &["--clean-retry"]).expect_code(0);
    assert_eq!(sandbox.read(".env"), "SECRET\n", "{done}");
    assert_eq!(sandbox.read("modules/deep/x"), "1\n", "{done}");
    assert_eq!(committed(&sandbox), ["A work.txt"], "{done}");
}

#[test]
fn an_ignored_file_that_the_task_changes_is_its_work_once_git_sees_it() {
    let sandbox = sandbox("true", SECRETS);
    let done = run(&sandbox, &agent("rm .gitignore; echo more >> .env"), &[]).expect_code(0);
    assert_eq!(committed(&sandbox), ["A .env", "D .gitignore", "A work.txt"], "{done}");
    assert_eq!(sandbox.dirt(), ["?? modules/deep/x"], "{done}");
}

#[test]
fn a_folder_that_is_moved_is_work_though_its_files_are_old() {
    let sandbox = sandbox("mkdir old; echo 1 > old/a", "true");
    let done = run(&sandbox, &agent("mv old new; echo > .gitignore"), &[]).expect_code(0);
    assert_eq!(committed(&sandbox), ["M .gitignore", "A new/a", "D old/a", "A work.txt"], "{done}");
    assert_eq!(sandbox.dirt(), [""; 0], "{done}");
}

#[test]
fn rules_that_are_in_no_commit_count_as_well() {
    let sandbox = sandbox("true", "mkdir mine; echo 1 > mine/x; echo mine/ >> .git/info/exclude");
    let done = run(&sandbox, &agent("echo > .git/info/exclude"), &[]).expect_code(0);
    assert_eq!(committed(&sandbox), ["A work.txt"], "{done}");
    assert!(done.stderr.contains("mine/x were ignored by git until task 1.1"), "{done}");
}

fn hook(sandbox: &Sandbox) {
    let file = sandbox.root().join(".git/hooks/pre-commit");
    testkit::write_executable(&file, "#!/bin/sh\nexit 0\n");
}

/// An agent that does this in a project with these files, alone, with and without a hook that accepts everything.
#[track_caller]
fn check(files: &str, script: &str, expected: &[&str]) {
    for has_hook in [false, true] {
        let sandbox = sandbox(files, "true");
        if has_hook {
            hook(&sandbox);
        }
        // What a person has staged stays as it is.
        let allowed = ["--allow-dirty"];
        shell(&sandbox, "echo mine > mine; git add mine");
        let done = run(&sandbox, &agent(script), &allowed).expect_code(0);
        assert_eq!(committed(&sandbox), expected, "hook: {has_hook}, {done}");
        assert_eq!(sandbox.dirt(), ["A  mine"], "hook: {has_hook}, {done}");
        assert_eq!(sandbox.agent_calls().len(), 1, "hook: {has_hook}, {done}");
    }
}

#[test]
fn a_file_may_become_a_folder_and_a_folder_a_link() {
    check(
        "echo f > thing",
        "rm thing; mkdir thing; echo x > thing/x",
        &["D thing", "A thing/x", "A work.txt"],
    );
    check("ln -s specs l", "rm l; mkdir l; echo x > l/x", &["D l", "A l/x", "A work.txt"]);
    check("mkdir d e; echo 1 > d/f; echo 2 > e/f", "rm -r d; ln -s e d", &["A d", "D d/f", "A work.txt"]);
    check("mkdir -p d/e; echo 1 > d/e/f", "rm -r d; echo > d", &["A d", "D d/e/f", "A work.txt"]);
}

#[test]
fn what_is_staged_in_the_way_of_a_folder_is_no_obstacle() {
    check(
        "echo f > thing",
        "git rm -q thing; mkdir thing; echo x > thing/x; git add thing",
        &["D thing", "A thing/x", "A work.txt"],
    );
}

#[test]
fn an_ignored_file_that_was_added_on_purpose_is_committed() {
    check("true", "echo 1 > x.log; echo 2 > y.log; git add -f x.log", &["A work.txt", "A x.log"]);
}

#[test]
fn a_file_that_is_no_longer_to_be_tracked_stays_on_disk() {
    for flags in [&["--jobs", "1"][..], &["--share-tree"]] {
        let sandbox = sandbox("echo S > x.conf", "true");
        let done = run(&sandbox, &agent("git rm -q --cached x.conf; echo x.conf >> .gitignore"), flags);
        let done = done.expect_code(0);
        assert_eq!(committed(&sandbox), ["M .gitignore", "A work.txt", "D x.conf"], "{done}");
        assert_eq!(sandbox.read("x.conf"), "S\n");
        assert_eq!(sandbox.dirt(), [""; 0], "{done}");
    }
}

#[test]
fn what_a_hook_makes_of_it_is_verified_and_taken_in() {
    let sandbox = sandbox("echo f > thing; echo S > x.conf", "true");
    hook(&sandbox);
    let format = "#!/bin/sh\nfor file in $(git diff --cached --name-only --diff-filter=d -- thing); do\n\
                  grep -q formatted $file || { echo formatted >> $file; git add $file; }; done\n";
    testkit::write_executable(&sandbox.root().join(".git/hooks/pre-commit"), format);
    let script =
        "rm thing; mkdir thing; echo x > thing/x; git rm -q --cached x.conf; echo x.conf >> .gitignore";
    let done = run(&sandbox, &agent(script), &[]).expect_code(0);
    assert!(done.stderr.contains("a git hook changed the work of task 1.1"), "{done}");
    assert_eq!(
        committed(&sandbox),
        ["M .gitignore", "D thing", "A thing/x", "A work.txt", "D x.conf"],
        "{done}"
    );
    assert_eq!(sandbox.read("thing/x"), "x\nformatted\n", "{done}");
    assert_eq!(sandbox.read("x.conf"), "S\n", "{done}");
    assert_eq!(sandbox.dirt(), [""; 0], "{done}");
}

#[test]
fn a_name_that_is_not_text_is_a_name() {
    let sandbox =
        sandbox("printf 1 > \"$(printf 'old\\351')\"; printf 1 > \"$(printf 'gone\\351')\"", "true");
    let script = "echo x > \"$(printf 'caf\\351.txt')\"; echo 2 > \"$(printf 'old\\351')\"; rm gone*";
    let done = run(&sandbox, &agent(script), &[]).expect_code(0);
    let expected = [r#"A "caf\351.txt""#, r#"D "gone\351""#, r#"M "old\351""#, "A work.txt"];
    assert_eq!(committed(&sandbox), expected, "{done}");
    assert_eq!(sandbox.dirt(), [""; 0], "{done}");
}

#[test]
fn somebody_elses_file_stays_out_whatever_its_name() {
    let sandbox = sandbox("true", "echo mine > \"$(printf 'mine\\351')\"");
    let done = run(&sandbox, &agent("true"), &["--allow-dirty"]).expect_code(0);
    assert_eq!(committed(&sandbox), ["A work.txt"], "{done}");
    let refused = run(&sandbox, &agent("true"), &[]);
    assert!(!refused.stderr.contains("panicked"), "{refused}");
}

#[test]
fn what_is_told_of_a_task_stays_in_the_record() {
    let sandbox = sandbox("true", "true");
    let plan = PLAN.replace("  - **Verify**", "  - **Files**: work.txt\n  - **Verify**");
    sandbox.spec("demo", &plan);
    sandbox.commit_all("files");
    let more =
        "echo x > other.txt; printf '\\n- [ ] 1.2 More\\n  - **Verify**: `true`\\n' >> specs/demo/tasks.md";
    let work = || [Step::write("work.txt", "right\n"), Step::say("TASK_COMPLETE")];
    let first = [Step::shell(more)].into_iter().chain(work());
    let agent = Agent::new().on("1.1", first).otherwise(work());
    let finished = run(&sandbox, &agent, &[]).expect_code(0);
    let added = "while task 1.1 was running, these tasks were added to the plan: 1.2";
    let log = sandbox.run(&["log"]).expect_code(0).stdout;
    assert_eq!(finished.stderr.matches(added).count(), 1, "{finished}");
    assert_eq!(log.matches(added).count(), 1, "{log}");
    assert!(finished.stdout.contains(&format!("\nWarning:   {added}\n")), "{finished}");
    let scope = finished.stdout.lines().find(|line| line.starts_with("Warning:   task 1.1: "));
    assert!(scope.is_some_and(|line| line.contains("other.txt")), "{finished}");
    let journal = sandbox.read(".tillgreen/specs-demo/journal.jsonl");
    let noted = journal.lines().find(|line| line.contains("\"noted\"")).unwrap_or_default();
    assert!(noted.contains("\"task\":\"1.1\"") && noted.contains(added), "{journal}");
}
