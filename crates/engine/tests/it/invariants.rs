//! What holds after every event and at the end of every run, whatever the world does.

use std::collections::{BTreeMap, BTreeSet};

use engine::{
    Cause, End, Event, OnEscalation, PlanChanges, Response, Rules, Rung, Started, Status, Task, What,
    retry_context,
};
use plan::TaskId;

use crate::script::{Agent, Script, Turn};
use crate::world::{World, fold, subject};

/// More observations than this and a run is one that does not end: so many agent starts, counted or not, in so
/// many lives of the program, and a few observations for each.
pub(crate) fn steps_max(tasks: usize, script: &Script, rules: &Rules) -> usize {
    let lives = script.restarts + 2 * script.answers.len() + 4;
    let cap = size(rules.limits.global_cap(tasks + script.edits.len()));
    let starts = (cap + lives) * (size(rules.limits.unavailable_max) + 2);
    lives * (starts * 16 + tasks * 16 + 200)
}

fn size(number: u32) -> usize {
    usize::try_from(number).expect("a small number")
}

pub(crate) fn after_event(world: &World) {
    let state = &world.state;
    assert!(state.round_dispatches() <= state.global_cap(), "the cap on agent starts holds");
    assert_eq!(state.done_count() + state.skipped_count() + state.unsettled().count(), state.tasks().len());
    for task in state.tasks() {
        limits_hold(world, task);
    }
    let event = world.journal.last().expect("this is about the last event");
    if let What::AttemptStarted(started) = &event.what {
        feedback_is_sound(world, started);
    }
    if let What::TaskDone { task, .. } = &event.what {
        assert!(is_proved(&world.journal, task), "{task} was done without a proof");
    }
    if let What::AttemptStarted(started) = &event.what {
        assert!(!has_ended(&world.journal, started), "attempt {} came again", started.attempt);
    }
    if let What::FixPlanned(fix) = &event.what {
        let same = |event: &&Event| matches!(&event.what, What::FixPlanned(other) if other.fix == fix.fix);
        assert_eq!(world.journal.iter().filter(same).count(), 1, "{} was planned twice", fix.fix);
    }
}

/// Whether an attempt of this number has come to anything before: only one that was lost gives its number back.
fn has_ended(journal: &[Event], started: &Started) -> bool {
    let before = journal.iter().rev().skip(1);
    let of_task = before.filter(|event| subject(&event.what).is_some_and(|(task, _)| *task == started.task));
    let is_same = |event: &Event| matches!(&event.what, What::AttemptStarted(other) if other.attempt == started.attempt);
    let is_absence =
        |event: &Event| matches!(&event.what, What::AgentUnavailable { .. } | What::TreeUnavailable { .. });
    let of_task: Vec<&Event> = of_task.collect();
    let last = of_task.iter().position(|event| is_same(event));
    last.is_some_and(|last| !of_task[..last].iter().all(|event| is_absence(event)))
}

fn limits_hold(world: &World, task: &Task) {
    let limits = &world.rules.limits;
    let retries = task.round_failures().iter().filter(|failure| failure.rung == Rung::Retry).count();
    assert!(retries <= size(limits.task_iterations_max.max(1)), "too many retries of {}", task.id());
    let fixes = task.round_fixes().len();
    assert!(fixes <= size(limits.fix_tasks_max), "too many fixes of {}", task.id());
    assert!(world.state.fix_depth(task.id()) <= limits.fix_depth_max, "{} nests too deep", task.id());
}

/// Whether the last thing that happened to the task before it was done, after its last attempt began, is a
/// proof that leaves nothing open.
fn is_proved(journal: &[Event], id: &TaskId) -> bool {
    let before_done = journal.iter().rev().skip(1);
    let mut of_task = before_done.filter(|event| subject(&event.what).is_some_and(|(task, _)| task == id));
    of_task.next().is_some_and(|event| {
        matches!(
            event.what,
            What::ChecksPassed { judge: None, .. }
                | What::JoinPassed { .. }
                | What::JudgePassed { next: None, .. }
                | What::ProofPassed { .. }
                | What::Answered { response: Response::Approve | Response::Reply(_), .. }
        )
    })
}

fn feedback_is_sound(world: &World, started: &Started) {
    let task = world.state.task(&started.task).expect("it was just started");
    let Some(text) = retry_context(&world.state, task, started.attempt) else {
        assert!(task.failures.is_empty());
        return;
    };
    let limits = &world.rules.limits;
    assert!(text.chars().count() <= limits.feedback_chars_max, "{} characters", text.chars().count());
    assert!(!text.contains("<&>"), "special characters are escaped");
    let own = lineage(world, &started.task).filter_map(|id| world.marks.get(id)).flatten().cloned().collect();
    for (of, marks) in &world.marks {
        for mark in marks.difference(&own) {
            assert!(!text.contains(mark.as_str()), "{} was told of a failure of {of}", started.task);
        }
    }
    let blocks: Vec<&str> = text.split("    <failure attempt=").skip(1).collect();
    for block in &blocks {
        let block = &block[..block.find("    </failure>\n").expect("a failure is closed")];
        let size = block.chars().count() + "    <failure attempt=    </failure>\n".len();
        assert!(size <= limits.failure_chars_max, "{size} characters of a failure");
    }
    let shown: Vec<u32> = blocks.iter().map(|block| number(block)).collect();
    let all: Vec<u32> = task.failures.iter().map(|failure| failure.attempt.0).collect();
    let all: Vec<u32> =
        all.into_iter().chain(task.proof_failure.iter().map(|failure| failure.attempt.0)).collect();
    assert!(all.ends_with(&shown), "the oldest are left out first: {shown:?} of {all:?}");
    assert_eq!(shown.is_empty(), all.is_empty(), "the latest failure is always shown");
}

/// A task, the one that it is to fix, and so on.
fn lineage<'a>(world: &'a World, id: &'a TaskId) -> impl Iterator<Item = &'a TaskId> {
    std::iter::successors(Some(id), |id| world.state.fix_plan(id).map(|plan| &plan.failing))
}

fn number(block: &str) -> u32 {
    let digits: String = block.chars().skip(1).take_while(char::is_ascii_digit).collect();
    digits.parse().expect("an attempt has a number")
}

/// What holds once a run has ended.
pub(crate) fn at_the_end(world: &World) {
    let end = world.state.end().expect("the run has ended");
    once_each(world);
    assert_eq!(
        format!("{:?}", fold(&world.lines)),
        format!("{:?}", world.state),
        "the fold gives back the state"
    );
    if let End::Complete { skipped } = end {
        assert!(world.state.unsettled().next().is_none());
        assert_eq!(*skipped, world.state.skipped_count());
    }
    if let End::Waiting { task } = end {
        assert!(matches!(world.state.task(task).map(|task| &task.status), Some(Status::Asking(_))));
        assert!(world.rules.on_escalation == OnEscalation::Pause || world.script.leaves);
    }
    let adds = |turn: &Turn| matches!(turn.agent, Agent::AddsTask);
    if world.script.edits.is_empty() && !world.script.turns.values().any(adds) {
        file_agrees(world);
    }
}

/// No task is recorded twice, no fix stands in the plan twice.
fn once_each(world: &World) {
    let mut done: BTreeMap<&TaskId, usize> = BTreeMap::new();
    for event in &world.journal {
        if let What::TaskDone { task, .. } = &event.what {
            *done.entry(task).or_default() += 1;
        }
        if let What::Reopened { task, .. } = &event.what {
            done.remove(task);
        }
        for task in changes(event).into_iter().flat_map(|changes| &changes.unticked) {
            done.remove(task);
        }
    }
    assert!(done.values().all(|times| *times == 1), "{done:?}");
    let ids: BTreeSet<&TaskId> = world.file.iter().map(|decl| &decl.id).collect();
    assert_eq!(ids.len(), world.file.len(), "no task stands in the plan twice");
}

/// Where nobody edits the plan, the run knows the plan as it is and never thinks that somebody did.
fn file_agrees(world: &World) {
    let is_drafted = |id: &TaskId| world.state.task(id).is_some_and(|task| task.status == Status::Drafted);
    let known: Vec<&TaskId> =
        world.state.tasks().iter().map(|task| task.id()).filter(|id| !is_drafted(id)).collect();
    let read: Vec<&TaskId> = world.file.iter().map(|decl| &decl.id).filter(|id| !is_drafted(id)).collect();
    assert_eq!(known, read);
    for decl in &world.file {
        let is_done = world.state.task(&decl.id).is_some_and(|task| task.status == Status::Done);
        let is_being_recorded =
            world.state.task(&decl.id).is_some_and(|task| matches!(task.status, Status::Recording { .. }));
        assert!(decl.ticked == is_done || is_being_recorded, "the box of {} is wrong", decl.id);
    }
    for changes in world.journal.iter().skip(1).filter_map(changes) {
        assert!(changes.is_empty(), "nobody changed the plan: {changes:?}");
    }
}

/// What an event says of edits of the plan.
fn changes(event: &Event) -> Option<&PlanChanges> {
    if let What::Opened(opened) = &event.what {
        return Some(&opened.changes);
    }
    if let What::PlanChanged(changes) = &event.what { Some(changes) } else { None }
}

/// All of a run that must be the same however often the program was killed.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    end: Option<End>,
    file: Vec<String>,
    tasks: Vec<(TaskId, String, Vec<Failed>)>,
    fixes: Vec<(TaskId, Vec<TaskId>)>,
    commits: BTreeMap<String, String>,
    /// What happened to each task in order, without what was lost.
    history: BTreeMap<TaskId, Vec<String>>,
    dispatches: u32,
    /// Escalations, retries, and retries that worked.
    counters: (u32, u32, u32),
}

type Failed = (u32, Cause, Rung, String);

impl Outcome {
    pub(crate) fn of(world: &World) -> Self {
        let state = &world.state;
        let tasks = state.tasks().iter().map(|task| {
            let failed = task.failures.iter();
            let failed =
                failed.map(|failure| (failure.attempt.0, failure.cause, failure.rung, failure.error.clone()));
            (task.id().clone(), format!("{:?} {}", task.status.kind(), task.passes), failed.collect())
        });
        Self {
            end: state.end().cloned(),
            file: world
                .file
                .iter()
                .map(|decl| format!("[{}] {}", if decl.ticked { 'x' } else { ' ' }, decl.id))
                .collect(),
            tasks: tasks.collect(),
            fixes: state.tasks().iter().map(|task| (task.id().clone(), task.fixes.clone())).collect(),
            commits: commits(world),
            history: history(&world.journal),
            dispatches: state.round_dispatches(),
            counters: (state.escalations(), state.retries(), state.retries_that_worked()),
        }
    }

    /// Whether every attempt that failed in both failed in the same way.
    pub(crate) fn goes_with(&self, other: &Self) -> bool {
        let of = |id: &TaskId| other.tasks.iter().find(|(other, ..)| other == id);
        self.tasks.iter().all(|(id, _, failed)| {
            let others = of(id).map_or(&[][..], |(_, _, failed)| failed);
            failed.iter().zip(others).all(|(one, other)| one == other)
        })
    }
}

/// What was committed. Tasks that run side by side fail and come back sooner or later, so the order of their commits
/// may be another one after a crash; each is there once all the same.
fn commits(world: &World) -> BTreeMap<String, String> {
    let mut commits = world.commits.clone();
    let is_parallel = world.state.rules().is_some_and(|rules| rules.parallel.jobs > 1);
    commits.retain(|_, commit| {
        if is_parallel {
            commit.clear();
        }
        true
    });
    commits
}

/// Each task's events that a crash must neither lose nor double. A start is left out because a lost one comes
/// again, and so is what was half in the project.
fn history(journal: &[Event]) -> BTreeMap<TaskId, Vec<String>> {
    let mut history: BTreeMap<TaskId, Vec<String>> = BTreeMap::new();
    for event in journal {
        let is_start = matches!(
            event.what,
            What::AttemptStarted(_)
                | What::JudgeStarted { .. }
                | What::ProofStarted { .. }
                | What::LandingStarted { .. }
                | What::Landed { .. }
                // What was in the way is tried again by a program that is started anew.
                | What::HeldUp { .. }
                // Whoever happens to be alone works in the project, and has nothing to join.
                | What::JoinPassed { .. }
                // Whoever is lost before it is known starts in the project like everybody after.
                | What::TreeUnavailable { .. }
        );
        if let Some((task, kind)) = subject(&event.what)
            && !is_start
        {
            history.entry(task.clone()).or_default().push(format!("{kind:?}"));
        }
    }
    history
}
