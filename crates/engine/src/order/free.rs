//! Which tasks nothing holds, kept up to date as tasks settle: what each step costs depends on what happens, not on how
//! many tasks the plan has. The same is said by looking through the plan with `Open`, which debug builds compare.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use plan::{Dialect, TaskId};

use super::entries::{Entries, Lists, index, number};
use super::is_barrier;
use crate::rules::Rules;
use crate::task::{TaskDecl, TaskKind};

/// A task of the plan, as it stands for what comes behind it.
pub(crate) struct Standing<'a> {
    /// The task itself.
    pub(crate) id: &'a TaskId,
    /// What it is about. A fix task is about what its original is about.
    pub(crate) subject: &'a TaskDecl,
    pub(crate) part: Part,
}

/// The part that a task has in what may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It is settled.
    None,
    /// Others may have to wait for it.
    Holds,
    /// So they do, and it may start itself.
    Ready,
}

/// The tasks that are not settled, by what holds them. Tasks have numbers in the order of the plan.
#[derive(Clone, Debug)]
pub(crate) struct Free {
    /// What tasks can be held by: entries of Files lists, and behind those ids that others depend on.
    claims: Lists,
    related: Lists,
    watches: Lists,
    /// Who has each claim, and who waits for none but those that have it.
    claimants: Lines,
    watchers: Lists,
    parts: Vec<Part>,
    /// A task that holds this one, as far as one is known.
    holders: Vec<u32>,
    /// Those that may start, as far as claims go.
    free: BTreeSet<u32>,
    all: Line,
    stages: BTreeMap<u32, Line>,
    stage_of: Vec<u32>,
    kinds: Kinds,
}

/// Tasks of certain kinds, for which others wait whatever they are about.
#[derive(Clone, Debug)]
struct Kinds {
    barriers: Line,
    checkpoints: Line,
    unmarked: Line,
    without_files: Line,
    unmarked_without_files: Line,
}

/// Tasks in the order of the plan, of which the first and the last that are not settled are asked for.
#[derive(Clone, Debug, Default)]
struct Line {
    tasks: Vec<u32>,
    first: usize,
    last: usize,
}

impl Line {
    fn new(tasks: Vec<u32>) -> Self {
        Self { first: 0, last: tasks.len(), tasks }
    }

    /// Leaves out what is settled at both ends.
    fn shorten(&mut self, parts: &[Part]) {
        let is_settled = |task: u32| parts[index(task)] == Part::None;
        while self.first < self.last && is_settled(self.tasks[self.first]) {
            self.first += 1;
        }
        while self.first < self.last && is_settled(self.tasks[self.last - 1]) {
            self.last -= 1;
        }
    }

    fn first(&self) -> Option<u32> {
        self.open().first().copied()
    }

    fn last(&self) -> Option<u32> {
        self.open().last().copied()
    }

    /// From the first to the last that are not settled.
    fn open(&self) -> &[u32] {
        &self.tasks[self.first..self.last]
    }

    fn has_before(&self, task: u32) -> bool {
        self.first().is_some_and(|first| first < task)
    }
}

/// For each claim, who has it, and the first of them that is not settled.
#[derive(Clone, Debug)]
struct Lines {
    tasks: Lists,
    firsts: Vec<u32>,
}

impl Lines {
    fn new(tasks: Lists) -> Self {
        Self { firsts: vec![0; tasks.len()], tasks }
    }

    fn first(&self, claim: u32) -> Option<u32> {
        self.tasks.of(claim).get(index(self.firsts[index(claim)])).copied()
    }

    fn shorten(&mut self, claim: u32, parts: &[Part]) {
        while self.first(claim).is_some_and(|task| parts[index(task)] == Part::None) {
            self.firsts[index(claim)] += 1;
        }
    }
}

/// That no holder of a task is known.
const NOBODY: u32 = u32::MAX;

impl Free {
    /// The tasks of a plan, in its order.
    pub(crate) fn new(tasks: &[Standing<'_>]) -> Self {
        let files = tasks.iter().map(|task| match task.part {
            Part::None => &[][..],
            Part::Holds | Part::Ready => &task.subject.files,
        });
        let Entries { of_task, related } = Entries::read(files);
        let named = ids(tasks, number(related.len()));
        let (claims, watches) = pairs(tasks, &named, &of_task);
        let claim_count = related.len() + named.len();
        let turned = |pairs: &[(u32, u32)]| {
            let turned: Vec<(u32, u32)> = pairs.iter().map(|(task, claim)| (*claim, *task)).collect();
            Lists::of_pairs(claim_count, &turned)
        };
        let mut free = Self {
            claimants: Lines::new(turned(&claims)),
            watchers: turned(&watches),
            claims: Lists::of_pairs(tasks.len(), &claims),
            watches: Lists::of_pairs(tasks.len(), &watches),
            related,
            parts: tasks.iter().map(|task| task.part).collect(),
            holders: vec![NOBODY; tasks.len()],
            free: BTreeSet::new(),
            all: line(tasks, |_| true),
            stages: stages(tasks),
            stage_of: tasks.iter().map(|task| task.subject.stage).collect(),
            kinds: Kinds {
                barriers: line(tasks, is_barrier),
                checkpoints: line(tasks, |task| task.kind == TaskKind::Checkpoint),
                unmarked: line(tasks, |task| !task.parallel),
                without_files: line(tasks, |task| task.files.is_empty()),
                unmarked_without_files: line(tasks, |task| !task.parallel && task.files.is_empty()),
            },
        };
        (0..number(tasks.len())).for_each(|task| free.look_at(task));
        free
    }

    /// Notes what part a task has now. It may not come back from being settled.
    pub(crate) fn set(&mut self, task: u32, part: Part) {
        let Some(known) = self.parts.get_mut(index(task)).filter(|known| **known != part) else { return };
        *known = part;
        if part == Part::None {
            self.settle(task);
        } else {
            self.look_at(task);
        }
    }

    fn settle(&mut self, task: u32) {
        self.free.remove(&task);
        let stage = self.stages.get_mut(&self.stage_of[index(task)]);
        let kinds = &mut self.kinds;
        let lines = [
            &mut self.all,
            &mut kinds.barriers,
            &mut kinds.checkpoints,
            &mut kinds.unmarked,
            &mut kinds.without_files,
            &mut kinds.unmarked_without_files,
        ];
        lines.into_iter().chain(stage).for_each(|line| line.shorten(&self.parts));
        // Whoever is let go by this is the first that has one of these claims, or waits for the task by name.
        let mut let_go: BTreeSet<u32> = BTreeSet::new();
        for claim in self.claims.of(task) {
            self.claimants.shorten(*claim, &self.parts);
            let related = self.related_to(*claim).iter().chain([claim]);
            let_go.extend(related.filter_map(|claim| self.claimants.first(*claim)));
            let_go.extend(self.watchers.of(*claim));
        }
        let_go.into_iter().for_each(|task| self.look_at(task));
    }

    /// Ids have no relatives.
    fn related_to(&self, claim: u32) -> &[u32] {
        if index(claim) < self.related.len() { self.related.of(claim) } else { &[] }
    }

    /// Looks whether a task may start, as far as claims go.
    fn look_at(&mut self, task: u32) {
        let at = index(task);
        let known = self.holders[at];
        let is_held = known != NOBODY && self.parts[index(known)] != Part::None;
        if !is_held && self.parts[at] != Part::None {
            self.holders[at] = self.holder(task).unwrap_or(NOBODY);
        }
        if self.parts[at] == Part::Ready && self.holders[at] == NOBODY {
            self.free.insert(task);
        } else {
            self.free.remove(&task);
        }
    }

    /// A task that holds this one by what it claims: of the first to have each claim the last, as those before it settle
    /// sooner as a rule.
    fn holder(&self, task: u32) -> Option<u32> {
        let own = self.claims.of(task).iter().filter(|claim| index(**claim) < self.related.len());
        let claims = own.flat_map(|claim| self.related_to(*claim).iter().chain([claim]));
        let watched = claims.chain(self.watches.of(task));
        let firsts = watched.filter_map(|claim| self.claimants.first(*claim));
        firsts.filter(|first| *first < task).max()
    }

    /// The tasks that may start, in the order of the plan.
    pub(crate) fn ready(&self, rules: &Rules) -> impl Iterator<Item = u32> {
        let segments = self.segments(rules);
        segments
            .into_iter()
            .flat_map(|segment| self.free.range(segment))
            .copied()
            .filter(|task| !self.is_held(rules, *task))
    }

    /// The checkpoints among them.
    pub(crate) fn ready_checkpoints(&self, rules: &Rules) -> impl Iterator<Item = u32> {
        let checkpoints = self.kinds.checkpoints.open().iter().copied();
        checkpoints.filter(|task| self.free.contains(task) && !self.is_held(rules, *task))
    }

    /// The parts of the plan in which a task may be of the stage that comes first before it.
    fn segments(&self, rules: &Rules) -> Vec<RangeInclusive<u32>> {
        let Some((first, last)) = self.all.first().zip(self.all.last()) else { return Vec::new() };
        let last = self.limit(rules).map_or(last, |limit| last.min(limit));
        if rules.dialect == Dialect::Phase && rules.parallel.infer.is_on() {
            return vec![first..=last];
        }
        let mut segments = Vec::new();
        let mut end = last;
        for line in self.stages.values() {
            let Some((begin, last)) = line.first().zip(line.last()) else { continue };
            if begin > end {
                continue;
            }
            segments.push(begin..=end.min(last));
            if begin == first {
                break;
            }
            end = begin - 1;
        }
        segments.reverse();
        segments
    }

    /// The task of a spec behind which all have to wait.
    fn limit(&self, rules: &Rules) -> Option<u32> {
        let unmarked = self.kinds.unmarked.first().filter(|_| !rules.parallel.infer.is_on());
        let both = self.kinds.barriers.first().into_iter().chain(unmarked);
        both.min().filter(|_| rules.dialect == Dialect::Spec)
    }

    /// Whether a task is held by what kind of task it is, and by what kinds there are before it.
    fn is_held(&self, rules: &Rules, task: u32) -> bool {
        let before = self.stages.iter().find(|(_, line)| line.has_before(task)).map(|(stage, _)| *stage);
        let stage = self.stage_of[index(task)];
        match rules.dialect {
            Dialect::Phase => !rules.parallel.infer.is_on() && before.is_some_and(|before| before < stage),
            Dialect::Spec => {
                before.is_some_and(|before| before != stage) || self.is_held_in_spec(rules, task)
            }
        }
    }

    fn is_held_in_spec(&self, rules: &Rules, task: u32) -> bool {
        let kinds = &self.kinds;
        let is = |line: &Line| line.tasks.binary_search(&task).is_ok();
        let is_barrier = is(&kinds.barriers);
        let by_inference = rules.parallel.infer.is_on() && !is(&kinds.without_files);
        let sequence = match (!is(&kinds.unmarked), by_inference) {
            _ if is_barrier => &self.all,
            (true, true) => &kinds.unmarked_without_files,
            (true, false) => &kinds.unmarked,
            (false, true) => &kinds.without_files,
            (false, false) => &self.all,
        };
        sequence.has_before(task) || kinds.barriers.has_before(task)
    }
}

/// The tasks that are not settled and of a kind.
fn line(tasks: &[Standing<'_>], is_one: impl Fn(&TaskDecl) -> bool) -> Line {
    let open = (0..).zip(tasks).filter(|(_, task)| task.part != Part::None && is_one(task.subject));
    Line::new(open.map(|(number, _)| number).collect())
}

fn stages(tasks: &[Standing<'_>]) -> BTreeMap<u32, Line> {
    let mut stages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (number, task) in (0..).zip(tasks).filter(|(_, task)| task.part != Part::None) {
        stages.entry(task.subject.stage).or_default().push(number);
    }
    stages.into_iter().map(|(stage, tasks)| (stage, Line::new(tasks))).collect()
}

/// The ids that tasks depend on, as claims behind the entries.
fn ids<'a>(tasks: &[Standing<'a>], first: u32) -> BTreeMap<&'a TaskId, u32> {
    let open = tasks.iter().filter(|task| task.part != Part::None);
    let named: BTreeSet<&TaskId> = open.flat_map(|task| &task.subject.depends_on).collect();
    named.into_iter().zip(first..).collect()
}

type Pairs = Vec<(u32, u32)>;

/// Each task with what it claims, and with what it is held by besides.
fn pairs(tasks: &[Standing<'_>], named: &BTreeMap<&TaskId, u32>, entries: &Lists) -> (Pairs, Pairs) {
    let (mut claims, mut watches) = (Vec::new(), Vec::new());
    for (number, task) in (0..).zip(tasks).filter(|(_, task)| task.part != Part::None) {
        claims.extend(entries.of(number).iter().map(|entry| (number, *entry)));
        claims.extend(named.get(&task.subject.id).map(|id| (number, *id)));
        // A fix task itself starts when it is its turn, whatever its original waits for.
        let depends_on = task.subject.depends_on.iter().filter(|_| *task.id == task.subject.id);
        watches.extend(depends_on.filter_map(|id| named.get(id)).map(|id| (number, *id)));
    }
    (claims, watches)
}
