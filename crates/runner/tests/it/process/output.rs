//! Output is kept within bounds and made harmless.

use std::fs::{self, File};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use runner::process::Exit;

use super::bench::{Bench, marked};

#[test]
fn both_outputs_are_kept_and_logged() {
    let bench = Bench::new();
    let ended = bench.run(bench.shell("echo out; echo err >&2; printf 'bad \\377\\000 end' "));
    assert_eq!(ended.stdout.text, "out\nbad \u{fffd}\u{2400} end");
    assert_eq!(ended.stderr.text, "err\n");
    assert_eq!(fs::read_to_string(bench.path("stdout.log")).unwrap(), "out\nbad \u{fffd}\u{2400} end");
    assert_eq!(fs::read(bench.path("stderr.log")).unwrap(), b"err\n");
}

#[test]
fn output_is_in_the_log_while_the_process_runs() {
    let bench = Bench::new();
    let (handle, end) = bench.start(bench.shell("echo early; sleep 1000"));
    bench.until("early output", || fs::read(bench.path("stdout.log")).is_ok_and(|log| log == b"early\n"));
    handle.kill();
    assert_eq!(bench.end(end).exit, Exit::Stopped);
}

#[test]
fn a_gigabyte_of_output_takes_little_memory() {
    let bench = Bench::new();
    let ended = bench.run(bench.shell("yes | head -c 1073741824; echo; echo last"));
    assert_eq!(ended.exit, Exit::Code(0));
    assert_eq!(ended.stdout.bytes_total, (1 << 30) + 6);
    assert_eq!(ended.stdout.bytes_omitted, (1 << 30) + 6 - 8192);
    assert!(ended.stdout.text.contains("\n[1073733638 bytes left out]\n"));
    assert!(ended.stdout.text.ends_with("\n\nlast\n"));
    assert!(fs::metadata(bench.path("stdout.log")).unwrap().len() < 9000);
    assert!(peak_memory_kib() < 200 * 1024, "{} KiB", peak_memory_kib());
}

#[test]
fn a_holder_of_the_pipe_elsewhere_does_not_hold_us_up() {
    let bench = Bench::new();
    let (_, end) = bench.start(bench.shell(WAITING));
    let pipe = held_pipe(&bench);
    fs::write(bench.path("go"), "").unwrap();
    let ended = bench.end(end);
    assert_eq!(ended.exit, Exit::Code(0));
    drop(pipe);
}

const WAITING: &str = "echo early; while ! test -e go; do sleep 0.01; done";

/// The pipe that a command prints to, once it has begun.
fn held_pipe(bench: &Bench) -> File {
    bench.until("the command", || fs::read(bench.path("stdout.log")).is_ok_and(|log| !log.is_empty()));
    let open = |pid: &u32| File::options().write(true).open(format!("/proc/{pid}/fd/1")).ok();
    marked(&bench.marker).iter().find_map(open).expect("the command has its pipe")
}

/// As on a machine that has so much else to do that it does not get to reading for a while.
#[test]
fn what_lies_in_a_pipe_is_read_however_late_it_has_become() {
    let benches: Vec<Bench> = (0..8).map(|_| Bench::new()).collect();
    let begin = |bench: &Bench| {
        let (_, end) = bench.start(bench.shell(WAITING));
        let mut pipe = held_pipe(bench);
        fs::write(bench.path("go"), "").unwrap();
        bench.until("its end", || marked(&bench.marker).is_empty());
        let noticed = Instant::now() + Duration::from_millis(100);
        bench.until("its end to be noticed", || Instant::now() >= noticed);
        pipe.write_all(b"late\n").unwrap();
        (end, pipe)
    };
    let ends: Vec<_> = benches.iter().map(begin).collect();
    // Longer than the pipes are waited for after the end.
    thread::sleep(Duration::from_millis(1_500));
    for (bench, (end, _pipe)) in benches.iter().zip(ends) {
        assert_eq!(bench.end(end).stdout.text, "early\nlate\n");
    }
}

fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
