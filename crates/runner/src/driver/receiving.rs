//! What comes in through the inbox, and what it amounts to.

use std::time::Duration;

use engine::{ActionKey, Seen};
use jiff::Timestamp;

use super::{Driver, Notice};
use crate::agent::Told;
use crate::error::RunError;
use crate::inbox::Message;
use crate::shared_names::SharedNames;

impl Driver<'_> {
    /// Waits for something to happen, at most until something is due that was not when it was last looked for. What
    /// has become due since then, while things were started, is waited for no longer, but must not be missed.
    pub(super) fn receive(&mut self, looked: Timestamp) -> Result<Seen, RunError> {
        let wait = self.state.next_deadline(looked).map(|deadline| {
            Duration::try_from(deadline.duration_since(Timestamp::now())).unwrap_or_default()
        });
        let message = match self.inbox.receive(Some(Duration::ZERO)) {
            Some(message) => Some(message),
            None => {
                self.settle_journal()?;
                self.inbox.receive(wait)
            }
        };
        let Some(message) = message else {
            return Ok(Seen::TimePassed);
        };
        match message {
            Message::Interrupted => Ok(Seen::Interrupted),
            Message::Answered(task, response) => {
                self.forget_question();
                Ok(self.heed_answer(task, response))
            }
            Message::Posted => {
                self.collect_directives()?;
                Ok(Seen::TimePassed)
            }
            Message::Settings(read) => Ok(self.take_settings(*read)),
            Message::NobodyAnswers(task) => Ok(Seen::NobodyAnswers { task }),
            Message::Forge(key, report) => {
                self.flights.remove(&key);
                Ok(Seen::Forge { key, report: *report })
            }
            Message::Ended(key, ended) => match self.flights.remove(&key) {
                Some(flight) => self.land(key, flight.purpose, &ended),
                None => Ok(Seen::TimePassed),
            },
            Message::Done(key, done) => match self.flights.remove(&key) {
                Some(flight) => self.take_in(key, flight.purpose, *done),
                None => Ok(Seen::TimePassed),
            },
            Message::AgentEnded(key, ended) => match self.flights.remove(&key) {
                Some(flight) => self.land_agent(key, flight.purpose, &ended),
                None => Ok(Seen::TimePassed),
            },
            Message::Told(key, told) => Ok(self.hear(&key, told)),
            Message::Turn(task, turn) => {
                self.turn = Some((task, turn));
                Ok(Seen::TimePassed)
            }
            Message::References(references) => {
                self.shared_names = SharedNames::Before(references);
                Ok(Seen::TimePassed)
            }
            Message::Note(text) => {
                self.mention(text);
                Ok(Seen::TimePassed)
            }
            // That was waited for before the loop.
            Message::Surveyed(_) => Ok(Seen::TimePassed),
        }
    }

    /// What an agent says while it works is shown, and what it used is looked at.
    fn hear(&mut self, key: &ActionKey, told: Told) -> Seen {
        let Some(flight) = self.flights.get(key) else { return Seen::TimePassed };
        let Some((task, at_work)) = flight.purpose.at_work() else { return Seen::TimePassed };
        if let Some(activity) = &told.activity {
            (self.view)(&self.state, Notice::Working(task, activity));
        }
        match told.usage {
            Some(usage) => Seen::Spending { spent: Box::new(at_work.spent(task, usage, None)) },
            None => Seen::TimePassed,
        }
    }
}
