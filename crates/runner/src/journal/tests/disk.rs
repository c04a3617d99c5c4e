//! Journals and the disk itself. These tests run themselves again as a child, under a limit or a tracer.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs};

use crate::journal::line::encode;
use crate::journal::tests::scratch::{Event, Scratch, note};
use crate::journal::{Journal, Seq, read};

const CHILD: &str = "JOURNAL_TEST_CHILD";

/// The journal to work on, in a child.
fn as_child() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

/// Runs a test of this module again as a child of the given command.
fn again(command: &mut Command, test: &str, journal: &Path) -> Output {
    child_of(command, test, journal).output().unwrap()
}

fn child_of<'a>(command: &'a mut Command, test: &str, journal: &Path) -> &'a mut Command {
    let module = module_path!().split_once("::").unwrap().1;
    command
        .arg(env::current_exe().unwrap())
        .arg("--exact")
        .arg(format!("{module}::{test}"))
        .arg("--nocapture");
    command.env(CHILD, journal)
}

#[test]
fn a_full_disk_loses_nothing_and_can_be_tried_again() {
    if let Some(path) = as_child() {
        return fill(&path);
    }
    let scratch = Scratch::new();
    // Files may grow to a few blocks in the child, whose writes are then cut short as on a full disk.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "sh"]);
    let output = again(&mut shell, "a_full_disk_loses_nothing_and_can_be_tried_again", &scratch.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("full, then went on"), "{output:?}");
    let (_, opened, events) = scratch.open().unwrap();
    assert_eq!(opened.torn, None);
    assert_eq!(events.last(), Some(&note("went on")));
}

fn fill(path: &Path) {
    let (mut journal, _) = Journal::open(path, |_: Event| {}).unwrap();
    let large = note(&"x".repeat(1000));
    let mut written = 0;
    let error = loop {
        match journal.append(&large) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 100, "the limit has no effect");
    };
    assert_eq!(error.io_kind(), Some(io::ErrorKind::FileTooLarge), "{error}");
    let length = fs::metadata(path).unwrap().len();
    assert!(journal.append(&large).is_err());
    assert_eq!(fs::metadata(path).unwrap().len(), length, "the failed line was cut off");
    assert_eq!(journal.append(&note("went on")).unwrap().get(), written + 1);
    let end = read(path, |_, _: Event| {}).unwrap();
    assert_eq!((end.events, end.unfinished_bytes), (written + 1, 0));
    println!("full, then went on");
}

#[test]
fn events_are_on_the_disk_once_the_journal_is_settled() {
    if let Some(path) = as_child() {
        return append_under_trace(&path);
    }
    let scratch = Scratch::new();
    let trace = scratch.path().with_extension("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-e", "trace=write,fdatasync,fsync,readlink", "-o"]).arg(&trace);
    if Command::new("strace").args(["-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
    {
        let output =
            again(&mut strace, "events_are_on_the_disk_once_the_journal_is_settled", &scratch.path());
        assert!(output.status.success(), "{output:?}");
        let trace = fs::read_to_string(&trace).unwrap();
        assert_eq!(
            steps(&trace, "journal.jsonl>"),
            ["write", "fdatasync", "write", "write", "fdatasync", "returned"]
        );
        // The control: a file that is only written shows what the same trace looks like without durability.
        assert_eq!(steps(&trace, "control>"), ["write", "returned"]);
        assert!(trace.contains("fsync("), "the new file's folder is synced");
    } else {
        println!("skipped: strace is not installed or not allowed here");
    }
}

fn append_under_trace(path: &Path) {
    let (mut journal, _) = Journal::open(path, |_: Event| {}).unwrap();
    journal.append(&note("traced")).unwrap();
    journal.append(&note("traced")).unwrap();
    journal.settle().unwrap();
    // There is nothing left to wait for.
    journal.settle().unwrap();
    fs::write(path.with_extension("control"), "traced").unwrap();
    // A system call with no other use, which shows in the trace where `settle` has returned.
    assert!(fs::read_link("/settle-has-returned").is_err());
}

/// The calls on the file whose name ends so, in order, up to the mark.
fn steps(trace: &str, name: &str) -> Vec<&'static str> {
    let call = |line: &str| {
        if line.contains("settle-has-returned") {
            return Some("returned");
        }
        let names = ["write", "fdatasync"];
        names.into_iter().find(|call| line.contains(&format!(" {call}(")) && line.contains(name))
    };
    trace.lines().filter_map(call).collect()
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    if let Some(path) = as_child() {
        let (mut journal, _) = Journal::open(&path, |_: Event| {}).unwrap();
        (0..1_000_000)
            .for_each(|number| println!("ack {}", journal.append(&Event::Count { number }).unwrap()));
        return;
    }
    for lines in [1, 7, 40] {
        let scratch = Scratch::new();
        let mut command =
            child_of(&mut Command::new("env"), "what_was_acknowledged_survives_a_kill", &scratch.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
        let output = BufReader::new(command.stdout.take().unwrap());
        let acknowledged =
            output.lines().map_while(Result::ok).filter(|line| line.contains("ack ")).take(lines);
        let last: u64 = acknowledged.last().unwrap().rsplit_once(' ').unwrap().1.parse().unwrap();
        command.kill().unwrap();
        command.wait().unwrap();
        let (.., events) = scratch.open().unwrap();
        assert!(events.len() as u64 >= last, "{last} were acknowledged, {} are there", events.len());
        assert!(events.iter().zip(0..).all(|(event, number)| *event == Event::Count { number }));
    }
}

#[test]
fn a_large_journal_is_replayed_without_holding_it() {
    if let Some(path) = as_child() {
        let before = peak_memory();
        let (_, opened) = Journal::open(&path, |_: Event| {}).unwrap();
        let grown = peak_memory() - before;
        assert!(grown < 10_000, "{} events took {grown} kB", opened.events);
        println!("replayed {}", opened.events);
        return;
    }
    let scratch = Scratch::with(&[]);
    let (mut bytes, mut seq) = (scratch.bytes(), Seq::FIRST);
    while bytes.len() < 20_000_000 {
        bytes.extend(encode(seq, &note(&"x".repeat(1000))).unwrap());
        seq = seq.next();
    }
    scratch.set(&bytes);
    let test = "a_large_journal_is_replayed_without_holding_it";
    let output = again(&mut Command::new("env"), test, &scratch.path());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(&format!("replayed {}", seq.get() - 1)), "{output:?}");
}

/// The most memory that this process has had so far, in kB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_journal_that_cannot_be_written_says_so() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path()).unwrap();
    let error = scratch.open().map(drop).unwrap_err();
    assert_eq!(error.io_kind(), Some(io::ErrorKind::IsADirectory), "{error}");
}
