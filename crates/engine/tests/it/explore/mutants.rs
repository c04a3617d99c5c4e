//! Engines that decide one thing otherwise: the net catches each of them.

use engine::{Action, End, Event, Observation, Seen, State, Status, StopReason, What};
use jiff::Timestamp;

use super::cases;
use super::explore;
use super::node::Engine;

#[track_caller]
fn is_caught(engine: Engine, law: &str) {
    let broken = explore(engine, &cases::small()).expect_err("somebody notices");
    assert!(broken.law.contains(law), "{}\n{}", broken.law, broken.transcript);
}

/// Or none of them would be caught for what it is.
#[test]
fn the_engine_itself_is_not() {
    let (moments, ends) = explore(Engine::default(), &cases::small()).expect("no law is broken");
    assert!(moments > 100 && ends > 1, "{moments} moments, {ends} ends");
}

#[test]
fn a_red_check_that_counts_as_green() {
    fn decide(state: &State, mut observation: Observation) -> Option<Event> {
        if let Seen::ChecksEnded { report, .. } = &mut observation.seen {
            report.failure = None;
        }
        engine::decide(state, observation)
    }
    is_caught(Engine { decide, ..Engine::default() }, "no proof");
}

#[test]
fn a_limit_that_is_forgotten() {
    fn due(state: &State, now: Timestamp) -> Option<Event> {
        let event = engine::due(state, now)?;
        let What::Ended(End::Stopped(StopReason::Retries { task, .. })) = &event.what else {
            return Some(event);
        };
        let attempt = state.task(task)?.next_attempt();
        Some(Event::new(now, What::RetryPlanned { task: task.clone(), attempt }))
    }
    is_caught(Engine { due, ..Engine::default() }, "limit");
}

#[test]
fn finished_work_that_is_dropped_on_a_crash() {
    fn decide(state: &State, mut observation: Observation) -> Option<Event> {
        if let Seen::Started(opening) = &mut observation.seen {
            let finished = state.tasks().iter().filter(|task| matches!(task.status, Status::Finished { .. }));
            opening.gone.extend(finished.map(|task| task.id().clone()));
        }
        engine::decide(state, observation)
    }
    is_caught(Engine { decide, ..Engine::default() }, "lost");
}

#[test]
fn a_step_that_is_never_taken() {
    fn schedule(state: &State, now: Timestamp) -> Vec<Action> {
        let actions = engine::schedule(state, now).into_iter();
        actions.filter(|action| !matches!(action, Action::Join { .. })).collect()
    }
    is_caught(Engine { schedule, ..Engine::default() }, "stuck");
}

#[test]
fn absences_that_are_never_counted() {
    fn decide(state: &State, observation: Observation) -> Option<Event> {
        let mut event = engine::decide(state, observation)?;
        if let What::AgentUnavailable { nth, .. } = &mut event.what {
            *nth = 1;
        }
        Some(event)
    }
    is_caught(Engine { decide, ..Engine::default() }, "limit");
}

#[test]
fn a_crash_that_gives_full_budgets() {
    fn decide(state: &State, observation: Observation) -> Option<Event> {
        let mut event = engine::decide(state, observation)?;
        if let What::Opened(opened) = &mut event.what {
            opened.round += u32::from(state.opened().is_some());
        }
        Some(event)
    }
    is_caught(Engine { decide, ..Engine::default() }, "lost");
}

/// Nothing that the key knows tells an attempt that was lost from one that never was.
#[test]
fn a_lost_attempt_that_counts() {
    fn due(state: &State, now: Timestamp) -> Option<Event> {
        let event = engine::due(state, now)?;
        let lost = state.opened().map_or(&[][..], |opened| &opened.lost);
        let What::RetryPlanned { task, .. } = &event.what else { return Some(event) };
        if !lost.contains(task) {
            return Some(event);
        }
        let reason = StopReason::Retries { task: task.clone(), attempts: 2 };
        Some(Event::new(now, What::Ended(End::Stopped(reason))))
    }
    is_caught(Engine { due, ..Engine::default() }, "the key leaves out too much");
}
