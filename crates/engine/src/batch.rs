//! Side by side work: which tasks may start now, where each of them works, and whose work comes in next.

use std::collections::BTreeSet;

use plan::TaskId;

use crate::dependence;
use crate::failure::Cause;
use crate::ladder;
use crate::order::{Hold, Why, why};
use crate::rules::{Isolation, Rules};
use crate::schedule::lacks_agent;
use crate::state::State;
use crate::status::{JudgeState, Status};
use crate::task::{Slot, Task, TaskKind};

/// A task that may start now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub task: &'a Task,
    /// True if it works in a slot.
    pub isolated: bool,
}

/// The tasks that may start now, in the plan's order.
///
/// Nothing starts while something is due for another task, or beside a task that has the project to itself. While a
/// person is asked about a task, or about to be, or one has failed for good, that goes on which the plan's own order makes independent
/// of it; with `keep_going` also what comes later and has nothing to do with it.
pub(crate) fn starts(state: &State) -> Vec<Start<'_>> {
    let Some(rules) = state.rules() else { return Vec::new() };
    if !may_start(state, rules) {
        return Vec::new();
    }
    let ready = ready(state, rules, room(state, rules));
    if state.in_motion().any(is_under_way) {
        let beside = ready.into_iter().filter(|task| may_run_beside(state, rules, task));
        return beside.map(|task| Start { task, isolated: is_isolated(state, rules) }).collect();
    }
    // What is left over in the project is first put in order by whoever left it there.
    let left_over = ready.iter().copied().find(|task| task.has_leftovers());
    let first = in_sequence(state, rules).or(left_over).or_else(|| ready.first().copied());
    let Some(first) = first.or_else(|| waited_for(state, rules)) else { return Vec::new() };
    let together = ready.iter().filter(|task| may_run_beside(state, rules, task)).count();
    if together < 2 || !may_run_beside(state, rules, first) {
        return vec![Start { task: first, isolated: works_apart(state, rules, first) }];
    }
    let beside = ready.into_iter().filter(|task| may_run_beside(state, rules, task));
    beside.map(|task| Start { task, isolated: is_isolated(state, rules) }).collect()
}

/// True if a task may start now and would work in the project itself.
pub fn starts_in_project(state: &State, id: &TaskId) -> bool {
    starts(state).iter().any(|start| start.task.id() == id && !start.isolated)
}

/// The slots in which nothing is at work, lowest first.
pub(crate) fn free_slots(state: &State) -> impl Iterator<Item = Slot> + use<> {
    let occupied: BTreeSet<Slot> = state.in_motion().filter_map(Task::occupied).collect();
    (1..).map(Slot).filter(move |slot| !occupied.contains(slot))
}

/// The slot that whoever starts next works in.
pub(crate) fn free_slot(state: &State) -> Slot {
    free_slots(state).next().expect("fewer slots are in use than there are numbers")
}

/// How many more may start: as many at most are at work as there are jobs. While as many finished pieces wait to come in,
/// nothing new is begun.
fn room(state: &State, rules: &Rules) -> usize {
    let jobs = jobs(state, rules);
    let coming_in = state.in_motion().filter(|task| task.is_coming_in()).count();
    let at_work = state.in_motion().filter(|task| task.status.is_at_work()).count();
    if coming_in >= jobs { 0 } else { jobs.saturating_sub(at_work) }
}

/// The first checkpoint that is ready: a person can be asked whatever else is under way.
pub(crate) fn next_checkpoint(state: &State) -> Option<&Task> {
    let rules = state.rules()?;
    let is_checkpoint = |task: &&Task| task.asks_by_design();
    let waited = || waited_for(state, rules).filter(|_| !state.in_motion().any(is_under_way));
    let found = || {
        if let Some(task) = in_sequence(state, rules) {
            return Some(task).filter(is_checkpoint).filter(|_| waited().is_some());
        }
        let mut ready = state.ready_checkpoints().filter(|task| !came_too_late(state, rules, task));
        ready.find(is_checkpoint).or_else(|| waited().filter(is_checkpoint))
    };
    // Few plans have any.
    (state.index.checkpoints > 0 && may_start(state, rules)).then(found).flatten()
}

/// True if anything may start at all.
fn may_start(state: &State, rules: &Rules) -> bool {
    state.pause().is_none() && state.in_motion().all(|task| lets_start(state, rules, task))
}

fn lets_start(state: &State, rules: &Rules, task: &Task) -> bool {
    match &task.status {
        Status::Drafted => false,
        // What comes of it is decided first, unless that is to stop: then others come to their end before. What is left
        // half done in the project itself would be in their way.
        Status::Failed => ladder::is_exhausted(state, task) && !task.has_leftovers(),
        Status::Asking(_) => rules.keep_going.is_on() || !task.has_leftovers(),
        Status::WaitingFor(_) | Status::Ready { .. } | Status::Done | Status::Skipped => true,
        Status::Finished { .. } if task.is_held_up() => true,
        Status::Proving
        | Status::Running(_)
        | Status::Checking(_)
        | Status::Judging(_)
        | Status::Finished { .. }
        | Status::Landing { .. }
        | Status::Joining { .. }
        | Status::Recording { .. } => lets_others_start(state, rules, task),
    }
}

/// True if something may start beside a task that is under way. Whoever works in the project itself has it alone,
/// unless it was to be shared.
fn lets_others_start(state: &State, rules: &Rules, task: &Task) -> bool {
    match rules.parallel.isolation {
        Isolation::Trees | Isolation::Always => task.is_isolated() && !state.is_without_trees,
        Isolation::Shared => rules.parallel.jobs > 1 && !task.is_isolated() && may_share(task),
    }
}

/// True if the run is occupied with a task. What waits for a person to see to it is in nobody's way.
fn is_under_way(task: &Task) -> bool {
    task.status.is_active() && !task.is_held_up()
}

/// How many tasks may be worked on at once. Without work trees, all but one would be in another's way.
fn jobs(state: &State, rules: &Rules) -> usize {
    let jobs = if state.is_without_trees { 1 } else { rules.parallel.jobs.max(1) };
    usize::try_from(jobs).unwrap_or(usize::MAX)
}

fn is_isolated(state: &State, rules: &Rules) -> bool {
    rules.parallel.isolation.has_slots() && !state.is_without_trees
}

/// True if a task can run beside others at all.
fn may_share(task: &Task) -> bool {
    !matches!(task.status, Status::Ready { proves: true } | Status::Proving)
        && task.decl.kind == TaskKind::Work
}

fn may_run_beside(state: &State, rules: &Rules, task: &Task) -> bool {
    may_share(task) && (!is_isolated(state, rules) || is_tidy_for(state, task))
}

/// True if nothing half done lies about in the project when a task starts.
fn is_tidy_for(state: &State, task: &Task) -> bool {
    !state.in_motion().chain([task]).any(Task::has_leftovers)
}

/// True if a task that starts alone works in a slot all the same: because every task does, or because what an earlier
/// attempt at it, or at the task that it repairs, left behind is packed.
fn works_apart(state: &State, rules: &Rules, task: &Task) -> bool {
    let left_apart = || {
        let failing = |task: &Task| state.fix_plan(task.id()).and_then(|fix| state.task(&fix.failing));
        std::iter::successors(Some(task), |task| failing(task)).any(Task::is_isolated)
    };
    let is_agents = || match (task.decl.kind, &task.status) {
        (TaskKind::Checkpoint, _) => false,
        (TaskKind::Work | TaskKind::Verify, status) => *status != Status::Ready { proves: true },
    };
    let always = || rules.parallel.isolation == Isolation::Always && is_agents() && is_tidy_for(state, task);
    is_isolated(state, rules) && (left_apart() || always())
}

/// True if the command of a task that is run without an agent runs in the landing tree: where work comes in there, and
/// nothing that the command could be about lies in the project alone. Whether somebody mended a task by hand shows in
/// the project.
pub fn proves_in_landing_tree(state: &State, id: &TaskId) -> bool {
    let (Some(rules), Some(task)) = (state.rules(), state.task(id)) else { return false };
    let has_landing_tree = state.has_used_slots || rules.parallel.isolation == Isolation::Always;
    let is_tidy = || !state.unsettled().any(Task::has_leftovers);
    let is_verification = task.decl.kind == TaskKind::Verify;
    is_verification && has_landing_tree && is_isolated(state, rules) && is_tidy()
}

/// The first tasks, at most so many, that are ready and wait for none before them.
fn ready<'a>(state: &'a State, rules: &Rules, most: usize) -> Vec<&'a Task> {
    state.ready().filter(|task| !came_too_late(state, rules, task)).take(most).collect()
}

/// Where one task runs at a time, or something half done lies about in the project, the plan is taken in its order.
fn in_sequence<'a>(state: &'a State, rules: &Rules) -> Option<&'a Task> {
    let is_tidy = || !state.in_motion().any(Task::has_leftovers);
    if jobs(state, rules) > 1 && is_tidy() { None } else { waited_for(state, rules) }
}

/// True if something that would have had to wait for this task is under way already: a person put the task in, or
/// moved it, before one that is at work.
fn came_too_late(state: &State, rules: &Rules, task: &Task) -> bool {
    let place = state.position(task.id());
    let at_work = state.in_motion().filter(|other| other.status.is_active());
    let mut later = at_work.filter(|other| state.position(other.id()) > place);
    later.any(|other| why(rules, &task.decl, dependence::subject(state, other)).is_some())
}

/// The tasks that wait for a person, where the rest goes on.
fn held_up(state: &State) -> BTreeSet<&TaskId> {
    let asks = state.in_motion().any(Task::waits_for_person);
    if asks { dependence::held_up(state) } else { BTreeSet::new() }
}

/// When none is ready: the task that the first unsettled one waits for, be it a fix task or one in its way.
fn waited_for<'a>(state: &'a State, rules: &Rules) -> Option<&'a Task> {
    let is_stuck = |task: &Task| task.waits_for_person() || task.status == Status::Failed;
    if !rules.keep_going.is_on() && state.in_motion().any(is_stuck) {
        return None;
    }
    let held_up = held_up(state);
    let mut task = state.unsettled().find(|task| !held_up.contains(task.id()))?;
    while let Status::WaitingFor(other) = &task.status {
        task = state.task(other)?;
    }
    matches!(task.status, Status::Ready { .. }).then_some(task)
}

/// The task whose work comes in next: as pieces get ready, in the plan's order among those that are. Whoever has the
/// project to itself is waited for, and what was made there and is to be verified again is first. Whoever met a conflict
/// is not overtaken by others with the same files: it might never fit.
pub(crate) fn next_to_land(state: &State) -> Option<&Task> {
    let rules = state.rules()?;
    let is_finished = |task: &&Task| matches!(task.status, Status::Finished { .. }) && !task.is_held_up();
    let mut finished = state.in_motion().filter(is_finished);
    let in_project = finished.clone().find(|task| !task.is_isolated());
    let first = in_project.or_else(|| finished.find(|task| !overtakes(state, rules, task)))?;
    let is_in_project =
        |task: &Task| task.status.is_active() && !task.is_isolated() && task.id() != first.id();
    let is_taken = |task: &Task| task.status.is_coming_back() || is_in_project(task);
    (!state.in_motion().any(is_taken)).then_some(first)
}

/// True if somebody who met a conflict, and is at work again or about to be, has files in common with a task.
fn overtakes(state: &State, rules: &Rules, task: &Task) -> bool {
    let met = |other: &&Task| {
        let last = other.round_failures().last();
        let has_met = last.is_some_and(|failure| failure.cause == Cause::Conflict);
        has_met && other.id() != task.id() && !other.touched.is_disjoint(&task.touched)
    };
    let will_start = |other: &Task| {
        let can_start = !state.is_capped() && !is_given_up(state, rules) && !lacks_agent(state, other);
        can_start && starts(state).iter().any(|start| start.task.id() == other.id())
    };
    state.in_motion().filter(met).any(|other| is_progressing(state, rules, other) || will_start(other))
}

/// True if a task is at work and nothing that is missing for good keeps it from going on.
fn is_progressing(state: &State, rules: &Rules, task: &Task) -> bool {
    let waits_for_judge =
        matches!(&task.status, Status::Judging(judging) if judging.state == JudgeState::Wanted);
    let no_judge = state.is_capped()
        || is_given_up(state, rules)
        || lacks_agent(state, task)
        || is_absent_in_pause(state);
    task.status.is_at_work() && !(waits_for_judge && no_judge)
}

/// True if something is under way that will come to an end by itself, and that should.
pub(crate) fn is_busy(state: &State, rules: &Rules) -> bool {
    state.in_motion().any(|task| {
        let is_finished = matches!(task.status, Status::Finished { .. }) && !task.is_held_up();
        let comes_back = is_finished || task.status.is_coming_back();
        comes_back || is_progressing(state, rules, task)
    })
}

/// True if an agent is away while nothing new is to start: nobody waits for it then.
pub(crate) fn is_absent_in_pause(state: &State) -> bool {
    state.pause().is_some() && state.backoff().is_some()
}

/// True if agents were away so often that the run ends.
pub(crate) fn is_given_up(state: &State, rules: &Rules) -> bool {
    state.unavailable_in_row >= rules.limits.unavailable_max && state.backoff().is_some()
}

/// The places of the marked tasks beside each other that a task is one of, its fix tasks left out; none where it stands
/// alone or tasks run one by one.
pub fn batch(state: &State, id: &TaskId) -> Vec<usize> {
    let runs_alone = || state.rules().is_none_or(|rules| jobs(state, rules) < 2);
    let Some(task) = state.task(id).filter(|_| !runs_alone()) else { return Vec::new() };
    let decl = dependence::subject(state, task);
    let Some(place) = state.position(&decl.id).filter(|_| decl.parallel) else { return Vec::new() };
    let tasks = state.tasks();
    let is_fix = |place: &usize| state.fix_plan(tasks[*place].id()).is_some();
    let is_beside = |place: &usize| {
        let other = &tasks[*place].decl;
        is_fix(place) || (other.parallel && other.kind == TaskKind::Work && other.stage == decl.stage)
    };
    // What was ticked before anybody worked on it was never a part of it.
    let was_begun = |place: &usize| tasks[*place].started_at.is_some() || !tasks[*place].status.is_settled();
    let before = (0..place).rev().take_while(is_beside).last().unwrap_or(place);
    let members = (before..tasks.len()).take_while(is_beside).filter(|place| !is_fix(place));
    let members: Vec<usize> = members.filter(was_begun).collect();
    if members.len() > 1 { members } else { Vec::new() }
}

/// The tasks that would be ready, were they not about the same files as one that is under way.
pub fn overlaps(state: &State) -> Vec<(TaskId, Hold)> {
    let Some(rules) = state.rules().filter(|rules| jobs(state, rules) > 1) else { return Vec::new() };
    let is_fix = |task: &Task| state.fix_plan(task.id()).is_some();
    let others = state.unsettled().filter(|task| !is_fix(task));
    let held = others.filter_map(|task| {
        let by = state.blocker(task)?;
        Some((task.id().clone(), Hold { by: by.id.clone(), why: why(rules, by, &task.decl)? }))
    });
    held.filter(|(_, hold)| matches!(hold.why, Why::Overlap(_) | Why::MayOverlap { .. })).collect()
}
