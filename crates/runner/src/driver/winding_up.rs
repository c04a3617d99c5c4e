//! The end of a run: what is still under way is stopped and waited for, what is half in the project goes out of it, and
//! what is left to say is said.

use std::time::Duration;

use engine::{ActionKey, End};

use super::{Driver, Finished, now};
use crate::attempt::Purpose;
use crate::error::RunError;
use crate::git::{self, LastWait};
use crate::inbox::Message;
use crate::places::Done;

/// How long processes get to end when the run does. Their own grace period is shorter.
const LAST_WAIT: Duration = Duration::from_secs(20);

impl Driver<'_> {
    /// After the end: stops what still runs, brings the files up to date, and leaves.
    pub(super) fn wind_up(mut self) -> Result<Finished, RunError> {
        self.settle_journal()?;
        for flight in self.flights.values() {
            if let Some(handle) = &flight.handle {
                handle.stop();
            }
            if let Purpose::Forge(stopper) = &flight.purpose {
                stopper.stop();
            }
            if let Purpose::Lock { release } = &flight.purpose {
                release.give();
            }
        }
        self.flights.retain(|_, flight| !matches!(flight.purpose, Purpose::Ask));
        let last_wait = LastWait::begin();
        while !self.flights.is_empty() {
            match self.inbox.receive(Some(LAST_WAIT)) {
                Some(Message::Ended(key, ended)) => {
                    if let Some(flight) = self.flights.remove(&key) {
                        // The run is over, so what this says is of no interest; that the plan file is put in
                        // order on the way is.
                        self.land(key, flight.purpose, &ended)?;
                    }
                }
                Some(Message::Done(key, done)) => self.take_in_late(key, *done)?,
                // Others wait until what is half in the project is out of it.
                Some(Message::Turn(task, turn)) => self.turn = Some((task, turn)),
                Some(Message::Forge(key, _)) => drop(self.flights.remove(&key)),
                Some(Message::AgentEnded(key, ended)) => {
                    if let Some(flight) = self.flights.remove(&key) {
                        // As above; what was spent is noted on the way, too.
                        self.land_agent(key, flight.purpose, &ended)?;
                    }
                }
                Some(
                    Message::Interrupted
                    | Message::Posted
                    | Message::Settings(_)
                    | Message::Answered(..)
                    | Message::NobodyAnswers(_)
                    | Message::Surveyed(_)
                    | Message::References(_)
                    | Message::Note(_)
                    | Message::Told(..),
                ) => {}
                None => break,
            }
        }
        drop(last_wait);
        self.tell_of_new_names();
        self.last_words()?;
        self.tell_of_kept_work();
        self.remove_slots();
        self.set_orphans_aside();
        if !self.flights.is_empty() {
            git::end_all();
        }
        self.turn_down_directives()?;
        self.record_notes()?;
        self.settle_journal()?;
        let end = self.state.end().cloned().unwrap_or(End::Interrupted);
        Ok(Finished { end, state: self.state, at: now() })
    }

    /// Once a plan is complete nobody needs its work trees. That one stays is a nuisance and no more.
    fn remove_slots(&mut self) {
        let is_complete = matches!(self.state.end(), Some(End::Complete { .. }));
        let error = self.slots.as_ref().filter(|_| is_complete).and_then(|slots| slots.remove_all().err());
        if let Some(error) = error {
            self.note(format!("the work trees of this run could not be removed: {}", error.told()));
        }
    }

    /// When a run ends with tasks that failed: where what they left is kept.
    fn tell_of_kept_work(&mut self) {
        let tasks: Vec<&engine::Task> = match self.state.end() {
            Some(End::Stopped(_) | End::Waiting { .. }) => self.state.attention().collect(),
            Some(_) | None => return,
        };
        let failed = tasks.into_iter().filter(|task| task.is_isolated() && !task.failures.is_empty());
        let kept = failed.filter_map(|task| Some((task.id().clone(), task.work.as_ref()?.commit.clone()?)));
        let notes = kept.map(|(task, commit)| {
            format!(
                "what the last attempt at task {task} left is kept as commit {commit} (`git show {commit}`); the next one \
                 goes on from it"
            )
        });
        notes.collect::<Vec<_>>().into_iter().for_each(|note| self.note(note));
    }

    /// What was done beside the loop and came in after the end. Nothing starts any more.
    fn take_in_late(&mut self, key: ActionKey, done: Done) -> Result<(), RunError> {
        match self.flights.remove(&key).map(|flight| flight.purpose) {
            Some(Purpose::Slot { .. } | Purpose::Proof { .. }) | None => Ok(()),
            Some(purpose) => self.take_in(key, purpose, done).map(drop),
        }
    }
}
