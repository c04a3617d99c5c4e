//! Killing the program at any event and starting it again gives the same end.

use engine::{End, Event, What};

use crate::invariants::{self, Outcome};
use crate::obstacles;
use crate::scenario::{self, Scenario};
use crate::transcript::transcript;
use crate::world::{Crash, World};

/// Runs the scenario with crashes and expects the end that it has without.
#[track_caller]
fn check(scenario: &Scenario, calm: &World, crashes: &[Crash]) {
    let world = scenario.world().crashing(crashes).run();
    invariants::at_the_end(&world);
    let (expected, found) = (Outcome::of(calm), Outcome::of(&world));
    assert!(
        expected == found,
        "{}, {crashes:?}\nexpected {expected:#?}\nfound {found:#?}\n{}",
        scenario.name,
        transcript(&world)
    );
}

/// Every scenario, and its run without a crash.
fn calm() -> Vec<(Scenario, World)> {
    let run = |scenario: Scenario| {
        let calm = scenario.world().run();
        (scenario, calm)
    };
    scenario::all().into_iter().map(run).collect()
}

#[test]
fn after_every_event_of_every_scenario() {
    for (scenario, calm) in calm().iter().filter(|(scenario, calm)| scenario.is_comparable(calm)) {
        for event in 1..=calm.journal.len() {
            check(scenario, calm, &[Crash::Before(event)]);
            check(scenario, calm, &[Crash::After(event)]);
        }
    }
}

#[test]
fn twice_in_one_run() {
    for (scenario, calm) in calm().iter().filter(|(scenario, calm)| scenario.is_comparable(calm)) {
        for event in 1..=calm.journal.len() {
            let second = if event % 2 == 0 { Crash::After(event + 1) } else { Crash::Before(event + 3) };
            check(scenario, calm, &[Crash::Before(event), second]);
        }
    }
}

/// Whether somebody edits the plan decides when the edit is noticed, so the end may be another one; the laws
/// hold all the same.
#[test]
fn with_edits_and_clocks_the_laws_hold() {
    for (scenario, calm) in calm().iter().filter(|(scenario, calm)| !scenario.is_comparable(calm)) {
        for event in 1..=calm.journal.len() {
            invariants::at_the_end(&scenario.world().crashing(&[Crash::Before(event)]).run());
            invariants::at_the_end(&scenario.world().crashing(&[Crash::After(event)]).run());
        }
    }
}

#[test]
fn a_result_that_arrives_twice_changes_nothing() {
    for scenario in scenario::all() {
        let once = scenario.world().run();
        let twice = scenario.echoing().world().run();
        assert_eq!(once.lines, twice.lines);
    }
}

/// The ladder is a setting that either dialect can use: every combination of its rungs survives crashes, and none
/// of them breaks a law. Each combination is killed at other events than the next one.
#[test]
fn under_all_rules() {
    for (number, scenario) in obstacles::under_all_rules().iter().enumerate() {
        let calm = scenario.world().run();
        invariants::at_the_end(&calm);
        for event in (1 + number % 6..=calm.journal.len()).step_by(6) {
            let crash = if number % 2 == 0 { Crash::After(event) } else { Crash::Before(event) };
            check(scenario, &calm, &[crash]);
        }
    }
}

/// Work that has come in once more as often as the rules allow gets no further chances from a crash.
#[test]
fn a_crash_does_not_forget_how_often_work_came_in() {
    let scenario = scenario::named("batch, somebody commits again and again");
    let calm = scenario.world().run();
    let is_end = |event: &Event| matches!(&event.what, What::Ended(End::Unavailable { .. }));
    let end = calm.journal.iter().position(is_end).expect("the run pauses");
    let landings = |world: &World| {
        let first = world.journal.iter().take_while(|event| !is_end(event));
        first.filter(|event| matches!(event.what, What::LandingStarted { .. })).count()
    };
    let crashed = scenario.world().crashing(&[Crash::After(end)]).run();
    assert_eq!(landings(&crashed), landings(&calm) + 1, "it is brought in once more, and that is it");
}
