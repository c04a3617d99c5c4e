//! What the engine decides at one moment, as one value. It is recorded in the history before it is acted upon, so that a
//! program with another policy replays what was decided by this one.

use std::collections::BTreeSet;

use engine::{Action, End, Event, Observation, Seen, State, What, decide, due, schedule};
use jiff::Timestamp;
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::order::{Wanted, task_of};

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// The events that follow from what was seen.
    pub(crate) events: Vec<Event>,
    /// The orders that are given now.
    pub(crate) start: Vec<Wanted>,
    /// The moment at which something is due though nothing happens.
    pub(crate) wake: Option<Timestamp>,
}

/// The knowledge of the plan as it is at the remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanKnown {
    /// It was read after everything that this run did.
    Read,
    /// Somebody may have changed it since.
    Stale,
}

/// The orders that are under way.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnderWay {
    pub(crate) keys: BTreeSet<String>,
    pub(crate) tasks: BTreeSet<TaskId>,
}

/// Decides on what was seen.
pub(crate) fn propose(
    state: &State,
    seen: Vec<Seen>,
    (under_way, known): (&UnderWay, PlanKnown),
    at: Timestamp,
) -> Decision {
    let mut state = state.clone();
    let mut decision = Decision::default();
    for seen in seen {
        if let Some(event) = decide(&state, Observation { at, seen }) {
            take(&mut state, event, &mut decision.events);
        }
    }
    let mut looks_first = false;
    while let Some(event) = due(&state, at) {
        let is_completion = matches!(event.what, What::Ended(End::Complete { .. }));
        looks_first = is_completion && known == PlanKnown::Stale;
        if looks_first || !take(&mut state, event, &mut decision.events) {
            break;
        }
    }
    decision.wake = state.next_deadline(at);
    if state.end().is_some() {
        return decision;
    }
    decision.start = orders(&state, under_way, at);
    if looks_first {
        decision.start.push(Wanted::Do(Vec::new()));
    }
    decision.start.retain(|order| !under_way.keys.contains(&order.key()));
    decision
}

/// Applies an event. One that cannot be applied is none.
fn take(state: &mut State, event: Event, events: &mut Vec<Event>) -> bool {
    let is_taken = state.apply(&event).is_ok();
    if is_taken {
        events.push(event);
    }
    is_taken
}

/// The orders for what is wanted and not under way: tasks that may start are looked at together.
fn orders(state: &State, under_way: &UnderWay, at: Timestamp) -> Vec<Wanted> {
    let is_free = |action: &Action| match task_of(action) {
        Some(task) => !under_way.tasks.contains(task),
        None => !under_way.keys.contains(&action.key()),
    };
    let wanted = schedule(state, at).into_iter().filter(is_free);
    let wanted = wanted.filter(|action| !matches!(action, Action::Ask { .. }));
    let (starts, others): (Vec<Action>, Vec<Action>) =
        wanted.partition(|action| matches!(action, Action::Prepare { .. }));
    let starts = (!starts.is_empty()).then_some(Wanted::Do(starts));
    others.into_iter().map(|action| Wanted::Do(vec![action])).chain(starts).collect()
}
