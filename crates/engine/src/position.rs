//! The position of each task in the plan. Putting a fix task in among thousands moves numbers here, not names and
//! not tasks, so that its cost does not grow with the plan in any way that could be felt.

use std::collections::{BTreeMap, VecDeque};

use plan::TaskId;

/// The place of every task, by its id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions {
    /// Which entry of `places` is the task's; it never changes.
    entries: BTreeMap<TaskId, usize>,
    places: Vec<usize>,
}

impl Positions {
    /// The places of tasks in this order.
    pub(crate) fn of<'a>(ids: impl Iterator<Item = &'a TaskId>) -> Self {
        let entries: BTreeMap<TaskId, usize> = ids.cloned().zip(0..).collect();
        let places = (0..entries.len()).collect();
        Self { entries, places }
    }

    pub(crate) fn get(&self, id: &TaskId) -> Option<usize> {
        self.entries.get(id).map(|entry| self.places[*entry])
    }

    /// The number of a task, which stays the same while others are put in. Numbers follow the order in which tasks stood
    /// at first.
    pub(crate) fn number(&self, id: &TaskId) -> Option<u32> {
        self.entries.get(id).and_then(|entry| u32::try_from(*entry).ok())
    }

    /// The place of the task with a number.
    pub(crate) fn of_number(&self, number: u32) -> Option<usize> {
        self.places.get(usize::try_from(number).ok()?).copied()
    }

    pub(crate) fn has(&self, id: &TaskId) -> bool {
        self.entries.contains_key(id)
    }

    /// Puts a task in at a place; those from there on move up by one.
    pub(crate) fn insert(&mut self, place: usize, id: &TaskId) {
        make_room(self.places.iter_mut(), place);
        self.entries.insert(id.clone(), self.places.len());
        self.places.push(place);
    }
}

/// Some places, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct PositionSet {
    places: VecDeque<usize>,
}

impl PositionSet {
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + Clone {
        self.places.iter().copied()
    }

    pub(crate) fn first(&self) -> Option<usize> {
        self.places.front().copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Puts a place in or takes it out.
    pub(crate) fn set(&mut self, place: usize, is_in: bool) {
        if is_in { self.insert(place) } else { self.remove(place) }
    }

    pub(crate) fn insert(&mut self, place: usize) {
        if let Err(gap) = self.places.binary_search(&place) {
            self.places.insert(gap, place);
        }
    }

    fn remove(&mut self, place: usize) {
        if let Ok(found) = self.places.binary_search(&place) {
            self.places.remove(found);
        }
    }

    /// Those from the given place on move up by one.
    pub(crate) fn make_room(&mut self, place: usize) {
        make_room(self.places.iter_mut(), place);
    }
}

fn make_room<'a>(places: impl Iterator<Item = &'a mut usize>, place: usize) {
    for known in places {
        *known += usize::from(*known >= place);
    }
}
