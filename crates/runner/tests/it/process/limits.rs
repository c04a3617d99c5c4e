//! Deadlines, missing progress, and stopping on request.

use std::time::Duration;

use runner::process::Exit;

use super::bench::{Bench, SOON};

#[test]
fn a_deadline_ends_it() {
    let bench = Bench::new();
    let mut invocation = bench.shell("while :; do echo busy; sleep 0.05; done");
    invocation.limits.deadline = Duration::from_millis(300);
    invocation.limits.no_progress = Some(Duration::from_secs(250));
    let ended = bench.run(invocation);
    assert_eq!(ended.exit, Exit::DeadlinePassed);
    assert!(ended.elapsed >= Duration::from_millis(300) && ended.elapsed < SOON, "{:?}", ended.elapsed);
}

#[test]
fn silence_ends_it() {
    let bench = Bench::new();
    let mut invocation = bench.shell("echo started; sleep 1000");
    // Until the first word it is silent as well, and a machine with much else to do takes its time to start it.
    invocation.limits.no_progress = Some(Duration::from_secs(5));
    let ended = bench.run(invocation);
    assert_eq!(ended.exit, Exit::NoProgress);
    assert_eq!(ended.stdout.text, "started\n");
    assert!(ended.elapsed < SOON, "{:?}", ended.elapsed);
}

#[test]
fn progress_on_either_output_keeps_it_alive() {
    let bench = Bench::new();
    // First one of them alone for longer than the limit, then the other one, in steps that are far shorter.
    let chat = |word: &str| {
        format!("until=$(($(date +%s) + 6)); while test $(date +%s) -lt $until; do {word}; sleep 0.1; done")
    };
    let mut invocation = bench.shell(&format!("{}; {}", chat("echo out"), chat("echo err >&2")));
    invocation.limits.no_progress = Some(Duration::from_secs(4));
    assert_eq!(bench.run(invocation).exit, Exit::Code(0));
}

#[test]
fn what_ignores_being_told_is_killed_after_the_grace_time() {
    let bench = Bench::new();
    let mut invocation = bench.shell("trap '' TERM; touch ready; while :; do sleep 0.05; done");
    invocation.limits.grace = Duration::from_millis(300);
    let (handle, end) = bench.start(invocation);
    bench.until("ready", || bench.path("ready").exists());
    handle.stop();
    let ended = bench.end(end);
    assert_eq!(ended.exit, Exit::Stopped);
    assert!(ended.elapsed >= Duration::from_millis(300) && ended.elapsed < SOON, "{:?}", ended.elapsed);
}

#[test]
fn tools_in_sessions_of_their_own_are_told_as_well() {
    let bench = Bench::new();
    let script = "trap : TERM
        setsid sh -c 'trap \"echo told; exit 0\" TERM; touch ready; while :; do sleep 0.02; done' &
        wait; wait; echo both; exit 0";
    let (handle, end) = bench.start(bench.shell(script));
    bench.until("ready", || bench.path("ready").exists());
    handle.stop();
    let ended = bench.end(end);
    assert_eq!((ended.exit, ended.stdout.text.as_str()), (Exit::Stopped, "told\nboth\n"));
    assert!(ended.elapsed < SOON, "{:?}", ended.elapsed);
}

#[test]
fn killing_does_not_wait() {
    let bench = Bench::new();
    let (handle, end) = bench.start(bench.shell("trap '' TERM; touch ready; while :; do sleep 0.05; done"));
    bench.until("ready", || bench.path("ready").exists());
    handle.stop();
    handle.kill();
    let ended = bench.end(end);
    assert_eq!(ended.exit, Exit::Stopped);
    assert!(ended.elapsed < SOON, "{:?}", ended.elapsed);
}

#[test]
fn stopping_at_once_after_starting_works() {
    for number in 0..30 {
        let bench = Bench::new();
        let (handle, end) = bench.start(bench.shell("sleep 1000"));
        // Lets the keeper get to a different point each time.
        let until = std::time::Instant::now() + Duration::from_micros(number * 200);
        bench.until("a moment", || std::time::Instant::now() >= until);
        if number % 2 == 0 {
            handle.stop()
        } else {
            handle.kill()
        }
        let ended = bench.end(end);
        assert_eq!(ended.exit, Exit::Stopped);
        assert!(ended.elapsed < SOON, "{number}: {:?}", ended.elapsed);
    }
}

#[test]
fn dropping_the_handle_stops_nothing() {
    let bench = Bench::new();
    let (handle, end) = bench.start(bench.shell("while ! test -e go; do sleep 0.01; done; exit 7"));
    drop(handle);
    bench.until("a look at it", || !super::bench::marked(&bench.marker).is_empty());
    std::fs::write(bench.path("go"), "").unwrap();
    assert_eq!(bench.end(end).exit, Exit::Code(7));
}
