//! What people tell a run from elsewhere: each directive is taken once and has its effect whatever the run is at.

use std::time::Duration;

use engine::{
    Action, AgentEnd, AgentReport, Baseline, ChecksReport, Claim, Directive, DirectiveId, Dispatch, End,
    FirstAnswer, Isolation, Limits, NewLimits, Observation, OnEscalation, Opening, Parallel, Refusal,
    Response, Rules, Said, Seen, SettingChanged, State, Status, StatusKind, Toggle, WORD_CHARS_MAX,
    WORDS_MAX, What, Word, decide, due, schedule, weigh,
};
use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use crate::scenario::{Scenario, asking, off, on, scenario, script};
use crate::script::{Script, Turn, fails, plan, red};
use crate::transcript::show;

/// The catalogue of scenarios in which somebody steers.
pub(crate) fn all() -> Vec<Scenario> {
    let side_by_side = |rules: Rules| Rules {
        parallel: Parallel { jobs: 4, isolation: Isolation::Trees, infer: Toggle::Off },
        ..rules
    };
    let skip = |task: &str, when: StatusKind| skipping(task, (task, when));
    let two = &["1.1", "1.2"];
    let reviewed = Rules { review: Toggle::On, ..off() };
    let hopeless =
        |script: Script| (1..=3).fold(script, |script, attempt| script.at("1.1", attempt, red("boom")));
    vec![
        scenario("skip, ready", two, skipping("1.2", ("1.1", StatusKind::Running)), off()),
        scenario("skip, at work", two, skip("1.1", StatusKind::Running), off()),
        scenario("skip, checked", two, skip("1.1", StatusKind::Checking), off()),
        scenario("skip, judged", two, skip("1.1", StatusKind::Judging), reviewed),
        scenario("skip, proving", &["1.1 verify", "1.2"], skip("1.1", StatusKind::Proving), off()),
        scenario("skip, recording", two, skip("1.1", StatusKind::Recording), off()),
        scenario("skip, asking", two, hopeless(skip("1.1", StatusKind::Asking)), asking(OnEscalation::Ask)),
        scenario(
            "skip, waiting for its fix",
            two,
            skip("1.1", StatusKind::WaitingFor).at("1.1", 1, red("boom")),
            on(),
        ),
        scenario("skip, the fix", two, skip("1.1.1", StatusKind::Running).at("1.1", 1, red("boom")), on()),
        scenario(
            "skip, finished",
            &["1.1 p", "1.2 p"],
            skip("1.2", StatusKind::Finished),
            side_by_side(off()),
        ),
        scenario(
            "skip, failed for good",
            &["1.1 p", "1.2 p"],
            hopeless(skip("1.1", StatusKind::Failed)).at("1.2", 1, Turn { absences: 3, ..Turn::default() }),
            side_by_side(off()),
        ),
        scenario("pause", two, pausing("1.1", StatusKind::Running), off()),
        scenario(
            "pause, after a failure",
            two,
            pausing("1.1", StatusKind::Running).at("1.1", 1, fails("boom")),
            off(),
        ),
        scenario(
            "pause, side by side",
            &["1.1 p", "1.2 p", "1.3"],
            pausing("1.1", StatusKind::Checking),
            side_by_side(off()),
        ),
        scenario(
            "pause, beside a question",
            two,
            hopeless(pausing("1.1", StatusKind::Asking)).answers(&[Response::Skip]),
            asking(OnEscalation::Ask),
        ),
        scenario("pause, at the last task", &["1.1"], pausing("1.1", StatusKind::Running), off()),
    ]
}

fn skipping(task: &str, (of, when): (&str, StatusKind)) -> Script {
    Script { directives: vec![(of.into(), when, Said::Skip { task: task.into() })], ..script() }
}

fn pausing(task: &str, when: StatusKind) -> Script {
    Script { directives: vec![(task.into(), when, Said::Pause)], ..script() }.restarts(1)
}

#[test]
fn a_task_that_rests_is_skipped_at_once() {
    assert_snapshot!(show("skip, ready"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 skipped: User request - skipped by ada
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":1}}
    [x] 1.1  [ ] 1.2
    "#);
    assert_snapshot!(show("skip, waiting for its fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1 skipped: User request - skipped by ada
    1.1.1 inserted
    1.1.1 skipped: the task that it repairs was skipped: 1.1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":2}}
    [ ] 1.1  [ ] 1.1.1  [x] 1.2
    "#);
}

#[test]
fn what_passed_or_failed_for_good_is_skipped_at_once() {
    assert_snapshot!(show("skip, finished"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.2 skipped: User request - skipped by ada
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    ended: {"complete":{"skipped":1}}
    [x] 1.1  [ ] 1.2
    "#);
    assert_snapshot!(show("skip, failed for good"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    1.2 agent away, 1, until 14:31:02
    1.2 attempt 1 (executor)
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.2 agent away, 1, until 14:32:04
    1.2 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.2 agent away, 1, until 14:33:06
    1.2 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 skipped: User request - skipped by ada
    1.2 claims success
    1.2 checks green
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2
    "#);
}

#[test]
fn whoever_works_on_a_task_comes_to_an_end_before_it_is_skipped() {
    assert_snapshot!(show("skip, at work"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 is to be skipped
    1.1 skipped: User request - skipped by ada
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2
    "#);
    assert_snapshot!(show("skip, the fix"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Fix: boom
    1.1 gets fix 1.1.1
    1.1.1 inserted
    1.1.1 attempt 1 (executor)
    1.1.1 is to be skipped
    1.1.1 skipped: User request - skipped by ada
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":1}}
    [x] 1.1  [ ] 1.1.1  [x] 1.2
    "#);
    assert_snapshot!(show("skip, recording"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 is to be skipped
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
}

#[test]
fn a_pause_lets_come_in_what_is_under_way() {
    assert_snapshot!(show("pause"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    pause requested
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"paused":{"from":"ada"}}
    opened, round 1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
    assert_snapshot!(show("pause, after a failure"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    pause requested
    1.1 failed, ClaimedFailure -> Retry: boom
    1.1 again, attempt 2
    ended: {"paused":{"from":"ada"}}
    opened, round 1
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c2
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2
    "#);
    assert_snapshot!(show("pause, side by side"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.2 attempt 1 (executor)
    1.1 claims success
    pause requested
    1.2 claims success
    1.1 checks green
    1.1 comes back
    1.2 checks green
    1.1 landed
    1.1 green together
    1.1 done, commit c1
    1.2 comes back
    1.2 landed
    1.2 green together
    1.2 done, commit c2
    ended: {"paused":{"from":"ada"}}
    opened, round 1
    1.3 attempt 1 (executor)
    1.3 claims success
    1.3 checks green
    1.3 done, commit c3
    ended: {"complete":{"skipped":0}}
    [x] 1.1  [x] 1.2  [x] 1.3
    "#);
}

#[test]
fn a_pause_keeps_a_question_and_lets_a_run_be_complete() {
    assert_snapshot!(show("pause, beside a question"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 2
    1.1 attempt 2 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 again, attempt 3
    1.1 attempt 3 (executor)
    1.1 claims success
    1.1 failed, VerifyRed -> Retry: boom
    1.1 asks: Exhausted
    pause requested
    ended: {"paused":{"from":"ada"}}
    opened, round 1
    1.1 skipped: User escalation - automated recovery failed
    1.2 attempt 1 (executor)
    1.2 claims success
    1.2 checks green
    1.2 done, commit c1
    ended: {"complete":{"skipped":1}}
    [ ] 1.1  [x] 1.2
    "#);
    assert_snapshot!(show("pause, at the last task"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    pause requested
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

/// A run with a clock.
struct Run {
    state: State,
    now: Timestamp,
    told: u32,
}

impl Run {
    fn opened(tasks: &[&str], rules: Rules) -> Self {
        let now = "2026-01-26T14:30:00Z".parse().expect("a valid timestamp");
        let mut run = Self { state: State::default(), now, told: 0 };
        let opening = Opening { rules, tasks: plan(tasks), ..Opening::default() };
        run.see(Seen::Started(opening)).expect("a start");
        run
    }

    fn see(&mut self, seen: Seen) -> Option<What> {
        let event = decide(&self.state, Observation { at: self.now, seen })?;
        self.state.apply(&event).expect("what was decided can be applied");
        Some(event.what)
    }

    /// Somebody tells something: what comes of it, or why nothing does.
    fn tell(&mut self, said: Said) -> Result<What, Refusal> {
        self.told += 1;
        let directive = Directive { id: DirectiveId(self.told.to_string()), from: "ada".to_owned(), said };
        let weighed = weigh(&self.state, &directive, self.now);
        let seen = self.see(Seen::Directed(Box::new(directive.clone())));
        assert_eq!(seen, weighed.clone().ok(), "{directive:?}");
        assert_eq!(self.state.has_taken(&directive.id), weighed.is_ok(), "{directive:?}");
        assert_eq!(self.see(Seen::Directed(Box::new(directive))), None, "it is taken once");
        weighed
    }

    fn word(&mut self, task: Option<&str>, text: &str) -> Result<What, Refusal> {
        self.tell(Said::Tell { task: task.map(TaskId::from), text: text.to_owned() })
    }

    fn start(&mut self, task: &str) {
        let prepared = Seen::Prepared { task: task.into(), baseline: Baseline::default() };
        self.see(prepared).expect("it may start");
    }

    fn agent(&mut self, task: &str, dispatch: u32, end: AgentEnd) -> Option<What> {
        let report = AgentReport {
            unfit: None,
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed: Duration::ZERO,
        };
        self.see(Seen::AgentEnded { task: task.into(), dispatch: Dispatch(dispatch), report })
    }

    fn words_for(&self, task: &str) -> Vec<&str> {
        self.state.words_for(&task.into()).map(|word| word.text.as_str()).collect()
    }

    fn waiting(&self) -> Vec<&str> {
        self.state.words().map(|word: &Word| word.text.as_str()).collect()
    }

    /// The question about a task and the time since when it is open.
    fn asked_since(&self, task: &str) -> Timestamp {
        let Some(Status::Asking(asked)) = self.state.task(&task.into()).map(|task| &task.status) else {
            panic!("{task} asks nothing")
        };
        asked.since
    }

    fn drain(&mut self) {
        while let Some(event) = due(&self.state, self.now) {
            self.state.apply(&event).expect("what is due can be applied");
        }
    }
}

fn complete() -> AgentEnd {
    AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: String::new() }
}

fn denied() -> AgentEnd {
    AgentEnd::PermissionDenied { text: "may not write".to_owned() }
}

#[test]
fn words_wait_for_the_next_prompt_and_are_used_up_with_its_attempt() {
    let mut run = Run::opened(&["1.1", "1.2"], off());
    run.word(None, "be brief").expect("it is taken");
    run.word(Some("1.2"), "use tabs").expect("it is taken");
    run.word(Some("1.1"), "use spaces").expect("it is taken");
    assert_eq!(run.words_for("1.1"), Vec::<&str>::new(), "nothing has started");
    run.start("1.1");
    assert_eq!(run.words_for("1.1"), ["be brief", "use spaces"]);
    run.word(None, "later").expect("it is taken");
    assert_eq!(run.words_for("1.1"), ["be brief", "use spaces"], "its prompt is written");
    // An attempt that is lost has used nothing up.
    let opening = Opening { rules: off(), tasks: plan(&["1.1", "1.2"]), ..Opening::default() };
    run.see(Seen::Started(opening)).expect("a start");
    run.start("1.1");
    assert_eq!(run.words_for("1.1"), ["be brief", "use spaces", "later"]);
    run.word(Some("1.1"), "too late").expect("it is taken");
    run.agent("1.1", 2, complete()).expect("a claim");
    assert_eq!(run.waiting(), ["use tabs", "too late"]);
    let report = ChecksReport::default();
    run.see(Seen::ChecksEnded { task: "1.1".into(), dispatch: Dispatch(2), report, tree: None })
        .expect("green");
    let record = engine::Record::Kept { commit: None };
    run.see(Seen::Recorded { task: "1.1".into(), record }).expect("done");
    assert_eq!(run.waiting(), ["use tabs"]);
    let warned = &engine::Summary::of(&run.state).warnings;
    assert_eq!(warned.named, ["what was told about task 1.1 came too late for it: too late"]);
}

#[test]
fn words_have_limits() {
    let mut run = Run::opened(&["1.1"], off());
    let long = "x".repeat(WORD_CHARS_MAX + 1);
    assert_eq!(run.word(None, &long), Err(Refusal::TooLong { chars_max: WORD_CHARS_MAX }));
    for _ in 0..WORDS_MAX {
        run.word(None, &long[1..]).expect("there is room");
    }
    assert_eq!(run.word(None, "one more"), Err(Refusal::TooMany { words_max: WORDS_MAX }));
}

#[test]
fn what_has_no_effect_is_refused_and_not_recorded() {
    let mut run = Run::opened(&["1.1", "1.2 done"], asking(OnEscalation::Ask));
    let unknown = || Refusal::UnknownTask { task: "9.9".into() };
    let settled = || Refusal::Settled { task: "1.2".into() };
    assert_eq!(run.tell(Said::Skip { task: "9.9".into() }), Err(unknown()));
    assert_eq!(run.tell(Said::Skip { task: "1.2".into() }), Err(settled()));
    assert_eq!(run.word(Some("9.9"), "so"), Err(unknown()));
    assert_eq!(run.word(Some("1.2"), "so"), Err(settled()));
    let answer =
        |run: &Run, task: &str, response| Said::Answer { task: task.into(), since: run.now, response };
    let said = answer(&run, "1.1", Response::Retry);
    assert_eq!(run.tell(said), Err(Refusal::NoQuestion { task: "1.1".into() }));
    let said = answer(&run, "9.9", Response::Retry);
    assert_eq!(run.tell(said), Err(unknown()));
    run.see(Seen::Interrupted).expect("an end");
    for said in [Said::Pause, Said::Skip { task: "1.1".into() }] {
        assert_eq!(run.tell(said), Err(Refusal::Over));
    }
    run.word(None, "for the next run").expect("a word outlives the run");
}

#[test]
fn the_second_answer_learns_of_the_first() {
    let mut run = Run::opened(&["1.1"], asking(OnEscalation::Ask));
    run.start("1.1");
    run.agent("1.1", 1, denied()).expect("a failure");
    run.drain();
    let since = run.asked_since("1.1");
    let answer = |response| Said::Answer { task: "1.1".into(), since, response };
    assert_eq!(
        run.tell(answer(Response::Approve)),
        Err(Refusal::NotAnAnswer { task: "1.1".into() }),
        "the question stays open"
    );
    run.now = run.now.checked_add(SignedDuration::from_secs(5)).expect("time goes on");
    let first = FirstAnswer { at: run.now, from: Some("ada".to_owned()), response: Response::Retry };
    run.tell(answer(Response::Retry)).expect("it is taken");
    assert_eq!(run.state.latest_answer(), Some((&"1.1".into(), &first)));
    let refused = Refusal::AnsweredBefore { task: "1.1".into(), first };
    assert_eq!(run.tell(answer(Response::Skip)), Err(refused));
    let other = Said::Answer { task: "1.1".into(), since: Timestamp::UNIX_EPOCH, response: Response::Skip };
    assert_eq!(run.tell(other), Err(Refusal::NoQuestion { task: "1.1".into() }));
}

#[test]
fn the_second_answer_learns_of_an_abort() {
    let mut run = Run::opened(&["1.1"], asking(OnEscalation::Ask));
    run.start("1.1");
    run.agent("1.1", 1, denied()).expect("a failure");
    run.drain();
    let since = run.asked_since("1.1");
    let answer = |response| Said::Answer { task: "1.1".into(), since, response };
    run.tell(answer(Response::Abort)).expect("it is taken");
    assert_eq!(run.state.end(), Some(&End::Aborted));
    let first = FirstAnswer { at: run.now, from: Some("ada".to_owned()), response: Response::Abort };
    assert_eq!(run.tell(answer(Response::Retry)), Err(Refusal::AnsweredBefore { task: "1.1".into(), first }));
}

#[test]
fn every_answer_is_remembered_as_it_was_given() {
    let answered = |given: Option<Response>, seen: Option<Seen>| {
        let mut run = Run::opened(&["1.1", "1.2"], asking(OnEscalation::Ask));
        run.start("1.1");
        run.agent("1.1", 1, denied()).expect("a failure");
        run.drain();
        let since = run.asked_since("1.1");
        if let Some(response) = given {
            run.tell(Said::Answer { task: "1.1".into(), since, response }).expect("it is taken");
        }
        seen.map(|seen| run.see(seen).expect("it is taken"));
        run.state.latest_answer().map(|(_, answer)| (answer.from.clone(), answer.response.clone()))
    };
    for response in [Response::Skip, Response::Abort, Response::Fix("so".to_owned())] {
        let by_ada = Some((Some("ada".to_owned()), response.clone()));
        assert_eq!(answered(Some(response.clone()), None), by_ada);
        let at_terminal = Seen::Answered { task: "1.1".into(), response: response.clone() };
        assert_eq!(answered(None, Some(at_terminal)), Some((None, response)));
    }
    assert_eq!(answered(None, None), None);
}

#[test]
fn nobody_is_waited_for_in_a_pause() {
    let away = || AgentEnd::Unavailable { reason: "overloaded".to_owned(), retry_after: None };
    let mut run = Run::opened(&["1.1", "1.2"], off());
    run.start("1.1");
    run.tell(Said::Pause).expect("it is taken");
    run.agent("1.1", 1, away()).expect("an absence");
    run.drain();
    assert_eq!(run.state.end(), Some(&End::Paused { from: "ada".to_owned() }));
    let mut run = Run::opened(&["1.1", "1.2"], Rules { review: Toggle::On, ..off() });
    run.start("1.1");
    run.tell(Said::Pause).expect("it is taken");
    run.agent("1.1", 1, complete()).expect("a claim");
    let report = ChecksReport::default();
    run.see(Seen::ChecksEnded { task: "1.1".into(), dispatch: Dispatch(1), report, tree: None })
        .expect("green");
    run.drain();
    let wanted = |run: &Run| schedule(&run.state, run.now).iter().map(Action::key).collect::<Vec<_>>();
    assert_eq!(wanted(&run), ["prepare 1.1"], "the reviewer is part of what is under way");
    run.start("1.1");
    let (report, facts) = (AgentReport { end: away(), ..report_of(away()) }, engine::Facts::default());
    let judged = Seen::JudgeEnded { task: "1.1".into(), dispatch: Dispatch(2), report, facts };
    run.see(judged).expect("an absence");
    run.drain();
    assert_eq!(run.state.end(), Some(&End::Paused { from: "ada".to_owned() }));
}

fn report_of(end: AgentEnd) -> AgentReport {
    AgentReport {
        unfit: None,
        end,
        tampered: Vec::new(),
        lost_commit: None,
        touched: Vec::new(),
        learnings: Vec::new(),
        elapsed: Duration::ZERO,
    }
}

#[test]
fn limits_change_while_the_run_goes_on() {
    let mut run = Run::opened(&["1.1"], off());
    let read = |limits: &Limits, jobs| {
        let change = SettingChanged {
            key: "max_task_iterations".to_owned(),
            from: Some("3".to_owned()),
            to: Some(limits.task_iterations_max.to_string()),
        };
        Seen::LimitsRead(Box::new(NewLimits { limits: limits.clone(), jobs, changes: vec![change] }))
    };
    assert_eq!(run.see(read(&off().limits, 1)), None, "nothing is new");
    let limits = Limits { task_iterations_max: 1, ..off().limits };
    assert!(matches!(run.see(read(&limits, 2)), Some(What::LimitsChanged(_))));
    let rules = run.state.rules().expect("the run was opened");
    assert_eq!((&rules.limits, rules.parallel.jobs), (&limits, 2));
    let launch = run.state.opened().map(|opened| opened.launch.clone()).unwrap_or_default();
    assert_eq!(launch.get("max_task_iterations").map(String::as_str), Some("1"));
    run.start("1.1");
    run.agent("1.1", 1, AgentEnd::TimedOut { limit: "1m".to_owned(), tail: String::new() })
        .expect("a failure");
    run.drain();
    assert!(matches!(run.state.end(), Some(End::Stopped(_))), "one attempt was allowed");
}
