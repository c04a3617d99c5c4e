//! How a command ended is told as it was.

use std::time::Duration;

use runner::process::{Exit, Program};

use super::bench::Bench;

fn check(script: &str, expected: Exit) {
    let bench = Bench::new();
    let ended = bench.run(bench.shell(script));
    assert_eq!(ended.exit, expected, "{script}: {ended:?}");
}

#[test]
fn exit_codes_pass_through() {
    for code in [0, 1, 3, 125, 126, 127, 128, 137, 143, 255] {
        check(&format!("exit {code}"), Exit::Code(code));
    }
}

#[test]
fn death_by_a_signal_is_told_from_a_code() {
    for signal in [1, 2, 3, 6, 9, 10, 11, 13, 14, 15] {
        check(&format!("kill -{signal} $$"), Exit::Signal(signal));
    }
}

#[test]
fn death_by_a_signal_without_a_name_ends_as_well() {
    check("kill -40 $$", Exit::Code(128 + 40));
    check("(kill -40 $(sh -c 'echo $PPID')) & wait; exit 4", Exit::Code(4));
}

#[test]
fn orphans_are_reaped_and_their_ends_do_not_count() {
    check("for i in 1 2 3 4 5; do (sh -c 'exit 9' &); done; sleep 0.2; exit 5", Exit::Code(5));
}

#[test]
fn bash_decides_on_pipelines_as_told() {
    let bash = |script: &str| {
        let bench = Bench::new();
        bench.run(bench.program(Program::Bash(script.to_owned()))).exit
    };
    assert_eq!(bash("false | cat; echo on"), Exit::Code(0));
    assert_eq!(bash("false; true"), Exit::Code(1));
    assert_eq!(bash("[[ a == a ]]"), Exit::Code(0));
}

#[test]
fn a_script_that_begins_with_a_dash_is_no_option() {
    check("-no-such-command-x; exit 8", Exit::Code(8));
}

#[test]
fn the_longest_deadline_is_no_problem() {
    let bench = Bench::new();
    let mut invocation = bench.shell("exit 0");
    invocation.limits.deadline = Duration::MAX;
    invocation.limits.no_progress = Some(Duration::MAX);
    assert_eq!(bench.run(invocation).exit, Exit::Code(0));
}

#[test]
fn many_run_side_by_side() {
    let benches: Vec<Bench> = (0..3).map(|_| Bench::new()).collect();
    for bench in &benches {
        let ends: Vec<_> = (0..20)
            .map(|number| {
                let mut invocation = bench.shell(&format!("exit {number}"));
                invocation.stdout_log = bench.path(&format!("{number}.out"));
                invocation.stderr_log = bench.path(&format!("{number}.err"));
                bench.start(invocation).1
            })
            .collect();
        bench.until("all ended", || ends.iter().all(|end| !end.is_empty()));
        for (number, end) in (0..).zip(ends) {
            assert_eq!(bench.end(end).exit, Exit::Code(number));
        }
    }
}
