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
