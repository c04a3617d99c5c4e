//! Tables about evidence: what is to be found out about a command, and what is known already.

use engine::{
    Before, BeforeWork, Cause, ChangedPart, CheckFailure, ChecksReport, Dispatch, Evidence, Failing, Limits,
    PartChange, Rules, Seen, Sign, Signs, TaskDecl, Tool, What,
};

use crate::decisions::{Case, complete};
use crate::people::{failing, failing_of, failure};
use crate::script::plan;

fn before(task: &str, before: Before) -> Seen {
    let evidence = Evidence::Before { before, tree: Some("7ree".to_owned()), failing: Failing::default() };
    Seen::Found { task: task.into(), evidence }
}

/// A run whose tasks all have the same command.
fn opened(tasks: &[&str]) -> Case {
    let mut case = Case::opened(&[], Rules::default());
    let tasks: Vec<TaskDecl> =
        plan(tasks).into_iter().map(|task| TaskDecl { command: Some(7), ..task }).collect();
    case.open(&tasks, Rules::default());
    case
}

#[test]
fn a_command_is_tried_once_before_the_first_attempt_at_a_task() {
    let mut case = opened(&["1.1", "1.2 verify", "1.3 judge", "1.4 checkpoint"]);
    let wanted = |case: &Case, task: &str| case.state.wanted_before(&task.into()) != BeforeWork::Nothing;
    for (task, expected) in [("1.1", true), ("1.2", false), ("1.3", false), ("1.4", false), ("9", false)] {
        assert_eq!(wanted(&case, task), expected, "{task}");
    }
    assert!(matches!(case.see(before("1.1", Before::Red)), Some(What::Found { .. })));
    assert!(!wanted(&case, "1.1"));
    assert_eq!(case.see(before("1.1", Before::Green)), None, "it was found out already");
    let grounds = &case.state.task(&"1.1".into()).expect("a task").grounds;
    assert_eq!(grounds.before, Some(Before::Red));
}

#[test]
fn what_failed_is_not_tried_before() {
    let mut case = opened(&["1.1"]);
    case.start("1.1");
    case.agent("1.1", 1, engine::AgentEnd::TimedOut { limit: String::new(), tail: String::new() });
    assert_eq!(case.state.wanted_before(&"1.1".into()), BeforeWork::Nothing);
}

#[test]
fn a_result_is_known_by_command_and_tree() {
    let known = |case: &Case| match case.state.wanted_before(&"1.2".into()) {
        BeforeWork::Nothing => "nothing".to_owned(),
        BeforeWork::Result(known) => format!("{:?}", known.map(|(tree, before, _)| (tree, before))),
    };
    let mut case = opened(&["1.1", "1.2"]);
    assert_eq!(known(&case), "None");
    case.see(before("1.1", Before::Red));
    assert_eq!(known(&case), "Some((\"7ree\", Red))");
    case.start("1.1");
    case.agent("1.1", 1, complete());
    let (task, dispatch, tree) = ("1.1".into(), Dispatch(1), Some("8ree".to_owned()));
    case.see(Seen::ChecksEnded { task, dispatch, report: ChecksReport::default(), tree });
    assert_eq!(known(&case), "Some((\"8ree\", Green))");
    let mut case = opened(&["1.1", "1.2"]);
    case.see(before("1.1", Before::Unknown));
    assert_eq!(known(&case), "nothing", "it takes too long");
}

/// A suite that was red before the work is perhaps not the task's: the agent is told, and at the end a person is asked.
#[test]
fn what_failed_before_the_work_as_well_is_told_and_asked_about_in_the_end() {
    let red = |case: &mut Case, attempt: u32, name: &str| {
        case.start("1.1");
        case.agent("1.1", attempt, complete());
        let red = CheckFailure { failing: failing(name), ..failure(Cause::VerifyRed, name) };
        let report = ChecksReport { failure: Some(red), ..ChecksReport::default() };
        let (task, dispatch) = ("1.1".into(), Dispatch(attempt));
        let Some(What::AttemptFailed { failure, .. }) =
            case.see(Seen::ChecksEnded { task, dispatch, report, tree: None })
        else {
            panic!("it is red")
        };
        failure.details.contains("failed before the work on this task as well")
    };
    let rules =
        || Rules { limits: Limits { task_iterations_max: 2, ..Limits::default() }, ..Rules::default() };
    let evidence = |name| {
        let evidence = Evidence::Before { before: Before::Red, tree: None, failing: failing(name) };
        Seen::Found { task: "1.1".into(), evidence }
    };
    let mut case = Case::opened(&["1.1"], rules());
    case.see(evidence("old"));
    assert!(!red(&mut case, 1, "new"), "another test fails now");
    assert!(matches!(case.due(), Some(What::RetryPlanned { .. })));
    assert!(red(&mut case, 2, "old"));
    assert!(matches!(case.due(), Some(What::Escalated { .. })), "it is asked about");
    let mut case = Case::opened(&["1.1"], rules());
    assert!(!red(&mut case, 1, "old"), "nobody knows");
    case.due();
    red(&mut case, 2, "old");
    assert!(matches!(case.due(), Some(What::Ended(_))));
}

#[test]
fn what_is_left_red_outside_of_the_task_is_asked_about() {
    let check_of = |tool: Tool, files: &[&str], left: &str, expected: &str| {
        let mut case = Case::opened(&[], Rules::default());
        let files = files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>();
        let tasks: Vec<TaskDecl> =
            plan(&["1.1"]).into_iter().map(|task| TaskDecl { files: files.clone(), ..task }).collect();
        case.open(&tasks, Rules::default());
        let mut all = failing_of(tool, left);
        all.items.extend(failing_of(tool, "tests/test_sum.py::test_sum").items);
        let evidence = Evidence::Before { before: Before::Red, tree: None, failing: all };
        case.see(Seen::Found { task: "1.1".into(), evidence });
        case.start("1.1");
        case.agent("1.1", 1, complete());
        let red = CheckFailure { failing: failing_of(tool, left), ..failure(Cause::VerifyRed, left) };
        let report = ChecksReport { failure: Some(red), ..ChecksReport::default() };
        case.see(Seen::ChecksEnded { task: "1.1".into(), dispatch: Dispatch(1), report, tree: None });
        let next = match case.due() {
            Some(What::Escalated { question, .. }) => format!("{question:?}"),
            Some(What::RetryPlanned { .. }) => "again".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(next, expected, "{files:?} {left}");
    };
    let check = |files: &[&str], left: &str, expected: &str| check_of(Tool::Pytest, files, left, expected);
    check(&["src/sum.py"], "tests/test_old.py::test_old", "RedBefore");
    check(&["src/sum.py"], "src/old.py: F401", "RedBefore");
    check(&["src/sum.py"], "tests/test_sum.py::test_more", "again");
    check(&["src/sum.py"], "test_old.T.test_old", "again");
    check(&["src/*.py"], "tests/test_old.py::test_old", "again");
    check(&[], "tests/test_old.py::test_old", "again");
    let check = |files: &[&str], left: &str, expected: &str| check_of(Tool::Unittest, files, left, expected);
    check(&["src/sum.py"], "tests.test_old.Old.test_old", "RedBefore");
    check(&["src/sum.py"], "tests.test_sum.Sum.test_more", "again");
}

fn changed(former: &[&str], digest: u32) -> Seen {
    let former = former.iter().map(|command| (*command).to_owned()).collect();
    let evidence = Evidence::VerifyChanged { during: "1.1".into(), former, digest };
    Seen::Found { task: "1.2".into(), evidence }
}

fn reworded(digest: u32) -> Seen {
    let mut tasks = plan(&["1.1", "1.2"]);
    tasks[1].digest = digest;
    Seen::PlanRead(tasks)
}

#[test]
fn the_authors_verify_counts_until_a_person_edits_the_task() {
    let former = |case: &Case| {
        let task = case.state.task(&"1.2".into()).expect("a task");
        task.grounds.former.as_ref().map(|former| former.commands.join(" "))
    };
    let mut case = Case::opened(&["1.1", "1.2"], Rules::default());
    assert!(case.see(changed(&["make test"], 2)).is_some());
    assert_eq!(case.see(changed(&["make test"], 2)), None, "it is known");
    case.see(reworded(2));
    assert_eq!(former(&case).as_deref(), Some("make test"), "that is what the attempt left");
    case.see(changed(&["true"], 3));
    case.see(reworded(3));
    assert_eq!(former(&case).as_deref(), Some("make test"), "the first one is the author's");
    let warnings = engine::Summary::of(&case.state).warnings.named;
    assert!(warnings[0].contains("`make test` has to be green as well"), "{warnings:?}");
    case.see(reworded(4));
    assert_eq!(former(&case), None);
}

#[test]
fn a_task_that_was_judged_still_is() {
    let mut case = Case::opened(&["1.2"], Rules::default());
    case.see(changed(&[], 1));
    case.start("1.2");
    case.agent("1.2", 1, complete());
    let passed = case.checks_are_green("1.2", 1);
    assert!(matches!(passed, Some(What::ChecksPassed { judge: Some(engine::Judge::Qa), .. })), "{passed:?}");
}

#[test]
fn the_latest_look_at_what_was_added_counts() {
    let look = |whats: &[&str]| {
        let sign = |what: &&str| Sign { path: "a.py".to_owned(), line: 1, what: (*what).to_owned() };
        let evidence = Evidence::Signs(Signs::new(whats.iter().map(sign).collect()));
        Seen::Found { task: "1.1".into(), evidence }
    };
    let mut case = Case::opened(&["1.1"], Rules::default());
    assert_eq!(case.see(look(&[])), None, "nothing is no news");
    assert!(case.see(look(&["it.only", "noqa"])).is_some());
    assert_eq!(case.see(look(&["it.only", "noqa"])), None, "it is known");
    assert!(case.see(look(&["noqa"])).is_some());
    let signs = &case.state.task(&"1.1".into()).expect("a task").grounds.signs;
    assert_eq!(signs.words(9), "`noqa` in a.py:1");
}

#[test]
fn what_is_found_out_about_an_attempt_is_told_once_and_is_of_that_attempt() {
    let parts = vec![ChangedPart { path: "a_test.go".to_owned(), change: PartChange::Skipped }];
    let leaning = Evidence::Leaning { parts, error: "FAIL: TestA".to_owned() };
    let kept = r#"{"leaning":{"parts":[{"path":"a_test.go","change":"skipped"}],"error":"FAIL: TestA"}}"#;
    assert_eq!(serde_json::to_string(&leaning).expect("JSON"), kept);
    assert_eq!(serde_json::from_str::<Evidence>(kept).expect("evidence"), leaning);
    let found = || Seen::Found { task: "1.1".into(), evidence: leaning.clone() };
    let findings = |case: &Case| case.state.task(&"1.1".into()).expect("a task").grounds.findings.len();
    let mut case = Case::opened(&["1.1"], Rules::default());
    case.start("1.1");
    assert_eq!(case.see(found()), None, "nobody claims anything yet");
    case.agent("1.1", 1, complete());
    assert!(case.see(found()).is_some());
    assert_eq!(case.see(found()), None, "it is known");
    assert_eq!(findings(&case), 1);
    let warnings = engine::Summary::of(&case.state).warnings.named;
    let told = "task 1.1: the verify command is red with a_test.go put back (tests skipped): FAIL: TestA";
    assert_eq!(warnings, [told]);
    let failure = engine::CheckFailure {
        cause: engine::Cause::OutOfScope,
        error: "x".to_owned(),
        details: String::new(),
        command: None,
        exit_code: None,
        failing: engine::Failing::default(),
    };
    let report = ChecksReport { failure: Some(failure), ..ChecksReport::default() };
    case.see(Seen::ChecksEnded { task: "1.1".into(), dispatch: Dispatch(1), report, tree: None });
    while case.due().is_some() {}
    case.start("1.1");
    assert_eq!(findings(&case), 0, "the next attempt is another one");
}
