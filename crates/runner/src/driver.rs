//! The loop: what is wanted is started, what comes in is decided on, what was decided is durable before
//! anything is done about it.

mod directing;
mod receiving;
mod winding_up;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::Sender;

use engine::{
    Action, ActionKey, Baseline, End, Event, Observation, Obstacle, Opening, PullRequestEvent, Record, Seen,
    State, What, decide, due, schedule,
};
use jiff::Timestamp;

use self::directing::Directions;
use crate::agent::Activity;
use crate::attempt::Purpose;
use crate::book::{Book, Freshness};
use crate::error::RunError;
use crate::git::{self, Git, GitError, OwnCustoms};
use crate::inbox::{Folder, Inbox, Message, Responder, RunName};
use crate::journal::Journal;
use crate::lost_work::Watch;
use crate::mask::mask;
use crate::open::{Beginning, Request, Then};
use crate::process::Handle;
use crate::project::{PlanFile, Project};
use crate::projections::Projections;
use crate::settings::Settings;
use crate::shared_names::SharedNames;
use crate::tree::Tree;
use crate::turn::Turn;
use crate::work::Slots;

/// Characters of a note.
const NOTE_CHARS_MAX: usize = 2_000;

/// What a view is told.
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
    /// What an agent at work on a task is doing.
    Working(&'a plan::TaskId, &'a Activity),
}

/// How a run ended.
#[derive(Debug)]
pub struct Finished {
    /// The end.
    pub end: End,
    /// The state then.
    pub state: State,
    /// When.
    pub at: Timestamp,
}

/// Something under way in a process of its own, or in a person's head.
pub(crate) struct Flight {
    pub handle: Option<Handle>,
    pub purpose: Purpose,
}

/// The one owner of everything a run changes.
pub(crate) struct Driver<'a> {
    pub project: &'a Project,
    pub file: &'a PlanFile,
    pub settings: &'a Settings,
    pub state: State,
    pub book: Book,
    pub tree: Tree<'a>,
    /// Whose thread watches the processes.
    pub runtime: tokio::runtime::Handle,
    /// The text that a task had when its latest attempt began. It is in the attempt's folder as well, but there an
    /// agent can lay hands on it.
    pub text_at_start: BTreeMap<plan::TaskId, String>,
    pub watch: Watch,
    /// The linked work trees of this run; none without git.
    pub slots: Option<Slots>,
    /// The turn of the task that works, or records, in the project itself.
    pub turn: Option<(plan::TaskId, Turn)>,
    pub shared_names: SharedNames,
    /// What the repository said of how git works in it when agents began.
    pub customs: Option<OwnCustoms>,
    /// True once it was looked whether slots lack something.
    pub is_probed: bool,
    /// True once it was said that paths in verify commands are replaced.
    pub is_relocation_told: bool,
    /// Tasks of which it was said that they wait for others with the same files.
    pub overlaps_told: BTreeSet<plan::TaskId>,
    /// What was told and is about to be recorded.
    notes: Vec<(Option<plan::TaskId>, String)>,
    journal: Journal,
    projections: Projections,
    inbox: Inbox,
    /// Where other processes put what they have to tell.
    folder: Folder,
    directions: Directions,
    flights: BTreeMap<ActionKey, Flight>,
    /// Whether a change of the plan was read while a task kept its text.
    reads_plan_again: bool,
    queue: VecDeque<Seen>,
    /// What is seen right after the start.
    first: Vec<Seen>,
    view: &'a mut dyn FnMut(&State, Notice<'_>),
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        request: &Request<'a>,
        (journal, state): (Journal, State),
        (book, tree, slots, projections): (Book, Tree<'a>, Option<Slots>, Projections),
        (inbox, runtime): (Inbox, tokio::runtime::Handle),
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
            project: request.project,
            file: request.file,
            settings: request.settings,
            state,
            book,
            tree,
            runtime,
            text_at_start: BTreeMap::new(),
            watch: Watch::default(),
            slots,
            turn: None,
            shared_names: SharedNames::default(),
            customs: None,
            is_probed: false,
            is_relocation_told: false,
            overlaps_told: BTreeSet::new(),
            notes: Vec::new(),
            journal,
            projections,
            inbox,
            folder: Folder::below(&request.file.home),
            directions,
            flights: BTreeMap::new(),
            reads_plan_again: false,
            queue: VecDeque::new(),
            first,
            view,
        }
    }

    /// The same driver for a run that somebody interrupted before it began.
    pub(crate) fn interrupted(mut self) -> Self {
        self.first.push(Seen::Interrupted);
        self
    }

    /// The same driver with what was found before the run was opened.
    pub(crate) fn with_notes(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        notes.into_iter().for_each(|note| self.note(note));
        self
    }

    /// Runs until the run has ended.
    pub(crate) fn drive(mut self, mut opening: Opening) -> Result<Finished, RunError> {
        self.mend_fast_forward()?;
        self.pack_lost_attempts()?;
        self.set_orphans_aside();
        opening.gone = self.gone_work();
        opening.holding = self.find_holding(&opening.tasks)?;
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
                    let pending = if gone.is_err() { std::mem::take(&mut self.notes) } else { Vec::new() };
                    pending.into_iter().for_each(|(_, text)| self.mention(text));
                    gone?;
                }
            }
            self.record_notes()?;
        }
        self.wind_up()
    }

    fn go_round(&mut self, looked: &mut Timestamp) -> Result<(), RunError> {
        let seen = match self.queue.pop_front() {
            Some(seen) => seen,
            None => self.receive(*looked)?,
        };
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
        self.pass_turn_on();
        self.tell_of_names();
        self.start_wanted()?;
        self.end_what_leaves();
        Ok(())
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
            let is_left_over = is_completion && std::mem::take(&mut self.reads_plan_again);
            if is_completion && (self.read_plan()? == Freshness::Changed || is_left_over) {
                // Somebody may have added a task while the last one was worked on.
                self.decide(Seen::PlanRead(self.book.decls(&self.state)))?;
                continue;
            }
            if self.is_withdrawn(&event.what)? {
                continue;
            }
            self.record(&event)?;
        }
        Ok(())
    }

    /// Reads the plan; what else changed in it is looked at before the next start.
    pub(crate) fn refresh_plan(&mut self) -> Result<(), RunError> {
        self.reads_plan_again |= self.read_plan()? == Freshness::Changed;
        Ok(())
    }

    fn read_plan(&mut self) -> Result<Freshness, RunError> {
        self.book.refresh().map_err(|source| RunError::Plan { path: self.file.path.clone(), source })
    }

    /// Records an event. What was told before it is recorded before it, once the run is open.
    fn record(&mut self, event: &Event) -> Result<(), RunError> {
        if !matches!(event.what, What::Opened(_)) {
            self.record_notes()?;
        }
        self.write(event)
    }

    fn record_notes(&mut self) -> Result<(), RunError> {
        for (task, text) in std::mem::take(&mut self.notes) {
            let observation = Observation { at: now(), seen: Seen::Noted { task, text } };
            if let Some(event) = decide(&self.state, observation) {
                self.write(&event)?;
            }
        }
        Ok(())
    }

    /// Journal first, then everything else. What can be made anew from the journal does not wait until that is settled.
    fn write(&mut self, event: &Event) -> Result<(), RunError> {
        self.journal.append(event)?;
        let withdrawn = self.withdrawn_by(event);
        let is_acted_on =
            matches!(event.what, What::Opened(_) | What::TaskSkipped { .. } | What::AttemptFailed { .. });
        if is_acted_on || !withdrawn.is_empty() {
            self.settle_journal()?;
        }
        self.state
            .apply(event)
            .map_err(|source| RunError::Impossible { path: self.journal.path().to_owned(), source })?;
        self.projections.follow(self.project, event, &self.state)?;
        if let What::TaskSkipped { task, .. } = &event.what {
            self.commit_skip(task);
        }
        if let What::AttemptFailed { task, .. } = &event.what {
            // With agent bookkeeping the agent may have ticked it; a tick must not outlive a failure.
            self.book.untick(task).map_err(RunError::io("write", &self.file.path))?;
        }
        if let What::TaskDone { task, .. } = &event.what {
            self.watch_work(task);
            self.let_go_of_work(task);
        }
        (self.view)(&self.state, Notice::Recorded(event));
        self.set_withdrawn_aside(&withdrawn);
        self.tell_of_outdated(event)?;
        if matches!(event.what, What::AttemptStarted(_)) && self.flights.is_empty() {
            self.tell_of_overlaps();
        }
        Ok(())
    }

    /// Before anything is done about what was recorded: it is durable, and what nobody needs any more goes.
    fn settle_journal(&mut self) -> Result<(), RunError> {
        self.journal.settle()?;
        self.projections.settle(self.project, &self.state)
    }

    /// What the plan holds now is looked at before the next start, and before the end.
    pub(crate) fn read_plan_again(&mut self) {
        self.reads_plan_again = true;
    }

    /// Tells something that stays in the record.
    pub(crate) fn note(&mut self, text: String) {
        self.notes.push((None, bounded(&text)));
    }

    /// The same about a task.
    pub(crate) fn note_of(&mut self, task: &plan::TaskId, text: String) {
        self.notes.push((Some(task.clone()), bounded(&text)));
    }

    /// Says something in passing, such as what is waited for.
    pub(crate) fn mention(&mut self, text: String) {
        (self.view)(&self.state, Notice::Note(text));
    }

    fn start_wanted(&mut self) -> Result<(), RunError> {
        for action in schedule(&self.state, now()) {
            // Whoever wants the run to stop may have done so while the loop waited for git.
            if !self.flights.contains_key(&action.key()) && !git::is_interrupted() {
                self.start(&action)?;
            }
        }
        Ok(())
    }

    /// Agents whose starts are in the journal do not wait for whatever else was seen.
    fn start_agents(&mut self) -> Result<(), RunError> {
        for action in schedule(&self.state, now()) {
            let is_agent = matches!(action, Action::RunAgent { .. });
            if is_agent && !self.flights.contains_key(&action.key()) {
                self.start(&action)?;
            }
        }
        Ok(())
    }

    fn start(&mut self, action: &Action) -> Result<(), RunError> {
        self.settle_journal()?;
        match action {
            Action::Prepare { task } if self.waits_to_start(action.key(), task)? => {}
            Action::Prepare { task } => self.prepare(task)?,
            Action::Prove { task } => self.start_proof(action.key(), task)?,
            Action::RunAgent { task, attempt, dispatch, role } => {
                self.start_agent(action.key(), task, (*attempt, *dispatch), *role)?;
            }
            Action::Check { task, attempt, dispatch } => {
                self.start_check(action.key(), task, (*attempt, *dispatch))?;
            }
            Action::RunJudge { task, attempt, dispatch, role } => {
                self.start_judge(action.key(), task, (*attempt, *dispatch), *role)?;
            }
            Action::Land { task, attempt, .. } => self.start_landing(action.key(), task, *attempt)?,
            Action::Join { task, attempt, dispatch } => {
                self.start_join(action.key(), task, (*attempt, *dispatch))?;
            }
            Action::Record { task, .. } | Action::InsertFix { fix: task }
                if self.waits_for_turn(action.key(), task)? || self.waits_for_lock(action.key(), task)? => {}
            Action::Record { task, attempt } => {
                let record = self.record_work(task, *attempt);
                let is_blocked = matches!(record, Record::Blocked { .. });
                if is_blocked && (git::is_interrupted() || self.waits_for_lock(action.key(), task)?) {
                    return Ok(());
                }
                self.see(Seen::Recorded { task: task.clone(), record });
            }
            Action::InsertFix { fix } => self.insert_fix(fix)?,
            Action::Ask { .. } => self.depart(action.key(), Flight { handle: None, purpose: Purpose::Ask }),
            Action::Regress => self.start_regression(action.key())?,
            Action::Forge(forge) => self.start_forge(action.key(), forge)?,
        }
        Ok(())
    }

    /// Queues an observation.
    pub(crate) fn see(&mut self, seen: Seen) {
        self.queue.push_back(seen);
    }

    /// Notes that something is under way.
    pub(crate) fn depart(&mut self, key: ActionKey, flight: Flight) {
        self.flights.insert(key, flight);
    }

    /// The way into the inbox.
    pub(crate) fn inbox_sender(&self) -> Sender<Message> {
        self.inbox.sender()
    }

    /// Where the end of a process is reported.
    pub(crate) fn reporter(&self, key: ActionKey) -> impl FnOnce(crate::process::Ended) + Send + 'static {
        let sender = self.inbox.sender();
        move |ended| {
            // The loop may be over; then nobody waits for the end.
            let _ = sender.send(Message::Ended(key, Box::new(ended)));
        }
    }

    /// Looks at the plan and the tree before a task starts.
    fn prepare(&mut self, task: &plan::TaskId) -> Result<(), RunError> {
        let is_judging = self.state.task(task).is_some_and(|task| task.status.is_active());
        let is_changed = self.read_plan()? == Freshness::Changed;
        // While a task is judged it keeps its text, so a change is read once more when nothing is under way.
        let is_left_over = !is_judging && std::mem::take(&mut self.reads_plan_again);
        self.reads_plan_again |= is_changed && is_judging;
        if is_changed || is_left_over {
            let decls = self.book.decls(&self.state);
            self.see(Seen::PlanRead(decls));
            return Ok(());
        }
        if let Some(reason) = self.lost_work()? {
            self.see(Seen::Obstructed { reason });
            return Ok(());
        }
        let is_here = engine::starts_in_project(&self.state, task);
        if let Some(reason) = self.in_progress(task).filter(|_| is_here) {
            self.see(Seen::Obstructed { reason });
            return Ok(());
        }
        let head = self.tree.git().map_or(Ok(None), Git::head)?.map(|head| head.as_str().to_owned());
        let baseline = if is_here {
            self.clean_before_retry(task)?;
            Baseline { head, tree: self.tree_before()? }
        } else {
            Baseline { head, tree: None }
        };
        self.see(Seen::Prepared { task: task.clone(), baseline });
        Ok(())
    }
}

impl Driver<'_> {
    /// What lies in the project before an attempt there.
    fn tree_before(&self) -> Result<Option<String>, GitError> {
        let Some(git) = self.tree.git() else { return Ok(None) };
        let place = self.project_place();
        git.begin_index(&place)?;
        Ok(Some(git.snapshot(&place)?.as_str().to_owned()))
    }
}

/// A note that fits into a journal, with what looks like a key masked.
fn bounded(text: &str) -> String {
    mask(&text.chars().take(NOTE_CHARS_MAX).collect::<String>())
}

/// The time, to the millisecond: more than that makes a journal hard to read.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}
