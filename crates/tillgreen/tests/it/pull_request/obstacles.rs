//! What keeps a pull request from being made at all, or for a while.

use testkit::forge::Sight;

use super::scratch::{PLAN, QUICK, agent, pushed, run, scratch};

#[test]
fn nobody_is_logged_in() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    let command = sandbox.install_agent(&agent());
    let arguments = [&["run", "--agent-cmd", command.as_str()][..], &QUICK].concat();
    let finished = forge.anonymous(&sandbox, &arguments).run().expect_code(3);
    assert!(finished.stderr.contains("paused: nobody is logged in at the forge"), "{finished}");
    assert!(finished.stderr.contains("gh auth login"), "{finished}");
    run(&sandbox, &forge, &[]).expect_code(0);
}

#[test]
fn there_is_no_remote() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    sandbox.git(&["remote", "remove", "origin"]);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("paused: the repository has no remote to push to"), "{finished}");
    assert!(finished.stderr.contains("git remote add origin URL"), "{finished}");
}

#[test]
fn the_remote_has_no_pull_requests() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    let bare = sandbox.control("remote.git").display().to_string();
    sandbox.git(&["remote", "set-url", "origin", &bare]);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("paused: the remote origin has no pull requests"), "{finished}");
}

#[test]
fn the_default_branch_is_never_pushed_to() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    sandbox.git(&["switch", "--quiet", "main"]);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(
        finished.stderr.contains("paused: main is the branch that pull requests are merged into"),
        "{finished}"
    );
    assert_eq!(pushed(&sandbox, "main"), ["plan"]);
    sandbox.git(&["switch", "--quiet", "-c", "other"]);
    run(&sandbox, &forge, &[]).expect_code(0);
    assert_eq!(pushed(&sandbox, "main"), ["plan"]);
}

#[test]
fn no_branch_is_checked_out() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    sandbox.git(&["switch", "--quiet", "--detach"]);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("paused: no branch is checked out"), "{finished}");
}

#[test]
fn the_branch_is_protected() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    let hook = sandbox.control("remote.git").join("hooks/pre-receive");
    let refusal = "#!/bin/sh\necho 'error: GH006: Protected branch update failed for refs/heads/feature.' >&2\nexit 1\n";
    testkit::write_executable(&hook, refusal);
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("paused: the branch feature does not accept the push"), "{finished}");
    assert!(finished.stderr.contains("GH006"), "{finished}");
    assert_eq!(forge.hub().pulls.len(), 0);
}

#[test]
fn the_remote_is_a_fork() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().parent = Some("upstream/widgets".to_owned());
    let finished = run(&sandbox, &forge, &[]).expect_code(0);
    assert!(finished.stdout.contains("https://github.com/upstream/widgets/pull/7"), "{finished}");
    assert_eq!(forge.hub().pulls[0].branch, "feature");
}

#[test]
fn a_fork_takes_in_what_its_parent_has_got() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().parent = Some("upstream/widgets".to_owned());
    let parent = sandbox.control("parent.git").display().to_string();
    let remote = sandbox.control("remote.git").display().to_string();
    sandbox.git(&["clone", "--quiet", "--bare", &remote, &parent]);
    let address = "https://github.com/upstream/widgets.git";
    sandbox.git(&["config", &format!("url.{parent}.insteadOf"), address]);
    let other = sandbox.control("other").display().to_string();
    sandbox.git(&["clone", "--quiet", "--branch", "main", &parent, &other]);
    std::fs::write(format!("{other}/first.txt"), "theirs\n").expect("a file can be written");
    sandbox.git(&["-C", &other, "add", "--all"]);
    sandbox.git(&["-C", &other, "commit", "--quiet", "-m", "theirs"]);
    sandbox.git(&["-C", &other, "push", "--quiet", "origin", "main"]);
    forge.shows(|_| Sight { merge_state: "BEHIND", ..Sight::default() });
    let finished = run(&sandbox, &forge, &[]).expect_code(3);
    assert!(finished.stderr.contains("what main has does not go together with what is here"), "{finished}");
    assert!(finished.stderr.contains(&format!("`git pull --no-rebase {address} main`")), "{finished}");
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(status.stdout.contains("PR        #7: not ready yet\n"), "{status}");
}

#[test]
fn the_rate_limit_is_waited_for() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    // One for the look before the first task, one for the push.
    let limited = (403, "API rate limit exceeded for user ID 1.".to_owned());
    forge.hub().failures.extend([limited.clone(), limited]);
    let finished = run(&sandbox, &forge, &[]).expect_code(0);
    assert!(finished.stderr.contains("the forge's rate limit is used up"), "{finished}");
    assert!(finished.stderr.contains("(time 1 in a row); next try in"), "{finished}");
}

#[test]
fn the_forge_tells_when_its_limit_is_lifted() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    let limited = (403, "API rate limit exceeded for user ID 1.".to_owned());
    forge.hub().failures.extend([limited.clone(), limited]);
    forge.hub().rate_reset = Some(jiff::Timestamp::now().as_second() + 5_400);
    let command = sandbox.install_agent(&agent());
    let arguments = [&["run", "--agent-cmd", command.as_str()][..], &QUICK].concat();
    let mut background = forge.begin(&sandbox, &arguments);
    testkit::wait_for("the limit to be met", || {
        background.stderr().contains("(time 1 in a row)") || !background.is_running()
    });
    assert!(background.stderr().contains("(time 1 in a row); next try in 1h "), "{}", background.stderr());
    let status = sandbox.run(&["status"]).expect_code(0);
    assert!(
        status.stdout.contains("PR        the forge is away (the forge's rate limit is used up"),
        "{status}"
    );
    sandbox.run(&["cancel"]).expect_code(0);
    background.wait().expect_code(130);
    forge.hub().rate_reset = None;
    run(&sandbox, &forge, &[]).expect_code(0);
}

#[test]
fn the_forge_is_down_and_the_run_pauses() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().failures.extend((0..3).map(|_| (502, "Bad Gateway".to_owned())));
    let finished = run(&sandbox, &forge, &["--infra-retries", "2"]).expect_code(6);
    assert!(finished.stderr.contains("paused: the forge cannot be reached"), "{finished}");
    run(&sandbox, &forge, &[]).expect_code(0);
}

#[test]
fn the_forge_does_not_merge_it() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.hub().refuses_merge = true;
    let finished = run(&sandbox, &forge, &["--merge"]).expect_code(3);
    assert!(finished.stderr.contains("everything is green, but the forge does not merge it"), "{finished}");
    assert!(finished.stderr.contains("approving review is required"), "{finished}");
    forge.shows(|_| Sight::default());
}

#[test]
fn a_flag_without_the_program_is_refused_before_anything_starts() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    let command = sandbox.install_agent(&agent());
    let bin = sandbox.control("few-programs");
    std::fs::create_dir(&bin).expect("a folder can be made");
    for program in ["git", "sh", "bash"] {
        let found = ["/usr/bin", "/bin", "/usr/local/bin"].map(|folder| format!("{folder}/{program}"));
        let found = found.iter().find(|path| std::path::Path::new(path).exists()).expect("it is installed");
        std::os::unix::fs::symlink(found, bin.join(program)).expect("a link can be made");
    }
    let path = bin.display().to_string();
    let arguments = ["run", "--pr", "--agent-cmd", &command];
    let finished = forge.command(&sandbox, &arguments).env("PATH", &path).run().expect_code(2);
    assert!(finished.stderr.contains("needs the GitHub CLI: `gh` is not installed"), "{finished}");
    assert!(finished.stderr.contains("hint: install it (https://cli.github.com)"), "{finished}");
    assert_eq!(sandbox.agent_calls().len(), 0);
}
