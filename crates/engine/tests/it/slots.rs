//! Who works in which slot, where a command is run without an agent, and what is kept of the work.

use engine::{
    Action, Baseline, ChecksReport, Dispatch, Isolation, Landing, Parallel, Question, Record, Response,
    Rules, Seen, Slot, StatusKind, Toggle, What, Work, proves_in_landing_tree,
};

use crate::decisions::{Case, complete};
use crate::script::plan;

fn rules(jobs: u32, isolation: Isolation) -> Rules {
    Rules { parallel: Parallel { jobs, isolation, infer: Toggle::Off }, ..Rules::default() }
}

impl Case {
    fn slot(&self, task: &str) -> Option<Slot> {
        self.state.task(&task.into()).and_then(|task| task.slot)
    }

    fn status(&self, task: &str) -> StatusKind {
        self.state.task(&task.into()).map(|task| task.status.kind()).expect("the task is there")
    }

    /// A task that passed in its slot.
    fn finish(&mut self, task: &str, dispatch: u32) {
        self.agent(task, dispatch, complete());
        self.checks_are_green(task, dispatch);
    }

    /// What passed comes together with the rest, up to where it is recorded.
    fn join(&mut self, task: &str, dispatch: u32) {
        let (task, dispatch) = (task.into(), Dispatch(dispatch));
        let (onto, commit) = (Some("4ead".to_owned()), Some("c0ffee".to_owned()));
        let landing = Landing::Done { touched: Vec::new(), onto, commit };
        self.see(Seen::LandingEnded { task, dispatch, landing });
        let (report, tree) = (ChecksReport::default(), Some("7ree".to_owned()));
        let task = self.state.attention().find(|task| task.status.is_coming_back());
        let task = task.expect("something comes in").id().clone();
        self.see(Seen::JoinEnded { task, dispatch, report, tree });
    }

    fn record(&mut self, task: &str, record: Record) -> Option<What> {
        self.see(Seen::Recorded { task: task.into(), record })
    }
}

fn kept() -> Record {
    Record::Kept { commit: Some("c0ffee".to_owned()) }
}

#[test]
fn the_lowest_free_slot_is_taken() {
    let mut case = Case::opened(&["1.1 p", "1.2 p", "1.3 p", "1.4 p", "1.5 p"], rules(3, Isolation::Trees));
    ["1.1", "1.2", "1.3"].iter().for_each(|task| drop(case.start(task)));
    assert_eq!(["1.1", "1.2", "1.3"].map(|task| case.slot(task)), [1, 2, 3].map(|slot| Some(Slot(slot))));
    assert_eq!(case.start("1.4"), None, "there are no more slots than jobs");
    case.agent("1.2", 2, complete());
    assert_eq!(case.start("1.4"), None, "what is checked is in its slot");
    case.checks_are_green("1.2", 2);
    case.start("1.4");
    assert_eq!(case.slot("1.4"), Some(Slot(2)));
    case.finish("1.1", 1);
    case.start("1.5");
    assert_eq!(case.slot("1.5"), Some(Slot(1)));
}

#[test]
fn nothing_new_starts_while_as_many_pieces_as_jobs_wait_to_come_in() {
    let mut case = Case::opened(&["1.1 p", "1.2 p", "1.3 p", "1.4 p"], rules(2, Isolation::Trees));
    ["1.1", "1.2"].iter().for_each(|task| drop(case.start(task)));
    case.finish("1.1", 1);
    case.due();
    assert!(case.wanted().contains(&"prepare 1.3".to_owned()), "{:?}", case.wanted());
    case.finish("1.2", 2);
    assert!(!case.wanted().iter().any(|key| key.starts_with("prepare")), "{:?}", case.wanted());
    case.join("1.1", 1);
    case.record("1.1", Record::InTheWay { files: vec!["a.rs".to_owned()] });
    assert!(case.wanted().contains(&"prepare 1.3".to_owned()), "what is held up does not count");
}

#[test]
fn everybody_has_a_slot_where_all_are_isolated() {
    let check = |text: &str, expected: Option<Slot>| {
        let mut case = Case::opened(&[text], rules(1, Isolation::Always));
        case.start("1.1");
        assert_eq!(case.slot("1.1"), expected, "{text}");
    };
    check("1.1", Some(Slot(1)));
    check("1.1 p", Some(Slot(1)));
    check("1.1 judge", Some(Slot(1)));
    check("1.1 verify judge", Some(Slot(1)));
    // Its command is run without an agent first.
    check("1.1 verify", None);
    let mut alone = Case::opened(&["1.1"], rules(4, Isolation::Trees));
    alone.start("1.1");
    assert_eq!(alone.slot("1.1"), None, "whoever is alone works in the project");
    let mut checkpoint = Case::opened(&["1.1 checkpoint"], rules(1, Isolation::Always));
    checkpoint.due();
    let response = Response::Fix("do it".to_owned());
    checkpoint.see(Seen::Answered { task: "1.1".into(), response });
    checkpoint.start("1.1");
    assert_eq!((checkpoint.slot("1.1"), checkpoint.status("1.1")), (None, StatusKind::Running));
}

#[test]
fn what_an_attempt_left_is_known_until_the_task_is_done() {
    let mut case = Case::opened(&["1.1 p", "1.2 p"], rules(2, Isolation::Trees));
    ["1.1", "1.2"].iter().for_each(|task| drop(case.start(task)));
    let packed = |dispatch, commit: Option<&str>| Seen::Packed {
        task: "1.1".into(),
        dispatch: Dispatch(dispatch),
        base: "4ead".to_owned(),
        commit: commit.map(str::to_owned),
    };
    let work = |case: &Case| case.state.task(&"1.1".into()).and_then(|task| task.work.clone());
    assert_eq!(case.see(packed(2, Some("5eed"))), None, "that is another's start");
    assert!(case.see(packed(1, None)).is_some());
    assert_eq!(work(&case), Some(Work { base: "4ead".to_owned(), commit: None }));
    case.see(Seen::Interrupted);
    assert!(case.see(packed(1, Some("5eed"))).is_some(), "an end is no reason to forget it");
    assert_eq!(case.see(packed(1, Some("5eed"))), None, "it is known");
    case.open(&plan(&["1.1 p", "1.2 p"]), rules(2, Isolation::Trees));
    ["1.1", "1.2"].iter().for_each(|task| drop(case.start(task)));
    case.finish("1.1", 3);
    assert_eq!(work(&case), Some(Work { base: "4ead".to_owned(), commit: Some("5eed".to_owned()) }));
    case.due();
    case.join("1.1", 3);
    let landed = case.state.task(&"1.1".into()).map(|task| (task.landed.clone(), task.verified.clone()));
    assert!(matches!(landed, Some((Some(_), Some(_)))), "{landed:?}");
    case.record("1.1", kept());
    assert_eq!((work(&case), case.status("1.1")), (None, StatusKind::Done));
    assert_eq!(case.see(packed(3, Some("1ate"))), None);
}

#[test]
fn a_retry_after_what_was_in_the_way_touches_no_budget() {
    let mut case = Case::opened(&["1.1 p", "1.2 p"], rules(2, Isolation::Trees));
    ["1.1", "1.2"].iter().for_each(|task| drop(case.start(task)));
    case.finish("1.1", 1);
    case.due();
    case.join("1.1", 1);
    case.record("1.1", Record::InTheWay { files: vec!["a.rs".to_owned()] });
    assert_eq!((case.status("1.1"), case.due()), (StatusKind::Finished, None), "others go on");
    case.finish("1.2", 2);
    case.due();
    case.join("1.2", 2);
    case.record("1.2", kept());
    let question = Question::InTheWay;
    assert_eq!(case.due(), Some(What::Escalated { task: "1.1".into(), question }));
    case.due();
    let seen = |response| Seen::Answered { task: "1.1".into(), response };
    assert_eq!(case.see(seen(Response::Approve)), None);
    assert!(case.see(seen(Response::Retry)).is_some());
    let task = case.state.task(&"1.1".into()).expect("it is there");
    assert_eq!((task.status.kind(), task.held_up.len(), task.attempted), (StatusKind::Finished, 0, 1));
}

/// A plan whose last task verifies, up to where that starts.
fn before_a_proof(tasks: &[&str], rules: Rules) -> Case {
    let mut case = Case::opened(tasks, rules);
    let mut dispatch = 0;
    while !case.wanted().contains(&"prepare 1.9".to_owned()) {
        let wanted: Vec<String> =
            case.wanted().iter().filter_map(|key| key.strip_prefix("prepare ").map(str::to_owned)).collect();
        let first = dispatch + 1;
        wanted.iter().for_each(|task| drop(case.start(task)));
        for (number, task) in (first..).zip(&wanted) {
            case.finish(task, number);
            dispatch = number;
            if case.due().is_some() {
                case.join(task, number);
            }
            case.record(task, kept());
        }
    }
    let baseline = Baseline { head: Some("4ead".to_owned()), tree: None, ..Baseline::default() };
    let started = case.see(Seen::Prepared { task: "1.9".into(), baseline });
    assert_eq!(started, Some(What::ProofStarted { task: "1.9".into(), head: Some("4ead".to_owned()) }));
    case
}

#[test]
fn a_verification_runs_where_work_comes_together() {
    let check = |tasks: &[&str], rules: Rules, expected: bool| {
        let case = before_a_proof(tasks, rules);
        assert_eq!(proves_in_landing_tree(&case.state, &"1.9".into()), expected, "{tasks:?}");
    };
    check(&["1.1 p", "1.2 p", "1.9 verify"], rules(2, Isolation::Trees), true);
    check(&["1.1 p", "1.2 p", "1.9 verify"], rules(2, Isolation::Always), true);
    check(&["1.1 p", "1.2 p", "1.9 verify"], rules(2, Isolation::Shared), false);
    check(&["1.1", "1.9 verify"], rules(2, Isolation::Trees), false);
    check(&["1.1", "1.9 verify"], rules(1, Isolation::Always), true);
    check(&["1.9 verify"], rules(1, Isolation::Always), true);
}

#[test]
fn what_was_mended_by_hand_shows_in_the_project() {
    let mut case =
        Case::until("in the project, then always apart", |what| matches!(what, What::ProofStarted { .. }));
    assert_eq!(case.status("1.1"), StatusKind::Proving);
    assert!(!proves_in_landing_tree(&case.state, &"1.1".into()));
    assert_eq!(case.wanted(), [Action::Prove { task: "1.1".into() }.key()]);
    assert_eq!(case.due(), None);
}
