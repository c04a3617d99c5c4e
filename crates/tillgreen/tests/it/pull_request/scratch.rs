//! A project with a forge.

use std::path::Path;

use testkit::forge::{Forge, install_gh};
use testkit::{Agent, Finished, Sandbox, Step};

/// One task before the pull request, which the plan's own heading asks for, and a command that checks the whole.
pub(super) const PLAN: &str = "\
# Tasks

## Phase 1: Go

- [ ] 1.1 First
  - **Verify**: `test -f first.txt`
  - **Commit**: `feat: first`

- [ ] V1 [VERIFY] Everything
  - **Verify**: `test -f first.txt`

## Phase 5: PR Lifecycle

- [ ] 5.1 Say what is new
  - **Verify**: `test -f news.txt`
  - **Commit**: `docs: news`
";

/// A look comes right after another.
pub(super) const QUICK: [&str; 2] = ["--pr-look-every", "5ms"];

/// A sandbox with a forge; none, visibly, where `gh` cannot be had. In CI that is a failure.
pub(super) fn scratch(plan: &str) -> Option<(Sandbox, Forge)> {
    let Some(gh) = install_gh(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "gh cannot be had, and in CI it has to be");
        println!("skipped: gh is not installed and cannot be fetched");
        return None;
    };
    let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
    sandbox.spec("demo", plan);
    sandbox.commit_all("plan");
    let forge = Forge::start(&sandbox, &gh);
    Some((sandbox, forge))
}

fn done() -> Step {
    Step::say("TASK_COMPLETE")
}

/// Does the plan's tasks, and leaves a file for each task that the pull request asks for.
pub(super) fn agent() -> Agent {
    let leave = |path: &str| Step::shell(&format!("test -e {path} || echo {path} > {path}"));
    Agent::new().on("1.1", [leave("first.txt"), done()]).on("5.1", [leave("news.txt"), done()]).otherwise([
        Step::shell("case $TILLGREEN_ROLE in qa) echo VERIFICATION_PASS; exit;; esac"),
        Step::shell("test -e \"for-$TILLGREEN_TASK_ID.txt\" || echo fixed > \"for-$TILLGREEN_TASK_ID.txt\""),
        done(),
    ])
}

/// Runs the plan to its end, with these flags besides.
#[track_caller]
pub(super) fn run(sandbox: &Sandbox, forge: &Forge, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(&agent());
    let arguments = [&["run", "--agent-cmd", command.as_str()][..], &QUICK, flags].concat();
    forge.run(sandbox, &arguments)
}

/// The subjects of what the remote's branch has.
pub(super) fn pushed(sandbox: &Sandbox, branch: &str) -> Vec<String> {
    let remote = sandbox.control("remote.git").display().to_string();
    let name = format!("refs/heads/{branch}");
    let log = sandbox.git(&["-C", &remote, "log", "--reverse", "--format=%s", &name]);
    log.lines().map(str::to_owned).collect()
}

/// Commits to the remote's branch as somebody else would.
pub(super) fn push_as_another(sandbox: &Sandbox, from: &str, to: &str, file: &str, flags: &[&str]) {
    let remote = sandbox.control("remote.git").display().to_string();
    let other = sandbox.control(&format!("other-{file}")).display().to_string();
    sandbox.git(&["clone", "--quiet", "--branch", from, &remote, &other]);
    std::fs::write(format!("{other}/{file}"), "theirs\n").expect("a file can be written");
    sandbox.git(&["-C", &other, "add", "--all"]);
    sandbox.git(&["-C", &other, "commit", "--quiet", "-m", &format!("theirs: {file}")]);
    let refs = format!("HEAD:refs/heads/{to}");
    sandbox.git(&[&["-C", &other, "push", "--quiet"], flags, &["origin", &refs]].concat());
}
