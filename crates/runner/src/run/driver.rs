//! The loop: what is wanted is started, what comes in is decided on, what was decided is durable before
//! anything is done about it.

use std::collections::VecDeque;

use engine::{
    Action, ClockMoved, End, Event, Observation, Obstacle, Opening, PullRequestEvent, Seen, State, Status,
    What, decide, due, schedule,
};
use jiff::Timestamp;

use crate::agent::Activity;
use crate::error::RunError;
use crate::git::{self, GitError};
use crate::inbox::{Folder, Inbox, Responder, RunName};
use crate::journal::Journal;
use crate::plan_file::Freshness;
use crate::process::{LostTime, lost_time};
use crate::record::projections::Projections;
use crate::run::directives::Directions;
use crate::run::effects::{Effects, Note, World};
use crate::run::open::{Beginning, Request, Then};
use crate::work::kept::withdrawn_by;

/// A notice to a view.
#[derive(Debug)]
pub enum Notice<'a> {
    /// The run is about to begin; answers can be given through this.
    Ready(Responder),
    /// Something happened and is in the journal.
    Recorded(&'a Event),
    /// Something worth saying in passing, such as what is waited for.
    Note(String),
    /// The pull request will run into this once the tasks are done.
    Foreseen(&'a Obstacle),
    /// The activity of an agent at work on a task.
    Working(&'a plan::TaskId, &'a Activity),
}

/// The end of a run.
#[derive(Debug)]
pub struct Finished {
    /// The end.
    pub end: End,
    /// The state then.
    pub state: State,
}

/// The loop: the state, and all that it goes through on its way from an observation to an action.
pub(crate) struct Driver<'a> {
    pub(super) state: State,
    /// The world in which actions are carried out.
    pub(super) world: World<'a>,
    pub(super) journal: Journal,
    pub(super) projections: Projections,
    pub(super) inbox: Inbox,
    /// The folder of the inbox, for directives of other processes.
    pub(super) folder: Folder,
    pub(super) directions: Directions,
    pub(super) queue: VecDeque<Seen>,
    /// The time that was lost, as far as the record knows of it.
    lost: LostTime,
    /// The observations right after the start.
    pub(super) first: Vec<Seen>,
    pub(super) view: &'a mut dyn FnMut(&State, Notice<'_>),
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        request: &Request<'a>,
        (journal, state): (Journal, State),
        (world, projections): (World<'a>, Projections),
        inbox: Inbox,
        view: &'a mut dyn FnMut(&State, Notice<'_>),
    ) -> Self {
        let first = match &request.beginning {
            Beginning::Told(directive, Then::GoOn) => vec![Seen::Directed(directive.clone())],
            Beginning::Told(directive, Then::Stop) => {
                vec![Seen::Directed(directive.clone()), Seen::Interrupted]
            }
            Beginning::Resume | Beginning::Fresh => Vec::new(),
        };
        let directions = Directions::of(journal.holder().map(RunName::of));
        Self {
            state,
            world,
            journal,
            projections,
            inbox,
            folder: Folder::below(&request.file.home),
            directions,
            queue: VecDeque::new(),
            lost: lost_time(),
            first,
            view,
        }
    }

    /// Makes it the driver of a run that was interrupted before it began.
    pub(crate) fn interrupted(mut self) -> Self {
        self.first.push(Seen::Interrupted);
        self
    }

    /// Adds notes on what was found before the run was opened.
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        notes.into_iter().for_each(|note| self.effects().note(note));
        self
    }

    /// Runs until the run has ended.
    pub(crate) fn drive(mut self, mut opening: Opening) -> Result<Finished, RunError> {
        let mut effects = self.effects();
        effects.mend_fast_forward()?;
        effects.pack_lost_attempts()?;
        effects.put_on_lost_files()?;
        effects.put_back_lost_judgements()?;
        effects.set_orphans_aside();
        opening.gone = effects.gone_work();
        opening.holding = effects.find_holding(&opening.tasks)?;
        effects.write_back()?;
        self.take_outcome();
        self.listen_to_folder();
        self.queue.push_back(Seen::Started(opening));
        self.collect_directives()?;
        self.queue.append(&mut VecDeque::from(std::mem::take(&mut self.first)));
        let mut looked = now();
        while self.state.end().is_none() || !self.queue.is_empty() {
            match self.go_round(&mut looked) {
                // What git was ended for is what it comes to.
                Err(RunError::Git(GitError::Stopped { .. })) => self.decide(Seen::Interrupted)?,
                gone => {
                    // Whoever stops here is told all the same.
                    if gone.is_err() {
                        self.mention_notes();
                    }
                    gone?;
                }
            }
            self.record_notes()?;
        }
        self.wind_up()
    }

    fn go_round(&mut self, looked: &mut Timestamp) -> Result<(), RunError> {
        if self.queue.is_empty() {
            self.receive(*looked)?;
        }
        if let Some(moved) = self.clock_moved() {
            self.decide(Seen::ClockMoved(moved))?;
        }
        let seen = self.queue.pop_front().unwrap_or(Seen::TimePassed);
        let is_prepared = matches!(seen, Seen::Prepared { .. });
        if let Seen::Directed(directive) = seen {
            self.take(*directive)?;
        } else {
            self.decide(seen)?;
        }
        match self.queue.front() {
            // The starts of several agents wait for the disk once.
            Some(Seen::Prepared { .. }) => return Ok(()),
            Some(_) if is_prepared => return self.start_agents(),
            Some(_) => return Ok(()),
            None => {}
        }
        *looked = now();
        self.record_due()?;
        if self.state.end().is_some() {
            return Ok(());
        }
        self.effects().pass_project_on();
        self.effects().tell_of_names();
        self.start_wanted()?;
        self.end_what_leaves();
        Ok(())
    }

    /// The time that was lost since it was last looked for.
    fn clock_moved(&mut self) -> Option<ClockMoved> {
        let now = lost_time();
        let before = std::mem::replace(&mut self.lost, now);
        let still = (now.stopped + now.asleep).saturating_sub(before.stopped + before.asleep);
        let still_ms = u64::try_from(still.as_millis()).unwrap_or(u64::MAX);
        let moved = ClockMoved { still_ms, set_ms: now.set_ms - before.set_ms };
        (moved != ClockMoved::default()).then_some(moved)
    }

    pub(crate) fn decide(&mut self, seen: Seen) -> Result<(), RunError> {
        let observation = Observation { at: now(), seen };
        match decide(&self.state, observation) {
            Some(event) => self.record(&event),
            None => Ok(()),
        }
    }

    fn record_due(&mut self) -> Result<(), RunError> {
        while let Some(event) = due(&self.state, now()) {
            let is_push =
                matches!(&event.what, What::PullRequest(event) if **event == PullRequestEvent::Begun);
            let is_completion = is_push || matches!(event.what, What::Ended(End::Complete { .. }));
            let is_left_over = is_completion && std::mem::take(&mut self.world.reads_plan_again);
            if is_completion && (self.world.read_plan()? == Freshness::Changed || is_left_over) {
                // Somebody may have added a task while the last one was worked on.
                self.decide(Seen::PlanRead(self.world.plans.decls(&self.state)))?;
                continue;
            }
            if self.is_withdrawn(&event.what)? {
                continue;
            }
            self.record(&event)?;
        }
        Ok(())
    }

    /// True if a person took the task out of the plan whose work is about to come in; it is then taken out of the run.
    fn is_withdrawn(&mut self, what: &What) -> Result<bool, RunError> {
        let What::LandingStarted { task: id } = what else { return Ok(false) };
        if !self.state.task(id).is_some_and(|task| matches!(task.status, Status::Finished { .. })) {
            return Ok(false);
        }
        self.world.refresh_plan()?;
        if self.world.plans.decl(&self.state, id).is_some() {
            return Ok(false);
        }
        self.decide(Seen::PlanRead(self.world.plans.decls(&self.state)))?;
        Ok(self.state.task(id).is_none())
    }

    /// Records an event. What was told before it is recorded before it, once the run is open.
    fn record(&mut self, event: &Event) -> Result<(), RunError> {
        if !matches!(event.what, What::Opened(_)) {
            self.record_notes()?;
        }
        self.write(event)
    }

    pub(super) fn record_notes(&mut self) -> Result<(), RunError> {
        for Note { task, text, passing } in std::mem::take(&mut self.world.outcome.notes) {
            let observation = Observation { at: now(), seen: Seen::Noted { task, text, passing } };
            if let Some(event) = decide(&self.state, observation) {
                self.write(&event)?;
            }
        }
        Ok(())
    }

    /// Journal first, then everything else. What can be made anew from the journal does not wait until that is settled.
    fn write(&mut self, event: &Event) -> Result<(), RunError> {
        self.journal.append(event)?;
        let withdrawn = withdrawn_by(&self.state, event);
        let is_acted_on = matches!(
            event.what,
            What::Opened(_) | What::TaskSkipped { .. } | What::AttemptFailed { .. } | What::Reopened { .. }
        );
        if is_acted_on || !withdrawn.is_empty() {
            self.settle_journal()?;
        }
        self.state
            .apply(event)
            .map_err(|source| RunError::Impossible { path: self.journal.path().to_owned(), source })?;
        self.projections.follow(self.world.project, event, &self.state)?;
        (self.view)(&self.state, Notice::Recorded(event));
        self.effects().follow(event, &withdrawn)?;
        self.take_outcome();
        Ok(())
    }

    /// Before anything is done about what was recorded: it is durable, and what nobody needs any more goes.
    pub(super) fn settle_journal(&mut self) -> Result<(), RunError> {
        self.journal.settle()?;
        self.projections.settle(self.world.project, &self.state)
    }

    /// The effects, with the state as it is.
    pub(super) fn effects(&mut self) -> Effects<'_, 'a> {
        Effects { state: &self.state, world: &mut self.world }
    }

    /// Takes over what effects have seen and said. Their notes are recorded with the next event.
    pub(super) fn take_outcome(&mut self) {
        self.queue.extend(self.world.outcome.seen.drain(..));
        for text in std::mem::take(&mut self.world.outcome.mentions) {
            self.mention(text);
        }
    }

    /// Says something in passing, such as what is waited for.
    pub(super) fn mention(&mut self, text: String) {
        (self.view)(&self.state, Notice::Note(text));
    }

    /// Says what can be recorded no longer.
    fn mention_notes(&mut self) {
        self.take_outcome();
        for Note { text, .. } in std::mem::take(&mut self.world.outcome.notes) {
            self.mention(text);
        }
    }

    fn start_wanted(&mut self) -> Result<(), RunError> {
        for action in schedule(&self.state, now()) {
            // Whoever wants the run to stop may have done so while the loop waited for git.
            if !self.world.flights.contains_key(&action.key()) && !git::is_interrupted() {
                self.start(&action)?;
            }
        }
        Ok(())
    }

    /// Agents whose starts are in the journal do not wait for whatever else was seen.
    fn start_agents(&mut self) -> Result<(), RunError> {
        for action in schedule(&self.state, now()) {
            let is_agent = matches!(action, Action::RunAgent { .. });
            if is_agent && !self.world.flights.contains_key(&action.key()) {
                self.start(&action)?;
            }
        }
        Ok(())
    }

    /// Has an action carried out, once what allows it is durable.
    fn start(&mut self, action: &Action) -> Result<(), RunError> {
        self.settle_journal()?;
        self.effects().perform(action)?;
        self.take_outcome();
        Ok(())
    }
}

/// The time, to the millisecond: more than that makes a journal hard to read.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
