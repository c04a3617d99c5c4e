//! Errors of the service and answers that are none.

use std::time::Duration;

use rehearsal::{Answer, Ending, Fault, Scenario, Stop, Turn};

use super::program::{HEADLESS, Ran, run};

/// Runs every agent and hands over what came of it.
fn each(scenario: &Scenario, check: impl Fn(&str, &Ran)) {
    for name in HEADLESS {
        if let Some(ran) = run(name, scenario) {
            check(name, &ran);
        }
    }
}

#[test]
fn errors_reach_every_agent() {
    let fault = Fault::rate_limit().retry_after(Duration::from_secs(1));
    each(&Scenario::new([Turn::fail(fault).always()]), |name, ran| {
        let expected = if name == "gemini" { 173 } else { 1 };
        assert_eq!(ran.code, Some(expected), "{name}: {ran:?}");
        let said = format!("{:?}{}", ran.stream, ran.stderr);
        assert!(said.contains("429") || said.contains("rate limit"), "{name}: {said}");
        assert!(ran.requests.len() <= 2, "{name} asked {} times", ran.requests.len());
    });
}

#[test]
fn a_cut_or_broken_stream_is_no_answer() {
    for ending in [Ending::CutAfter(3), Ending::Fault(Fault::overloaded())] {
        let answer = Answer { text: "word ".repeat(100), ending: ending.clone(), ..Answer::default() };
        each(&Scenario::new([Turn::answer(answer).always()]), |name, ran| {
            // Claude Code asks again for a document, which cannot be cut.
            let is_healed = name == "claude" && matches!(ending, Ending::CutAfter(_));
            assert_eq!(ran.is_success(), is_healed, "{name} {ending:?}: {ran:?}");
        });
    }
}

#[test]
fn a_refusal_and_an_answer_cut_short_are_told_by_some() {
    for (stop, honest) in [(Stop::Refusal, vec!["claude"]), (Stop::MaxTokens, vec!["claude", "codex"])] {
        let answer = Answer { text: "Hm.".to_owned(), stop, ..Answer::default() };
        each(&Scenario::new([Turn::answer(answer).always()]), |name, ran| {
            assert_eq!(!ran.is_success(), honest.contains(&name), "{name} {stop:?}: {ran:?}");
        });
    }
}
