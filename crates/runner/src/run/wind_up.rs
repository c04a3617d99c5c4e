//! The end of a run: what is still under way is stopped and waited for, what is half in the project goes out of it, and
//! what is left to say is said.

use std::time::Duration;

use engine::End;

use crate::attempt::dispatch::Purpose;
use crate::error::RunError;
use crate::git::{self, LastWait};
use crate::imports::WriteBack;
use crate::inbox::Message;
use crate::run::driver::{Driver, Finished};
use crate::run::effects::World;

/// The time processes get to end when the run does. Their own grace period is shorter.
const LAST_WAIT: Duration = Duration::from_secs(20);

impl Driver<'_> {
    /// After the end: stops what still runs, brings the files up to date, and leaves.
    pub(super) fn wind_up(mut self) -> Result<Finished, RunError> {
        self.settle_journal()?;
        for flight in self.world.flights.values() {
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
        self.world.flights.retain(|_, flight| !matches!(flight.purpose, Purpose::Ask));
        if self.state.end() == Some(&End::Interrupted) {
            self.world.write_back.iter().for_each(WriteBack::stop);
        }
        let last_wait = LastWait::begin();
        let is_written = |world: &World<'_>| !world.write_back.as_ref().is_some_and(WriteBack::is_under_way);
        while !self.world.flights.is_empty() || !is_written(&self.world) {
            match self.inbox.receive(Some(LAST_WAIT)) {
                Some(Message::Done(key, done)) => {
                    // Nothing starts any more.
                    let purpose = self.world.flights.get(&key).map(|flight| &flight.purpose);
                    if matches!(
                        purpose,
                        Some(Purpose::Slot { .. } | Purpose::Again { .. } | Purpose::Proof { .. })
                    ) {
                        self.world.flights.remove(&key);
                    }
                    self.take_late(Message::Done(key, done))?;
                }
                // The run is over, so what this says is of little interest; that the plan file is put in order on the
                // way is, and what was spent.
                Some(message @ (Message::Ended(..) | Message::AgentEnded(..) | Message::Forge(..))) => {
                    self.take_late(message)?
                }
                Some(Message::WrittenBack(closed)) => self.effects().written_back(*closed)?,
                // Others wait until what is half in the project is out of it.
                Some(Message::ProjectLock(task, lock)) => self.world.project_lock = Some((task, lock)),
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
        let mut effects = self.effects();
        effects.tell_of_new_names();
        effects.last_words()?;
        effects.tell_of_kept_work();
        effects.tell_of_write_back();
        effects.leave_slots();
        effects.set_orphans_aside();
        self.take_outcome();
        if !self.world.flights.is_empty() {
            git::end_all();
        }
        self.turn_down_directives()?;
        self.record_notes()?;
        self.settle_journal()?;
        let end = self.state.end().cloned().unwrap_or(End::Interrupted);
        Ok(Finished { end, state: self.state })
    }

    /// Takes in what came to its end after the run.
    fn take_late(&mut self, message: Message) -> Result<(), RunError> {
        self.effects().take_end(message)?;
        self.take_outcome();
        while let Some(seen) = self.queue.pop_front() {
            self.decide(seen)?;
        }
        Ok(())
    }
}
