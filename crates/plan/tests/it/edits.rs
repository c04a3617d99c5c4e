//! Ticks: as few bytes as possible, and fast however many tasks there are.

use plan::{BoxState, EditError, Plan, TaskId};

fn ticked(text: &str, id: &str) -> String {
    let mut plan = Plan::parse(text.to_owned());
    plan.tick(&TaskId::from(id)).expect("a known task");
    plan.text().to_owned()
}

#[test]
fn only_the_own_box() {
    let text = "- [ ] 1.1 a\n- [ ] 1.10 b\n- [ ] 1.1.1 c\n- [ ] 11 d\n- [~] 1.2 e\n-[ ] 1.3 f\n* [ ]1.4 g\n";
    assert_eq!(ticked(text, "1.1"), text.replace("[ ] 1.1 ", "[x] 1.1 "));
    assert_eq!(ticked(text, "1.10"), text.replace("[ ] 1.10", "[x] 1.10"));
    assert_eq!(ticked(text, "1.2"), text.replace("[~]", "[x]"));
    assert_eq!(ticked(text, "1.3"), text.replace("-[ ]", "-[x]"));
    assert_eq!(ticked(text, "1.4"), text.replace("[ ]1.4", "[x]1.4"));
    assert_eq!(ticked("- [ ] 1 a\n- [ ] 1 b\n", "1~2"), "- [ ] 1 a\n- [x] 1 b\n");
    assert_eq!(ticked("- [ ] a\n- [ ] b", "#2"), "- [ ] a\n- [x] b");
    assert_eq!(ticked("- [X] 1 a", "1"), "- [X] 1 a");
    assert_eq!(ticked("- [✓] 1 a\n", "1"), "- [x] 1 a\n");
}

#[test]
fn headers() {
    assert_eq!(ticked("### Task 1: a\nb\n", "1"), "### Task 1: a [x]\nb\n");
    assert_eq!(ticked("### Task 1: a [ ]\r\n", "1"), "### Task 1: a [x]\r\n");
    assert_eq!(ticked("### Task 1: [ ] a\n", "1"), "### Task 1: [x] a\n");
    let mut plan = Plan::parse("### Task 1: a ✓\n### Task 2: b\n".to_owned());
    plan.untick(&TaskId::new("1")).unwrap();
    assert_eq!(plan.text(), "### Task 1: a\n### Task 2: b\n");
    plan.tick(&TaskId::new("2")).unwrap();
    plan.untick(&TaskId::new("2")).unwrap();
    assert_eq!(plan.text(), "### Task 1: a\n### Task 2: b\n");
}

#[test]
fn a_box_can_be_put_back() {
    let text = "- [~] 1 a\n- [ ] 2 b\n";
    let mut plan = Plan::parse(text.to_owned());
    let id = TaskId::new("1");
    assert_eq!(plan.problems().len(), 1);
    plan.untick(&id).unwrap();
    assert_eq!(plan.text(), text, "there is no tick to take away");
    plan.tick(&id).unwrap();
    assert!(plan.problems().is_empty());
    plan.set_box(&id, BoxState::Other('~')).unwrap();
    assert_eq!(plan.text(), text);
    let unknown = TaskId::new("3");
    assert_eq!(plan.tick(&unknown), Err(EditError::UnknownTask { id: unknown.clone() }));
    assert_eq!(plan.untick(&unknown), Err(EditError::UnknownTask { id: unknown.clone() }));
}

#[test]
fn twenty_thousand_tasks() {
    let mut text = String::new();
    for n in 0..20_000 {
        let task = format!(
            "- [ ] {}.{n} [P] Task number {n}\n  - **Do**: Write `file{n}`\n  - **Files**: `src/{n}.rs`\n  - **Verify**: `test -f src/{n}.rs`\n\n",
            n / 100
        );
        if n % 100 == 0 {
            text.push_str("## Phase\n\n");
        }
        text.push_str(&task);
    }
    let mut plan = Plan::parse(text.clone());
    assert_eq!((plan.tasks().len(), plan.phases().len()), (20_000, 200));
    let ids: Vec<TaskId> = plan.tasks().iter().map(|task| task.id.clone()).collect();
    for id in &ids {
        plan.tick(id).unwrap();
    }
    assert_eq!(plan.text(), text.replace("- [ ]", "- [x]"));
    assert!(plan.tasks().iter().all(|task| task.state.is_done()));
    assert!(size_of::<plan::Task>() <= 192, "{}", size_of::<plan::Task>());
}

#[test]
fn tasks_that_are_missing_come_back_where_they_were() {
    let check = |after: &str, missing: &[&str], expected: &str| {
        let before =
            Plan::parse("# T\n\n- [ ] 1.1 One\n  - a\n\n- [ ] 1.2 Two\n\n- [ ] 1.3 Three\n".to_owned());
        let missing: Vec<TaskId> = missing.iter().map(|id| TaskId::new(id)).collect();
        assert_eq!(Plan::parse(after.to_owned()).with_tasks_of(&before, &missing), expected);
    };
    check(
        "# Mine\n\n- [ ] 1.1 One, better\n\n- [ ] 1.3 Three\n",
        &["1.2"],
        "# Mine\n\n- [ ] 1.1 One, better\n\n- [ ] 1.2 Two\n\n- [ ] 1.3 Three\n",
    );
    check("- [ ] 1.3 Three\n", &["1.1", "1.2"], "- [ ] 1.1 One\n  - a\n\n- [ ] 1.2 Two\n\n- [ ] 1.3 Three\n");
    check("- [x] 1.1 One\n", &["1.2", "1.3"], "- [x] 1.1 One\n\n- [ ] 1.2 Two\n\n- [ ] 1.3 Three\n");
}
