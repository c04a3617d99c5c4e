//! What each task of a plan waits for, for people who ask beforehand. What is waited for through another need not be said,
//! and is not kept: a plan of thousands of tasks, of which each waits for all before it, takes no more than one of as many
//! that do not.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Dialect, TaskId};

use super::entries::{Entries, Lists, index, number};
use super::{Open, Why, is_barrier};
use crate::rules::Rules;
use crate::task::TaskDecl;

/// What the tasks of a plan wait for.
#[derive(Debug)]
pub struct Waits<'a> {
    rules: &'a Rules,
    tasks: Vec<&'a TaskDecl>,
    places: BTreeMap<&'a TaskId, usize>,
    entries: Entries,
    /// Who names each entry, in the order of the plan.
    named_by: Lists,
    /// Where the tasks of the same kind begin that stand together before each task, with it.
    runs: Vec<u32>,
    /// Up to where a task waits for all, directly or not.
    floors: Vec<u32>,
    /// What a task waits for directly from there on.
    links: Vec<Vec<u32>>,
}

impl<'a> Waits<'a> {
    /// The tasks that are not done, in the order of the plan.
    pub fn new(rules: &'a Rules, tasks: Vec<&'a TaskDecl>) -> Self {
        let entries = Entries::read(tasks.iter().map(|task| task.files.as_slice()));
        let count = number(tasks.len());
        let named =
            (0..count).flat_map(|task| entries.of_task.of(task).iter().map(move |entry| (*entry, task)));
        let named_by = Lists::of_pairs(entries.related.len(), &named.collect::<Vec<_>>());
        let mut runs: Vec<u32> = Vec::with_capacity(tasks.len());
        for (place, task) in (0..count).zip(&tasks) {
            let is_same = |before: u32| Kind::of(tasks[index(before)]) == Kind::of(task);
            runs.push(
                place
                    .checked_sub(1)
                    .filter(|before| is_same(*before))
                    .map_or(place, |before| runs[index(before)]),
            );
        }
        let places = tasks.iter().map(|task| &task.id).zip(0..).collect();
        let (floors, links) = (Vec::with_capacity(tasks.len()), Vec::with_capacity(tasks.len()));
        let mut waits = Self { rules, tasks, places, entries, named_by, runs, floors, links };
        for place in 0..count {
            let mut search = Search::new(&waits, place);
            let found: Vec<u32> = std::iter::from_fn(|| search.next()).map(|(earlier, _)| earlier).collect();
            let floor = search.floor();
            waits.floors.push(floor);
            waits.links.push(found.into_iter().filter(|earlier| *earlier >= floor).collect());
        }
        waits
    }

    /// What the task at a place waits for and why, the latest first.
    pub fn of(&self, place: usize) -> impl Iterator<Item = (usize, Why)> {
        let mut search = Search::new(self, number(place));
        std::iter::from_fn(move || search.next()).map(|(earlier, why)| (index(earlier), why))
    }

    /// Why a task waits for an earlier one, were there only the two.
    fn hold(&self, earlier: u32, task: &TaskDecl, is_claimed: bool) -> Option<Why> {
        let earlier = self.tasks[index(earlier)];
        if is_claimed && task.depends_on.contains(&earlier.id) {
            return Some(Why::Declared);
        }
        let by_kind = Kind::of(task).waits_for(Kind::of(earlier), self.rules);
        by_kind.or_else(|| {
            let mut open = Open::new(self.rules);
            open.add(earlier);
            open.hold(task).filter(|_| is_claimed).map(|hold| hold.why)
        })
    }

    /// Earlier tasks that a task may have to wait for by what it names: of all that name the same only the last, since
    /// they wait for each other.
    fn claimed(&self, place: u32) -> BTreeSet<u32> {
        let task = self.tasks[index(place)];
        let own = self.entries.of_task.of(place).iter();
        let entries = own.flat_map(|entry| self.entries.related.of(*entry).iter().chain([entry]));
        let last = |entry: &u32| {
            let named_by = self.named_by.of(*entry);
            let before = named_by.partition_point(|earlier| *earlier < place);
            before.checked_sub(1).map(|last| named_by[last])
        };
        let declared =
            task.depends_on.iter().filter_map(|id| self.places.get(id)).map(|place| number(*place));
        entries.filter_map(last).chain(declared.filter(|earlier| *earlier < place)).collect()
    }
}

/// All of a task that decides who waits for it whatever it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    stage: u32,
    is_barrier: bool,
    is_marked: bool,
    has_files: bool,
}

impl Kind {
    fn of(task: &TaskDecl) -> Self {
        let (is_marked, has_files) = (task.parallel, !task.files.is_empty());
        Self { stage: task.stage, is_barrier: is_barrier(task), is_marked, has_files }
    }

    /// Why a task of this kind waits for one of another that comes before it.
    fn waits_for(self, earlier: Self, rules: &Rules) -> Option<Why> {
        let infers = rules.parallel.infer.is_on();
        if rules.dialect == Dialect::Phase {
            return (earlier.stage < self.stage && !infers).then_some(Why::Stage);
        }
        let is_beside = self.is_marked && earlier.is_marked;
        let is_inferred = infers && self.has_files && earlier.has_files;
        if self.is_barrier {
            Some(Why::Barrier)
        } else if earlier.stage != self.stage {
            Some(Why::Stage)
        } else if earlier.is_barrier {
            Some(Why::Barrier)
        } else {
            (!is_beside && !is_inferred).then_some(Why::Sequence)
        }
    }
}

/// A walk from a task towards the beginning of the plan.
struct Search<'a> {
    waits: &'a Waits<'a>,
    task: &'a TaskDecl,
    /// All before it are looked at; those from here on were.
    at: u32,
    /// All before it are waited for.
    floor: u32,
    /// Those behind it that are waited for.
    known: Vec<bool>,
    claimed: BTreeSet<u32>,
}

impl<'a> Search<'a> {
    fn new(waits: &'a Waits<'a>, place: u32) -> Self {
        let (task, known) = (waits.tasks[index(place)], vec![false; index(place)]);
        Self { waits, task, at: place, floor: 0, known, claimed: waits.claimed(place) }
    }

    fn next(&mut self) -> Option<(u32, Why)> {
        while self.at > self.floor {
            self.at -= 1;
            if self.known[index(self.at)] {
                continue;
            }
            if let Some(why) = self.waits.hold(self.at, self.task, self.claimed.contains(&self.at)) {
                self.reach(self.at);
                return Some((self.at, why));
            }
            // Nobody of that kind is waited for, but for what is named.
            let named = self.claimed.range(..self.at).next_back().map_or(0, |named| named + 1);
            self.at = self.at.min(named.max(self.waits.runs[index(self.at)]));
        }
        None
    }

    /// Notes all that is waited for through a task.
    fn reach(&mut self, task: u32) {
        let mut left = vec![task];
        self.known[index(task)] = true;
        while let Some(task) = left.pop() {
            self.floor = self.floor.max(self.waits.floors[index(task)]);
            for link in &self.waits.links[index(task)] {
                if *link >= self.floor && !self.known[index(*link)] {
                    self.known[index(*link)] = true;
                    left.push(*link);
                }
            }
        }
    }

    /// Up to where all are waited for.
    fn floor(&self) -> u32 {
        let known = self.known.get(index(self.floor)..).unwrap_or_default();
        self.floor + number(known.iter().take_while(|is_known| **is_known).count())
    }
}
