//! Journals: damage is told or harmless, and whatever events there are can be looked at and gone on from.

use std::hint::black_box;
use std::path::Path;

use engine::{Attempt, Event, History, Observation, Opening, Seen, State, Statistics, Summary, Versioned};
use jiff::Timestamp;
use runner::journal::{self, JournalError, ReadEnd};

/// The events that follow of themselves, at most so many: a run whose agents are all away waits for them.
const DUE_MAX: usize = 200;

/// A journal of any bytes: what can be read of it is a beginning of what it says.
pub(super) fn raw(data: &[u8]) {
    let (events, end) = read(data);
    let Ok(end) = end else { return };
    assert_eq!(end.events, events.len() as u64);
    let whole = data.len() - usize::try_from(end.unfinished_bytes).expect("part of the data");
    assert!(whole == 0 || data[whole - 1] == b'\n');
    let (again, end) = read(&data[..whole]);
    assert_eq!((again.len(), end.map(|end| end.unfinished_bytes).ok()), (events.len(), Some(0)));
    look(&events);
}

/// Events, one in a line, as the lines of a journal with the checksums that belong to them.
pub(super) fn events(data: &[u8]) {
    let lines = data.split(|byte| *byte == b'\n');
    let events: Vec<Event> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let text = journal::text_of(&events).expect("events can be written");
    let (again, end) = read(&text);
    assert_eq!(end.expect("what was written can be read").unfinished_bytes, 0);
    assert_eq!(again, events);
    look(&events);
}

fn read(data: &[u8]) -> (Vec<Event>, Result<ReadEnd, JournalError>) {
    let mut events = Vec::new();
    let end = journal::read_from(Path::new("journal.jsonl"), data, |_, event| events.push(event));
    (events, end)
}

/// Looks at a run as `status` and `stats` do, and takes it up again.
fn look(events: &[Event]) {
    let (mut state, mut history) = (State::default(), History::default());
    let mut at = Timestamp::UNIX_EPOCH;
    for event in events {
        if state.apply(event).is_err() {
            break;
        }
        history.record(event);
        at = event.at;
    }
    show(&state, &history, at);
    let seen = Seen::Started(Opening::default());
    let mut next = engine::decide(&state, Observation { at, seen });
    for _ in 0..DUE_MAX {
        let Some(event) = next else { break };
        if state.apply(&event).is_err() {
            break;
        }
        next = engine::due(&state, at);
    }
    show(&state, &history, at);
}

fn show(state: &State, history: &History, at: Timestamp) {
    black_box((
        Summary::of(state),
        engine::schedule(state, at),
        engine::due(state, at),
        state.next_deadline(at),
    ));
    let statistics = Statistics::of(state, history);
    black_box((statistics.patterns(), statistics.attempts_per_task(), statistics.time_per_task()));
    black_box((statistics.agents().len(), statistics.usage(), statistics.worked()));
    for task in state.tasks() {
        black_box(engine::retry_context(state, task, Attempt(2)));
        black_box((state.fix_depth(task.id()), state.elapsed_on(task.id())));
    }
    let text = serde_json::to_string(&Versioned::new(state)).expect("a state can be written");
    let again: Versioned<State> = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&again).expect("a state can be written"), text);
}
