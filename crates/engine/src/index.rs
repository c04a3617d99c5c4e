//! Everything that follows from the rest of a state and is kept beside it, so that the cost of a step does not grow with
//! the plan.

use crate::dependence;
use crate::order::{Part, ReadyQueue};
use crate::position::{PositionSet, Positions};
use crate::state::State;
use crate::status::Status;
use crate::task::{Task, TaskDecl, TaskKind};

/// The tasks of a state by place and by status. It holds nothing that [`State::reindex`] does not find again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) positions: Positions,
    pub(crate) unsettled: PositionSet,
    /// Tasks that are neither ready nor settled.
    pub(crate) attention: PositionSet,
    /// Those of them that something happens with, or is due for: few, whatever the size of the plan.
    pub(crate) in_motion: PositionSet,
    pub(crate) skipped: usize,
    /// How many of the tasks are fix tasks that were decided on here.
    pub(crate) fixes: usize,
    /// How many of the tasks are checkpoints.
    pub(crate) checkpoints: usize,
    pub(crate) queue: ReadyQueue,
    /// True if the queue is of another plan than the state has by now: it is made anew once the event is taken in.
    pub(crate) is_stale: bool,
}

/// All indexes of one state are equal: an index follows from the rest, and may only have come about in another way.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Index {}

impl State {
    /// The tasks that are ready and wait for none before them, in the plan's order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = &Task> {
        self.index.queue.ready().filter_map(|number| self.numbered(number))
    }

    /// The checkpoints that are ready and wait for none before them, in the plan's order.
    pub(crate) fn ready_checkpoints(&self) -> impl Iterator<Item = &Task> {
        self.index.queue.ready_checkpoints().filter_map(|number| self.numbered(number))
    }

    /// An earlier task that a task waits for, with what it is about.
    pub(crate) fn blocker(&self, task: &Task) -> Option<&TaskDecl> {
        let number = self.index.positions.number(task.id())?;
        let blocker = self.index.queue.blocker(number, &task.decl)?;
        self.numbered(blocker).map(|blocker| dependence::subject(self, blocker))
    }

    fn numbered(&self, number: u32) -> Option<&Task> {
        let place = self.index.positions.of_number(number)?;
        self.tasks.get(place).map(AsRef::as_ref)
    }

    /// Sets a task's status and keeps the index in step with it.
    pub(crate) fn set_status(&mut self, place: usize, status: Status) {
        let was = std::mem::replace(&mut self.tasks[place].status, status);
        let is_settled = self.tasks[place].status.is_settled();
        self.index.skipped -= usize::from(was == Status::Skipped);
        self.index_at(place);
        if is_settled {
            self.set_in_motion_after(place);
        }
        self.queue_again(place, &was);
    }

    /// Sets in motion whoever waited for a task that is settled now.
    fn set_in_motion_after(&mut self, place: usize) {
        let id = self.tasks[place].id();
        let waits =
            |place: &usize| matches!(&self.tasks[*place].status, Status::WaitingFor(other) if other == id);
        let waiting: Vec<usize> = self.index.attention.iter().filter(waits).collect();
        waiting.into_iter().for_each(|place| self.index.in_motion.insert(place));
    }

    /// Keeps the queue in step with a task's status.
    fn queue_again(&mut self, place: usize, was: &Status) {
        let task = &self.tasks[place];
        let is_settled = task.status.is_settled();
        let is_open = |fix| self.task(fix).is_some_and(|fix| !fix.status.is_settled());
        // Fix tasks that were put in since are not in the queue: the task that they are to repair stands for them.
        let leaves_fixes = || is_settled && task.fixes.iter().any(is_open);
        if self.index.is_stale || (was.is_settled() && !is_settled) || leaves_fixes() {
            self.index.is_stale = true;
            return;
        }
        let Some(number) = self.index.positions.number(task.id()) else { return };
        let part = self.part(task);
        let mut queue = std::mem::take(&mut self.index.queue);
        queue.set(number, part, |number| self.numbered(number).map(|task| dependence::subject(self, task)));
        self.index.queue = queue;
    }

    /// A fix task never starts by itself but when whoever it repairs would.
    fn part(&self, task: &Task) -> Part {
        let is_ready = matches!(task.status, Status::Ready { .. });
        if task.status.is_settled() {
            Part::Settled
        } else if is_ready && self.fix_plan(task.id()).is_none() {
            Part::Ready
        } else {
            Part::Open
        }
    }

    /// Makes the index anew where the plan has changed.
    pub(crate) fn refresh_index(&mut self) {
        if self.index.is_stale {
            self.reindex();
        }
    }

    /// Makes the index anew.
    pub(crate) fn reindex(&mut self) {
        let positions = Positions::of(self.tasks.iter().map(|task| task.id()));
        let fixes = self.drafts.keys().filter(|id| positions.has(id)).count();
        let kinds = self.tasks.iter().map(|task| task.decl.kind);
        let checkpoints = kinds.filter(|kind| *kind == TaskKind::Checkpoint).count();
        self.index = Index { positions, fixes, checkpoints, ..Index::default() };
        for place in 0..self.tasks.len() {
            self.index_at(place);
        }
        let tasks = self.tasks.iter().map(|task| (dependence::subject(self, task), self.part(task)));
        let rules = self.rules().cloned().unwrap_or_default();
        self.index.queue = ReadyQueue::new(rules, &tasks.collect::<Vec<_>>());
    }

    /// Puts a fix task in at a place; those behind it move up by one.
    pub(crate) fn insert(&mut self, place: usize, task: Task) {
        self.index.unsettled.make_room(place);
        self.index.attention.make_room(place);
        self.index.in_motion.make_room(place);
        self.index.fixes += usize::from(self.drafts.contains_key(task.id()));
        self.index.positions.insert(place, task.id());
        self.tasks.insert(place, Box::new(task));
        self.index_at(place);
    }

    /// Puts a task among those of its status.
    pub(crate) fn index_at(&mut self, place: usize) {
        let status = &self.tasks[place].status;
        let is_settled = status.is_settled();
        let is_resting = is_settled || matches!(status, Status::Ready { .. });
        let is_in_motion = !is_resting && !self.waits_aside(&self.tasks[place]);
        self.index.skipped += usize::from(*status == Status::Skipped);
        self.index.unsettled.set(place, !is_settled);
        self.index.attention.set(place, !is_resting);
        self.index.in_motion.set(place, is_in_motion);
    }

    /// True if a task waits for another that is not settled, and is in nobody's way meanwhile.
    fn waits_aside(&self, task: &Task) -> bool {
        let Status::WaitingFor(other) = &task.status else { return false };
        let is_open = self.task(other).is_some_and(|other| !other.status.is_settled());
        is_open && !task.has_leftovers()
    }
}
