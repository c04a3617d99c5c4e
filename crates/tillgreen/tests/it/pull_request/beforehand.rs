//! Whether there can be a pull request is looked into before the first task.

use testkit::forge::Forge;
use testkit::{Finished, Sandbox};

use super::scratch::{PLAN, QUICK, agent, run, scratch};

/// A plan that asks for no pull request itself.
const PLAIN: &str = "- [ ] 1.1 First\n  - **Verify**: `test -f first.txt`\n";

/// Nothing was started, and this was said.
#[track_caller]
fn refused(sandbox: &Sandbox, finished: Finished, message: &str, hint: &str) {
    let finished = finished.expect_code(2);
    let expected = format!("error: no task was started, since there cannot be a pull request: {message}");
    assert!(finished.stderr.contains(&expected), "{finished}");
    assert!(finished.stderr.contains(&format!("hint: {hint}")), "{finished}");
    assert!(finished.stderr.contains("`--pr=false`"), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 0, "{finished}");
}

fn anonymous(sandbox: &Sandbox, forge: &Forge, flags: &[&str]) -> Finished {
    let command = sandbox.install_agent(&agent());
    let arguments = [&["run", "--agent-cmd", command.as_str()][..], &QUICK, flags].concat();
    forge.anonymous(sandbox, &arguments).run()
}

#[test]
fn nobody_is_logged_in() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    let finished = anonymous(&sandbox, &forge, &["--pr"]);
    refused(
        &sandbox,
        finished,
        "nobody is logged in at the forge",
        "log in: `gh auth login`, then start with",
    );
    run(&sandbox, &forge, &["--pr"]).expect_code(0);
    assert_eq!(forge.hub().pulls.len(), 1);
}

#[test]
fn there_is_no_remote() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    sandbox.git(&["remote", "remove", "origin"]);
    let finished = run(&sandbox, &forge, &["--pr"]);
    refused(
        &sandbox,
        finished,
        "the repository has no remote to push to",
        "add one: `git remote add origin URL`",
    );
}

#[test]
fn no_branch_is_checked_out() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    sandbox.git(&["switch", "--quiet", "--detach"]);
    let finished = run(&sandbox, &forge, &["--pr"]);
    refused(&sandbox, finished, "no branch is checked out", "make one: `git switch -c NAME`");
}

#[test]
fn the_default_branch_is_checked_out() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    sandbox.git(&["switch", "--quiet", "main"]);
    let finished = run(&sandbox, &forge, &["--pr"]);
    refused(&sandbox, finished, "main is the branch that pull requests are merged into", "move the work to");
    sandbox.git(&["switch", "--quiet", "-c", "other"]);
    run(&sandbox, &forge, &["--pr"]).expect_code(0);
}

#[test]
fn the_repository_does_not_exist() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    let nothing = r#"{"data":{"repository":null}}"#;
    let message = "Could not resolve to a Repository with the name 'acme/widgets'.";
    let said = format!(
        r#"{{"data":{{"repository":null}},"errors":[{{"type":"NOT_FOUND","message":"{message}"}}]}}"#
    );
    for answer in [nothing, said.as_str()] {
        forge.hub().garbled.push_back(answer.to_owned());
        let finished = run(&sandbox, &forge, &["--pr"]);
        let expected = "acme/widgets does not exist on the forge, or the login may not see it";
        refused(&sandbox, finished, expected, "see where the remote points (`git remote -v`)");
    }
}

#[test]
fn the_repository_is_empty() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    let answer = r#"{"data":{"repository":{"nameWithOwner":"acme/widgets","defaultBranchRef":null}}}"#;
    forge.hub().garbled.push_back(answer.to_owned());
    let finished = run(&sandbox, &forge, &["--pr"]);
    refused(&sandbox, finished, "acme/widgets has no commits yet", "push what the work is based on first");
}

#[test]
fn a_plan_that_speaks_of_it_is_run_up_to_there() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    sandbox.git(&["remote", "remove", "origin"]);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    let note =
        "note: the run will pause at the pull request that the plan asks for: the repository has no remote";
    assert!(finished.stderr.contains(note), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 2, "{finished}");
}

#[test]
fn a_forge_that_is_down_does_not_keep_tasks_from_running() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    forge.hub().failures.push_back((502, "Bad Gateway".to_owned()));
    let finished = run(&sandbox, &forge, &["--pr"]).expect_code(0);
    let note = "note: whether there can be a pull request is not known: the forge cannot be reached";
    assert!(finished.stderr.contains(note), "{finished}");
    assert_eq!(forge.hub().pulls.len(), 1);
}

#[test]
fn a_forge_that_is_down_hides_nothing_that_is_known_here() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    forge.hub().failures.push_back((502, "Bad Gateway".to_owned()));
    let finished = run(&sandbox, &forge, &["--pr"]);
    refused(&sandbox, finished, "main is the branch that pull requests are merged into", "move the work to");
}

#[test]
fn done_tasks_are_not_looked_into_twice() {
    let Some((sandbox, forge)) = scratch(PLAIN) else { return };
    run(&sandbox, &forge, &[]).expect_code(0);
    run(&sandbox, &forge, &["--pr"]).expect_code(0);
    let about_repository = "POST query($owner:String!,$name:String!){repository(";
    let asked = forge.hub().calls.iter().filter(|call| call.starts_with(about_repository)).count();
    assert_eq!(asked, 1);
}
