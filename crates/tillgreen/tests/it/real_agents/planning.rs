//! Plans that agents write.

use rehearsal::{Scenario, Turn};

use super::stage::{ONE_TASK, each};

const DRAFT: &str = "specs/add-two/tasks.md";

const BROKEN: &str = "\
# Tasks: two

- [ ] 1.1 Write two
  - **Do**: write two into two.txt
  - **Files**: `two.txt`
  - **Depends on**: 4.2
  - **Verify**: `grep -q two two.txt || true`
";

const GOOD: &str = "\
# Tasks: two

- [ ] 1.1 Write two
  - **Do**: write two into two.txt
  - **Files**: `two.txt`
  - **Verify**: `grep -q two two.txt`
  - **Commit**: `feat: write two`
- [ ] 1.2 [VERIFY] It is there
  - **Verify**: `test -s two.txt`
";

fn done() -> Turn {
    Turn::say("It is written.\n\nTASK_COMPLETE")
}

/// A first attempt that writes one text into a file, and a second that writes another.
fn corrects(path: &str, [first, second]: [&str; 2]) -> Scenario {
    let again = "<retry_context";
    let remove = Turn::call(rehearsal::Call::Shell(format!("rm {path}")));
    Scenario::new([
        Turn::write(path, first).unless(again),
        done().unless(again),
        remove.when(again),
        Turn::write(path, second).when(again),
        done().when(again).always(),
    ])
}

#[test]
fn a_plan_is_written_sent_back_and_accepted() {
    each(ONE_TASK, &corrects(DRAFT, [BROKEN, GOOD]), |stage| {
        let name = stage.name;
        let played = stage.plan(&["--accept", "add", "two"]).expect_code(0);
        assert_eq!(played.causes(), ["verify_red"], "{name}: {}", played.finished);
        assert_eq!(stage.sandbox.tasks("add-two"), GOOD, "{name}: {}", played.finished);
        assert_eq!(stage.sandbox.dirt().len(), 2, "{name}: {:?}", stage.sandbox.dirt());
        let failed = played.events("attempt_failed")[0]["failure"]["details"].to_string();
        assert!(failed.contains("cannot fail") && failed.contains("depends on 4.2"), "{name}: {failed}");
    });
}

#[test]
fn commands_are_proposed_sent_back_and_accepted() {
    let plan = "# Tasks\n\n- [ ] 1.1 Write one\n  - **Do**: write one into one.txt\n- [ ] 1.2 Rest\n";
    let texts = ["1.1: true\n", "1.1: grep -q one one.txt\n"];
    each(plan, &corrects("tillgreen-commands.txt", texts), |stage| {
        let played = stage.plan(&["--verify", "--accept"]).expect_code(0);
        assert_eq!(played.causes(), ["verify_red"], "{}: {}", stage.name, played.finished);
        let expected = plan.replace("one.txt\n", "one.txt\n  - **Verify**: `grep -q one one.txt`\n");
        assert_eq!(stage.sandbox.tasks("demo"), expected, "{}: {}", stage.name, played.finished);
    });
}
