//! Checkboxes that stand among the tasks of a plan and are none.

use plan::{Plan, Verify};

fn strays(text: &str) -> Vec<String> {
    let plan = crate::expect::lossless(text);
    plan.stray_boxes().iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

fn verified_by(plan: &Plan, id: &str) -> Vec<String> {
    match plan.verify(plan.task(&id.into()).expect("it is in the plan")) {
        Verify::Runnable(script) => script.snippets,
        Verify::Prose(_) | Verify::Absent => Vec::new(),
    }
}

const AMONG: &str = "\
## Phase 1

- [ ] 1.1 [P] First
  - **Files**: a
  - **Verify**: `test -d a`

- [ ] Write the docs
  - **Files**: b
  - **Verify**: `test -d b`

 - [ ] 1.2 [P] One space before the dash
  - **Verify**: `test -d c`

- [ ] t_3 A name of a program
  - **Verify**: `test -d d`
- [ ]
- [x] Read the docs
";

#[test]
fn they_end_the_task_above_and_are_told_of() {
    let plan = Plan::parse(AMONG.to_owned());
    assert_eq!(plan.tasks().len(), 1);
    assert_eq!(verified_by(&plan, "1.1"), ["test -d a"]);
    assert_eq!(plan.fields(&plan.tasks()[0]).files.unwrap().paths, ["a"]);
    let expected = [
        "7: the checkbox “Write the docs” has no id, so it is no task",
        "11: there is a space before the checkbox of 1.2, so it is no task",
        "14: the checkbox “t_3 A name of a program” has no id, so it is no task",
        "16: the checkbox has no id, so it is no task",
    ];
    assert_eq!(strays(AMONG), expected);
    let ticked = plan.other_boxes().iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>();
    assert_eq!(ticked, ["the checkbox “Read the docs” has no id, so it is no task"]);
    let told = plan.lint().into_iter().filter(|problem| problem.message.ends_with("so it is no task"));
    assert_eq!(told.map(|problem| (problem.line, problem.hint.is_some())).collect::<Vec<_>>().len(), 5);
}

#[test]
fn what_is_indented_is_part_of_the_task_above() {
    let text = "- [ ] 1.1 a\n  - [ ] a step\n    - [ ] 2.1 another\n  - **Verify**: `test -d a`\n- [ ] 1.2 b\n - **Do**: x\n - [ ] a step\n - [ ] 1.2.1 another\n - **Verify**: `test -d b`\n";
    let plan = Plan::parse(text.to_owned());
    assert_eq!(strays(text), [""; 0]);
    assert_eq!(verified_by(&plan, "1.1"), ["test -d a"]);
    assert_eq!(verified_by(&plan, "1.2"), ["test -d b"]);
}

#[test]
fn a_list_below_a_heading_of_its_own_is_something_else() {
    let list = "- [ ] 1.1 a\n\n## Definition of done\n\n- [ ] CI green\n- [ ] Tests pass\n";
    assert_eq!(strays(list), [""; 0]);
    let tasks = "- [ ] 1.1 a\n\n## Phase 2\n\n- [ ] Docs\n  - **Do**: write\n- [ ] CI green\n";
    assert_eq!(strays(tasks), ["5: the checkbox “Docs” has no id, so it is no task"]);
    let criteria = "### Task 1.1: a\n\n- [ ] one\n - [ ] 2.2 two\n- **Verify**: `test -d a`\n";
    assert_eq!(strays(criteria), [""; 0]);
    assert_eq!(verified_by(&Plan::parse(criteria.to_owned()), "1.1"), ["test -d a"]);
    assert_eq!(strays("- [ ] one\n - [ ] 2.2 part\n- [ ] two\n"), [""; 0]);
}
