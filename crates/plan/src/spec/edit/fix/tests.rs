use super::*;

fn insert(text: &str, failing: &str, error: &str) -> String {
    let mut plan = Plan::parse(text.to_owned());
    let failing = TaskId::from(failing);
    let id = plan.next_fix_id(&failing);
    plan.insert_fix(&FixTask {
        id: &id,
        failing: &failing,
        error,
        attempted_fix: None,
        kind: ErrorType::of(error),
    })
    .unwrap();
    plan.text().to_owned()
}

#[test]
fn the_example_of_the_seed() {
    let before = "\
- [ ] 1.3 Add failure parser
  - **Do**: Add parsing logic to implement.md
  - **Files**: plugins/ralph-specum/commands/implement.md
  - **Done when**: Parser extracts error details
  - **Verify**: grep -q \"Parse Failure\" implement.md
  - **Commit**: feat(coordinator): add failure parser

- [ ] 1.4 Next task
";
    let mut plan = Plan::parse(before.to_owned());
    let (id, failing) = (TaskId::new("1.3.1"), TaskId::new("1.3"));
    let attempted_fix = Some("Checked alternate paths");
    let fix = FixTask {
        id: &id,
        failing: &failing,
        error: "File not found: src/parser.ts",
        attempted_fix,
        kind: ErrorType::MissingFile,
    };
    plan.insert_fix(&fix).unwrap();
    insta::assert_snapshot!(plan.text(), @r#"
    - [ ] 1.3 Add failure parser
      - **Do**: Add parsing logic to implement.md
      - **Files**: plugins/ralph-specum/commands/implement.md
      - **Done when**: Parser extracts error details
      - **Verify**: grep -q "Parse Failure" implement.md
      - **Commit**: feat(coordinator): add failure parser

    - [ ] 1.3.1 [FIX 1.3] Fix: File not found: src/parser.ts
      - **Do**: Address the error: File not found: src/parser.ts
        1. Analyze the failure: Checked alternate paths
        2. Review related code in Files list
        3. Implement fix for: File not found: src/parser.ts
      - **Files**: plugins/ralph-specum/commands/implement.md
      - **Done when**: Error "File not found: src/parser.ts" no longer occurs
      - **Verify**: grep -q "Parse Failure" implement.md
      - **Commit**: `fix(recovery): address missing file from task 1.3`

    - [ ] 1.4 Next task
    "#);
    assert_eq!(plan.insert_fix(&fix), Err(EditError::IdTaken { id: id.clone() }));
    let unknown = TaskId::new("9");
    let fix = FixTask { failing: &unknown, id: &TaskId::new("9.1"), ..fix };
    assert_eq!(plan.insert_fix(&fix), Err(EditError::UnknownTask { id: unknown.clone() }));
}

fn ids(text: &str) -> Vec<String> {
    Plan::parse(text.to_owned()).tasks().iter().map(|task| task.id.to_string()).collect()
}

#[test]
fn after_earlier_fixes_and_theirs() {
    let mut text = "- [ ] 1.1 a\n- [ ] 1.1.1 ordinary\n- [ ] 1.2 b\n## Phase 2\n- [ ] 2.1 c\n".to_owned();
    for failing in ["1.1", "1.1.2", "1.1", "1.2", "1.1.2.1"] {
        text = insert(&text, failing, "e");
    }
    let expected = ["1.1", "1.1.2", "1.1.2.1", "1.1.2.1.1", "1.1.3", "1.1.1", "1.2", "1.2.1", "2.1"];
    assert_eq!(ids(&text), expected);
    assert!(!text.contains("\n\n"), "tasks without gaps get fixes without gaps: {text}");
}

#[test]
fn as_the_text_around_it() {
    let crlf = insert("- [ ] 1 a\r\n    * **Verify**: `t`\r\n\r\n- [ ] 2 b\r\n", "1", "e");
    assert_eq!(crlf.matches('\n').count(), crlf.matches("\r\n").count());
    assert!(crlf.contains("\r\n    - **Verify**: `t`\r\n    - **Commit**"));
    assert!(crlf.contains("\r\n\r\n- [ ] 1.1 [FIX 1]") && crlf.contains("`\r\n\r\n- [ ] 2 b\r\n"));
    let tabs = insert("* [ ] 1 a\n\t* **Verify**: `t`", "1", "e");
    assert!(
        tabs.contains("\n* [ ] 1.1 [FIX 1]")
            && tabs.contains("\n\t* **Do**")
            && tabs.contains("\n\t\t1. Analyze")
    );
    assert!(tabs.ends_with("from task 1`"), "no line ending where there was none");
}

#[test]
fn fields_over_several_lines_are_inherited() {
    let span = "- [ ] 1 a\n  - **Files**:\n    - `a.rs`\n    - `b.rs`\n  - **Verify**: `python3 -c \"\n- [ ] 9 x\nprint(1)\n\"`\n- [ ] 2 b\n";
    let fence = "- [ ] 1 a\n    - **Verify**:\n      ```bash\n      if true; then\n        cargo test | tail -3\n      fi\n      ```\n";
    let header = "## Phase\n\n### Task 1: a\n\n**Do**: x\n\n**Verify:**\n```bash\ncargo test\n  b\n```\n\n---\n\n### Task 2: b\n";
    for text in [span, fence, header] {
        let mut plan = Plan::parse(text.to_owned());
        let original = plan.verify(&plan.tasks()[0]);
        let mut failing = TaskId::new("1");
        for _ in 0..3 {
            let id = plan.next_fix_id(&failing);
            let fix = FixTask {
                id: &id,
                failing: &failing,
                error: "e",
                attempted_fix: None,
                kind: ErrorType::Error,
            };
            plan.insert_fix(&fix).unwrap();
            let task = plan.task(&id).unwrap();
            assert_eq!(plan.verify(task), original, "{}", plan.text());
            assert_eq!(
                plan.fields(task).files.map(|files| files.paths).unwrap_or_default().len(),
                if text == span { 2 } else { 0 }
            );
            failing = id;
        }
    }
}

#[test]
fn what_is_missing_is_not_made_up() {
    let none = insert("- [ ] 1 a\n  - **Done when**: the door\n    is open\n- [ ] 2 b\n", "1", "e");
    insta::assert_snapshot!(none, @r#"
    - [ ] 1 a
      - **Done when**: the door
        is open
    - [ ] 1.1 [FIX 1] Fix: e
      - **Do**: Address the error: e
        1. Analyze the failure: No previous fix attempted
        2. Review related code in Files list
        3. Implement fix for: e
      - **Files**: Same as task 1
      - **Done when**: Error "e" no longer occurs; the door is open
      - **Commit**: `fix(recovery): address error from task 1`
    - [ ] 2 b
    "#);
    let prose = insert("- [ ] 1 a\n  - **Verify**: look at it\n", "1", "");
    assert!(
        prose.contains("[FIX 1] Fix: task 1 failure\n")
            && prose.contains("Error \"Task execution failed\" no")
    );
    assert!(prose.contains("  - **Verify**: look at it\n  - **Commit**"));
}

#[test]
fn tasks_without_ids() {
    let text = insert("- [ ] first\n\n- [ ] second\n", "#2", "e");
    assert!(text.contains("\n\n- [ ] #2.1 [FIX #2] Fix: e\n"));
    assert_eq!(ids(&text), ["#1", "#2", "#2.1"]);
    let text = insert(&text, "#2.1", "e");
    assert_eq!(ids(&text), ["#1", "#2", "#2.1", "#2.1.1"]);
    assert_eq!(ids(&insert(&text, "#1", "e")), ["#1", "#1.1", "#2", "#2.1", "#2.1.1"]);
}

#[test]
fn the_second_task_of_a_name_gets_the_fix() {
    let text = insert("- [ ] 1 a\n- [ ] 2 b\n- [ ] 1 c\n", "1~2", "e");
    assert_eq!(ids(&text), ["1", "2", "1~2", "1.1"]);
}
