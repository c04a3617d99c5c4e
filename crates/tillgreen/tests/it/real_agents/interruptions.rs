//! Runs that somebody stops while a real agent's tool is at work.

use rehearsal::{Scenario, Turn};
use testkit::{Signal, wait_for};

use super::stage::{ONE_TASK, each, works};

#[test]
fn a_cancelled_run_leaves_no_process_and_goes_on_later() {
    let busy = Turn::shell(": > started; tail -f /dev/null");
    each(ONE_TASK, &Scenario::new([busy, Turn::hang().always()]), |stage| {
        let mut run = stage.command(&[]).start();
        let started = stage.sandbox.root().join("started");
        wait_for("the agent's tool", || started.exists() || !run.is_running());
        let is_tool = |command: &str| command.contains("tail -f /dev/null");
        let tools = || stage.sandbox.processes().iter().filter(|process| is_tool(&process.command)).count();
        wait_for("the agent's tool to be seen", || tools() > 0 || !run.is_running());
        run.signal(Signal::Interrupt);
        run.wait().expect_code(130);
        stage.sandbox.wait_until_quiet();
        assert_eq!(stage.sandbox.tasks("demo"), ONE_TASK, "{}", stage.name);

        stage.server.script("", Scenario::new(works()));
        let played = stage.run(&[]).expect_code(0);
        assert_eq!(played.causes(), Vec::<&str>::new(), "{}: {}", stage.name, played.finished);
    });
}

#[test]
fn a_run_that_is_killed_leaves_no_process() {
    let busy = Turn::shell(": > started; tail -f /dev/null");
    each(ONE_TASK, &Scenario::new([busy, Turn::hang().always()]), |stage| {
        let mut run = stage.command(&[]).start();
        let started = stage.sandbox.root().join("started");
        wait_for("the agent's tool", || started.exists() || !run.is_running());
        run.kill();
        stage.sandbox.wait_until_quiet();
    });
}
