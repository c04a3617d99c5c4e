//! The tasks that each task of a plan waits for, for people who ask beforehand.

use std::collections::{BTreeMap, BTreeSet};

use plan::TaskId;

use super::claims::Claims;
use super::{Kind, Why, why};
use crate::rules::Rules;
use crate::task::TaskDecl;

/// An iterator over what each task waits for: the places of others and why, the latest first. What is waited for
/// through another task is left out.
#[derive(Debug)]
pub struct Waits<'a> {
    rules: &'a Rules,
    tasks: &'a [&'a TaskDecl],
    kinds: Vec<Kind>,
    places: BTreeMap<&'a TaskId, u32>,
    claims: Claims,
    /// By task: all before this place are waited for, directly or not.
    floors: Vec<usize>,
    /// By task: what is waited for directly from there on. All that is waited for indirectly would take more memory than
    /// there is.
    links: Vec<Vec<usize>>,
}

impl<'a> Waits<'a> {
    /// The tasks are those that are not done, in the order of the plan.
    pub fn new(rules: &'a Rules, tasks: &'a [&'a TaskDecl]) -> Self {
        let kinds = tasks.iter().map(|task| Kind::of(task)).collect();
        let places = tasks.iter().map(|task| &task.id).zip(0..).collect();
        let (floors, links) = (Vec::with_capacity(tasks.len()), Vec::with_capacity(tasks.len()));
        Self { rules, tasks, kinds, places, claims: Claims::default(), floors, links }
    }

    /// Why one task waits for another, where it does by kind or is known to name it or something of the same.
    fn why(&self, earlier: usize, place: usize, claimed: &BTreeSet<usize>) -> Option<Why> {
        if claimed.contains(&earlier) {
            return why(self.rules, self.tasks[earlier], self.tasks[place]);
        }
        self.kinds[place].waits_for(self.kinds[earlier], self.rules)
    }

    /// Marks all behind a place that is waited for through a task, and gives the place.
    fn reach(&self, task: usize, mut floor: usize, known: &mut [bool]) -> usize {
        let mut left = vec![task];
        known[task] = true;
        while let Some(task) = left.pop() {
            floor = floor.max(self.floors[task]);
            for link in self.links[task].iter().filter(|link| **link >= floor) {
                if !known[*link] {
                    known[*link] = true;
                    left.push(*link);
                }
            }
        }
        floor
    }

    /// Earlier tasks that are about the same files as a task or that it is declared to depend on: of all that name the
    /// same only the last, since they wait for each other.
    fn claimed(&self, number: u32, task: &TaskDecl) -> BTreeSet<usize> {
        let related = task.files.iter().flat_map(|entry| self.claims.related(entry));
        let declared = task.depends_on.iter().filter_map(|id| self.places.get(id));
        let numbers = related.filter_map(|claimants| claimants.last()).chain(declared);
        let earlier = numbers.filter(|earlier| **earlier < number);
        earlier.filter_map(|earlier| usize::try_from(*earlier).ok()).collect()
    }
}

impl Iterator for Waits<'_> {
    type Item = Vec<(usize, Why)>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.floors.len();
        let task = self.tasks.get(place)?;
        let number = u32::try_from(place).expect("a plan has fewer tasks than there are numbers");
        let claimed = self.claimed(number, task);
        let (mut waits_for, mut known, mut floor) = (Vec::new(), vec![false; place], 0);
        for earlier in (0..place).rev() {
            if earlier < floor {
                break;
            }
            if let Some(why) =
                Some(earlier).filter(|_| !known[earlier]).and_then(|_| self.why(earlier, place, &claimed))
            {
                floor = self.reach(earlier, floor, &mut known);
                waits_for.push((earlier, why));
            }
        }
        floor += known[floor..].iter().take_while(|is_known| **is_known).count();
        let direct = waits_for.iter().map(|(earlier, _)| *earlier);
        self.links.push(direct.filter(|earlier| *earlier >= floor).collect());
        self.floors.push(floor);
        self.claims.add(number, &task.files);
        Some(waits_for)
    }
}
