//! Output is kept within bounds and made harmless.

use std::fs;

use runner::process::Exit;

use super::bench::{Bench, marked};

#[test]
fn both_outputs_are_kept_and_logged() {
    let bench = Bench::new();
    let ended = bench.run(bench.shell("echo out; echo err >&2; printf 'bad \\377\\000 end' "));
    assert_eq!(ended.stdout.text, "out\nbad \u{fffd}\u{2400} end");
    assert_eq!(ended.stderr.text, "err\n");
    assert_eq!(fs::read(bench.path("stdout.log")).unwrap(), b"out\nbad \xff\0 end");
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
    let (_, end) = bench.start(bench.shell("echo $$; while ! test -e go; do sleep 0.01; done"));
    bench.until("the command", || fs::read(bench.path("stdout.log")).is_ok_and(|log| !log.is_empty()));
    let pipe = marked(&bench.marker)
        .iter()
        .find_map(|pid| fs::OpenOptions::new().write(true).open(format!("/proc/{pid}/fd/1")).ok());
    assert!(pipe.is_some());
    fs::write(bench.path("go"), "").unwrap();
    let ended = bench.end(end);
    assert_eq!(ended.exit, Exit::Code(0));
    drop(pipe);
}

fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
