//! Finished work and the text that it was made for: where a run is opened with another one, the task is worked on again.

use engine::{
    Action, AgentEnd, AgentReport, Baseline, ChecksReport, Claim, Dispatch, Event, Isolation, Landing,
    Observation, Opened, Opening, Parallel, Record, Rules, Seen, State, Status, StatusKind, TaskDecl, What,
    decide, due, schedule,
};
use jiff::Timestamp;
use plan::TaskId;

use crate::script::decl;

const PLAN: [&str; 2] = ["1.1 p", "1.2 p"];

/// A run that was cut off, and the plan that it knew.
struct Case {
    state: State,
    rules: Rules,
    plan: Vec<TaskDecl>,
}

impl Case {
    /// A run whose agents have all claimed success.
    fn claimed(isolation: Isolation) -> Self {
        let jobs = if isolation == Isolation::Trees { 4 } else { 1 };
        let parallel = Parallel { jobs, isolation, ..Parallel::default() };
        let rules = Rules { parallel, ..Rules::default() };
        let plan = PLAN.map(decl).to_vec();
        let mut case = Self { state: State::default(), rules, plan };
        case.open(case.plan.clone(), &[]);
        for number in 1..=jobs.min(2) {
            let task = TaskId::from(format!("1.{number}").as_str());
            case.see(Seen::Prepared { task, baseline: Baseline::default() });
        }
        for number in 1..=jobs.min(2) {
            let task = TaskId::from(format!("1.{number}").as_str());
            case.see(Seen::AgentEnded { task, dispatch: Dispatch(number), report: report() });
        }
        case
    }

    /// The same, with the checks of the first green.
    fn checked(isolation: Isolation) -> Self {
        let mut case = Self::claimed(isolation);
        let report = ChecksReport::default();
        case.see(Seen::ChecksEnded { task: "1.1".into(), dispatch: Dispatch(1), report, tree: None });
        case
    }

    /// The same, with its work about to be committed.
    fn joined() -> Self {
        let mut case = Self::checked(Isolation::Trees);
        case.expect_due();
        let landing = Landing::Done { touched: vec!["a".to_owned()], onto: None, commit: None };
        case.see(Seen::LandingEnded { task: "1.1".into(), dispatch: Dispatch(1), landing });
        let report = ChecksReport::default();
        case.see(Seen::JoinEnded { task: "1.1".into(), dispatch: Dispatch(1), report, tree: None });
        case
    }

    fn see(&mut self, seen: Seen) -> What {
        let event = decide(&self.state, Observation { at: Timestamp::UNIX_EPOCH, seen });
        self.apply(event)
    }

    fn expect_due(&mut self) {
        let event = due(&self.state, Timestamp::UNIX_EPOCH);
        self.apply(event);
    }

    fn apply(&mut self, event: Option<Event>) -> What {
        let event = event.expect("something follows");
        self.state.apply(&event).expect("what was decided can be applied");
        event.what
    }

    fn open(&mut self, tasks: Vec<TaskDecl>, holding: &[&str]) -> Opened {
        let holding = holding.iter().map(|id| TaskId::from(*id)).collect();
        let opening = Opening { rules: self.rules.clone(), tasks, holding, ..Opening::default() };
        let What::Opened(opened) = self.see(Seen::Started(opening)) else { panic!("a start opens the run") };
        *opened
    }

    /// Opens the run again with another text of the first task.
    fn open_reworded(&mut self, holding: &[&str]) -> Opened {
        let mut plan = self.plan.clone();
        plan[0].digest += 1;
        self.open(plan, holding)
    }

    fn status(&self) -> StatusKind {
        self.state.task(&"1.1".into()).expect("it is there").status.kind()
    }

    #[track_caller]
    fn expect_begun_again(&mut self) {
        let opened = self.open_reworded(&[]);
        assert_eq!(opened.outdated, ["1.1".into()]);
        let task = self.state.task(&"1.1".into()).expect("it is there");
        assert!(matches!(task.status, Status::Ready { .. }), "{:?}", task.status);
        assert_eq!((task.failures.len(), task.decl.digest), (0, 2), "nobody is charged");
        let wanted = schedule(&self.state, Timestamp::UNIX_EPOCH);
        let is_wanted = |action: &Action| matches!(action, Action::Prepare { task } if task.name() == "1.1");
        assert!(wanted.iter().any(is_wanted), "{wanted:?}");
    }
}

fn report() -> AgentReport {
    AgentReport {
        end: AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: String::new() },
        tampered: Vec::new(),
        lost_commit: None,
        touched: Vec::new(),
        learnings: Vec::new(),
        elapsed: std::time::Duration::from_secs(1),
        unfit: None,
    }
}

#[test]
fn finished_work_of_another_text_is_not_taken_in() {
    for isolation in [Isolation::Trees, Isolation::Shared] {
        Case::claimed(isolation).expect_begun_again();
        Case::checked(isolation).expect_begun_again();
    }
    Case::joined().expect_begun_again();
}

#[test]
fn finished_work_of_the_same_text_goes_on_from_where_it_was() {
    for mut case in [Case::claimed(Isolation::Trees), Case::checked(Isolation::Trees), Case::joined()] {
        let before = case.status();
        let opened = case.open(case.plan.clone(), &[]);
        assert_eq!((opened.outdated, case.status()), (vec![], before));
    }
}

#[test]
fn work_that_is_committed_or_differs_in_nothing_that_matters_goes_on_as_well() {
    let mut case = Case::joined();
    let opened = case.open_reworded(&["1.1"]);
    assert_eq!((opened.outdated, case.status()), (vec![], StatusKind::Recording));
    let done = case.see(Seen::Recorded { task: "1.1".into(), record: Record::Kept { commit: None } });
    assert!(matches!(done, What::TaskDone { .. }), "{done:?}");
}

#[test]
fn what_a_box_tells_of_the_other_text_counts_if_no_agent_can_have_ticked_it() {
    let ticked = |isolation| {
        let mut case = Case::checked(isolation);
        case.plan[0].ticked = true;
        let opened = case.open_reworded(&[]);
        assert_eq!(opened.outdated, ["1.1".into()]);
        case.status()
    };
    assert_eq!(ticked(Isolation::Trees), StatusKind::Done);
    assert_eq!(ticked(Isolation::Shared), StatusKind::Ready);
}

#[test]
fn a_task_whose_attempt_was_lost_has_the_text_of_the_plan() {
    let mut case = Case::claimed(Isolation::Shared);
    case.state = State::default();
    case.open(case.plan.clone(), &[]);
    case.see(Seen::Prepared { task: "1.1".into(), baseline: Baseline::default() });
    let opened = case.open_reworded(&[]);
    assert_eq!((opened.outdated.len(), opened.lost), (0, vec!["1.1".into()]));
    assert_eq!(case.state.task(&"1.1".into()).expect("it is there").decl.digest, 2);
}
