//! Runs that may cost only so much.

use rehearsal::{Answer, Call, Scenario, Turn, Usage};

use super::stage::each;

const TWO_TASKS: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Files**: `one.txt`
  - **Verify**: `grep -q one one.txt`
  - **Commit**: `feat: write one`
- [ ] 1.2 Write two
  - **Files**: `two.txt`
  - **Verify**: `grep -q two two.txt`
  - **Commit**: `feat: write two`
";

/// An agent that does the first task for many tokens.
fn expensive() -> Scenario {
    let usage = Usage { input: 100_000, output: 10_000, cached: 0 };
    let write = Call::Write { path: "one.txt".to_owned(), content: "one\n".to_owned() };
    Scenario::new([
        Turn::answer(Answer { calls: vec![write], usage, ..Answer::default() }),
        Turn::answer(Answer { text: "TASK_COMPLETE".to_owned(), usage, ..Answer::default() }),
    ])
}

#[test]
fn a_budget_of_tokens_stops_the_run_before_the_next_task() {
    each(TWO_TASKS, &expensive(), |stage| {
        let played = stage.run(&["--max-tokens", "200000"]).expect_code(5);
        let (finished, name) = (&played.finished, stage.name);
        assert!(finished.stderr.contains("Max tokens"), "{name}: {finished}");
        assert_eq!(played.events("attempt_started").len(), 1, "{name}: {finished}");
    });
}

#[test]
fn a_budget_of_money_stops_the_run_where_agents_tell_what_they_cost() {
    each(TWO_TASKS, &expensive(), |stage| {
        if !matches!(stage.name, "claude" | "pi") {
            return;
        }
        let played = stage.run(&["--max-cost", "0.05"]).expect_code(5);
        assert!(played.finished.stderr.contains("Max cost"), "{}", played.finished);
        assert_eq!(played.events("attempt_started").len(), 1, "{}", played.finished);
    });
}
