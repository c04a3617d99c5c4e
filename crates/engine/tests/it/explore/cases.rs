//! The plans that are explored, the rules that they run under, and what can go wrong with each.

use engine::{
    Isolation, Limits, OnEscalation, OnExhausted, Parallel, Prove, Recovery, Rules, Toggle, Unverifiable,
};

use super::node::Case;
use super::outcomes::Trouble;
use crate::script::plan;

/// How much is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// As much as every run of the tests has time for.
    Ordinary,
    /// More troubles, more tasks and people who step in more often.
    Large,
}

const GOING_DOWN: &[Trouble] = &[Trouble::Interrupted, Trouble::TreesGone];
const RED: &[Trouble] = &[Trouble::Red];
const WORK: &[Trouble] = &[Trouble::Fails, Trouble::Red, Trouble::OutOfScope];
const MORE_WORK: &[Trouble] =
    &[Trouble::Fails, Trouble::Silent, Trouble::Tampers, Trouble::Red, Trouble::OutOfScope];
const ABSENT: &[Trouble] = &[Trouble::Silent, Trouble::Away, Trouble::OutOfReach, Trouble::NoTree];
const STUCK: &[Trouble] = &[Trouble::Fails, Trouble::Denied, Trouble::Blocked];
const MEETING: &[Trouble] = &[Trouble::Conflict, Trouble::RedTogether];
const RETURNS: &[Trouble] = &[Trouble::Conflict, Trouble::TakenOut, Trouble::Moved];
const COMING_IN: &[Trouble] = &[Trouble::Conflict, Trouble::RedTogether, Trouble::TakenOut, Trouble::Moved];
const HELD_UP: &[Trouble] = &[Trouble::InTheWay, Trouble::Moved];
const BAD_TREES: &[Trouble] = &[Trouble::BadTree, Trouble::Red];
const IN_THE_WAY: &[Trouble] =
    &[Trouble::Red, Trouble::LandingBlocked, Trouble::Refused, Trouble::RecordBlocked];
const JUDGES: &[Trouble] = &[Trouble::JudgeNo, Trouble::JudgeSilent, Trouble::OutOfReach];
const PROOF: &[Trouble] = &[Trouble::Red, Trouble::ProofRed, Trouble::Interrupted];
const REGRESSION: &[Trouble] = &[Trouble::Red, Trouble::RegressionRed];
const STEERED: &[Trouble] = &[Trouble::Red, Trouble::RedTogether, Trouble::Skips, Trouble::Pauses];
const STEERED_ABSENT: &[Trouble] = &[Trouble::Away, Trouble::JudgeNo, Trouble::Skips, Trouble::Pauses];

type Plans = &'static [&'static [&'static str]];

const SINGLES: Plans = &[&["1.1"], &["1.1 verify"]];
/// One after another: by their order, by what they are, by what they say.
const SEQUENCES: Plans = &[&["1.1", "1.2"], &["1.1", "1.2 verify"], &["1.1 p", "1.2 p on:1.1"]];
const SIDE_BY_SIDE: Plans = &[&["1.1 p", "1.2 p"]];
const TRIPLES: Plans = &[
    &["1.1", "1.2", "1.3"],
    &["1.1 p", "1.2 p", "1.3 verify"],
    &["1.1 p", "1.2 p on:1.1", "1.3 p"],
    &["1.1 p", "1.2 p", "1.3 p"],
];
const JUDGED: Plans = &[&["1.1 judge", "1.2"], &["1.1", "1.2 checkpoint"]];

/// Each task fails at most twice, gets one fix task, and that gets one in turn; agents are away, and work comes in again,
/// about as seldom.
fn rules(recovery: Recovery) -> Rules {
    let limits = Limits {
        task_iterations_max: 2,
        fix_tasks_max: 1,
        fix_depth_max: 2,
        unavailable_max: 2,
        returns_max: 1,
        ..Limits::default()
    };
    let parallel = Parallel { jobs: 3, isolation: Isolation::Trees, infer: Toggle::Off };
    Rules { recovery, limits, parallel, ..Rules::default() }
}

/// A run that stops where it does not get further; one that asks and waits; one that goes on beside its questions.
fn people(recovery: Recovery) -> [Rules; 3] {
    let asking = |on_escalation, keep_going| Rules {
        on_exhausted: OnExhausted::Ask,
        on_escalation,
        keep_going,
        ..rules(recovery)
    };
    [rules(recovery), asking(OnEscalation::Ask, Toggle::Off), asking(OnEscalation::Pause, Toggle::On)]
}

fn case(tasks: &[&str], troubles: &[Trouble], rules: &Rules, interventions: u32) -> Case {
    let name = format!(
        "{tasks:?}, recovery {:?}, {:?} and {:?}, at most {interventions} interventions, {troubles:?}",
        rules.recovery, rules.on_exhausted, rules.on_escalation
    );
    let troubles = troubles.iter().chain(GOING_DOWN).copied().collect();
    Case { name, plan: plan(tasks), rules: rules.clone(), troubles, interventions }
}

/// Every plan under each of these rules.
fn each(plans: Plans, troubles: &[Trouble], rules: &[Rules], interventions: u32) -> Vec<Case> {
    let of = |tasks: &&[&str], rules: &Rules| case(tasks, troubles, rules, interventions);
    plans.iter().flat_map(|tasks| rules.iter().map(move |rules| of(tasks, rules))).collect()
}

/// Every plan with fix tasks and without, and with all kinds of people.
fn all(plans: Plans, troubles: &[Trouble], interventions: u32) -> Vec<Case> {
    let off = each(plans, troubles, &people(Recovery::Off), interventions);
    off.into_iter().chain(each(plans, troubles, &people(Recovery::On), interventions)).collect()
}

/// Agents that do their tasks, or fail.
pub(crate) fn work(size: Size) -> Vec<Case> {
    let (off, on) = (people(Recovery::Off), people(Recovery::On));
    let parallel = Parallel { jobs: 2, isolation: Isolation::Shared, infer: Toggle::Off };
    let shared = Rules { parallel, ..rules(Recovery::On) };
    let limits = Limits { global_iterations_max: Some(3), ..rules(Recovery::On).limits };
    let capped = Rules { limits, ..rules(Recovery::On) };
    match size {
        Size::Ordinary => vec![
            each(SINGLES, WORK, &off, 1),
            each(SINGLES, RED, &on, 1),
            each(SEQUENCES, WORK, &off, 1),
            each(SEQUENCES, RED, &on, 0),
            each(SIDE_BY_SIDE, RED, &off, 1),
            each(SIDE_BY_SIDE, RED, &on, 0),
            each(SIDE_BY_SIDE, RED, &[shared, capped], 0),
            each(TRIPLES, RED, &off[..2], 0),
            each(&TRIPLES[..3], WORK, &off[..1], 0),
            each(&TRIPLES[..3], RED, &on[..1], 0),
        ],
        Size::Large => vec![
            all(SINGLES, MORE_WORK, 2),
            each(SEQUENCES, MORE_WORK, &off, 2),
            each(SEQUENCES, WORK, &on, 1),
            each(SIDE_BY_SIDE, MORE_WORK, &off, 1),
            each(SIDE_BY_SIDE, WORK, &on, 0),
            each(SIDE_BY_SIDE, WORK, &[shared, capped], 0),
            each(TRIPLES, RED, &off, 1),
            each(TRIPLES, WORK, &off[..1], 0),
            each(TRIPLES, RED, &on, 0),
        ],
    }
    .concat()
}

/// Agents that cannot be had, or cannot go on.
pub(crate) fn agents(size: Size) -> Vec<Case> {
    let (off, on) = (people(Recovery::Off), people(Recovery::On));
    match size {
        Size::Ordinary => vec![
            each(SEQUENCES, ABSENT, &off, 1),
            each(SEQUENCES, STUCK, &off, 0),
            each(SIDE_BY_SIDE, ABSENT, &off, 0),
            each(SIDE_BY_SIDE, STUCK, &off, 0),
            each(SEQUENCES, ABSENT, &on, 0),
            each(&TRIPLES[..3], STUCK, &off[..1], 0),
            each(&TRIPLES[..3], ABSENT, &off[..1], 0),
        ],
        Size::Large => vec![
            each(TRIPLES, STUCK, &off[..1], 0),
            all(SEQUENCES, ABSENT, 1),
            all(SEQUENCES, STUCK, 1),
            // Where a tree cannot be made and later can, what goes on beside a question differs, and so do early ends.
            all(SIDE_BY_SIDE, &ABSENT[..3], 1),
            all(SIDE_BY_SIDE, STUCK, 0),
            each(TRIPLES, ABSENT, &off[..1], 0),
        ],
    }
    .concat()
}

/// Work that comes into the project.
pub(crate) fn coming_in(size: Size) -> Vec<Case> {
    let (off, on) = (people(Recovery::Off), people(Recovery::On));
    match size {
        Size::Ordinary => vec![
            each(SIDE_BY_SIDE, COMING_IN, &off, 0),
            each(SIDE_BY_SIDE, MEETING, &on[..1], 0),
            each(SIDE_BY_SIDE, IN_THE_WAY, &off, 0),
            each(SEQUENCES, IN_THE_WAY, &off, 1),
            each(SEQUENCES, RETURNS, &on, 0),
            each(&TRIPLES[1..], MEETING, &off[..1], 0),
            each(SIDE_BY_SIDE, HELD_UP, &off, 1),
            each(&TRIPLES[1..], &HELD_UP[..1], &off[1..], 0),
            each(SIDE_BY_SIDE, BAD_TREES, &off, 0),
            each(&TRIPLES[..3], IN_THE_WAY, &off[..1], 0),
        ],
        Size::Large => vec![
            each(SIDE_BY_SIDE, COMING_IN, &off, 1),
            each(SIDE_BY_SIDE, COMING_IN, &on, 0),
            all(SIDE_BY_SIDE, IN_THE_WAY, 1),
            all(SEQUENCES, IN_THE_WAY, 1),
            each(&TRIPLES[1..3], MEETING, &off, 0),
            each(SIDE_BY_SIDE, HELD_UP, &on, 1),
            each(&TRIPLES[1..], HELD_UP, &off, 0),
            each(SIDE_BY_SIDE, BAD_TREES, &on, 0),
            each(TRIPLES, MEETING, &off[..1], 0),
        ],
    }
    .concat()
}

/// Results that somebody judges, questions by design, and a command that is run once more at the end.
pub(crate) fn judges(size: Size) -> Vec<Case> {
    let mut cases = Vec::new();
    for recovery in [Recovery::Off, Recovery::On] {
        let [stops, asks, goes_on] = people(recovery);
        let reviewed = Rules { review: Toggle::On, ..stops.clone() };
        let by_person = Rules { unverifiable: Unverifiable::Ask, ..asks.clone() };
        let regression = Rules { regression: Toggle::On, ..stops.clone() };
        cases.extend(each(JUDGED, JUDGES, &[stops, asks, goes_on, reviewed.clone(), by_person.clone()], 1));
        let three = &["1.1 judge", "1.2 p judge", "1.3 p"];
        cases.push(case(three, &JUDGES[..2], &regression, 0));
        let proved = Rules { prove: Prove::Report, ..regression.clone() };
        let required = Rules { prove: Prove::Require, regression: Toggle::Off, ..regression.clone() };
        cases.extend(each(&SEQUENCES[1..2], REGRESSION, &[regression], 1));
        // Whoever has to mend what a proof found tries again, whatever else gets a fix task.
        if recovery == Recovery::Off {
            cases.extend(each(&SEQUENCES[1..2], PROOF, &[proved, required], 1));
        }
        if size == Size::Large {
            let beside = &["1.1 p judge", "1.2 p"];
            cases.push(case(beside, JUDGES, &reviewed, 1));
            cases.push(case(beside, JUDGES, &by_person, 1));
        }
    }
    cases
}

/// People who tell a run from elsewhere what to leave out and when to pause.
pub(crate) fn steered(size: Size) -> Vec<Case> {
    let (off, on) = (people(Recovery::Off), people(Recovery::On));
    let reviewed = Rules { review: Toggle::On, ..off[0].clone() };
    match size {
        Size::Ordinary => vec![
            each(SINGLES, STEERED, &off, 2),
            each(SEQUENCES, STEERED, &off, 1),
            each(SEQUENCES, STEERED, &on[..1], 1),
            each(SIDE_BY_SIDE, STEERED, &off, 1),
            each(JUDGED, STEERED_ABSENT, &[reviewed], 1),
        ],
        Size::Large => vec![
            all(SINGLES, STEERED, 2),
            all(SEQUENCES, STEERED, 2),
            each(SIDE_BY_SIDE, STEERED, &off, 1),
            each(SIDE_BY_SIDE, STEERED, &on, 1),
            each(&TRIPLES[..3], STEERED, &off[..1], 1),
            each(JUDGED, STEERED_ABSENT, &[reviewed], 2),
        ],
    }
    .concat()
}

/// A case that is explored at once.
pub(crate) fn small() -> Case {
    let troubles = &[Trouble::Red, Trouble::RedTogether, Trouble::Away];
    case(SIDE_BY_SIDE[0], troubles, &rules(Recovery::Off), 0)
}
