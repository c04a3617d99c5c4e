//! Sessions that are taken up again: the agent remembers, and nothing is counted twice.

use rehearsal::{Answer, Scenario, Turn, Usage};
use serde_json::Value;

use super::stage::{ONE_TASK, each, works};

fn tokens(spent: &Value) -> u64 {
    let of = |name: &str| spent["usage"][name].as_u64().unwrap_or_default();
    of("input") + of("cached") + of("output")
}

#[test]
fn what_a_session_used_before_is_not_counted_again() {
    let usage = Usage { input: 1_000, output: 100, cached: 0 };
    let claims = Answer { text: "It is written.\n\nTASK_COMPLETE".to_owned(), usage, ..Answer::default() };
    let [write, done] = works();
    let again = "was not accepted";
    let turns = [Turn::answer(claims).unless(again), write.when(again), done.when(again)];
    each(ONE_TASK, &Scenario::new(turns), |stage| {
        // It does not tell what is history and what is not.
        if stage.name == "gemini-acp" {
            return;
        }
        let played = stage.run(&["--resume-sessions"]).expect_code(0);
        let spent = played.events("spent");
        let told: Vec<u64> =
            spent.iter().filter(|spent| spent["interim"] != true).map(|spent| tokens(spent)).collect();
        // One answer of eleven hundred tokens, then two of a hundred and twenty.
        assert_eq!(told, [1_100, 240], "{}: {}", stage.name, played.finished);
        let requests = stage.server.requests();
        let last = requests.last().expect("the model was asked");
        assert!(last.body.contains("It is written."), "{} does not remember", stage.name);
    });
}
