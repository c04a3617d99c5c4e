//! A command on a keeper that stood by is like one on a keeper of its own, whatever becomes of keepers that stand by.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runner::process::{Exit, Program};

use super::bench::{Bench, SOON, standing_by};

/// What began the command: a keeper that stood by, or one of its own.
const WHICH: &str = "case $(tr '\\0' '\\n' < /proc/$PPID/cmdline | sed -n 2p) in --stand-by*) echo stood by;; *) echo own;; esac";

fn check(script: &str, expected: Exit) {
    let bench = Bench::standing_by(1);
    let ended = bench.run(bench.shell(&format!("{WHICH}; {script}")));
    assert_eq!(ended.exit, expected, "{script}: {ended:?}");
    assert_eq!(ended.stdout.text, "stood by\n", "{script}");
    assert_eq!(standing_by(), [0; 0], "{script}");
}

fn send(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
}

#[test]
fn ends_are_told_as_they_were() {
    for code in [0, 1, 126, 127, 137, 255] {
        check(&format!("exit {code}"), Exit::Code(code));
    }
    for signal in [1, 2, 9, 10, 15] {
        check(&format!("kill -{signal} $$"), Exit::Signal(signal));
    }
    check("kill -40 $$", Exit::Code(128 + 40));
}

#[test]
fn nothing_outlives_the_command() {
    check("sleep 1000 & exit 0", Exit::Code(0));
    check("setsid sh -c 'trap \"\" TERM HUP; sleep 1000' & sleep 0.1; exit 3", Exit::Code(3));
}

#[test]
fn surroundings_are_those_of_any_command() {
    let script = "env | sort; pwd -P; echo \"$GIVEN\"; ls -l /proc/self/fd | grep -o ' [0-9] -> [^[]*'; \
        grep -E '^(Sig|Shd)(Blk|Ign|Cgt|Pnd)' /proc/self/status; cat /proc/$PPID/comm; \
        test $(cut -d ' ' -f 5 /proc/$$/stat) = $$ && echo leads; umask; ulimit -a; readlink /proc/$PPID/fd/0";
    let seen = |bench: &Bench| {
        let mut invocation = bench.shell(&format!("{script}; {WHICH} >&2"));
        invocation.env.push(("GIVEN".into(), "a b=c\nd".into()));
        invocation.env.push(("PATH".into(), "/usr/bin:/bin".into()));
        let ended = bench.run(invocation);
        assert_eq!(ended.exit, Exit::Code(0), "{ended:?}");
        let (name, value) = bench.marker.split_once('=').unwrap();
        let marker = format!("{name}={value}");
        assert!(ended.stdout.text.lines().any(|line| line == marker), "{ended:?}");
        let folder = fs::canonicalize(bench.folder.path()).unwrap();
        let text = ended.stdout.text.replace(folder.to_str().unwrap(), "FOLDER").replace(&marker, "MARKER");
        let numbers = |line: &str| line.split(char::is_numeric).collect::<String>();
        // Pipes and processes differ in their numbers.
        let lines = text.lines().map(|line| if line.contains(" -> ") { numbers(line) } else { line.into() });
        (lines.collect::<Vec<String>>(), ended.stderr.text)
    };
    let (own, which) = seen(&Bench::new());
    assert_eq!(which, "own\n");
    let (stood_by, which) = seen(&Bench::standing_by(1));
    assert_eq!(which, "stood by\n");
    assert_eq!(own, stood_by);
}

#[test]
fn what_cannot_start_is_named() {
    for (argv, expected) in [
        (vec!["no-such-agent"], "cannot start no-such-agent: No such file"),
        (vec!["/etc/passwd"], "cannot start /etc/passwd: Permission denied"),
        (vec![], "cannot start an empty command: "),
        (vec!["sh", "-c", "echo \0"], "cannot start sh: nul byte"),
    ] {
        let bench = Bench::standing_by(1);
        let argv = argv.into_iter().map(Into::into).collect();
        let mut invocation = bench.program(Program::Argv(argv));
        invocation.env.push(("PATH".into(), "/usr/bin:/bin".into()));
        let ended = bench.run(invocation);
        assert_eq!(standing_by(), [0; 0], "it was used");
        assert!(
            matches!(&ended.exit, Exit::CannotStart(text) if text.starts_with(expected)),
            "{expected}: {ended:?}"
        );
    }
}

#[test]
fn a_folder_that_is_not_there_costs_no_more_than_the_command() {
    let bench = Bench::standing_by(2);
    let mut invocation = bench.shell("true");
    invocation.cwd = PathBuf::from("/dev/null");
    let ended = bench.run(invocation);
    assert_eq!(ended.exit, Exit::CannotStart("cannot start a process in /dev/null: not a folder".to_owned()));
    assert_eq!(bench.run(bench.shell(WHICH)).stdout.text, "stood by\n");
}

/// The keeper is stopped while it gets its order, so that the folder goes just then.
#[test]
fn a_folder_that_goes_just_then_is_named() {
    let bench = Bench::standing_by(1);
    let folder = bench.path("folder");
    fs::create_dir(&folder).unwrap();
    let [keeper] = standing_by()[..] else { panic!("one stands by") };
    send(keeper, Signal::SIGSTOP);
    let mut invocation = bench.shell("true");
    invocation.cwd = folder.clone();
    let (_, end) = bench.start(invocation);
    bench.until("the order", || bench.path("stdout.log").exists());
    fs::remove_dir(&folder).unwrap();
    send(keeper, Signal::SIGCONT);
    let ended = bench.end(end);
    let expected = format!("cannot start a process in {}: No such file", folder.display());
    assert!(matches!(&ended.exit, Exit::CannotStart(text) if text.starts_with(&expected)), "{ended:?}");
}

#[test]
fn it_can_be_stopped_and_killed_and_has_a_deadline() {
    let bench = Bench::standing_by(3);
    let script = format!("{WHICH}; trap 'echo told; exit 0' TERM; touch begun; while :; do sleep 0.01; done");
    let (handle, end) = bench.start(bench.shell(&script));
    bench.until("the command", || bench.path("begun").exists());
    handle.stop();
    let ended = bench.end(end);
    assert_eq!((ended.exit, ended.stdout.text.as_str()), (Exit::Stopped, "stood by\ntold\n"));
    assert!(ended.elapsed < SOON);

    let script = format!("{WHICH}; trap '' TERM; touch again; while :; do sleep 0.01; done");
    let (handle, end) = bench.start(bench.shell(&script));
    bench.until("the command", || bench.path("again").exists());
    handle.kill();
    let ended = bench.end(end);
    assert_eq!((ended.exit, ended.stdout.text.as_str()), (Exit::Stopped, "stood by\n"));

    let mut invocation = bench.shell("sleep 1000");
    invocation.limits.deadline = Duration::from_millis(200);
    assert_eq!(bench.run(invocation).exit, Exit::DeadlinePassed);
    assert_eq!(standing_by(), [0; 0], "all were used");
}

#[test]
fn one_that_is_stopped_before_it_begins_starts_nothing() {
    let bench = Bench::standing_by(1);
    let [keeper] = standing_by()[..] else { panic!("one stands by") };
    send(keeper, Signal::SIGSTOP);
    let (handle, end) = bench.start(bench.shell("touch begun"));
    bench.until("the order", || bench.path("stdout.log").exists());
    handle.kill();
    let is_told = || {
        let status = fs::read_to_string(format!("/proc/{keeper}/status")).unwrap();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap();
        u64::from_str_radix(pending.trim(), 16).unwrap() & (1 << (Signal::SIGUSR1 as u32 - 1)) != 0
    };
    bench.until("the signal", is_told);
    send(keeper, Signal::SIGCONT);
    assert_eq!(bench.end(end).exit, Exit::Stopped);
    assert!(!bench.path("begun").exists());
}

/// What counts how often it runs.
fn counting() -> String {
    format!("echo x >> count; {WHICH}")
}

#[test]
fn one_that_was_killed_is_replaced() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let bench = Bench::standing_by(2);
        standing_by().into_iter().for_each(|keeper| send(keeper, signal));
        bench.until("their end", || standing_by().is_empty());
        assert_eq!(bench.run(bench.shell(&counting())).stdout.text, "own\n");
        bench.top_up(1);
        assert_eq!(bench.run(bench.shell(&counting())).stdout.text, "stood by\n");
        assert_eq!(fs::read_to_string(bench.path("count")).unwrap(), "x\nx\n");
    }
}

#[test]
fn one_that_is_killed_just_before_is_replaced() {
    for _ in 0..20 {
        let bench = Bench::standing_by(1);
        send(standing_by()[0], Signal::SIGKILL);
        let ended = bench.run(bench.shell(&counting()));
        assert_eq!((ended.exit, ended.stdout.text.as_str()), (Exit::Code(0), "own\n"));
        assert_eq!(fs::read_to_string(bench.path("count")).unwrap(), "x\n");
    }
}

/// It has its order then, but did not read it.
#[test]
fn one_that_is_killed_with_its_order_is_replaced() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM] {
        let bench = Bench::standing_by(2);
        let keepers = standing_by();
        send(keepers[0], Signal::SIGSTOP);
        let (_, end) = bench.start(bench.shell(&counting()));
        bench.until("the order", || bench.path("stdout.log").exists());
        send(keepers[0], signal);
        send(keepers[0], Signal::SIGCONT);
        let ended = bench.end(end);
        assert_eq!((ended.exit, ended.stdout.text.as_str()), (Exit::Code(0), "own\n"), "{signal}");
        assert_eq!(fs::read_to_string(bench.path("count")).unwrap(), "x\n");
        assert_eq!(standing_by(), keepers[1..], "the other one still stands by");
    }
}

#[test]
fn a_keeper_that_is_killed_with_its_command_is_told_of() {
    let bench = Bench::standing_by(1);
    let [keeper] = standing_by()[..] else { panic!("one stands by") };
    let (_, end) = bench.start(bench.shell("touch begun; exec sleep 1000"));
    bench.until("the command", || bench.path("begun").exists());
    send(keeper, Signal::SIGKILL);
    // Where there are no namespaces, the command is left to whoever looks for it.
    bench.until("its end to be told", || !end.is_empty());
    runner::process::sweep(&bench.marker);
    assert_eq!(bench.end(end).exit, Exit::Signal(9));
}

#[test]
fn each_command_has_a_keeper_of_its_own() {
    let bench = Bench::standing_by(2);
    let ends: Vec<_> = (0..4)
        .map(|number| {
            let mut invocation = bench.shell(&format!("{WHICH}; exit {number}"));
            invocation.stdout_log = bench.path(&format!("{number}.out"));
            invocation.stderr_log = bench.path(&format!("{number}.err"));
            bench.start(invocation).1
        })
        .collect();
    bench.until("all ended", || ends.iter().all(|end| !end.is_empty()));
    let ended: Vec<_> = ends.into_iter().map(|end| bench.end(end)).collect();
    let exits: Vec<Exit> = ended.iter().map(|ended| ended.exit.clone()).collect();
    assert_eq!(exits, (0..4).map(Exit::Code).collect::<Vec<_>>());
    assert_eq!(ended.iter().filter(|ended| ended.stdout.text == "stood by\n").count(), 2);
}

#[test]
fn input_arrives_to_its_last_byte() {
    for bytes in [0, 1, 4096, 65_536, 3 << 20] {
        let bench = Bench::standing_by(1);
        let mut invocation = bench.shell(&format!("{WHICH}; wc -c; readlink /proc/self/fd/0 | cut -d: -f1"));
        invocation.stdin = Some("x".repeat(bytes));
        assert_eq!(bench.run(invocation).stdout.text, format!("stood by\n{bytes}\npipe\n"));
    }
}

#[test]
fn input_that_nobody_reads_holds_nothing_up() {
    let bench = Bench::standing_by(2);
    for script in ["exit 3", "exec < /dev/null; sleep 0.1; exit 3"] {
        let mut invocation = bench.shell(script);
        invocation.stdin = Some("x".repeat(3 << 20));
        assert_eq!(bench.run(invocation).exit, Exit::Code(3), "{script}");
    }
    assert_eq!(standing_by(), [0; 0], "both were used");
}

/// The one that takes its place is given all of it.
#[test]
fn input_of_one_that_is_killed_with_its_order_is_not_lost() {
    let bench = Bench::standing_by(1);
    let keeper = standing_by()[0];
    send(keeper, Signal::SIGSTOP);
    let mut invocation = bench.shell(&format!("{WHICH}; wc -c"));
    invocation.stdin = Some("x".repeat(200_000));
    let (_, end) = bench.start(invocation);
    bench.until("the order", || bench.path("stdout.log").exists());
    send(keeper, Signal::SIGKILL);
    assert_eq!(bench.end(end).stdout.text, "own\n200000\n");
}

#[test]
fn long_orders_are_for_others() {
    let bench = Bench::standing_by(1);
    let long = format!("{WHICH}; : {}", "x".repeat(100_000));
    assert_eq!(bench.run(bench.shell(&long)).stdout.text, "own\n");
    let not_so_long = format!("{WHICH}; : {}", "x".repeat(60_000));
    assert_eq!(bench.run(bench.shell(&not_so_long)).stdout.text, "stood by\n");
}

#[test]
fn all_end_when_they_are_dismissed() {
    let bench = Bench::standing_by(3);
    bench.standby.as_ref().unwrap().dismiss();
    bench.until("their end", || standing_by().is_empty());
    // Whoever comes too late changes nothing.
    bench.standby.as_ref().unwrap().top_up(2, Duration::ZERO);
    assert_eq!(bench.run(bench.shell(WHICH)).stdout.text, "own\n");
    assert_eq!(standing_by(), [0; 0]);
}

#[test]
fn all_end_with_whoever_had_them_stand_by() {
    let mut bench = Bench::standing_by(3);
    let (_, end) = bench.start(bench.shell("while ! test -e go; do sleep 0.01; done; exit 7"));
    bench.standby = None;
    // What runs already is not theirs any more.
    bench.until("their end", || standing_by().len() == 1);
    fs::write(bench.path("go"), "").unwrap();
    assert_eq!(bench.end(end).exit, Exit::Code(7));
}

#[test]
fn no_more_are_started_than_are_wanted() {
    let bench = Bench::standing_by(2);
    let first = standing_by();
    bench.top_up(2);
    assert_eq!(standing_by(), first);
    bench.top_up(3);
    assert_eq!(standing_by()[..2], first);
}
