//! Messages of the inbox, and the observations they become.

use std::time::Duration;

use engine::{ActionKey, Seen};
use jiff::Timestamp;

use crate::agent::Told;
use crate::error::RunError;
use crate::inbox::Message;
use crate::run::driver::{Driver, Notice};
use crate::work::shared_repository::SharedNames;

/// The longest wait for a deadline: the machine may sleep meanwhile, or somebody set the clock.
const BETWEEN_LOOKS: Duration = Duration::from_secs(60);

impl Driver<'_> {
    /// Waits for something to happen, at most until something is due that was not when it was last looked for. What
    /// has become due since then, while things were started, is waited for no longer, but must not be missed.
    pub(super) fn receive(&mut self, looked: Timestamp) -> Result<(), RunError> {
        let wait = self.state.next_deadline(looked).map(|deadline| {
            let wait = Duration::try_from(deadline.duration_since(Timestamp::now())).unwrap_or_default();
            wait.min(BETWEEN_LOOKS)
        });
        let message = match self.inbox.receive(Some(Duration::ZERO)) {
            Some(message) => Some(message),
            None => {
                self.settle_journal()?;
                self.inbox.receive(wait)
            }
        };
        let seen = match message {
            None | Some(Message::Surveyed(_)) => Seen::TimePassed,
            Some(Message::Interrupted) => Seen::Interrupted,
            Some(Message::Answered(task, response)) => {
                self.forget_question();
                self.heed_answer(task, response)
            }
            Some(Message::Posted) => {
                self.collect_directives()?;
                Seen::TimePassed
            }
            Some(Message::Settings(read)) => self.take_settings(*read),
            Some(Message::NobodyAnswers(task)) => Seen::NobodyAnswers { task },
            Some(Message::Told(key, told)) => self.hear(&key, told),
            Some(Message::ProjectLock(task, lock)) => {
                self.world.project_lock = Some((task, lock));
                Seen::TimePassed
            }
            Some(Message::References(references)) => {
                self.world.remarks.shared_names = SharedNames::Before(references);
                Seen::TimePassed
            }
            Some(Message::WrittenBack(closed)) => {
                self.effects().written_back(*closed)?;
                Seen::TimePassed
            }
            Some(Message::Note(text)) => {
                self.mention(text);
                Seen::TimePassed
            }
            Some(
                message @ (Message::Forge(..)
                | Message::Ended(..)
                | Message::Done(..)
                | Message::AgentEnded(..)),
            ) => {
                self.effects().take_end(message)?;
                self.take_outcome();
                return Ok(());
            }
        };
        self.queue.push_back(seen);
        Ok(())
    }

    /// Shows what an agent says while it works, and looks at its usage.
    fn hear(&mut self, key: &ActionKey, told: Told) -> Seen {
        let Some(flight) = self.world.flights.get(key) else { return Seen::TimePassed };
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
