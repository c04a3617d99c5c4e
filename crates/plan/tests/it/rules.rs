//! The rules by which `tasks.md` is read, one by one.

use plan::{BoxState, Plan, Severity};

/// The tasks of a text as `id state title`, one per line.
fn tasks(text: &str) -> Vec<String> {
    let plan = crate::expect::lossless(text);
    let tasks = plan.tasks().iter().map(|task| {
        let state = match task.state {
            BoxState::Open => ' ',
            BoxState::Done => 'x',
            BoxState::Other(mark) => mark,
        };
        format!("{} {state} {}", task.id, plan.title(task))
    });
    tasks.collect()
}

fn problems(text: &str) -> Vec<String> {
    let plan = Plan::parse(text.to_owned());
    plan.problems().iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

#[test]
fn ids_of_every_kind() {
    let text = "- [ ] 1.3 a\n- [x] V4 [VERIFY] b\n- [X] VE1 c\n- [ ] T001 [P] d\n- [ ] Q1 e\n- [ ] 2.2.1a f\n- [ ] 6.B.1 g\n- [ ] VE-cleanup h\n- [ ] VF i\n- [ ] 1.1.1 j\n- [ ] [P] T002 k\n";
    let expected = [
        "1.3   a",
        "V4 x b",
        "VE1 x c",
        "T001   d",
        "Q1   e",
        "2.2.1a   f",
        "6.B.1   g",
        "VE-cleanup   h",
        "VF   i",
        "1.1.1   j",
        "T002   k",
    ];
    assert_eq!(tasks(text), expected);
}

#[test]
fn codes_without_a_digit_are_ids_among_ids() {
    let listed =
        "- [ ] 1.1 a\n- [ ] V_final_a [VERIFY] b\n- [ ] GAP.VER c\n- [ ] PRAGMA-A d\n- [ ] CI green\n";
    assert_eq!(tasks(listed), ["1.1   a", "V_final_a   b", "GAP.VER   c", "PRAGMA-A   d"]);
    let apart = "- [ ] 1.1 a\n\n## Done when\n\n- [ ] CLI-based tests pass\n- [ ] `REDIS_URL` is set\n";
    assert_eq!(tasks(apart), ["1.1   a"]);
    let set_off = "- [ ] 1.1 a\n\n## More\n\n- [ ] **GAP.VER** b\n\n## Rest\n\n- [ ] V_final: c\n";
    assert_eq!(tasks(set_off), ["1.1   a", "GAP.VER   b", "V_final   c"]);
    assert_eq!(tasks("- [ ] PRAGMA-A a\n- [ ] PRAGMA-B b\n"), ["PRAGMA-A   a", "PRAGMA-B   b"]);
    let mixed = "- [ ] CLI-based tests\n- [ ] Docs\n";
    assert_eq!(tasks(mixed), ["#1   CLI-based tests", "#2   Docs"]);
}

#[test]
fn numbered_lists_have_boxes_too() {
    assert_eq!(tasks("1. [x] Update\n2) [ ] Check\n"), ["#1 x Update", "#2   Check"]);
    assert_eq!(tasks("1. [ ] 1.1 Update\n2. [ ] 1.2 Check\n"), ["1.1   Update", "1.2   Check"]);
    let unread = Plan::parse("- [ ] 1 a\n- [ x ] Docs\n".to_owned());
    assert_eq!(unread.problems()[0].message, "the box of “Docs” is malformed, so it is not a task");
    assert_eq!(unread.problems()[0].severity, Severity::Warning);
}

#[test]
fn ids_are_whole_tokens() {
    let plan = Plan::parse("- [ ] 1.1 a\n- [ ] 1.10 b\n- [ ] 1.1.1 c\n".to_owned());
    for (id, title) in [("1.1", "a"), ("1.10", "b"), ("1.1.1", "c")] {
        assert_eq!(plan.title(plan.task(&id.into()).unwrap()), title);
    }
    assert_eq!(plan.task(&"1".into()), None);
}

#[test]
fn boxes_without_ids_are_tasks_only_where_nothing_has_one() {
    assert_eq!(
        tasks("- [ ] CI green\n- [x] Tests pass\n* [ ] #12 is closed\n"),
        ["#1   CI green", "#2 x Tests pass", "#3   #12 is closed"]
    );
    assert_eq!(tasks("- [ ] 1 a\n- [ ] CI green\n- [ ] Tests pass\n"), ["1   a"]);
    assert_eq!(tasks("- [ ] E2E tests pass\n- [ ] 90% coverage\n").len(), 2);
}

#[test]
fn duplicates_are_told_apart_and_reported() {
    let text = "- [ ] 1 a\n- [ ] 2 b\n- [x] 1 c\n- [ ] 1 d\n";
    assert_eq!(tasks(text), ["1   a", "2   b", "1~2 x c", "1~3   d"]);
    let expected = [
        "3: duplicate id 1, first used in line 1; this one is 1~2",
        "4: duplicate id 1, first used in line 1; this one is 1~3",
    ];
    assert_eq!(problems(text), expected);
}

#[test]
fn odd_boxes() {
    assert_eq!(tasks("- [~] 1 a\n- [/] 2 b\n- [✓] 3 c\n"), ["1 ~ a", "2 / b", "3 ✓ c"]);
    assert_eq!(problems("- [ ] 1 a\n- [~] 2 b\n"), ["2: the box `[~]` of 2 counts as unfinished"]);
    assert_eq!(tasks("-[x] 3.2 a\n- [x]3.3 b\n"), ["3.2 x a", "3.3 x b"]);
    let expected = [
        "1: no space before the box of 3.2, so other tools do not see the task",
        "2: no space after the box of 3.3, so other tools do not see the task",
    ];
    assert_eq!(problems("-[x] 3.2 a\n- [x]3.3 b\n"), expected);
    assert_eq!(problems("- [ ] 1 a\n- [] 2 b\n"), ["2: the box of 2 is malformed, so it is not a task"]);
}

#[test]
fn hidden_boxes_are_not_tasks_and_no_problem() {
    for hidden in [
        "```\n- [ ] 9 x\n## Heading\n```",
        "~~~~md\n- [ ] 9 x\n~~~\n- [ ] 9 x\n~~~~",
        "  ```bash\n- [ ] 9 x\n  ```",
        "  - **Verify**: `python3 -c \"\n- [ ] 9 x\n# not a heading\n\"`",
        "  - **Verify**: `echo a\n- [ ] 9 x\necho b`",
        "  - **Do**: `cat > t.md <<'EOF'\n- [ ] 9 x\n## Summary\n\\`\\`\\`sh\nEOF\n)\"`",
        "  cat > t.md <<-EOF\n- [ ] 9 x\nEOF",
        "  ```bash\n  cat <<EOF\n```\n- [ ] 9 x\n```\nEOF\n  ```",
        "  - [ ] 9 nested",
        "\t- [ ] 9 nested",
        "<!--\n- [ ] 9 x\n-->",
    ] {
        let text = format!("- [ ] 1 a\n{hidden}\n- [x] 2 b\n");
        assert_eq!(tasks(&text), ["1   a", "2 x b"], "{hidden}");
        assert_eq!(problems(&text), [""; 0], "{hidden}");
        let plan = Plan::parse(text);
        assert_eq!(plan.block(&plan.tasks()[0]), format!("- [ ] 1 a\n{hidden}"));
    }
}

#[test]
fn stray_marks_hide_nothing() {
    for stray in ["  - a ` b", "  - Use `foo", "  a << b", "  <!-- x", "  - a `` b `"] {
        let text = format!("- [ ] 1 a\n{stray}\n- [ ] 2 `b`\n");
        assert_eq!(tasks(&text), ["1   a", "2   `b`"], "{stray}");
    }
    let text = "- [ ] 1 a\n  ```bash\n  cargo test\n- [ ] 2 b\n";
    assert_eq!(tasks(text), ["1   a", "2   b"]);
    assert_eq!(problems(text), ["2: code fence is never closed and is read as text"]);
}

#[test]
fn blocks_end_at_tasks_and_headings() {
    let text =
        "# Tasks\n\n## Phase 1\nintro\n- [ ] 1 a\n  b\n\nc\n\n---\n### Notes\nd\n- [ ] 2 e\n\n\n- [ ] 3 f";
    let plan = Plan::parse(text.to_owned());
    let blocks: Vec<&str> = plan.tasks().iter().map(|task| plan.block(task)).collect();
    assert_eq!(blocks, ["- [ ] 1 a\n  b\n\nc", "- [ ] 2 e", "- [ ] 3 f"]);
    assert_eq!(plan.tasks().iter().map(|task| task.line).collect::<Vec<_>>(), [5, 13, 16]);
}

#[test]
fn phases() {
    let text = "# Tasks\n- [ ] 0 z\n## Phase 1: Go\n- [ ] 1 a\n### Detail\n- [ ] 2 b\n## Phase 5: PR Lifecycle\n- [ ] 5 c\n";
    let plan = Plan::parse(text.to_owned());
    let phases: Vec<_> =
        plan.tasks().iter().map(|task| plan.phase(task).map(|phase| phase.title.as_str())).collect();
    let (go, pr) = (Some("Phase 1: Go"), Some("Phase 5: PR Lifecycle"));
    assert_eq!(phases, [None, go, go, pr]);
    assert_eq!(
        plan.phases().iter().map(|phase| phase.names_pr_lifecycle()).collect::<Vec<_>>(),
        [false, true]
    );
    assert_eq!(plan.phases()[1].line, 7);
}

#[test]
fn header_tasks() {
    let text = "## Phase 1\n\n### Task 1.1: First [x]\n\n**Done when:**\n- [ ] 3 things\n- [ ] AC-1.1: more\n\n#### Detail\nx\n\n---\n\n### Task 1.2: [VERIFY] Second\n- [x] Done\n- [ ] 1.2.1 [FIX 1.2] Fix: x\n\n## Task Summary\n";
    assert_eq!(tasks(text), ["1.1 x First", "1.2 x Second", "1.2.1   Fix: x"]);
    let plan = Plan::parse(text.to_owned());
    assert!(plan.block(&plan.tasks()[0]).ends_with("#### Detail\nx"));
    assert!(plan.tasks()[1].markers.verify);
    assert_eq!(tasks("## Task 1: Group\n- [ ] 1.1 a\n- [ ] 1.2 b\n"), ["1.1   a", "1.2   b"]);
}

#[test]
fn verify_wins_over_parallel() {
    let plan = Plan::parse("- [ ] 1 [P] [VERIFY] a\n- [ ] 2 [P] b\n".to_owned());
    let parallel: Vec<bool> = plan.tasks().iter().map(|task| task.markers.runs_parallel()).collect();
    assert_eq!(parallel, [false, true]);
}

#[test]
fn front_matter_is_ignored() {
    let text = "---\ntotal_tasks: 99\n- [ ] 9 x\n---\n- [ ] 1 a\n";
    assert_eq!(tasks(text), ["1   a"]);
    assert_eq!(tasks("---\n- [ ] 1 a\n"), ["1   a"]);
    assert_eq!(tasks("\u{feff}---\na: 1\n---\n- [ ] 1 a\n"), ["1   a"]);
}

#[test]
fn problems_of_the_whole() {
    assert_eq!(problems(""), ["1: no tasks found"]);
    assert_eq!(Plan::parse("text".into()).problems()[0].severity, Severity::Error);
    assert_eq!(problems("- [ ] 1 [FIX 7] a\n"), ["1: 1 is marked as a fix of 7, which is not in this plan"]);
}

#[test]
fn lints() {
    let text = "- [ ] 1 a\n- [ ] 2 b\n  - **Verify**: look\n- [ ] 3 c\n  - **Verify**: `cargo test || true`\n- [ ] 4 d\n  - **Verify**: `cargo test; echo $?`\n- [ ] 5 e\n  - **Verify**: `cargo test`\n  - **Files**: `a.rs`, all docs\n";
    let messages: Vec<String> = Plan::parse(text.to_owned())
        .lint()
        .iter()
        .map(|problem| format!("{}: {}", problem.line, problem.message))
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @"
    1: task 1 has no verification
    2: task 2 is verified by prose only
    4: the verify command of 3 cannot fail: `|| true` turns every failure into success
    6: the verify command of 4 hides failures: `; echo` at the end would hide a failure from a shell that is not run with -e
    8: the Files of 5 name no path at “all docs”, so it counts as being about any file
    ");
}

#[test]
fn a_byte_order_mark_hides_nothing() {
    let mut plan = plan::Plan::parse("\u{feff}- [ ] 1.1 First\n- [ ] 1.2 Second\n".to_owned());
    assert_eq!(plan.tasks().len(), 2);
    plan.tick(&plan::TaskId::new("1.1")).unwrap();
    assert_eq!(plan.text(), "\u{feff}- [x] 1.1 First\n- [ ] 1.2 Second\n");
}

#[test]
fn markers_in_small_letters_are_pointed_out() {
    let text =
        "- [ ] 1 [p] a\n- [ ] 2 b [Verify]\n- [ ] 3 [fix 1] c\n- [ ] 4 [P] d\n- [ ] 5 [US1] Handle `[p]`\n";
    let plan = Plan::parse(text.to_owned());
    let told = plan.lint().into_iter().filter(|problem| problem.message.contains("no marker"));
    let told: Vec<String> = told.map(|problem| format!("{}: {}", problem.line, problem.message)).collect();
    let expected = [
        "1: `[p]` of 1 is no marker and part of its title",
        "2: `[Verify]` of 2 is no marker and part of its title",
        "3: `[fix 1]` of 3 is no marker and part of its title",
    ];
    assert_eq!(told, expected);
}
