//! What holds of tasks that run side by side, said once more in the plainest way and checked after every event.

use engine::{
    Action, CapKind, End, Event, Observation, Question, Response, Rules, Seen, Slot, Started, State, Status,
    StopReason, Task, What, decide, schedule,
};
use plan::TaskId;

use crate::scenario::named;
use crate::waiting::original;
use crate::world::subject;

/// What holds after an event that was applied to the state `before`.
pub(crate) fn after_event(before: &State, after: &State, journal: &[Event]) {
    let event = journal.last().expect("this is about the last event");
    if let What::AttemptStarted(Started { task, .. }) | What::ProofStarted { task, .. } = &event.what {
        start_is_allowed(before, after, task);
        if is_without_trees(journal) {
            let is_apart = matches!(&event.what, What::AttemptStarted(started) if started.slot.is_some());
            let is_alone = !tasks(before).any(|other| other.status.is_active() && !other.is_held_up());
            assert!(
                is_alone && !is_apart,
                "{task} was started without trees, and not by itself in the project"
            );
        }
    }
    // Work that comes in once more has had its turn.
    let is_new = |task| before.task(task).is_some_and(|task| matches!(task.status, Status::Finished { .. }));
    if let What::LandingStarted { task } = &event.what
        && is_new(task)
    {
        landing_is_in_order(before, task);
    }
    if let What::TaskDone { task, .. } = &event.what {
        came_back(before, journal, task);
    }
    if let What::Ended(end) = &event.what {
        nothing_is_left_behind(before, end);
    }
    nobody_is_in_anothers_place(after);
    tasks(before).filter(|task| is_passed(task)).for_each(|task| is_not_dropped(task, after, event));
}

fn nobody_is_in_anothers_place(after: &State) {
    let landing = tasks(after).filter(|task| task.is_isolated() && is_coming_back(task)).count();
    assert!(landing <= 1, "work comes back one by one");
    let mut slots: Vec<Slot> =
        tasks(after).filter(|task| is_in_slot(task)).filter_map(|task| task.slot).collect();
    slots.sort_unstable();
    assert!(slots.windows(2).all(|pair| pair[0] != pair[1]), "two are at work in one slot: {slots:?}");
}

/// What passed stays so until it is done, and what was packed of it is kept.
fn is_not_dropped(task: &Task, after: &State, event: &Event) {
    let id = task.id();
    let Some(is) = after.task(id) else {
        // When a run is opened, nothing is half in the project but what is about to be recorded.
        let is_waiting = if matches!(event.what, What::Opened(_)) {
            !matches!(task.status, Status::Recording { .. })
        } else {
            matches!(task.status, Status::Finished { .. })
        };
        assert!(is_waiting && is_taken_out(event, id), "{id} passed and is gone");
        return;
    };
    let failed = matches!(&event.what, What::AttemptFailed { task, .. } if task == id);
    let loses_tree = matches!(&event.what, What::TreeUnavailable { task, .. } if task == id);
    let asks = matches!(&is.status, Status::Asking(asked) if asked.question == Question::InTheWay);
    let skipped = matches!(&event.what, What::TaskSkipped { task, .. } if task == id);
    let is_over = skipped || is.status == Status::Done || gone(event, id);
    assert!(is_over || failed || loses_tree || asks || is_passed(is), "{id} passed and was dropped");
    assert!(is_over || task.work.is_some() && is.work == task.work, "{id} passed and its work is not kept");
}

/// Whether work is done again because it is nowhere any more, or was made for another text.
fn gone(event: &Event, id: &TaskId) -> bool {
    matches!(&event.what, What::Opened(opened) if opened.gone.contains(id) || opened.outdated.contains(id))
}

/// Whether a person took a task out of the plan.
fn is_taken_out(event: &Event, id: &TaskId) -> bool {
    if let What::Opened(opened) = &event.what {
        return opened.changes.removed.contains(id);
    }
    matches!(&event.what, What::PlanChanged(changes) if changes.removed.contains(id))
}

/// Whether a tree could not be made since the run was started.
fn is_without_trees(journal: &[Event]) -> bool {
    let this_run = journal.iter().rev().take_while(|event| !matches!(event.what, What::Ended(_)));
    this_run.into_iter().any(|event| matches!(event.what, What::TreeUnavailable { .. }))
}

fn tasks(state: &State) -> impl Iterator<Item = &Task> {
    state.tasks().iter().map(AsRef::as_ref)
}

fn is_at_work(task: &Task) -> bool {
    matches!(task.status, Status::Proving | Status::Running(_) | Status::Checking(_) | Status::Judging(_))
}

fn is_coming_back(task: &Task) -> bool {
    matches!(task.status, Status::Landing { .. } | Status::Joining { .. } | Status::Recording { .. })
}

fn is_in_slot(task: &Task) -> bool {
    is_at_work(task) && task.status != Status::Proving
}

/// Whether it passed in a slot and is not done yet.
fn is_passed(task: &Task) -> bool {
    task.is_isolated() && (matches!(task.status, Status::Finished { .. }) || is_coming_back(task))
}

pub(crate) fn start_is_allowed(before: &State, after: &State, id: &TaskId) {
    let rules = after.rules().expect("the run was opened");
    let task = after.task(id).expect("it was just started");
    let jobs = usize::try_from(rules.parallel.jobs.max(1)).expect("a small number");
    let at_work = tasks(after).filter(|task| is_at_work(task)).count();
    assert!(at_work <= jobs, "{id} is one job too many");
    let waiting = tasks(before).filter(|other| is_passed(other) && !other.is_held_up()).count();
    assert!(waiting < jobs, "{id} was started while others wait to come in");
    assert!(
        task.slot.is_none_or(|Slot(slot)| slot >= 1 && slot <= rules.parallel.jobs.max(1)),
        "{id}: {:?}",
        task.slot
    );
    let is_fix = after.fix_plan(id).is_some();
    // As beside a question, what has nothing to do with work that is held up may go on.
    let goes_on = |other: &Task| other.is_held_up() && rules.keep_going.is_on();
    for other in tasks(before).filter(|other| other.status.is_active() && !goes_on(other)) {
        assert!(!hold_each_other(after, rules, task, other), "{id} was started beside {}", other.id());
    }
    // What is held up is in nobody's way.
    let is_under_way = |other: &&Task| other.status.is_active() && !other.is_held_up();
    let beside: Vec<&Task> = tasks(before).filter(is_under_way).collect();
    assert!(!is_fix || beside.is_empty(), "{id} is a fix and was started beside others");
    // A command alone runs in the project, wherever its task was worked on before.
    if task.status == Status::Proving {
        return;
    }
    if rules.parallel.isolation.has_slots() {
        let apart = beside.iter().all(|other| other.is_isolated()) && task.is_isolated();
        assert!(beside.is_empty() || apart, "{id} was started beside one in the project itself");
    } else {
        assert!(!task.is_isolated(), "{id} was to work in the project");
    }
}

fn hold_each_other(state: &State, rules: &Rules, one: &Task, other: &Task) -> bool {
    let is_later = state.position(one.id()) > state.position(other.id());
    let (earlier, later) = if is_later { (other, one) } else { (one, other) };
    engine::why(rules, &original(state, earlier).decl, &original(state, later).decl).is_some()
}

/// Of those that are ready to come in, the first in the plan's order does. What is in the project already is verified
/// again before.
pub(crate) fn landing_is_in_order(before: &State, id: &TaskId) {
    if before.task(id).is_some_and(|task| !task.is_isolated()) {
        return;
    }
    let is_ready = |task: &&Task| matches!(task.status, Status::Finished { .. }) && !task.is_held_up();
    let first = tasks(before).find(is_ready).map(Task::id);
    assert_eq!(first, Some(id), "{id} overtakes");
}

/// Whoever worked in a tree of its own is done once the work is in the project and green there.
fn came_back(before: &State, journal: &[Event], id: &TaskId) {
    if !before.task(id).is_some_and(|task| task.is_isolated()) {
        return;
    }
    let of_task = journal.iter().filter(|event| subject(&event.what).is_some_and(|(task, _)| task == id));
    let last: Vec<&What> = of_task.map(|event| &event.what).collect();
    let [.., landed, joined, _] = last.as_slice() else { panic!("{id} was done out of the blue") };
    assert!(matches!(landed, What::Landed { .. }), "{id} did not land: {landed:?}");
    assert!(matches!(joined, What::JoinPassed { .. }), "{id} was not proved together: {joined:?}");
}

/// A run that ends of its own accord first brings in what passed, and lets those at work come to an end.
pub(crate) fn nothing_is_left_behind(before: &State, end: &End) {
    let waits = match end {
        End::Complete { .. } | End::Waiting { .. } | End::Paused { .. } | End::PullRequest { .. } => true,
        // Money and time are gone at once.
        End::Stopped(StopReason::Regression { .. })
        | End::Capped(CapKind::Time { .. } | CapKind::Cost { .. } | CapKind::Tokens { .. }) => false,
        End::Stopped(_) | End::Capped(CapKind::Iterations { .. }) => true,
        // A disk that is full, or a file in the way, ends it at once, as a person does.
        End::Unavailable { .. } | End::Aborted | End::Interrupted => false,
    };
    // What is held up may wait for the next start, unless nothing but that is left to do.
    let is_asked = matches!(end, End::Complete { .. } | End::Waiting { .. });
    let is_left = |task: &&Task| is_passed(task) && (is_asked || !task.is_held_up());
    let left = tasks(before).find(|task| is_left(task) || matches!(task.status, Status::Running(_)));
    assert!(!waits || left.is_none(), "{:?} was left behind by {end:?}", left.map(Task::id));
}

/// An answer that comes while the work of another task is half in the project is recorded after that.
#[test]
fn an_answer_is_not_recorded_in_the_middle_of_a_landing() {
    let journal = named("checkpoint beside other plans").world().run().journal;
    let is_landing = |event: &Event| matches!(event.what, What::LandingStarted { .. });
    let until = journal.iter().position(is_landing).expect("something lands") + 1;
    let mut state = State::default();
    journal[..until].iter().for_each(|event| state.apply(event).expect("this has happened"));
    let at = journal[until].at;
    let task = TaskId::from("01-01:task-1");
    let seen = Seen::Answered { task, response: Response::Reply("blue".to_owned()) };
    let answered = decide(&state, Observation { at, seen }).expect("the question is open");
    state.apply(&answered).expect("an answer can be taken");
    let keys = |state: &State| schedule(state, at).iter().map(Action::key).collect::<Vec<_>>();
    assert!(keys(&state).iter().any(|key| key.starts_with("land 01-02")), "{:?}", keys(&state));
    assert!(!keys(&state).iter().any(|key| key.starts_with("record")), "{:?}", keys(&state));
    let done =
        [What::Landed { task: TaskId::from("01-02:task-1"), touched: Vec::new(), onto: None, commit: None }];
    let joined = What::JoinPassed { task: TaskId::from("01-02:task-1"), warnings: Vec::new(), tree: None };
    let recorded = What::TaskDone { task: TaskId::from("01-02:task-1"), commit: None };
    for what in done.into_iter().chain([joined, recorded]) {
        state.apply(&Event::new(at, what)).expect("it comes back");
    }
    assert!(keys(&state).contains(&"record 01-01:task-1".to_owned()), "{:?}", keys(&state));
}
