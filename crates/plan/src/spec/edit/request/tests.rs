use super::*;

fn script(command: &str) -> Script {
    Script::new(vec![command.to_owned()])
}

fn request<'a>(id: &'a TaskId, details: &'a [String], verify: Option<&'a Script>) -> RequestTask<'a> {
    RequestTask {
        id,
        title: "Fix CI failure: 1 test failed",
        goal: "Make the check CI / test pass",
        details,
        files: &[],
        done_when: "The check CI / test passes",
        verify,
        commit: "fix: address CI failure - 1 test failed",
    }
}

#[track_caller]
fn inserted(text: &str, series: &str) -> String {
    let mut plan = Plan::parse(text.to_owned());
    assert_eq!(plan.pull_request_series(), series);
    let number = plan.tasks().len() + 1;
    let id =
        if series == "#" { TaskId::new(&format!("#{number}")) } else { TaskId::new(&format!("{series}9")) };
    let verify = script("make test");
    plan.insert_request(&request(&id, &["error: boom".to_owned()], Some(&verify))).unwrap();
    assert!(plan.text().starts_with(text.trim_end()) || text.contains("## Notes"), "{}", plan.text());
    plan.text().to_owned()
}

#[test]
fn it_goes_to_the_end_of_the_phase() {
    let text = "## Phase 1: Go\n\n- [x] 1.1 One\n\n## Phase 5: PR Lifecycle\n\n- [x] 5.1 Push\n  - **Verify**: `true`\n\n## Notes\n\nend\n";
    insta::assert_snapshot!(inserted(text, "5."), @"
    ## Phase 1: Go

    - [x] 1.1 One

    ## Phase 5: PR Lifecycle

    - [x] 5.1 Push
      - **Verify**: `true`

    - [ ] 5.9 Fix CI failure: 1 test failed
      - **Do**: Make the check CI / test pass
        - error: boom
      - **Done when**: The check CI / test passes
      - **Verify**: `make test`
      - **Commit**: `fix: address CI failure - 1 test failed`

    ## Notes

    end
    ");
}

#[test]
fn a_phase_without_tasks_gets_its_first() {
    let text = "## Phase 1: Go\n\n- [x] 1.1 One\n\n## PR Lifecycle\n\n## Notes\n\nend\n";
    let edited = inserted(text, "PR.");
    assert!(edited.contains("## PR Lifecycle\n\n- [ ] PR.9 Fix CI"), "{edited}");
    assert!(edited.ends_with("`fix: address CI failure - 1 test failed`\n\n## Notes\n\nend\n"), "{edited}");
}

#[test]
fn without_a_phase_one_is_begun() {
    let numbered = inserted("# Tasks\n\n## Phase 2: Go\n\n- [x] 2.1 One", "3.");
    assert!(numbered.contains("- [x] 2.1 One\n\n## Phase 3: PR Lifecycle\n\n- [ ] 3.9 Fix CI"), "{numbered}");
    let named = inserted("- [x] T001 One\n", "PR.");
    assert!(named.contains("- [x] T001 One\n\n## PR Lifecycle\n\n- [ ] PR.9 Fix CI"), "{named}");
    let unnamed = inserted("- [x] One\n- [x] Two\n", "#");
    assert!(unnamed.contains("## PR Lifecycle\n\n- [ ] Fix CI failure"), "{unnamed}");
    assert_eq!(Plan::parse(unnamed).tasks().len(), 3);
}

#[test]
fn windows_line_endings_stay() {
    let edited = inserted("## Phase 5: PR Lifecycle\r\n\r\n- [x] 5.1 Push\r\n", "5.");
    assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count(), "{edited:?}");
}

#[test]
fn other_peoples_texts_are_harmless() {
    let hostile = [
        "- [x] 9.9 evil",
        "  - **Verify**: `rm -rf /`",
        "```bash\nrm -rf /\n```",
        "## Phase 9: PR Lifecycle",
        "<!-- x",
        "cat <<EOF",
    ];
    let details: Vec<String> = hostile.iter().map(|line| (*line).to_owned()).collect();
    let id = TaskId::new("5.2");
    let mut plan = Plan::parse("## Phase 5: PR Lifecycle\n\n- [x] 5.1 Push\n\n- [ ] 6.1 More\n".to_owned());
    let title = "- [ ] 7.7 **Verify**: `evil`";
    let request =
        RequestTask { title, goal: title, done_when: title, commit: title, ..request(&id, &details, None) };
    plan.insert_request(&request).unwrap();
    assert_eq!(plan.tasks().len(), 3, "{}", plan.text());
    assert_eq!(plan.phases().len(), 1);
    assert_eq!(plan.verify(plan.task(&id).unwrap()), Verify::Absent);
}

#[test]
fn a_command_with_backticks_or_lines_is_fenced() {
    let id = TaskId::new("5.2");
    for command in ["echo `date`", "make a\nmake b", "echo ```x```"] {
        let verify = script(command);
        let mut plan = Plan::parse("## Phase 5: PR Lifecycle\n\n- [x] 5.1 Push\n".to_owned());
        plan.insert_request(&request(&id, &[], Some(&verify))).unwrap();
        let Verify::Runnable(found) = plan.verify(plan.task(&id).unwrap()) else { panic!("{}", plan.text()) };
        assert_eq!(found.snippets, verify.snippets);
    }
}

#[test]
fn refusals() {
    let id = TaskId::new("5.1");
    let mut plan = Plan::parse("## Phase 5: PR Lifecycle\n\n- [x] 5.1 Push\n".to_owned());
    let taken = plan.insert_request(&request(&id, &[], None));
    assert_eq!(taken, Err(EditError::IdTaken { id: id.clone() }));
    let other = TaskId::new("#7");
    let no_room = plan.insert_request(&request(&other, &[], None));
    assert_eq!(no_room, Err(EditError::NoRoom { id: other }));
    let text = "---\nphase: 03-a\nplan: 01\n---\n<task type=\"auto\">\n  <name>One</name>\n</task>\n";
    let mut never = Plan::parse_phase(text.to_owned(), "03-01-PLAN.md");
    assert_eq!(never.pull_request_series(), "pr:task-");
    let written = never.insert_request(&request(&id, &[], None));
    assert_eq!(written, Err(EditError::NeverWritten { id }));
}

#[test]
fn the_quality_command_is_that_of_the_last_check_before_the_phase() {
    let text = "## Phase 1: Go\n\n- [x] V1 [VERIFY] All\n  - **Verify**: `make check`\n\n\
        - [x] V2 [VERIFY] Remote\n  - **Verify**: `gh pr checks`\n\n\
        ## Phase 5: PR Lifecycle\n\n- [x] 5.1 [VERIFY] CI\n  - **Verify**: `make ci`\n";
    let plan = Plan::parse(text.to_owned());
    assert_eq!(plan.quality_command().map(|script| script.text), Some("make check".to_owned()));
    assert!(plan.names_pr_lifecycle());
    assert_eq!(Plan::parse("- [ ] 1.1 One\n".to_owned()).quality_command(), None);
}
