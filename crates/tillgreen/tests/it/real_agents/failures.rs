//! Services and models that fail.

use std::time::Duration;

use rehearsal::{Answer, Ending, Fault, Scenario, Stop, Turn};

use super::stage::{ONE_TASK, each, works};

fn after(first: Turn) -> Scenario {
    Scenario::new(std::iter::once(first).chain(works()))
}

#[test]
fn a_rate_limit_is_waited_for_and_costs_no_attempt() {
    let fault = Fault::rate_limit().retry_after(Duration::from_secs(1));
    each(ONE_TASK, &after(Turn::fail(fault)), |stage| {
        let played = stage.run(&[]).expect_code(0);
        let away = played.events("agent_unavailable");
        assert_eq!(away.len(), 1, "{}: {}", stage.name, played.finished);
        assert_eq!(played.causes(), Vec::<&str>::new(), "{}", stage.name);
        let started = played.events("attempt_started");
        assert!(started.iter().all(|attempt| attempt["attempt"] == 1), "{}: {started:?}", stage.name);
    });
}

#[test]
fn a_service_that_stays_away_pauses_the_run() {
    each(ONE_TASK, &Scenario::new([Turn::fail(Fault::overloaded()).always()]), |stage| {
        let played = stage.run(&["--infra-retries", "2"]).expect_code(6);
        assert_eq!(played.causes(), Vec::<&str>::new(), "{}: {}", stage.name, played.finished);
        assert_eq!(stage.sandbox.tasks("demo"), ONE_TASK);
    });
}

#[test]
fn a_cut_stream_is_no_result() {
    let answer = Answer { text: "word ".repeat(50), ending: Ending::CutAfter(3), ..Answer::default() };
    each(ONE_TASK, &after(Turn::answer(answer)), |stage| {
        let played = stage.run(&[]).expect_code(0);
        let (unavailable, failed) = match stage.name {
            // Asks again, for a whole document, by itself.
            "claude" => (0, 0),
            // Takes what it has for the whole answer and does not tell.
            "gemini-acp" => (0, 1),
            _ => (1, 0),
        };
        let seen = (played.events("agent_unavailable").len(), played.causes().len());
        assert_eq!(seen, (unavailable, failed), "{}: {}", stage.name, played.finished);
    });
}

#[test]
fn a_refusal_is_a_failure_of_the_attempt() {
    let refusal = Answer { text: "I will not do that.".to_owned(), stop: Stop::Refusal, ..Answer::default() };
    let [write, done] = works();
    let turns = [Turn::answer(refusal).unless("<retry_context").always(), write, done];
    each(ONE_TASK, &Scenario::new(turns), |stage| {
        let played = stage.run(&[]).expect_code(0);
        assert_eq!(played.causes().len(), 1, "{}: {}", stage.name, played.finished);
    });
}

#[test]
fn an_agent_that_hangs_is_stopped_and_tried_again() {
    each(ONE_TASK, &after(Turn::hang()), |stage| {
        // The second attempt has it too, and is not to meet it on a machine that has much else to do.
        let played = stage.run(&["--attempt-timeout", "60s"]).expect_code(0);
        assert_eq!(played.causes().first(), Some(&"agent_timeout"), "{}: {}", stage.name, played.finished);
        stage.sandbox.wait_until_quiet();
    });
}
