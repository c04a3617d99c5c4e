//! Answers and tools.

use rehearsal::{Answer, Call, Protocol, Scenario, Served, Turn, Usage};
use serde_json::Value;

use super::program::{HEADLESS, Ran, run};

fn work() -> Scenario {
    let usage = Usage { input: 1_000, output: 50, cached: 0 };
    let write = Call::Write { path: "a/hello.txt".to_owned(), content: "it's\n".to_owned() };
    Scenario::new([
        Turn::answer(Answer { text: "I write.".to_owned(), calls: vec![write], usage, ..Answer::default() }),
        Turn::shell("cp a/hello.txt copy.txt"),
        Turn::call(Call::Read("copy.txt".to_owned())),
        Turn::say("All of it is done.").when("it's"),
    ])
}

/// The last event of a stream.
fn last(ran: &Ran) -> &Value {
    ran.stream.last().unwrap_or_else(|| panic!("no output: {ran:?}"))
}

#[test]
fn one_scenario_serves_every_agent() {
    for name in HEADLESS {
        let Some(ran) = run(name, &work()) else { continue };
        assert!(ran.is_success(), "{name}: {ran:?}");
        assert_eq!(ran.repository.read("copy.txt"), "it's\n", "{name}");
        let main: Vec<Served> = ran
            .requests
            .iter()
            .map(|request| request.served)
            .filter(|served| *served != Served::Side)
            .collect();
        assert_eq!(main, [0, 1, 2, 3].map(Served::Turn), "{name}");
        let protocol = match name {
            "claude" => Protocol::Messages,
            "codex" => Protocol::Responses,
            _ => Protocol::GenerateContent,
        };
        assert!(ran.requests.iter().all(|request| request.protocol == protocol), "{name}");
    }
}

#[test]
fn streams_end_as_is_known_of_each_agent() {
    let scenario = Scenario::new([Turn::answer(Answer {
        thinking: Some("Let me see.".to_owned()),
        text: "TASK_COMPLETE".to_owned(),
        usage: Usage { input: 1_234, output: 56, cached: 0 },
        ..Answer::default()
    })]);
    for name in HEADLESS {
        let Some(ran) = run(name, &scenario) else { continue };
        assert!(ran.is_success(), "{name}: {ran:?}");
        let last = last(&ran);
        match name {
            "claude" => {
                assert_eq!((&last["type"], &last["result"]), (&"result".into(), &"TASK_COMPLETE".into()));
                assert_eq!(last["usage"]["input_tokens"], 1_234);
                assert!(last["total_cost_usd"].as_f64().unwrap() > 0.0);
            }
            "codex" => {
                assert_eq!(last["type"], "turn.completed");
                assert_eq!(last["usage"]["output_tokens"], 56);
            }
            _ => {
                assert_eq!((&last["type"], &last["status"]), (&"result".into(), &"success".into()));
                assert_eq!(last["stats"]["input_tokens"], 1_234);
            }
        }
    }
}
