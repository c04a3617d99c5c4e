//! Tasks that are written as headings.

use plan::{BoxState, Plan};

/// The tasks of a text as `id state`.
fn tasks(text: &str) -> Vec<String> {
    let plan = crate::expect::lossless(text);
    for task in plan.tasks() {
        crate::expect::ticks(&plan, &task.id);
    }
    let state = |state| match state {
        BoxState::Open => ' ',
        BoxState::Done => 'x',
        BoxState::Other(mark) => mark,
    };
    plan.tasks().iter().map(|task| format!("{} {}", task.id, state(task.state))).collect()
}

#[test]
fn what_says_that_one_is_done() {
    for (below, state) in [
        ("", ' '),
        ("- [x] Done (commit: ebca856b)", 'x'),
        ("**Done when**:\n- [x] one\n- [x] two", 'x'),
        ("- **Done when**:\n  - [x] one\n  - [X] two", 'x'),
        ("**Done when**:\n- [x] one\n- [ ] two", ' '),
        ("**Status**: [x] COMPLETE", 'x'),
        ("- **Status:** [x] Done", 'x'),
        ("**Status**: [ ] Open\n- [x] one", ' '),
        ("**Status**: [~] Begun", '~'),
        ("**Status:** DONE", 'x'),
        ("**Status**: ✅ Completed", 'x'),
        ("**Status**: Not done", ' '),
        ("```\n- [x] shown\n```", ' '),
    ] {
        let text = format!("## Phase 1\n\n### Task 1.1: a\n{below}\n\n### Task 1.2: b\n");
        assert_eq!(tasks(&text), [format!("1.1 {state}"), "1.2  ".to_owned()], "{below}");
    }
    for heading in ["### Task 1.1: a [DONE]", "### T-001: a ✅", "#### T001: a [completed]"] {
        assert!(tasks(heading)[0].ends_with(" x"), "{heading}");
    }
    assert_eq!(tasks("### Task 1.1: a [ ]\n- [x] one\n"), ["1.1  "]);
}

#[test]
fn a_status_is_ticked_where_it_stands() {
    let mut plan = Plan::parse("### Task 1.1: a\n\n**Status**: [ ] Open\n".to_owned());
    let body = plan.body(&plan.tasks()[0]).into_owned();
    plan.tick(&"1.1".into()).unwrap();
    assert_eq!(plan.text(), "### Task 1.1: a\n\n**Status**: [x] Open\n");
    assert_eq!(plan.body(&plan.tasks()[0]), body);
}

#[test]
fn what_criteria_say_can_be_denied() {
    let text = "### Task 1.1: a\n- [x] one\n";
    let mut plan = Plan::parse(text.to_owned());
    for _ in 0..2 {
        plan.untick(&"1.1".into()).unwrap();
        assert_eq!(plan.text(), "### Task 1.1: a [ ]\n- [x] one\n");
        assert_eq!(Plan::parse(plan.text().to_owned()).tasks()[0].state, BoxState::Open);
        plan.tick(&"1.1".into()).unwrap();
        assert_eq!(plan.text(), "### Task 1.1: a [x]\n- [x] one\n");
    }
}

const LISTED: &str = "\
## Phase 1

### Task 1.1: First

**Do**: it

### Task 1.2: Second

**Do**: that

## Checklist

- [x] 1.1 First
- [ ] Task 1.2: Second
- [ ] All tests pass
";

#[test]
fn a_checklist_that_names_them_holds_their_boxes() {
    assert_eq!(tasks(LISTED), ["1.1 x", "1.2  "]);
    let mut plan = Plan::parse(LISTED.to_owned());
    assert_eq!(plan.problems(), []);
    plan.tick(&"1.2".into()).unwrap();
    assert_eq!(plan.text(), LISTED.replace("- [ ] Task 1.2", "- [x] Task 1.2"));
    let other = plan.other_boxes();
    assert_eq!((other.len(), other[0].line), (1, 15));
    let (sections, list) = LISTED.split_at(LISTED.find("## Checklist").unwrap());
    assert_eq!(tasks(&format!("{list}\n{sections}")), ["1.1 x", "1.2  "]);
}

#[test]
fn boxes_written_as_tasks_are_the_tasks() {
    let same = "### Task 1.1: a\n\n- [ ] 1.1 a\n  - **Do**: it\n  - **Verify**: `true`\n";
    let plan = Plan::parse(same.to_owned());
    assert!(plan.tasks().len() == 1 && !plan.tasks()[0].is_header());
    let group = "### Task 1: a\n\n- [ ] S1 b\n  - **Do**: it\n- [ ] S2 c\n  - **Do**: it\n";
    assert_eq!(tasks(group), ["S1  ", "S2  "]);
    let steps = "### Task 1: a\n\n- [ ] S1 b\n- [ ] S2 c\n\n**Verify**: `true`\n";
    assert_eq!(tasks(steps), ["1  "]);
    let groups = "## Task 1: a\n\n### Task 1.1: b\n\n### Task 1.2: c\n";
    assert_eq!(tasks(groups), ["1.1  ", "1.2  "]);
    let boxed = "### Task 3.4: a\n\n- [ ] one\n\n- [x] ### Task 3.5: b\n\n**Do**: it\n\n- [ ] two\n";
    assert_eq!(tasks(boxed), ["3.4  ", "3.5 x"]);
}

#[test]
fn what_they_depend_on() {
    let text = "### Task 1.1: a\n\n**Dependencies**: None\n\n**Do**: it\n\n### Task 1.2: b\n\n**Do**: it\n\n**Dependencies**: Task 1.1 (the base)\n\n### Task 1.3: c\n\n**Do**: it\n\n**Depends on:** Task 1.11\n";
    let plan = crate::expect::lossless(text);
    let needs = |task: &plan::Task| plan.dependencies(task, &plan.fields(task));
    let needs: Vec<Vec<plan::TaskId>> = plan.tasks().iter().map(needs).collect();
    assert_eq!(needs, [vec![], vec!["1.1".into()], vec![]]);
    let problems = plan.dependency_problems();
    assert_eq!((problems.len(), problems[0].hint.as_deref()), (1, Some("did you mean `1.1`?")));
}
