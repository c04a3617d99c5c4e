//! What real agents report through tools.

use rehearsal::{Call, Scenario, Turn};
use serde_json::json;

use super::stage::{ONE_TASK, each, works};

/// Agents that are offered no tools.
const WITHOUT_TOOLS: [&str; 2] = ["gemini", "pi"];

#[test]
fn what_an_agent_asks_for_is_done_before_its_task() {
    let asked =
        json!({ "kind": "prerequisite", "title": "Write zero", "done_when": "zero.txt holds a zero" });
    // One agent does not declare the tools of servers and knows them all the same.
    let tool = |name: &str, input| Call::Named { name: format!("mcp__tillgreen__{name}"), input };
    let ask = Turn::call(tool("request_change", asked));
    let learn = tool("add_learning", json!({ "text": "zero comes first" }));
    let first = |turn: Turn| turn.when("Execute task 1.1 for").unless("<retry_context");
    let zero = |turn: Turn| turn.when("Execute task 1.1.1 for");
    let [write, done] = works();
    let turns = [
        first(ask),
        first(Turn::call(learn)),
        first(Turn::say("I wait for that.")),
        zero(Turn::write("zero.txt", "0\n")),
        zero(Turn::say("Done.\n\nTASK_COMPLETE")),
        write.when("<retry_context"),
        done.when("<retry_context"),
        // Whoever is asked for a verdict on the first of them.
        Turn::say("It holds a zero.\n\nVERIFICATION_PASS"),
    ];
    each(ONE_TASK, &Scenario::new(turns), |stage| {
        if WITHOUT_TOOLS.contains(&stage.name) {
            return;
        }
        let played = stage.run(&[]).expect_code(0);
        let name = stage.name;
        assert_eq!(played.causes(), ["blocked"], "{name}: {}", played.finished);
        let tasks = stage.sandbox.tasks("demo");
        let (zero, one) = (tasks.find("- [x] 1.1.1 Write zero"), tasks.find("- [x] 1.1 Write one"));
        assert!(zero.is_some() && zero < one, "{name}: {tasks}");
        let progress = stage.sandbox.read("specs/demo/.progress.md");
        assert!(progress.contains("zero comes first"), "{name}: {progress}");
    });
}
