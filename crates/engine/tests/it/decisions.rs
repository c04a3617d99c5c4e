//! Single decisions that no scenario shows by itself.

use std::time::Duration;

use engine::{
    Action, AgentEnd, AgentReport, Baseline, Cause, ChecksReport, Claim, ClockMoved, Dialect, Dispatch, End,
    Event, EventKind, Facts, Impossible, Isolation, Lasting, Limits, Observation, OnEscalation, OnExhausted,
    Opening, Parallel, PlanChanges, Question, Recovery, Response, Role, Rules, Seen, State, Status,
    StatusKind, TaskDecl, Toggle, Verification, What, decide, due, schedule,
};
use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use crate::scenario::named;
use crate::script::plan;

/// A state with a clock.
pub(crate) struct Case {
    pub(crate) state: State,
    pub(crate) now: Timestamp,
}

impl Case {
    pub(crate) fn opened(tasks: &[&str], rules: Rules) -> Self {
        let now = "2026-01-26T14:30:00Z".parse().expect("a valid timestamp");
        let mut case = Self { state: State::default(), now };
        case.open(&plan(tasks), rules);
        case
    }

    /// The state of a scenario after its first event of which this is true.
    pub(crate) fn until(name: &str, stop: impl Fn(&What) -> bool) -> Self {
        let journal = named(name).world().run().journal;
        let mut case = Self { state: State::default(), now: journal[0].at };
        for event in journal {
            case.state.apply(&event).expect("this has happened");
            case.now = event.at;
            if stop(&event.what) {
                break;
            }
        }
        case
    }

    pub(crate) fn open(&mut self, tasks: &[TaskDecl], rules: Rules) -> What {
        self.see(Seen::Started(Opening { rules, tasks: tasks.to_vec(), ..Opening::default() }))
            .expect("a start")
    }

    pub(crate) fn see(&mut self, seen: Seen) -> Option<What> {
        let event = decide(&self.state, Observation { at: self.now, seen })?;
        self.state.apply(&event).expect("what was decided can be applied");
        Some(event.what)
    }

    pub(crate) fn due(&mut self) -> Option<What> {
        let event = due(&self.state, self.now)?;
        self.state.apply(&event).expect("what is due can be applied");
        Some(event.what)
    }

    pub(crate) fn start(&mut self, task: &str) -> Option<What> {
        self.see(Seen::Prepared { task: task.into(), baseline: Baseline::default() })
    }

    pub(crate) fn agent(&mut self, task: &str, dispatch: u32, end: AgentEnd) -> Option<What> {
        let report = AgentReport {
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed: Duration::ZERO,
            unfit: None,
        };
        self.see(Seen::AgentEnded { task: task.into(), dispatch: Dispatch(dispatch), report })
    }

    pub(crate) fn checks_are_green(&mut self, task: &str, dispatch: u32) -> Option<What> {
        let (dispatch, report) = (Dispatch(dispatch), ChecksReport::default());
        self.see(Seen::ChecksEnded { task: task.into(), dispatch, report, tree: None })
    }

    fn pass(&mut self, seconds: i64) {
        self.now = self.now.checked_add(SignedDuration::from_secs(seconds)).expect("time goes on");
    }

    pub(crate) fn wanted(&self) -> Vec<String> {
        schedule(&self.state, self.now).iter().map(Action::key).collect()
    }
}

pub(crate) fn complete() -> AgentEnd {
    AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: String::new() }
}

fn away() -> AgentEnd {
    AgentEnd::Unavailable { reason: "overloaded".to_owned(), retry_after: Some(Duration::from_secs(100)) }
}

#[test]
fn only_the_agent_that_is_waited_for_is_heard() {
    let mut case = Case::opened(&["1.1", "1.2"], Rules::default());
    assert_eq!(case.wanted(), ["prepare 1.1"]);
    assert_eq!(case.start("1.2"), None, "it is not its turn");
    assert_eq!(case.start("1.9"), None, "there is no such task");
    assert!(case.start("1.1").is_some());
    assert_eq!(case.wanted(), ["agent 1.1 1"]);
    assert_eq!(case.start("1.1"), None, "it has started");
    assert_eq!(case.agent("1.1", 7, complete()), None);
    assert_eq!(case.agent("1.2", 1, complete()), None);
    assert!(case.agent("1.1", 1, complete()).is_some());
    let late = Seen::ChecksEnded {
        task: "1.1".into(),
        dispatch: Dispatch(7),
        report: ChecksReport::default(),
        tree: None,
    };
    assert_eq!(case.see(late), None);
    assert_eq!(case.see(Seen::RegressionEnded { report: ChecksReport::default() }), None);
    assert_eq!(case.see(Seen::TimePassed), None);
}

#[test]
fn nothing_is_decided_after_the_end() {
    let mut case = Case::opened(&["1.1"], Rules::default());
    assert!(case.see(Seen::Interrupted).is_some());
    assert_eq!(case.see(Seen::Interrupted), None);
    assert_eq!(case.start("1.1"), None);
    assert_eq!(case.see(Seen::PlanRead(plan(&["1.1", "1.2"]))), None);
    assert_eq!(case.due(), None);
    assert!(case.wanted().is_empty());
}

#[test]
fn a_wait_outlives_a_crash_but_not_a_person() {
    let mut case = Case::opened(&["1.1"], Rules::default());
    case.start("1.1");
    case.agent("1.1", 1, away());
    assert!(case.wanted().is_empty());
    case.pass(10);
    case.open(&plan(&["1.1"]), Rules::default());
    assert!(case.wanted().is_empty(), "a crash does not shorten the wait");
    assert!(case.state.next_deadline(case.now).is_some());
    case.pass(90);
    assert_eq!(case.wanted(), ["prepare 1.1"]);
    assert_eq!(case.state.next_deadline(case.now), None, "a deadline that has passed wakes nobody");

    case.start("1.1");
    case.agent("1.1", 2, away());
    case.see(Seen::Interrupted);
    case.open(&plan(&["1.1"]), Rules::default());
    assert_eq!(case.wanted(), ["prepare 1.1"], "who starts the program again does not want to wait");
}

#[test]
fn a_crash_does_not_forget_how_often_the_agent_was_away() {
    let rules = Rules { limits: Limits { unavailable_max: 2, ..Limits::default() }, ..Rules::default() };
    let mut case = Case::opened(&["1.1"], rules.clone());
    case.start("1.1");
    case.agent("1.1", 1, away());
    assert_eq!(case.due(), None);
    case.open(&plan(&["1.1"]), rules);
    case.pass(100);
    case.start("1.1");
    case.agent("1.1", 2, away());
    assert!(matches!(case.due(), Some(What::Ended(engine::End::Unavailable { .. }))));
}

#[test]
fn only_the_time_in_which_the_program_runs_counts() {
    let rules = || Rules {
        limits: Limits { time_max: Some(Duration::from_secs(60)), ..Limits::default() },
        ..Rules::default()
    };
    let mut case = Case::opened(&["1.1"], rules());
    case.pass(50);
    case.see(Seen::Interrupted);
    case.pass(3_600);
    case.open(&plan(&["1.1"]), rules());
    assert_eq!(case.due(), None, "an hour in which nothing ran");
    case.pass(9);
    assert_eq!(case.due(), None);
    case.pass(1);
    assert!(matches!(case.due(), Some(What::Ended(engine::End::Capped(_)))));
}

#[test]
fn time_in_which_the_program_stood_still_counts_no_more_than_a_clock_that_was_set() {
    let rules = || Rules {
        limits: Limits { time_max: Some(Duration::from_secs(60)), ..Limits::default() },
        ..Rules::default()
    };
    let moved = |still_ms, set_ms| Seen::ClockMoved(ClockMoved { still_ms, set_ms });
    let mut case = Case::opened(&["1.1"], rules());
    case.pass(50);
    case.pass(3_600);
    case.see(moved(3_600_000, 0));
    assert_eq!(case.due(), None, "the lid was closed for an hour");
    case.pass(3_600);
    case.see(moved(0, 3_600_000));
    assert_eq!(case.due(), None, "somebody set the clock forward");
    case.see(moved(0, -7_200_000));
    case.see(moved(0, 7_200_000));
    case.pass(9);
    assert_eq!(case.due(), None);
    case.pass(1);
    assert!(matches!(case.due(), Some(What::Ended(engine::End::Capped(_)))));
}

#[test]
fn an_agent_is_waited_for_as_long_as_it_said_whatever_happens_to_the_clock() {
    let mut case = Case::opened(&["1.1"], Rules::default());
    case.start("1.1");
    case.agent("1.1", 1, away());
    assert!(case.wanted().is_empty(), "it is waited for");
    let until = case.state.backoff().expect("a wait").until;
    case.see(Seen::ClockMoved(ClockMoved { still_ms: 0, set_ms: -60_000 }));
    let moved = case.state.backoff().expect("a wait").until;
    assert_eq!(until.duration_since(moved).as_secs(), 60, "the clock was set back");
    case.see(Seen::ClockMoved(ClockMoved { still_ms: 60_000, set_ms: 0 }));
    assert_eq!(case.state.backoff().expect("a wait").until, moved, "it may be there again after a sleep");
}

#[test]
fn fix_tasks_do_not_raise_the_cap_that_is_to_stop_them() {
    let tasks: Vec<String> = (1..=40).map(|number| format!("1.{number}")).collect();
    let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
    let mut case = Case::opened(&tasks, Rules { recovery: Recovery::On, ..Rules::default() });
    assert_eq!(case.state.global_cap(), 120);
    case.start("1.1");
    case.agent("1.1", 1, AgentEnd::TimedOut { limit: String::new(), tail: String::new() });
    assert!(matches!(case.due(), Some(What::FixPlanned(_))));
    assert_eq!((case.state.tasks().len(), case.state.global_cap()), (41, 120));
}

#[test]
fn a_draft_goes_with_the_task_that_it_was_to_repair() {
    let mut case = Case::until("one fix", |what| matches!(what, What::FixPlanned(_)));
    let What::Opened(opened) = case.open(&plan(&["1.2"]), Rules::default()) else { panic!("it was opened") };
    assert_eq!(opened.changes.removed, [TaskId::from("1.1"), TaskId::from("1.1.1")]);
    assert_eq!(case.wanted(), ["prepare 1.2"]);
}

#[test]
fn what_waits_to_come_back_goes_with_its_task() {
    let mut case =
        Case::until("batch, a member is removed", |what| matches!(what, What::ChecksPassed { .. }));
    let waiting = case.state.tasks().iter().find(|task| matches!(task.status, Status::Finished { .. }));
    let waiting = waiting.expect("it passed and waits").id().clone();
    let mut left: Vec<TaskDecl> = case.state.tasks().iter().map(|task| task.decl.clone()).collect();
    left.retain(|decl| decl.id != waiting);
    let Some(What::PlanChanged(changes)) = case.see(Seen::PlanRead(left)) else { panic!("the plan changed") };
    assert_eq!(changes.removed, std::slice::from_ref(&waiting));
    assert!(case.state.task(&waiting).is_none());
}

#[test]
fn a_draft_stays_when_others_go() {
    let mut case = Case::until("one fix", |what| matches!(what, What::FixPlanned(_)));
    case.open(&plan(&["1.1"]), Rules::default());
    assert_eq!(case.wanted(), ["insert 1.1.1"]);
}

#[test]
fn what_is_worked_on_keeps_its_text() {
    let mut case = Case::opened(&["1.1 judge"], Rules::default());
    case.start("1.1");
    let easier = || Seen::PlanRead(plan(&["1.1"]));
    assert_eq!(case.see(easier()), None, "not while an agent could be the one who rewords it");
    case.agent("1.1", 1, AgentEnd::Exited { code: 1, claim: Claim::Silent, tail: String::new() });
    case.due();
    assert!(matches!(case.see(easier()), Some(What::PlanChanged(changes)) if changes.reworded.len() == 1));
    assert_eq!(case.state.tasks()[0].decl.verification, Verification::Command);
}

#[test]
fn a_reworded_verify_task_runs_what_its_new_text_has() {
    let mut case = Case::until(
        "verify red after the fix as well",
        |what| matches!(what, What::RetryPlanned { task, .. } if task.name() == "1.1"),
    );
    assert_eq!(case.state.tasks()[0].status, Status::Ready { proves: true });
    let mut file = plan(&["1.1 verify judge", "1.1.1 done"]);
    file[1] = case.state.tasks()[1].decl.clone();
    case.see(Seen::PlanRead(file));
    assert_eq!(case.state.tasks()[0].status, Status::Ready { proves: false });
}

#[test]
fn an_answer_has_to_fit_the_question() {
    let asking = |name: &str| Case::until(name, |what| matches!(what, What::Escalated { .. }));
    let rules =
        || Rules { on_escalation: OnEscalation::Ask, on_exhausted: OnExhausted::Ask, ..Rules::default() };
    let answer = |case: &mut Case, response: Response| {
        case.open(&plan(&["1.1"]), rules());
        case.see(Seen::Answered { task: "1.1".into(), response }).is_some()
    };
    for name in ["exhausted, abort", "denied, nobody answers"] {
        assert!(!answer(&mut asking(name), Response::Approve));
        assert!(!answer(&mut asking(name), Response::Reject("no".to_owned())));
        for response in [Response::Retry, Response::Skip, Response::Abort, Response::Fix("so".to_owned())] {
            assert!(answer(&mut asking(name), response));
        }
    }
    for response in [Response::Approve, Response::Reject(String::new()), Response::Skip, Response::Abort] {
        assert!(answer(&mut asking("a person judges"), response));
    }
    for response in [Response::Retry, Response::Fix("so".to_owned()), Response::Reply("so".to_owned())] {
        assert!(!answer(&mut asking("a person judges"), response), "is it right or not?");
    }
    let checkpoint = || {
        let mut case = Case::opened(&["1.1 checkpoint"], rules());
        assert!(matches!(case.due(), Some(What::Escalated { .. })));
        case
    };
    let answer =
        |mut case: Case, response| case.see(Seen::Answered { task: "1.1".into(), response }).is_some();
    for response in
        [Response::Reply("so".to_owned()), Response::Fix("so".to_owned()), Response::Skip, Response::Abort]
    {
        assert!(answer(checkpoint(), response));
    }
    for response in [Response::Retry, Response::Approve, Response::Reject("no".to_owned())] {
        assert!(!answer(checkpoint(), response), "the plan asks for something");
    }
}

#[test]
fn nobody_answers_a_question_that_is_not_open() {
    let mut case = Case::opened(&["1.1"], Rules::default());
    assert_eq!(case.see(Seen::Answered { task: "1.1".into(), response: Response::Retry }), None);
}

#[test]
fn a_late_regression_result_does_not_end_an_unfinished_run() {
    let rules = Rules { regression: Toggle::On, ..Rules::default() };
    let mut case = Case::opened(&["1.1 done"], rules);
    assert_eq!(case.wanted(), ["regress"]);
    case.see(Seen::PlanRead(plan(&["1.1 done", "1.2"])));
    assert_eq!(case.see(Seen::RegressionEnded { report: ChecksReport::default() }), None);
    assert_eq!(case.wanted(), ["prepare 1.2"]);
}

#[test]
fn a_failure_of_the_checks_keeps_what_the_attempt_left() {
    let world = named("retries exhausted").world().run();
    for failure in &world.state.tasks()[0].failures {
        assert_eq!(failure.files.len(), 1);
        assert_eq!(failure.elapsed_ms, 60_000);
    }
    assert!(world.state.tasks()[0].touched.contains("src/1.1.rs"));
}

#[test]
fn a_task_that_is_unticked_gets_a_full_budget() {
    let mut case = Case::until("retry", |what| matches!(what, What::TaskDone { .. }));
    assert_eq!(case.state.tasks()[0].round_failures().len(), 1);
    case.see(Seen::PlanRead(plan(&["1.1", "1.2"])));
    assert_eq!(case.state.tasks()[0].round_failures().len(), 0);
    assert_eq!(case.state.tasks()[0].failures.len(), 1, "the history stays");
}

/// A journal that was tampered with is refused, whatever it says, and never a panic.
#[test]
fn tasks_that_come_twice_or_never_were_are_refused() {
    let at = Timestamp::UNIX_EPOCH;
    let twice = PlanChanges { added: plan(&["1.1", "1.1"]), ..PlanChanges::default() };
    let unknown = PlanChanges { removed: vec!["1.1".into()], ..PlanChanges::default() };
    let ticked = PlanChanges { ticked: vec!["1.1".into()], ..PlanChanges::default() };
    for changes in [twice, unknown, ticked] {
        let refused = State::default().apply(&Event::new(at, What::PlanChanged(changes)));
        assert!(refused.is_err());
    }
}

#[test]
fn a_plan_read_as_it_is_known_says_nothing() {
    let mut case = Case::opened(&["1.1", "1.2 verify", "1.3 judge done"], Rules::default());
    assert_eq!(case.see(Seen::PlanRead(plan(&["1.1", "1.2 verify", "1.3 judge done"]))), None);
}

#[test]
fn a_checkpoint_is_for_a_person() {
    let mut case = Case::opened(&["1.1 checkpoint"], Rules::default());
    assert_eq!(case.start("1.1"), None, "no agent is started on it, whoever says that all is ready");
    assert!(case.wanted().is_empty());
    assert!(matches!(case.due(), Some(What::Escalated { .. })));
}

#[test]
fn an_obstacle_that_ends_with_an_exit_code_is_one_all_the_same() {
    let mut case = Case::opened(&["1.1", "1.2"], Rules::default());
    case.start("1.1");
    let text = "status: blocked\nblocked_by: 1.2\nreason: the schema is missing\n";
    let claim = Claim::read(text, Dialect::Spec, Role::Executor);
    let seen = case.agent("1.1", 1, AgentEnd::Exited { code: 1, claim, tail: text.to_owned() });
    let Some(What::AttemptFailed { failure, .. }) = seen else { panic!("it failed") };
    assert_eq!((failure.cause, failure.exit_code), (Cause::Blocked, Some(1)));
    assert_eq!(failure.error, "the schema is missing");
    assert_eq!(case.due(), Some(What::Deferred { task: "1.1".into(), by: "1.2".into() }));
}

#[test]
fn an_answer_is_noted_only_where_a_question_is_open() {
    let asking = |name: &str| Case::until(name, |what| matches!(what, What::Ended(_)));
    let retry = |case: &mut Case| case.see(Seen::Answered { task: "1.1".into(), response: Response::Retry });
    let mut waiting = asking("denied, pause");
    assert!(retry(&mut waiting).is_some());
    assert!(waiting.wanted().is_empty(), "it is noted, not acted on");
    assert_eq!(waiting.due(), None);
    assert_eq!(retry(&mut waiting), None, "a question is answered once");
    assert_eq!(waiting.see(Seen::NobodyAnswers { task: "1.1".into() }), None);
    assert_eq!(retry(&mut asking("denied, abort")), None, "that run is over");
    waiting.open(&plan(&["1.1", "1.2"]), Rules::default());
    assert_eq!(waiting.wanted(), ["prepare 1.1"]);
}

#[test]
fn the_time_until_an_answer_is_noted_does_not_count() {
    let rules = || Rules {
        limits: Limits { time_max: Some(Duration::from_secs(60)), ..Limits::default() },
        ..Rules::default()
    };
    let mut case = Case::opened(&["1.1"], rules());
    case.start("1.1");
    case.agent("1.1", 1, AgentEnd::PermissionDenied { text: String::new() });
    assert!(matches!(case.due(), Some(What::Escalated { .. })));
    assert!(matches!(case.due(), Some(What::Ended(engine::End::Waiting { .. }))));
    case.pass(3_600);
    assert!(case.see(Seen::Answered { task: "1.1".into(), response: Response::Retry }).is_some());
    case.pass(3_600);
    case.open(&plan(&["1.1"]), rules());
    assert_eq!(case.due(), None, "two hours in which nothing ran");
    case.pass(60);
    assert!(matches!(case.due(), Some(What::Ended(engine::End::Capped(_)))));
}

#[test]
fn what_was_begun_is_in_progress() {
    let begun = |case: &Case| case.state.in_progress().map(|task| task.id().to_string()).collect::<Vec<_>>();
    let mut case = Case::opened(&["1.1", "1.2"], Rules::default());
    assert!(begun(&case).is_empty());
    case.start("1.1");
    assert_eq!(begun(&case), ["1.1"]);
    case.see(Seen::Interrupted);
    assert_eq!(begun(&case), ["1.1"], "also when it was lost");
    let again = |name: &str, id: &'static str| {
        let is_again =
            move |what: &What| matches!(what, What::RetryPlanned { task, .. } if task.name() == id);
        begun(&Case::until(name, is_again))
    };
    assert_eq!(again("keep going, a retry", "1.2"), ["1.1", "1.2"], "beside a question");
    assert_eq!(again("what blocks fails for good", "1.2"), ["1.1", "1.2"], "while another waits for it");
}

#[test]
fn who_declares_a_dependence_is_warned_wherever_it_stands() {
    let mut case = Case::opened(
        &[
            "1.1 on:1.3",
            "1.2 in:a",
            "1.3 in:a on:1.3",
            "1.4 in:a",
            "1.5 on:1.3",
            "1.6 on:1.5",
            "1.7 on:1.6,1.4",
            "1.8",
        ],
        Rules::default(),
    );
    case.start("1.1");
    case.agent("1.1", 1, stuck("status: blocked\nblocked_by: 1.3\n"));
    assert!(matches!(case.due(), Some(What::Deferred { .. })));
    case.start("1.3");
    case.agent("1.3", 2, stuck("status: impossible\n"));
    assert!(matches!(case.due(), Some(What::Escalated { .. })));
    let skipped = case.see(Seen::Answered { task: "1.3".into(), response: Response::Skip });
    let Some(What::TaskSkipped { dependents, .. }) = skipped else { panic!("it was skipped") };
    assert_eq!(dependents, ["1.1", "1.4", "1.5", "1.6", "1.7"].map(TaskId::from), "also by way of others");
}

fn stuck(text: &str) -> AgentEnd {
    let claim = Claim::read(text, Dialect::Spec, Role::Executor);
    AgentEnd::Answered { claim, contradiction: None, tail: text.to_owned() }
}

#[test]
fn the_name_of_a_blocker_is_taken_as_it_is_written() {
    let by = |text: &str| {
        let Claim::Stuck(stuck) = Claim::read(text, Dialect::Phase, Role::Executor) else {
            panic!("it is stuck: {text}")
        };
        stuck.by
    };
    assert_eq!(by("status: blocked\nblocked_by: 1.10\n").as_deref(), Some("1.10"));
    assert_eq!(by("status: blocked\nblocked_by: \"1.2\"\n").as_deref(), Some("1.2"));
    assert_eq!(by("status: blocked\nblocker: 03-01:task-2\n").as_deref(), Some("03-01:task-2"));
    assert_eq!(by("status: blocked\nblocked_by: ~\n").as_deref(), None);
    assert_eq!(by("status: blocked\nblocked_by:\n").as_deref(), None);
    assert_eq!(by("status: blocked\nblocked_by: [1.2, 1.3]\n").as_deref(), None);
}

#[test]
fn a_new_round_asks_a_checkpoint_again() {
    let world = named("checkpoint, fix, abort, a new round").world().run();
    let starts = world.journal.iter().filter(|event| matches!(event.what, What::AttemptStarted(_)));
    assert_eq!(starts.count(), 1, "the instruction was for one attempt");
}

/// A journal in which tasks wait for each other in a circle would never go on.
#[test]
fn a_circle_of_waits_is_refused() {
    let is_second_failure =
        |what: &What| matches!(what, What::AttemptFailed { task, .. } if task.name() == "1.2");
    let mut case = Case::until("blocked in a circle", is_second_failure);
    let mut waits = |by: &str| {
        let what = What::Deferred { task: "1.2".into(), by: by.into() };
        case.state.apply(&Event::new(case.now, what))
    };
    let circle = |by: &str| Err(Impossible::Circle { task: "1.2".into(), by: by.into() });
    assert_eq!(waits("1.1"), circle("1.1"));
    assert_eq!(waits("1.2"), circle("1.2"));
    assert_eq!(waits("7.7"), Err(Impossible::UnknownTask("7.7".into())));
    let mut case = Case::opened(&["1.1", "1.2"], Rules::default());
    let what = What::Deferred { task: "1.1".into(), by: "1.2".into() };
    let (from, event) = (StatusKind::Ready, EventKind::Deferred);
    let refused = case.state.apply(&Event::new(case.now, what));
    assert_eq!(refused, Err(Impossible::Move { task: "1.1".into(), from, event }), "nothing failed");
}

#[test]
fn words_are_worth_less_where_a_command_decides() {
    let seen = |task: &str, text: &str| {
        let mut case = Case::opened(&[task], Rules { dialect: Dialect::Phase, ..Rules::default() });
        case.start("1.1");
        let role = if task.contains("verify") { Role::Qa } else { Role::Executor };
        let claim = Claim::read(text, Dialect::Phase, role);
        case.agent("1.1", 1, AgentEnd::Answered { claim, contradiction: None, tail: text.to_owned() })
    };
    let is_claimed = |what: Option<What>| matches!(what, Some(What::AttemptClaimed { .. }));
    let cause = |what: Option<What>| match what {
        Some(What::AttemptFailed { failure, .. }) => Some((failure.cause, failure.error)),
        _ => None,
    };
    let denied = "status: success\ndone_criteria_met: false\n";
    assert!(is_claimed(seen("1.1", denied)), "its command is run");
    let error = "the done criteria are not met by its own account".to_owned();
    assert_eq!(cause(seen("1.1 judge", denied)), Some((Cause::ClaimedFailure, error)));
    assert!(is_claimed(seen("1.1", "VERIFICATION_PASS")), "its command is run");
    let other = cause(seen("1.1 judge", "VERIFICATION_PASS"));
    assert_eq!(other.map(|(cause, _)| cause), Some(Cause::NoSignal));
    assert_eq!(cause(seen("1.1", "looks good")).map(|(cause, _)| cause), Some(Cause::NoSignal));
}

#[test]
fn an_error_of_the_agents_own_that_says_so_is_a_matter_of_permission() {
    let cause = |text: &str| {
        let mut case = Case::opened(&["1.1"], Rules::default());
        case.start("1.1");
        let Some(What::AttemptFailed { failure, .. }) = case.agent("1.1", 1, stuck(text)) else {
            panic!("it failed: {text}")
        };
        let is_asked = matches!(case.due(), Some(What::Escalated { .. }));
        assert_eq!(is_asked, failure.cause == Cause::PermissionDenied, "{text}");
        failure.cause
    };
    for text in [
        "status: permission_denied\nreason: no leave to write /etc/hosts\n",
        "status: failure\nerror: \"cannot write /etc/hosts: permission denied\"\n",
        "Task 1.1: do FAILED\n- Error: Permission denied (publickey)\n",
    ] {
        assert_eq!(cause(text), Cause::PermissionDenied, "{text}");
    }
    for text in [
        "status: failure\nerror: the test expects \"permission denied\" and gets 200\n",
        "status: failure\nerror: two tests fail\noutput: permission denied\n",
        "permission denied\nTask 1.1: do FAILED\n- Error: two tests fail\n",
    ] {
        assert_eq!(cause(text), Cause::ClaimedFailure, "{text}");
    }
}

fn out_of_quota() -> AgentEnd {
    AgentEnd::OutOfReach { lasting: Lasting::Quota, reason: "out of quota".to_owned(), retry_after: None }
}

/// An agent that is out would be started again and again for as long as another one works.
#[test]
fn who_is_out_is_not_started_again_beside_others() {
    let parallel = Parallel { jobs: 2, isolation: Isolation::Trees, infer: Toggle::Off };
    let mut case = Case::opened(&["1.1 p", "1.2 p"], Rules { parallel, ..Rules::default() });
    case.start("1.1");
    case.start("1.2");
    case.agent("1.1", 1, out_of_quota());
    assert_eq!(case.wanted(), ["agent 1.2 2"]);
    assert_eq!(case.start("1.1"), None);
    case.agent("1.2", 2, complete());
    case.checks_are_green("1.2", 2);
    let landing = case.due();
    assert!(matches!(landing, Some(What::LandingStarted { .. })), "nobody is waited for: {landing:?}");
}

#[test]
fn a_judge_that_is_out_ends_the_run() {
    let mut case = Case::opened(&["1.1 judge"], Rules::default());
    case.start("1.1");
    case.agent("1.1", 1, complete());
    case.checks_are_green("1.1", 1);
    case.start("1.1");
    let report = AgentReport {
        end: out_of_quota(),
        tampered: Vec::new(),
        lost_commit: None,
        touched: Vec::new(),
        learnings: Vec::new(),
        elapsed: Duration::ZERO,
        unfit: None,
    };
    case.see(Seen::JudgeEnded { task: "1.1".into(), dispatch: Dispatch(2), report, facts: Facts::default() });
    assert_eq!(case.due(), Some(What::Ended(End::Unavailable { reason: "out of quota".to_owned() })));
}

#[test]
fn hooks_that_are_gone_are_asked_about_once_and_measured_against_the_first_attempt() {
    let hook = || vec![".git/hooks/pre-commit".to_owned()];
    let mut case = Case::opened(&["1.1"], Rules::default());
    let attempt = |case: &mut Case, dispatch: u32, hooks: Vec<String>| {
        let baseline = Baseline { hooks, ..Baseline::default() };
        assert!(case.see(Seen::Prepared { task: "1.1".into(), baseline }).is_some());
        assert!(case.agent("1.1", dispatch, complete()).is_some());
    };
    let checks = |dispatch: u32| {
        let report = ChecksReport { hooks_gone: hook(), ..ChecksReport::default() };
        Seen::ChecksEnded { task: "1.1".into(), dispatch: Dispatch(dispatch), report, tree: None }
    };
    attempt(&mut case, 1, hook());
    assert!(case.see(checks(1)).is_some());
    assert!(matches!(case.due(), Some(What::Escalated { question: Question::HooksGone, .. })));
    let answer = |response| Seen::Answered { task: "1.1".into(), response };
    assert_eq!(case.see(answer(Response::Retry)), None, "that is no answer");
    assert!(matches!(case.due(), Some(What::Ended(End::Waiting { .. }))));
    assert!(case.see(answer(Response::Reject("put it back".to_owned()))).is_some());
    case.open(&plan(&["1.1"]), Rules::default());
    assert!(matches!(case.due(), Some(What::RetryPlanned { .. })));
    attempt(&mut case, 2, Vec::new());
    let task = |case: &Case| case.state.task(&"1.1".into()).expect("it is there").clone();
    assert_eq!(task(&case).hooks, Some(hook()), "the second attempt found none any more");
    assert!(case.see(checks(2)).is_some());
    assert!(case.due().is_some());
    assert!(case.see(answer(Response::Approve)).is_some());
    assert!(matches!(task(&case).status, Status::Recording { .. }));
    assert_eq!((task(&case).hooks, task(&case).hooks_gone), (None, Vec::new()));
}
