//! Budgets of money and tokens, and agents that others take over from.

use std::collections::BTreeMap;

use engine::{
    AgentEnd, AgentReport, Agents, Baseline, CapKind, Claim, Dispatch, End, Event, Lasting, Limits,
    Observation, Opening, Rules, Seen, Session, Spent, State, Statistics, Usage, What, decide, due,
};
use jiff::Timestamp;

use crate::script::decl;

/// A run with one task after another, decided step by step.
struct Case {
    state: State,
    history: engine::History,
}

impl Case {
    fn opened(rules: Rules) -> Self {
        let mut case = Self { state: State::default(), history: engine::History::default() };
        let tasks = vec![decl("1.1"), decl("1.2")];
        let opening =
            Opening { rules, launch: BTreeMap::new(), tasks, dirty: Vec::new(), ..Opening::default() };
        case.see(Seen::Started(opening));
        case
    }

    fn see(&mut self, seen: Seen) -> Option<What> {
        self.see_at(0, seen)
    }

    fn see_at(&mut self, second: i64, seen: Seen) -> Option<What> {
        let at = Timestamp::from_second(second).expect("a time soon after the first");
        let event = decide(&self.state, Observation { at, seen })?;
        Some(self.apply(event))
    }

    fn due(&mut self) -> Option<What> {
        let event = due(&self.state, Timestamp::UNIX_EPOCH)?;
        Some(self.apply(event))
    }

    fn apply(&mut self, event: Event) -> What {
        self.state.apply(&event).expect("what was decided can be applied");
        self.history.record(&event);
        event.what
    }

    fn start(&mut self) {
        let started = self.see(Seen::Prepared { task: "1.1".into(), baseline: Baseline::default() });
        assert!(matches!(started, Some(What::AttemptStarted(_))), "{started:?}");
    }

    fn ends(&mut self, dispatch: u32, end: AgentEnd) -> Option<What> {
        let report = AgentReport {
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed: std::time::Duration::ZERO,
            unfit: None,
        };
        self.see(Seen::AgentEnded { task: "1.1".into(), dispatch: Dispatch(dispatch), report })
    }
}

fn spent(dispatch: u32, usage: Usage) -> Box<Spent> {
    let session = Some(Session { id: "s".to_owned(), total: Usage::default() });
    Box::new(Spent {
        task: "1.1".into(),
        dispatch: Dispatch(dispatch),
        agent: "a".to_owned(),
        usage,
        session,
        interim: false,
    })
}

fn cost(micros: u64) -> Usage {
    Usage { cost_micros: Some(micros), ..Usage::default() }
}

fn budget() -> Rules {
    Rules { limits: Limits { cost_micros_max: Some(100), ..Limits::default() }, ..Rules::default() }
}

fn fails() -> AgentEnd {
    AgentEnd::GaveUp { reason: "the model refused".to_owned(), tail: String::new() }
}

fn broke() -> AgentEnd {
    AgentEnd::OutOfReach { lasting: Lasting::Quota, reason: "out of quota".to_owned(), retry_after: None }
}

fn broke_until(second: u64) -> AgentEnd {
    AgentEnd::OutOfReach {
        lasting: Lasting::Quota,
        reason: "out of quota".to_owned(),
        retry_after: Some(std::time::Duration::from_secs(second)),
    }
}

#[test]
fn an_only_agent_that_has_something_again_later_is_waited_for() {
    let mut case = Case::opened(Rules::default());
    case.start();
    let Some(What::AgentUnavailable { until, .. }) = case.ends(1, broke_until(3_600)) else {
        panic!("it is waited for")
    };
    assert_eq!(until, Timestamp::from_second(3_600).expect("an hour after the first"));
    assert_eq!(case.due(), None);
}

#[test]
fn a_budget_is_looked_at_before_each_start() {
    let mut case = Case::opened(budget());
    case.start();
    assert!(case.see(Seen::Spent { spent: spent(1, cost(100)) }).is_some());
    assert!(matches!(case.ends(1, fails()), Some(What::AttemptFailed { .. })));
    assert!(matches!(case.due(), Some(What::RetryPlanned { .. })));
    assert_eq!(case.due(), Some(What::Ended(End::Capped(CapKind::Cost { micros: 100 }))));
}

#[test]
fn a_budget_is_looked_at_while_an_agent_works() {
    let mut case = Case::opened(budget());
    case.start();
    assert!(case.see(Seen::Spending { spent: spent(1, cost(99)) }).is_some(), "the program might die");
    assert_eq!(case.due(), None);
    assert!(case.see(Seen::Spending { spent: spent(1, cost(101)) }).is_some());
    assert_eq!(case.due(), Some(What::Ended(End::Capped(CapKind::Cost { micros: 100 }))));
    assert!(case.see(Seen::Spent { spent: spent(1, cost(120)) }).is_some(), "it went on for a moment");
    assert_eq!(case.state.usage(), cost(120), "each report replaces the one before");
    assert!(matches!(case.state.end(), Some(End::Capped(_))));
}

#[test]
fn what_an_agent_did_that_is_through_is_verified_whatever_it_used() {
    let mut case = Case::opened(budget());
    case.start();
    assert!(case.see(Seen::Spent { spent: spent(1, cost(120)) }).is_some());
    assert_eq!(case.due(), None, "its end is still to be looked at");
    let answered =
        AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: "TASK_COMPLETE".to_owned() };
    let claimed = case.ends(1, answered);
    assert!(!matches!(claimed, None | Some(What::AttemptFailed { .. })), "{claimed:?}");
    assert_eq!(case.due(), None, "the checks come first");
    case.see(Seen::ChecksEnded {
        task: "1.1".into(),
        dispatch: Dispatch(1),
        report: engine::ChecksReport::default(),
        tree: None,
    });
    while let Some(what) = case.due() {
        assert!(!matches!(what, What::Ended(_)), "{what:?}: it is not recorded yet");
    }
}

#[test]
fn what_a_lost_agent_told_counts_after_the_program_died() {
    let mut case = Case::opened(budget());
    case.start();
    let told = |micros: u64| Seen::Spending { spent: spent(1, cost(micros)) };
    assert!(case.see_at(1, told(10)).is_some());
    assert_eq!(case.see_at(5, told(20)), None, "not at every word");
    assert_eq!(case.see_at(60, told(10)), None, "that is known");
    assert!(case.see_at(60, told(60)).is_some());
    assert_eq!(case.state.task(&"1.1".into()).expect("it is there").session, None, "it is told in the end");
    let opening = Opening { rules: budget(), tasks: vec![decl("1.1"), decl("1.2")], ..Opening::default() };
    case.see_at(70, Seen::Started(opening));
    assert_eq!(case.state.round_usage(), cost(60), "the budget goes on where it was");
    assert_eq!(case.state.cost_left(), Some(40));
    assert_eq!(
        case.see_at(71, Seen::Spending { spent: spent(9, cost(1)) }),
        None,
        "nobody was started as that"
    );
}

#[test]
fn a_new_round_has_a_new_budget_and_the_sum_goes_on() {
    let mut case = Case::opened(budget());
    case.start();
    case.see(Seen::Spending { spent: spent(1, cost(150)) });
    case.due();
    let opening = Opening { rules: budget(), tasks: vec![decl("1.1"), decl("1.2")], ..Opening::default() };
    case.see(Seen::Started(opening));
    assert_eq!(case.due(), None);
    case.start();
    case.see(Seen::Spent { spent: spent(2, cost(30)) });
    assert_eq!((case.state.round_usage(), case.state.usage()), (cost(30), cost(180)));
    let task = case.state.task(&"1.1".into()).expect("it is there");
    assert_eq!(task.usage, cost(180));
    assert_eq!(
        task.session.as_ref().map(|(agent, session)| (agent.as_str(), session.id.as_str())),
        Some(("a", "s"))
    );
}

#[test]
fn what_is_not_told_is_no_event() {
    let mut case = Case::opened(budget());
    case.start();
    let silent = || Box::new(Spent { session: None, ..*spent(1, Usage::default()) });
    assert_eq!(case.see(Seen::Spent { spent: silent() }), None);
    assert!(case.see(Seen::Spent { spent: spent(1, cost(1)) }).is_some());
    assert!(case.see(Seen::Spent { spent: silent() }).is_some(), "a session that is gone is forgotten");
    assert_eq!(case.state.task(&"1.1".into()).and_then(|task| task.session.clone()), None);
    assert_eq!(case.see(Seen::Spent { spent: spent(9, cost(1)) }), None, "nobody was started as that");
}

fn two_agents() -> Rules {
    let names = vec!["a".to_owned(), "b".to_owned()];
    let agents = Agents { executor: names.clone(), qa: names, reviewer: vec!["b".to_owned()] };
    Rules { agents, ..Rules::default() }
}

#[test]
fn another_agent_takes_over_from_one_without_quota() {
    let mut case = Case::opened(two_agents());
    case.start();
    assert_eq!(case.state.agent_of(Dispatch(1)), Some("a"));
    let dropped = case.ends(1, broke());
    assert!(matches!(dropped, Some(What::AgentDropped { lasting: Lasting::Quota, .. })), "{dropped:?}");
    assert_eq!(case.due(), None, "nobody waits");
    case.start();
    assert_eq!(case.state.agent_of(Dispatch(2)), Some("b"));
    case.ends(2, broke());
    assert_eq!(case.due(), Some(What::Ended(End::Unavailable { reason: "out of quota".to_owned() })));
    case.see(Seen::Spent { spent: spent(2, cost(5)) });
    let statistics = Statistics::of(&case.state, &case.history);
    let agents = statistics.agents();
    assert_eq!(agents.keys().copied().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((agents["a"].unavailable, agents["b"].unavailable), (1, 1));
    assert_eq!((agents["a"].usage, agents["b"].usage), (cost(5), Usage::default()));
}

#[test]
fn another_agent_takes_over_from_one_that_does_not_answer() {
    let limits =
        Limits { unavailable_max: 2, unavailable_wait: std::time::Duration::ZERO, ..Limits::default() };
    let mut case = Case::opened(Rules { limits, ..two_agents() });
    let away = || AgentEnd::Unavailable { reason: "overloaded".to_owned(), retry_after: None };
    case.start();
    assert!(matches!(case.ends(1, away()), Some(What::AgentUnavailable { nth: 1, .. })));
    case.start();
    let dropped = case.ends(2, away());
    assert!(matches!(dropped, Some(What::AgentDropped { lasting: Lasting::Silence, .. })), "{dropped:?}");
    for dispatch in [3, 4] {
        case.start();
        assert_eq!(case.state.agent_of(Dispatch(dispatch)), Some("b"));
        case.ends(dispatch, away());
    }
    assert_eq!(case.due(), Some(What::Ended(End::Unavailable { reason: "overloaded".to_owned() })));
}

#[test]
fn an_only_agent_without_quota_ends_the_run_at_once() {
    let mut case = Case::opened(Rules::default());
    case.start();
    case.ends(1, broke());
    assert_eq!(case.due(), Some(What::Ended(End::Unavailable { reason: "out of quota".to_owned() })));
    case.see(Seen::Started(Opening { tasks: vec![decl("1.1"), decl("1.2")], ..Opening::default() }));
    assert_eq!(case.due(), None, "a person who starts it again wants it to be asked again");
}

#[test]
fn who_claims_success_at_the_cap_is_still_checked() {
    let mut case = Case::opened(budget());
    case.start();
    case.see(Seen::Spent { spent: spent(1, cost(500)) });
    let complete = AgentEnd::Answered { claim: Claim::Complete, contradiction: None, tail: String::new() };
    assert!(matches!(case.ends(1, complete), Some(What::AttemptClaimed { .. })));
    assert_eq!(case.due(), None);
}
