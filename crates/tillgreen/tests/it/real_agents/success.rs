//! Plans that become green.

use rehearsal::{Call, Scenario, Turn};

use super::stage::{ONE_TASK, each, every, works};

const TWO_TASKS: &str = "\
# Tasks

- [ ] 1.1 Write one
  - **Do**: write one into one.txt
  - **Files**: `one.txt`
  - **Verify**: `grep -q one one.txt`
  - **Commit**: `feat: write one`
- [ ] 1.2 Write two
  - **Do**: write two into two.txt
  - **Files**: `two.txt`
  - **Verify**: `grep -q two two.txt`
  - **Commit**: `feat: write two`
- [ ] 1.3 [VERIFY] Both are there
  - **Verify**: `test -s one.txt && test -s two.txt`
  - **Commit**: None
";

#[test]
fn a_whole_spec_becomes_green() {
    let work = |id: &str, turn: Turn| {
        let prompt = format!("Execute task {id} for");
        [turn.when(&prompt), Turn::say("Done.\n\nTASK_COMPLETE").when(&prompt)]
    };
    let turns = [
        work("1.1", Turn::write("one.txt", "one\n")),
        work("1.2", Turn::call(Call::Shell("echo two > two.txt".to_owned()))),
    ];
    every(TWO_TASKS, &Scenario::new(turns.concat()), |stage| {
        let played = stage.run(&[]).expect_code(0);
        let name = stage.name;
        assert_eq!(stage.sandbox.tasks("demo"), TWO_TASKS.replace("[ ]", "[x]"), "{name}");
        let subjects = stage.sandbox.subjects();
        assert!(subjects.contains(&"feat: write two".to_owned()), "{name}: {subjects:?}");
        assert_eq!(stage.sandbox.dirt(), Vec::<String>::new(), "{name}");
        assert_eq!(played.events("attempt_started").len(), 2, "{name}");
        // Two answers of a hundred and twenty tokens for each task.
        assert!(played.finished.stderr.contains("480 tokens"), "{name}: {}", played.finished);
    });
}

#[test]
fn what_failed_is_fed_back_and_tried_again() {
    let claims = Turn::say("It is written.\n\nTASK_COMPLETE").unless("<retry_context");
    let [write, done] = works();
    let turns = [claims, write.when("<retry_context"), done.when("<retry_context")];
    each(ONE_TASK, &Scenario::new(turns), |stage| {
        let played = stage.run(&[]).expect_code(0);
        assert_eq!(played.causes(), ["verify_red"], "{}: {}", stage.name, played.finished);
        assert_eq!(stage.sandbox.tasks("demo"), ONE_TASK.replace("[ ]", "[x]"));
    });
}

#[test]
fn a_fix_task_is_written_and_done() {
    let original = "Execute task 1.1 for";
    let fails = "Task 1.1: Write one FAILED\n- Error: one.txt cannot be found\n- Attempted fix: none\n";
    let [write, done] = works();
    let turns = [
        Turn::say(fails).when(original),
        write.when("Execute task 1.1.1 for"),
        done.when("Execute task 1.1.1 for"),
        Turn::say("It is there now.\n\nTASK_COMPLETE").when(original),
    ];
    each(ONE_TASK, &Scenario::new(turns), |stage| {
        let played = stage.run(&["--recovery-mode"]).expect_code(0);
        assert_eq!(played.causes(), ["claimed_failure"], "{}: {}", stage.name, played.finished);
        let tasks = stage.sandbox.tasks("demo");
        assert!(
            tasks.contains("- [x] 1.1.1 [FIX 1.1] Fix: one.txt cannot be found"),
            "{}: {tasks}",
            stage.name
        );
    });
}

#[test]
fn agents_work_in_the_sandbox() {
    if !crate::safety::can_sandbox() {
        return;
    }
    each(ONE_TASK, &Scenario::new(works()), |stage| {
        let played = stage.run(&["--sandbox"]).expect_code(0);
        assert_eq!(
            stage.sandbox.tasks("demo"),
            ONE_TASK.replace("[ ]", "[x]"),
            "{}: {}",
            stage.name,
            played.finished
        );
    });
}
