//! What happens when the coordinator is ill-treated. It is a process of its own here.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runner::process::sweep;

use super::bench::{Bench, keeper, marked, name, namespaces_allowed};

const STUBBORN: &str =
    "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP; touch tool; sleep 1000' & sleep 1000";

fn command(bench: &Bench, executable: PathBuf, verb: &str, script: &str) -> Command {
    let (variable, value) = bench.marker.split_once('=').unwrap();
    let mut command = Command::new(executable);
    command.arg(verb).arg(bench.folder.path()).arg(script).env(variable, value).stdin(Stdio::null());
    command
}

fn coordinator_with_tool(bench: &Bench) -> Child {
    let child = command(bench, keeper().to_owned(), "run", STUBBORN).stdout(Stdio::null()).spawn().unwrap();
    bench.until("the tool", || bench.path("tool").exists());
    child
}

fn send(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
}

#[test]
fn nothing_outlives_a_killed_coordinator() {
    let bench = Bench::new();
    let mut coordinator = coordinator_with_tool(&bench);
    bench.until("all at work", || marked(&bench.marker).len() >= 5);
    coordinator.kill().unwrap();
    coordinator.wait().unwrap();
    bench.until("all gone", || marked(&bench.marker).is_empty());
}

#[test]
fn nothing_outlives_a_coordinator_killed_while_it_starts() {
    for number in 0..40 {
        let bench = Bench::new();
        let mut coordinator = command(&bench, keeper().to_owned(), "run", "sleep 1000").spawn().unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_micros(number * 250);
        bench.until("a moment", || std::time::Instant::now() >= until);
        coordinator.kill().unwrap();
        coordinator.wait().unwrap();
        bench.until("all gone", || marked(&bench.marker).is_empty());
    }
}

#[test]
fn a_killed_keeper_takes_all_with_it_in_a_namespace() {
    if !namespaces_allowed() {
        println!("skipped: no namespaces here");
        return;
    }
    let bench = Bench::new();
    let mut coordinator = coordinator_with_tool(&bench);
    let outer = marked(&bench.marker).into_iter().find(|pid| name(*pid) == "tg-keeper").unwrap();
    send(outer, Signal::SIGKILL);
    coordinator.wait().unwrap();
    bench.until("all gone", || marked(&bench.marker).is_empty());
}

#[test]
fn coordinator_and_keepers_killed_at_once_leave_nothing_that_a_sweep_does_not_find() {
    let bench = Bench::new();
    let mut coordinator = coordinator_with_tool(&bench);
    let keepers: Vec<u32> =
        marked(&bench.marker).into_iter().filter(|pid| name(*pid) == "tg-keeper").collect();
    // Stopped first, so that none of them can act on the death of another.
    keepers.iter().for_each(|pid| send(*pid, Signal::SIGSTOP));
    send(coordinator.id(), Signal::SIGKILL);
    for pid in keepers {
        // In a namespace one goes with the other.
        let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
    }
    coordinator.wait().unwrap();
    if namespaces_allowed() {
        bench.until("all gone", || marked(&bench.marker).is_empty());
        assert_eq!(sweep(&bench.marker), 0);
    } else {
        assert!(sweep(&bench.marker) > 0);
        assert_eq!(marked(&bench.marker), Vec::<u32>::new());
    }
}

#[test]
fn an_executable_that_was_deleted_still_keeps() {
    let bench = Bench::new();
    let copy = bench.path("copy-of-the-program");
    // Another process copies it: a descriptor of ours that is open for writing could be inherited by what other
    // tests start at the same time, and then the copy could not be executed.
    assert!(Command::new("cp").arg(keeper()).arg(&copy).status().unwrap().success());
    let output = command(&bench, copy.clone(), "delete-and-run", "exit 5").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Code(5)\n");
    assert!(!copy.exists());
}

/// The two signals that the C library keeps for itself; it makes every program that it starts ignore them.
const LIBRARY_SIGNALS: u64 = 0b11 << 31;

#[test]
fn signals_of_the_coordinator_are_not_passed_on() {
    let seen = output_under_odd_shell("exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
    let masks = seen.lines().map(|line| u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap());
    assert_eq!(masks.map(|mask| mask & !LIBRARY_SIGNALS).collect::<Vec<_>>(), [0, 0], "{seen}");
}

#[test]
fn descriptors_of_the_coordinator_are_not_passed_on() {
    // The last one is the folder that is being listed.
    assert_eq!(output_under_odd_shell("exec ls /proc/self/fd"), "0\n1\n2\n3\n");
}

/// Runs the coordinator from a shell that ignores signals and has files open.
fn output_under_odd_shell(script: &str) -> String {
    let bench = Bench::new();
    let odd = "trap '' HUP INT USR1 USR2 TSTP CHLD RTMIN+3; exec 9</dev/null 17>&1; exec \"$@\"";
    let output = Command::new("bash")
        .args(["-c", odd, "bash"])
        .arg(keeper())
        .arg("run")
        .arg(bench.folder.path())
        .arg(script)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Code(0)\n", "{output:?}");
    fs::read_to_string(bench.path("stdout.log")).unwrap()
}

/// As in a container whose /proc is partly hidden, where the kernel refuses to mount another one.
#[test]
fn where_proc_cannot_be_mounted_it_is_kept_in_the_other_way() {
    let bench = Bench::new();
    let script = "mount --bind /dev/null /proc/version && exec unshare --user --map-root-user --mount \
        \"$0\" run \"$1\" 'cat /proc/$PPID/comm; setsid sleep 1000 & exit 5'";
    let (variable, value) = bench.marker.split_once('=').unwrap();
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(keeper())
        .arg(bench.folder.path())
        .env(variable, value)
        .output()
        .unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("unshare:") {
        println!("skipped: no user namespaces here: {output:?}");
        return;
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Code(5)\n", "{output:?}");
    assert_eq!(fs::read_to_string(bench.path("stdout.log")).unwrap(), "tg-keeper\n");
    bench.until("all gone", || marked(&bench.marker).is_empty());
}
