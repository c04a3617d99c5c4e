//! Nothing outlives its command. That nothing is left when the end is told is checked by every run.

use runner::process::Exit;

use super::bench::{Bench, SOON};

fn check(script: &str) {
    let bench = Bench::new();
    let ended = bench.run(bench.shell(script));
    assert_eq!(ended.exit, Exit::Code(0), "{script}");
    assert!(ended.elapsed < SOON, "{script}: {:?}", ended.elapsed);
}

#[test]
fn background_jobs_do_not_outlive_a_success() {
    check("sleep 1000 & exit 0");
    check("setsid nohup sleep 1000 & exit 0");
    check("nohup setsid sh -c 'trap \"\" TERM HUP; sleep 1000' >/dev/null 2>&1 </dev/null & sleep 0.1");
}

#[test]
fn daemons_do_not_outlive_a_success() {
    check("setsid sh -c '(setsid sleep 1000 >/dev/null 2>&1 &) & exit' & wait; sleep 0.1");
    check("setsid sh -c 'setsid sh -c \"setsid sleep 1000 & sleep 1000\" & sleep 1000' & sleep 0.2");
}

#[test]
fn a_crowd_does_not_outlive_a_success() {
    check("i=0; while test $i -lt 60; do setsid sleep 1000 & sleep 1000 & i=$((i+1)); done");
    check(
        "storm() { (sleep 1000) & (sleep 0.01; storm) & }; for i in 1 2 3; do setsid sh -c 'while :; do sleep 1000 & sleep 0.01; done' & storm; done; sleep 0.3",
    );
}

#[test]
fn a_stopped_process_does_not_outlive_a_success() {
    check("sleep 1000 & kill -STOP $!; exit 0");
}
