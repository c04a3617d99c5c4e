//! Tables about evidence: what is to be found out about a command, and what is known already.

use engine::{Before, BeforeWork, ChecksReport, Dispatch, Evidence, Rules, Seen, TaskDecl, What};

use crate::decisions::{Case, complete};
use crate::script::plan;

fn before(task: &str, before: Before) -> Seen {
    let evidence = Evidence::Before { before, tree: Some("7ree".to_owned()) };
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
        BeforeWork::Result(known) => format!("{known:?}"),
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
