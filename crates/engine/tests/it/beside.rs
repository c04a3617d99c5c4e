//! What holds of tasks that run side by side, said once more in the plainest way and checked after every event.

use engine::{
    Action, CapKind, Dialect, End, Event, Isolation, JudgeState, Observation, Open, Response, Rules, Seen,
    Started, State, Status, StopReason, Task, What, decide, schedule,
};
use plan::TaskId;

use crate::scenario::named;
use crate::waiting::original;
use crate::world::subject;

/// What holds after an event that was applied to the state `before`.
pub(crate) fn after_event(before: &State, after: &State, journal: &[Event]) {
    let event = journal.last().expect("this is about the last event");
    if let What::AttemptStarted(Started { task, .. }) | What::ProofStarted { task } = &event.what {
        start_is_allowed(before, after, task);
        if is_without_trees(journal) {
            let is_apart = after.task(task).is_some_and(|task| task.isolated);
            let is_alone = !tasks(before).any(|other| other.status.is_active());
            assert!(
                is_alone && !is_apart,
                "{task} was started without trees, and not by itself in the project"
            );
        }
    }
    if let What::LandingStarted { task } = &event.what {
        landing_is_in_order(before, task);
    }
    if let What::TaskDone { task, .. } = &event.what {
        came_back(before, journal, task);
    }
    if let What::Ended(end) = &event.what {
        nothing_is_left_behind(before, end);
    }
    let landing = tasks(after).filter(|task| task.isolated && is_coming_back(task)).count();
    assert!(landing <= 1, "work comes back one by one");
    tasks(before).filter(|task| is_passed(task)).for_each(|task| stays_passed(task, after, event));
}

/// What passed in a tree of its own is not lost, unless somebody takes it out or its work is gone.
fn stays_passed(task: &Task, after: &State, event: &Event) {
    let Some(is) = after.task(task.id()) else {
        // When a run is opened, nothing is half in the project but what is about to be recorded.
        let is_waiting = if matches!(event.what, What::Opened(_)) {
            !matches!(task.status, Status::Recording { .. })
        } else {
            matches!(task.status, Status::Finished { .. })
        };
        assert!(is_waiting && is_taken_out(event, task.id()), "{} passed and is gone", task.id());
        return;
    };
    let failed = matches!(&event.what, What::AttemptFailed { task: failed, .. } if failed == task.id());
    let skipped = matches!(&event.what, What::TaskSkipped { task: skipped, .. } if skipped == task.id());
    let gone = matches!(&event.what, What::Opened(opened) if opened.gone.contains(task.id()) || opened.outdated.contains(task.id()));
    assert!(
        failed || gone || skipped || is_passed(is) || is.status == Status::Done,
        "{} passed and was dropped",
        task.id()
    );
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

/// Whether it passed in a tree of its own and is not done yet.
fn is_passed(task: &Task) -> bool {
    task.isolated && (matches!(task.status, Status::Finished { .. }) || is_coming_back(task))
}

pub(crate) fn start_is_allowed(before: &State, after: &State, id: &TaskId) {
    let rules = after.rules().expect("the run was opened");
    let task = after.task(id).expect("it was just started");
    let jobs = usize::try_from(rules.parallel.jobs.max(1)).expect("a small number");
    let at_work = tasks(after).filter(|task| is_at_work(task)).count();
    let checked = tasks(after).filter(|task| matches!(task.status, Status::Checking(_))).count();
    // Checks in trees of their own are beside the jobs, up to as many again.
    let is_apart = rules.parallel.isolation == Isolation::Trees && jobs > 1;
    let (agents, most) = if is_apart { (at_work - checked, 2 * jobs) } else { (at_work, jobs) };
    assert!(agents <= jobs && at_work <= most, "{id} is one job too many");
    let beside: Vec<&Task> = tasks(before).filter(|other| other.status.is_active()).collect();
    let is_fix = after.fix_plan(id).is_some();
    assert!(!is_fix || beside.is_empty(), "{id} is a fix and was started beside others");
    for other in &beside {
        assert!(!hold_each_other(after, rules, task, other), "{id} was started beside {}", other.id());
    }
    // A command alone runs in the project, wherever its task was worked on before.
    if task.status == Status::Proving {
        return;
    }
    if rules.parallel.isolation == Isolation::Trees {
        let apart = beside.iter().all(|other| other.isolated) && task.isolated;
        assert!(beside.is_empty() || apart, "{id} was started beside one in the project itself");
    } else {
        assert!(!task.isolated, "{id} was to work in the project");
    }
}

fn hold_each_other(state: &State, rules: &Rules, one: &Task, other: &Task) -> bool {
    let is_later = state.position(one.id()) > state.position(other.id());
    let (earlier, later) = if is_later { (other, one) } else { (one, other) };
    let mut open = Open::new(rules);
    open.add(&original(state, earlier).decl);
    open.hold(&original(state, later).decl).is_some()
}

/// In a spec, nobody overtakes an earlier task that is at work and has not failed in this round. A judge who cannot
/// be had is not waited for.
pub(crate) fn landing_is_in_order(before: &State, id: &TaskId) {
    let rules = before.rules().expect("the run was opened");
    if rules.dialect != Dialect::Spec {
        return;
    }
    let waits_for_judge =
        |task: &Task| matches!(&task.status, Status::Judging(judging) if judging.state == JudgeState::Wanted);
    let overtaken = |task: &&Task| {
        let works =
            (is_at_work(task) && !waits_for_judge(task)) || matches!(task.status, Status::Finished { .. });
        before.position(task.id()) < before.position(id) && works && task.round_failures().is_empty()
    };
    let overtaken = tasks(before).find(overtaken).map(Task::id);
    assert_eq!(overtaken, None, "{id} overtakes");
}

/// Whoever worked in a tree of its own is done once the work is in the project and green there.
fn came_back(before: &State, journal: &[Event], id: &TaskId) {
    if !before.task(id).is_some_and(|task| task.isolated) {
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
    let left = tasks(before).find(|task| is_passed(task) || matches!(task.status, Status::Running(_)));
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
    let done = [What::Landed { task: TaskId::from("01-02:task-1"), touched: Vec::new() }];
    let joined = What::JoinPassed { task: TaskId::from("01-02:task-1"), warnings: Vec::new() };
    let recorded = What::TaskDone { task: TaskId::from("01-02:task-1"), commit: None };
    for what in done.into_iter().chain([joined, recorded]) {
        state.apply(&Event::new(at, what)).expect("it comes back");
    }
    assert!(keys(&state).contains(&"record 01-01:task-1".to_owned()), "{:?}", keys(&state));
}
