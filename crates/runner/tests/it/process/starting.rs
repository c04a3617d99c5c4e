//! What a command finds when it starts, and what happens if it cannot.

use std::fs;
use std::path::PathBuf;

use runner::process::{Ended, Exit, Invocation, Program};

use super::bench::{Bench, marked, name, namespaces_allowed};

fn cannot_start(change: impl FnOnce(&mut Invocation)) -> String {
    let bench = Bench::new();
    let mut invocation = bench.shell("true");
    // A folder that may not be searched would make a program that is nowhere look forbidden.
    invocation.env.push(("PATH".into(), "/usr/bin:/bin".into()));
    change(&mut invocation);
    match bench.run(invocation) {
        Ended { exit: Exit::CannotStart(text), .. } => text,
        other => panic!("started: {other:?}"),
    }
}

#[test]
fn what_cannot_start_is_named() {
    let text = cannot_start(|invocation| invocation.cwd = PathBuf::from("/no/such/folder"));
    assert!(text.starts_with("cannot start a process in /no/such/folder: No such file"), "{text}");
    let text = cannot_start(|invocation| invocation.cwd = PathBuf::from("/dev/null"));
    assert_eq!(text, "cannot start a process in /dev/null: not a folder");
    let text = cannot_start(|invocation| invocation.command = Program::Argv(vec!["no-such-agent".into()]));
    assert!(text.starts_with("cannot start no-such-agent: No such file"), "{text}");
    let text = cannot_start(|invocation| invocation.command = Program::Argv(vec!["/etc/passwd".into()]));
    assert!(text.starts_with("cannot start /etc/passwd: Permission denied"), "{text}");
    let text = cannot_start(|invocation| invocation.command = Program::Argv(vec![]));
    assert!(text.starts_with("cannot start an empty command: "), "{text}");
    let text = cannot_start(|invocation| invocation.command = Program::Shell("echo \0".into()));
    assert!(text.starts_with("cannot start sh: nul byte"), "{text}");
    let text = cannot_start(|invocation| invocation.command = Program::Shell("x".repeat(4 << 20)));
    assert!(text.starts_with("cannot start sh: Argument list too long"), "{text}");
    let text = cannot_start(|invocation| invocation.stdout_log = PathBuf::from("/no/such/log"));
    assert!(text.starts_with("cannot create log file /no/such/log: "), "{text}");
}

#[test]
fn what_cannot_start_is_seen_when_only_the_tail_is_kept() {
    let text = cannot_start(|invocation| {
        invocation.limits.head_bytes_max = 0;
        invocation.command = Program::Argv(vec!["no-such-agent".into()]);
    });
    assert!(text.starts_with("cannot start no-such-agent: "), "{text}");
}

#[test]
fn a_command_that_says_so_itself_did_start() {
    let bench = Bench::new();
    let script = "echo; echo 'tg-keeper: cannot start x: y' >&2; exit 127";
    assert_eq!(bench.run(bench.shell(script)).exit, Exit::Code(127));
}

#[test]
fn folder_and_environment_are_as_given() {
    let bench = Bench::new();
    let mut invocation = bench.shell("pwd -P; echo \"$GIVEN\"; test -n \"$PATH\"");
    invocation.env.push(("GIVEN".into(), "a b=c".into()));
    let ended = bench.run(invocation);
    let folder = fs::canonicalize(bench.folder.path()).unwrap();
    assert_eq!(ended.stdout.text, format!("{}\na b=c\n", folder.display()));
    assert_eq!(ended.exit, Exit::Code(0));
}

#[test]
fn the_keeper_has_a_name_of_its_own_and_the_command_a_group_and_session_apart() {
    let bench = Bench::new();
    let script =
        "cat /proc/$PPID/comm; cut -d ' ' -f 5 /proc/$$/stat; echo $$; until test -e go; do sleep 0.01; done";
    let (_, end) = bench.start(bench.shell(script));
    // Sessions are compared as seen from out here: inside a namespace, every one from outside it is 0.
    let charges = || marked(&bench.marker).into_iter().filter(|pid| name(*pid) != "tg-keeper");
    bench.until("the command runs", || {
        fs::read_to_string(bench.path("stdout.log")).is_ok_and(|log| log.lines().count() == 3)
    });
    let sessions: Vec<String> = charges().filter_map(session).collect();
    fs::write(bench.path("go"), "").unwrap();
    let ended = bench.end(end);
    let lines: Vec<&str> = ended.stdout.text.lines().collect();
    assert_eq!(lines[0], "tg-keeper");
    assert_eq!(lines[1], lines[2], "leads its group");
    assert!(!sessions.is_empty());
    assert!(!sessions.contains(&session(std::process::id()).unwrap()), "is not in our session: {sessions:?}");
}

/// The session of a process, as long as there is one.
fn session(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.split(' ').nth(4)?.to_owned())
}

#[test]
fn pids_in_a_namespace_do_not_begin_at_the_same_number() {
    if !namespaces_allowed() {
        println!("skipped: no namespaces here");
        return;
    }
    let bench = Bench::new();
    let first = bench.run(bench.shell("echo $$")).stdout.text;
    let second = bench.run(bench.shell("echo $$")).stdout.text;
    assert_ne!(first, second);
}

#[test]
fn a_namespace_shows_its_own_processes_only() {
    if !namespaces_allowed() {
        println!("skipped: no namespaces here");
        return;
    }
    let bench = Bench::new();
    let ended = bench.run(bench.shell("cat /proc/1/comm; ls -d /proc/[0-9]* | wc -l"));
    assert!(ended.stdout.text.starts_with("tg-keeper\n"), "{ended:?}");
    let count: u32 = ended.stdout.text.lines().nth(1).unwrap().trim().parse().unwrap();
    assert!(count <= 4, "{ended:?}");
    assert!(!fs::read_to_string("/proc/1/comm").unwrap().starts_with("tg-keeper"), "only in there");
}

#[test]
fn the_thread_that_starts_a_keeper_stays_in_its_own_namespace() {
    let bench = Bench::new();
    let namespace = || fs::read_link("/proc/thread-self/ns/pid_for_children").unwrap();
    let before = namespace();
    assert_eq!(bench.run(bench.shell("exit 3")).exit, Exit::Code(3));
    assert_eq!(namespace(), before);
    // The kernel would refuse both if it were not so.
    let seen = std::thread::spawn(namespace).join().unwrap();
    let started = std::process::Command::new("readlink").arg("/proc/self/ns/pid").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&started.stdout).trim(), seen.to_str().unwrap());
}

#[test]
fn input_is_empty_or_as_given() {
    let bench = Bench::new();
    assert_eq!(bench.run(bench.shell("readlink /proc/self/fd/0; cat")).stdout.text, "/dev/null\n");
    let mut invocation = bench.shell("cat");
    invocation.stdin = Some("the prompt\n".into());
    assert_eq!(bench.run(invocation).stdout.text, "the prompt\n");
    let mut invocation = bench.shell("cat");
    invocation.stdin = Some(String::new());
    assert_eq!(bench.run(invocation).exit, Exit::Code(0));
}

#[test]
fn long_input_arrives_whole_while_output_flows() {
    let bench = Bench::new();
    let mut invocation = bench.shell("tee copy");
    invocation.stdin = Some("0123456789abcdef".repeat(1 << 18));
    let ended = bench.run(invocation);
    assert_eq!((ended.exit, ended.stdout.bytes_total), (Exit::Code(0), 4 << 20));
    assert_eq!(fs::metadata(bench.path("copy")).unwrap().len(), 4 << 20);
}

#[test]
fn input_that_is_never_read_holds_nothing_up() {
    for script in ["exit 6", "exec 0<&-; exit 6", "exec 0</dev/null; echo out; exit 6"] {
        let bench = Bench::new();
        let mut invocation = bench.shell(script);
        invocation.stdin = Some("x".repeat(8 << 20));
        assert_eq!(bench.run(invocation).exit, Exit::Code(6), "{script}");
    }
}
