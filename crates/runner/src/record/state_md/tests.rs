use crate::record::state_md::*;

fn entry(id: &str) -> Entry {
    let skip =
        Skip { reason: "User escalation - \"automated\" recovery failed".to_owned(), dependents: vec![] };
    Entry::of(&TaskId::new(id), &skip, "2026-01-26T14:40:00Z".parse().unwrap())
}

/// The text after these tasks were left out.
fn noted(known: &str, ids: &[&str]) -> String {
    let mut text = if List::find(known).is_some() { known.to_owned() } else { with_list(known) };
    for id in ids {
        let list = List::find(&text).unwrap();
        if !list.holds(&text, &TaskId::new(id)) {
            text = with_block(&list.with(&text, &entry(id)), &format!("[SKIPPED] {id}\n  Reason: x\n"));
        }
    }
    text
}

#[test]
fn entries_are_added_once_and_nothing_else_changes() {
    let known = "---\nphase: 3\n---\n\n# State\n\nAll is well.";
    insta::assert_snapshot!(noted(known, &["03-01:task-3", "03-01:task-4", "03-01:task-3"]), @r#"
    ---
    phase: 3
    ---

    # State

    All is well.

    ## Skipped Tasks

    ```yaml
    skipped_tasks:
      - task: "03-01:task-3"
        reason: "User escalation - 'automated' recovery failed"
        timestamp: "2026-01-26T14:40:00Z"
      - task: "03-01:task-4"
        reason: "User escalation - 'automated' recovery failed"
        timestamp: "2026-01-26T14:40:00Z"
    ```

    ```
    [SKIPPED] 03-01:task-3
      Reason: x

    [SKIPPED] 03-01:task-4
      Reason: x
    ```
    "#);
}

/// The lines of the list after one more task was left out.
#[track_caller]
fn check(known: &str, expected: &str) {
    let text = noted(known, &["1.2"]);
    assert_eq!(text.matches(LIST).count(), 1, "{text}");
    let short = text.replace("    reason: \"User escalation - 'automated' recovery failed\"", "    …");
    let short = short.replace("    timestamp: \"2026-01-26T14:40:00Z\"\n", "");
    assert!(short.contains(expected), "{short}");
    assert_eq!(noted(&text, &["1.2"]), text, "once");
}

#[test]
fn the_list_that_is_there_is_used() {
    check("skipped_tasks: []\n\nrest\n", "skipped_tasks:\n  - task: \"1.2\"\n    …\n\nrest\n");
    check("skipped_tasks:", "skipped_tasks:\n  - task: \"1.2\"\n");
    check("a:\n  skipped_tasks: null\nb: 1\n", "  skipped_tasks:\n    - task: \"1.2\"\n");
    let inline = "skipped_tasks: [{task: \"1.1\"}, {task: \"1.2\", reason: \"User";
    check("skipped_tasks: [{task: \"1.1\"}]\n", inline);
    let list = "skipped_tasks:\n  - task: '1.1'\n    reason: x\n\n  - task: 1.3\n";
    check(&format!("{list}\n## Next\n"), &format!("{list}  - task: \"1.2\"\n    …\n\n## Next\n"));
    assert_eq!(noted(list, &["1.1", "1.3"]), list);
    let windows = noted("# State\r\nskipped_tasks:\r\n", &["1.2"]);
    assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count(), "{windows:?}");
}
