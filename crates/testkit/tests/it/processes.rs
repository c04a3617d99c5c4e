use std::path::Path;
use std::time::Duration;

use testkit::{Sandbox, Signal, wait_for, wait_for_within};

fn shell() -> Sandbox {
    Sandbox::new(Path::new("/bin/sh"))
}

#[test]
fn the_environment_is_cleared() {
    let sandbox = shell();
    let run = sandbox.run(&["-c", "env"]).expect_code(0);
    let mut names: Vec<_> = run.stdout.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    let expected = [
        "GIT_AUTHOR_DATE",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMITTER_DATE",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "HOME",
        "LANG",
        "NO_COLOR",
        "PATH",
        "TESTKIT_SANDBOX",
        "TZ",
        "XDG_CONFIG_HOME",
    ];
    assert_eq!(names, expected);
}

#[test]
fn output_input_and_code_are_captured() {
    let sandbox = shell();
    let run = sandbox.command(&["-c", "cat; pwd; echo oops >&2; exit 3"]).input("given\n").run();
    assert_eq!(run.stdout, format!("given\n{}\n", sandbox.root().display()));
    assert_eq!((run.stderr.as_str(), run.code), ("oops\n", Some(3)));
    let run = sandbox.command(&["-c", "cat; echo $A"]).env("A", "b").dir(Path::new("/")).run();
    assert_eq!(run.stdout, "b\n");
}

#[test]
fn a_program_can_be_replaced() {
    let sandbox = shell();
    sandbox.install_program("gh", "echo \"pretending: $*\"");
    assert_eq!(sandbox.run(&["-c", "gh pr list"]).stdout, "pretending: pr list\n");
}

#[test]
fn a_process_in_the_background_is_watched_and_signalled() {
    let sandbox = shell();
    let script = "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.02; done";
    let mut background = sandbox.start(&["-c", script]);
    wait_for("the first line", || background.stdout() == "ready\n");
    assert!(background.is_running());
    assert_eq!(sandbox.processes().first().map(|process| process.pid), Some(background.pid()));
    background.signal(Signal::Terminate);
    let run = background.wait().expect_code(5);
    assert_eq!(run.stdout, "ready\ncaught\n");
    sandbox.wait_until_quiet();
}

#[test]
fn a_killed_process_has_no_code() {
    let sandbox = shell();
    let background = sandbox.start(&["-c", "while :; do sleep 1; done"]);
    assert_eq!(background.kill().code, None);
}

#[test]
fn processes_are_found_in_whatever_session_they_hide() {
    let sandbox = shell();
    sandbox.run(&["-c", "setsid sleep 600 >/dev/null 2>&1 &"]).expect_code(0);
    wait_for("the process to be there", || {
        sandbox.processes().iter().any(|process| process.command == "sleep 600")
    });
    sandbox.kill_everything();
    assert_eq!(sandbox.processes(), []);
}

#[test]
fn nothing_outlives_its_sandbox() {
    let sandbox = shell();
    sandbox.run(&["-c", "setsid sleep 600 >/dev/null 2>&1 & echo $! >pid"]).expect_code(0);
    let mut pid = None;
    wait_for("the process to be there", || {
        pid = sandbox.processes().first().map(|process| process.pid);
        pid.is_some()
    });
    drop(sandbox);
    let folder = format!("/proc/{}/environ", pid.unwrap());
    wait_for("the process to be gone", || std::fs::read(&folder).unwrap_or_default().is_empty());
}

#[test]
fn a_condition_that_never_holds_fails_by_name() {
    let result = std::panic::catch_unwind(|| {
        wait_for_within("pigs to fly", Duration::from_millis(20), || false);
    });
    let message = *result.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("in vain for pigs to fly"), "{message}");
}
