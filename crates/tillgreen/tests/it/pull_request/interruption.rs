//! Somebody interrupts while `gh` waits for an answer that does not come.

use std::time::Duration;

use testkit::forge::{Check, Forge, Sight};
use testkit::{Background, Sandbox, Signal, wait_for};

use super::scratch::{PLAN, QUICK, agent, run, scratch};

/// Far less than a command's own deadline, and than the time that is left to processes at the end.
const SOON: Duration = Duration::from_secs(15);

fn begin(sandbox: &Sandbox, forge: &Forge) -> Background {
    let command = sandbox.install_agent(&agent());
    forge.begin(sandbox, &[&["run", "--agent-cmd", command.as_str()][..], &QUICK].concat())
}

/// From now on nothing is answered. How many questions there were before.
fn fall_silent(forge: &Forge) -> usize {
    let mut hub = forge.hub();
    hub.hangs = true;
    hub.calls.len()
}

#[track_caller]
fn interrupt(sandbox: &Sandbox, forge: &Forge, (mut run, asked): (Background, usize), signal: Signal) {
    wait_for("a question without an answer", || forge.hub().calls.len() > asked || !run.is_running());
    run.signal(signal);
    let finished = run.wait_within(SOON).expect_code(130);
    sandbox.wait_until_quiet();
    forge.hub().hangs = false;
    assert!(finished.stderr.contains("tillgreen run"), "{finished}");
}

#[test]
fn before_the_first_task() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    let asked = fall_silent(&forge);
    interrupt(&sandbox, &forge, (begin(&sandbox, &forge), asked), Signal::Interrupt);
    assert_eq!(sandbox.agent_calls().len(), 0);
    run(&sandbox, &forge, &[]).expect_code(0);
}

/// The budget of pushes is not spent by starting the program again.
#[test]
fn the_watch_goes_on_afterwards() {
    let Some((sandbox, forge)) = scratch(PLAN) else { return };
    forge.shows(|_| Sight { checks: vec![Check::pending("slow")], ..Sight::default() });
    let command = sandbox.install_agent(&agent());
    let arguments = ["run", "--agent-cmd", &command, "--pr-look-every", "1h", "--pr-cycles-max", "1"];
    for _ in 0..2 {
        let mut run = forge.begin(&sandbox, &arguments);
        wait_for("the watch to begin", || run.stderr().contains("waiting for 1 of 1") || !run.is_running());
        run.signal(Signal::Interrupt);
        let finished = run.wait().expect_code(130);
        assert!(finished.stderr.contains("(push 1)"), "{finished}");
    }
    forge.shows(|_| Sight { checks: vec![Check::passed("slow")], ..Sight::default() });
    forge.run(&sandbox, &arguments).expect_code(0);
}

#[test]
fn while_checks_are_watched() {
    for signal in [Signal::Interrupt, Signal::Terminate] {
        let Some((sandbox, forge)) = scratch(PLAN) else { return };
        forge.shows(|_| Sight { checks: vec![Check::pending("slow")], ..Sight::default() });
        let mut run = begin(&sandbox, &forge);
        wait_for("the watch to begin", || run.stderr().contains("waiting for 1 of 1") || !run.is_running());
        let asked = fall_silent(&forge);
        interrupt(&sandbox, &forge, (run, asked), signal);
        forge.shows(|_| Sight::default());
        super::scratch::run(&sandbox, &forge, &[]).expect_code(0);
        assert_eq!(forge.hub().pulls.len(), 1);
    }
}
