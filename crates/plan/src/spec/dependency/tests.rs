//! Which order follows from what tasks depend on, and what is said of the rest.

use crate::Plan;

/// A plan of open tasks: id, markers, and what it depends on.
fn plan(tasks: &[(&str, &str, &str)]) -> Plan {
    let mut text = "# Tasks\n\n## Phase 1: One\n\n".to_owned();
    for (id, markers, on) in tasks {
        if *id == "##" {
            text.push_str("## Phase 2: Two\n\n");
            continue;
        }
        let on = if on.is_empty() { String::new() } else { format!("  - **Depends on**: {on}\n") };
        text.push_str(&format!("- [ ] {id} {markers} Task\n{on}  - **Verify**: `test -f a`\n\n"));
    }
    Plan::parse(text)
}

#[track_caller]
fn check(tasks: &[(&str, &str, &str)], order: &str, problems: &[&str]) {
    let plan = plan(tasks);
    let found: Vec<String> = plan.running_order().iter().map(|task| task.id.to_string()).collect();
    assert_eq!(found.join(" "), order);
    let found = plan.dependency_problems();
    let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, problems);
    for problem in &found {
        let task = plan.task(problem.task.as_ref().unwrap()).unwrap();
        assert!(problem.line == task.line && problem.hint.is_some(), "{problem:?}");
        assert!(plan.lint().contains(problem), "{problem:?}");
    }
}

#[test]
fn who_depends_on_a_later_task_follows_it() {
    check(&[("1.1", "", "1.2"), ("1.2", "", ""), ("1.3", "", "")], "1.2 1.1 1.3", &[]);
    check(&[("1.1", "[P]", "1.3"), ("1.2", "[P]", "1.1"), ("1.3", "[P]", "")], "1.3 1.1 1.2", &[]);
    check(&[("1.1", "", "Task 1.3, 1.2"), ("1.2", "", "1.3"), ("1.3", "", "")], "1.3 1.2 1.1", &[]);
    check(&[("1.1", "", "1.2"), ("1.1.1", "[FIX 1.1]", ""), ("1.2", "", "")], "1.2 1.1 1.1.1", &[]);
    check(&[("1.1", "", "None"), ("1.2", "", "1.1"), ("1.3", "", "n/a")], "1.1 1.2 1.3", &[]);
    check(&[("1.1", "", ""), ("1.2", "", "1.1 (the schema, at least)")], "1.1 1.2", &[]);
    check(&[("1.1", "", ""), ("##", "", ""), ("2.1", "", "1.1")], "1.1 2.1", &[]);
}

#[test]
fn circles_are_cut_where_they_begin() {
    let circle = |task: &str, on: &str| {
        format!("task {task} depends on {on} and does not wait for it: {on} depends on {task} in turn")
    };
    check(&[("1.1", "", "1.2"), ("1.2", "", "1.1")], "1.1 1.2", &[&circle("1.1", "1.2")]);
    let behind = [("1.1", "", "1.2"), ("1.2", "", "1.3"), ("1.3", "", "1.2"), ("1.4", "", "")];
    check(&behind, "1.2 1.1 1.3 1.4", &[&circle("1.2", "1.3")]);
    let before = [("1.1", "[P]", "1.2"), ("1.2", "[P]", "1.1"), ("1.3", "", "")];
    check(&before, "1.1 1.2 1.3", &[&circle("1.1", "1.2")]);
    let two = [("1.1", "", "1.2"), ("1.2", "", "1.1"), ("1.3", "", "1.4"), ("1.4", "", "1.3")];
    check(&two, "1.1 1.2 1.3 1.4", &[&circle("1.1", "1.2"), &circle("1.3", "1.4")]);
}

#[test]
fn nobody_changes_phases_or_passes_a_verification() {
    check(
        &[("1.1", "", "2.1"), ("##", "", ""), ("2.1", "", "")],
        "1.1 2.1",
        &["task 1.1 depends on 2.1 and does not wait for it: 2.1 is in a later phase"],
    );
    let barrier = "a verification or a checkpoint comes before";
    check(
        &[("1.1", "", "1.3"), ("1.2", "[VERIFY]", ""), ("1.3", "", "")],
        "1.1 1.2 1.3",
        &[&format!("task 1.1 depends on 1.3 and does not wait for it: {barrier} 1.3")],
    );
}

#[test]
fn what_names_no_other_task_is_pointed_out() {
    check(
        &[
            ("1.1", "", "7.7"),
            ("1.2", "", "1.2"),
            ("1.3", "", "the database task"),
            ("1.4", "", "1.1, 9.9"),
            ("1.5", "", "`1.1-1.3`"),
            ("1.6", "", "1.1 and whatever else there is; the rest"),
        ],
        "1.1 1.2 1.3 1.4 1.5 1.6",
        &[
            "task 1.1 depends on 7.7, which is no task of this plan",
            "task 1.2 depends on itself, which counts for nothing",
            "task 1.3 depends on “the database task”, which names no task, so it waits for none",
            "task 1.4 depends on 9.9, which is no task of this plan",
            "task 1.5 depends on 1.1-1.3, which is no task of this plan",
        ],
    );
}

#[test]
fn who_is_done_waits_for_nothing() {
    let text = plan(&[("1.1", "", "7.7"), ("1.2", "", "1.3"), ("1.3", "", "1.2")]).text().to_owned();
    let done = Plan::parse(text.replace("- [ ] 1.1", "- [x] 1.1").replace("- [ ] 1.3", "- [x] 1.3"));
    assert_eq!(done.dependency_problems(), []);
}

#[test]
fn a_long_chain_is_put_in_order() {
    let names: Vec<(String, String)> =
        (1..3_000).map(|place| (format!("1.{place}"), format!("1.{}", place + 1))).collect();
    let tasks: Vec<(&str, &str, &str)> =
        names.iter().map(|(id, on)| (id.as_str(), "", on.as_str())).chain([("1.3000", "", "")]).collect();
    let order = plan(&tasks);
    let order: Vec<String> = order.running_order().iter().map(|task| task.id.to_string()).collect();
    assert_eq!((order[0].as_str(), order[2_999].as_str()), ("1.3000", "1.1"));
}
