//! Which tasks wait for none before them, kept up to date as tasks settle: the cost of a step depends on what happens,
//! not on how many tasks the plan has.
//!
//! Of all that a task waits for, one is remembered, and only when that one settles the task is looked at again.

use std::collections::{BTreeMap, BTreeSet};

use plan::TaskId;

use super::Kind;
use super::claims::Claims;
use crate::rules::Rules;
use crate::task::{TaskDecl, TaskKind};

/// The part that a task has in what may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nobody waits for it any more.
    Settled,
    /// Others may have to wait for it.
    Open,
    /// Others may have to wait for it, and it may start itself.
    Ready,
}

/// The tasks of a plan by whether they wait. They are numbers here, in the order of the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadyQueue {
    rules: Rules,
    tasks: Vec<Standing>,
    /// The tasks that are not settled, by kind.
    kinds: BTreeMap<Kind, Vec<u32>>,
    /// The tasks that are not settled, by what they are about.
    claims: Claims,
    /// The tasks that stand for each id that somebody depends on.
    ids: BTreeMap<TaskId, Vec<u32>>,
    /// The tasks that are looked at again when one settles.
    blocked: BTreeMap<u32, Vec<u32>>,
    ready: BTreeSet<u32>,
    ready_checkpoints: BTreeSet<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Standing {
    part: Part,
    is_blocked: bool,
}

impl ReadyQueue {
    /// The tasks of a plan, in its order.
    pub(crate) fn new(rules: Rules, tasks: &[(&TaskDecl, Part)]) -> Self {
        let mut queue = Self { rules, ..Self::default() };
        let depended_on: BTreeSet<&TaskId> = tasks.iter().flat_map(|(decl, _)| &decl.depends_on).collect();
        for (number, (decl, part)) in (0..).zip(tasks) {
            queue.tasks.push(Standing { part: *part, is_blocked: false });
            // How many patterns there are may not depend on what is settled.
            queue.claims.add(number, &decl.files);
            queue.kinds.entry(Kind::of(decl)).or_default().push(number);
            if depended_on.contains(&decl.id) {
                queue.ids.entry(decl.id.clone()).or_default().push(number);
            }
        }
        for (number, (decl, _)) in (0..).zip(tasks).filter(|(_, (_, part))| *part == Part::Settled) {
            queue.take_out(number, decl);
        }
        for (number, (decl, _)) in (0..).zip(tasks).filter(|(_, (_, part))| *part != Part::Settled) {
            queue.look_at(number, decl);
        }
        queue
    }

    /// The tasks that may start, in the order of the plan.
    pub(crate) fn ready(&self) -> impl Iterator<Item = u32> {
        self.ready.iter().copied()
    }

    /// The checkpoints among them.
    pub(crate) fn ready_checkpoints(&self) -> impl Iterator<Item = u32> {
        self.ready_checkpoints.iter().copied()
    }

    /// A task that this one waits for, if there is one.
    pub(crate) fn blocker(&self, number: u32, decl: &TaskDecl) -> Option<u32> {
        let declared = decl.depends_on.iter().filter_map(|id| self.ids.get(id));
        let declared = declared.filter_map(|named| last_before(named, number)).max();
        declared.or_else(|| self.blocker_by_kind(number, decl)).or_else(|| self.blocker_by_file(number, decl))
    }

    /// The last one, as those before it settle sooner as a rule.
    fn blocker_by_kind(&self, number: u32, decl: &TaskDecl) -> Option<u32> {
        let own = Kind::of(decl);
        let waited_for = self.kinds.iter().filter(|(kind, _)| own.waits_for(**kind, &self.rules).is_some());
        waited_for.filter_map(|(_, tasks)| last_before(tasks, number)).max()
    }

    fn blocker_by_file(&self, number: u32, decl: &TaskDecl) -> Option<u32> {
        let related = decl.files.iter().flat_map(|entry| self.claims.related(entry));
        related.filter_map(|claimants| last_before(claimants, number)).max()
    }

    /// Notes the part that a task has now; `decl` says what each task is about. One that was settled stays so.
    pub(crate) fn set<'a>(&mut self, number: u32, part: Part, decl: impl Fn(u32) -> Option<&'a TaskDecl>) {
        let Some(standing) = self.tasks.get_mut(index(number)).filter(|known| known.part != part) else {
            return;
        };
        standing.part = part;
        let Some(own) = decl(number) else { return };
        self.list(number, own);
        if part == Part::Settled {
            self.take_out(number, own);
            for blocked in self.blocked.remove(&number).unwrap_or_default() {
                decl(blocked).into_iter().for_each(|decl| self.look_at(blocked, decl));
            }
        }
    }

    fn take_out(&mut self, number: u32, decl: &TaskDecl) {
        let kind = Kind::of(decl);
        if let Some(tasks) = self.kinds.get_mut(&kind) {
            remove(tasks, number);
            if tasks.is_empty() {
                self.kinds.remove(&kind);
            }
        }
        self.claims.remove(number, &decl.files);
        self.ids.get_mut(&decl.id).into_iter().for_each(|tasks| remove(tasks, number));
    }

    /// Finds out whether a task waits.
    fn look_at(&mut self, number: u32, decl: &TaskDecl) {
        let blocker = self.blocker(number, decl);
        self.tasks[index(number)].is_blocked = blocker.is_some();
        if let Some(blocker) = blocker {
            self.blocked.entry(blocker).or_default().push(number);
        }
        self.list(number, decl);
    }

    fn list(&mut self, number: u32, decl: &TaskDecl) {
        let Standing { part, is_blocked } = self.tasks[index(number)];
        if part == Part::Ready && !is_blocked {
            self.ready.insert(number);
            if decl.kind == TaskKind::Checkpoint {
                self.ready_checkpoints.insert(number);
            }
        } else {
            self.ready.remove(&number);
            self.ready_checkpoints.remove(&number);
        }
    }
}

/// The last task of a list that comes before another one.
fn last_before(tasks: &[u32], number: u32) -> Option<u32> {
    let before = tasks.partition_point(|earlier| *earlier < number);
    before.checked_sub(1).map(|last| tasks[last])
}

/// Takes a task out of a list that is in the order of the plan.
pub(super) fn remove(tasks: &mut Vec<u32>, number: u32) {
    if let Ok(place) = tasks.binary_search(&number) {
        tasks.remove(place);
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).expect("a plan fits into memory")
}
