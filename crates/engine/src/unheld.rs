//! The tasks of a state that nothing holds: found out when somebody first asks, and kept up to date from then on.

use std::fmt;
use std::sync::OnceLock;

use crate::dependence;
use crate::order::{Free, Part, Standing};
use crate::rules::Rules;
use crate::state::State;
use crate::status::Status;
use crate::task::Task;

/// The tasks that nothing holds, once they are known. They follow from the rest of the state.
#[derive(Clone, Default)]
pub(crate) struct Unheld(OnceLock<Box<Known>>);

#[derive(Clone)]
struct Known {
    free: Free,
    /// The number of each task among `Places`, in the order of the plan.
    tasks: Vec<u32>,
    /// The number here of each task there.
    numbers: Vec<u32>,
}

impl fmt::Debug for Unheld {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Unheld")
    }
}

impl State {
    /// The tasks that are ready and wait for none before them, in the plan's order.
    pub(crate) fn unheld(&self, rules: &Rules) -> impl Iterator<Item = &Task> {
        let known = self.known_unheld();
        known.free.ready(rules).filter_map(|number| self.numbered(known, number))
    }

    /// The checkpoints among them.
    pub(crate) fn unheld_checkpoints(&self, rules: &Rules) -> impl Iterator<Item = &Task> {
        let known = self.known_unheld();
        known.free.ready_checkpoints(rules).filter_map(|number| self.numbered(known, number))
    }

    fn numbered(&self, known: &Known, number: u32) -> Option<&Task> {
        let number = known.tasks.get(usize::try_from(number).ok()?)?;
        let place = self.places.place_of(usize::try_from(*number).ok()?)?;
        self.tasks.get(place).map(AsRef::as_ref)
    }

    fn known_unheld(&self) -> &Known {
        self.unheld.0.get_or_init(|| {
            let tasks = self.tasks.iter().filter_map(|task| self.places.number(task.id()));
            let tasks: Vec<u32> = tasks.filter_map(|number| u32::try_from(number).ok()).collect();
            let mut numbers = vec![0; tasks.len()];
            for (number, task) in (0..).zip(&tasks) {
                numbers[usize::try_from(*task).expect("a plan fits into memory")] = number;
            }
            let standings: Vec<Standing<'_>> = self.tasks.iter().map(|task| self.standing(task)).collect();
            Box::new(Known { free: Free::new(&standings), tasks, numbers })
        })
    }

    fn standing<'a>(&'a self, task: &'a Task) -> Standing<'a> {
        Standing { id: task.id(), subject: dependence::subject(self, task), part: self.part(task) }
    }

    /// Whoever waits for a task waits for its fix tasks with it; those start when it is their turn.
    fn part(&self, task: &Task) -> Part {
        let is_ready = matches!(task.status, Status::Ready { .. }) && self.fix_plan(task.id()).is_none();
        match (task.status.is_settled(), is_ready) {
            (true, _) => Part::None,
            (false, true) => Part::Ready,
            (false, false) => Part::Holds,
        }
    }

    /// Keeps what is known in step with a task's status, which was another one before.
    pub(crate) fn note_part(&mut self, place: usize, was: &Status) {
        if self.unheld.0.get().is_none() {
            return;
        }
        let task = &self.tasks[place];
        let is_open = |id| self.task(id).is_some_and(|fix| !fix.status.is_settled());
        let leaves_fixes = task.status.is_settled() && task.fixes.iter().any(is_open);
        if was.is_settled() && !task.status.is_settled() || leaves_fixes {
            self.unheld = Unheld::default();
            return;
        }
        let (part, number) = (self.part(task), self.places.number(task.id()));
        let Some(known) = self.unheld.0.get_mut() else { return };
        // Fix tasks that were put in later are not among them: their originals stand for them.
        if let Some(number) = number.and_then(|number| known.numbers.get(number)) {
            known.free.set(*number, part);
        }
    }
}
