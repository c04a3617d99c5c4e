//! A simulated world: it drives the engine as the real driver does, with scripted agents and invented time,
//! and can kill the program at any event.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{
    Action, ActionKey, Directive, DirectiveId, End, Event, EventKind, Observation, Opening, Rules, Seen,
    State, Status, StatusKind, Task, TaskDecl, What, decide, due, schedule,
};
use jiff::{SignedDuration, Timestamp};
use plan::TaskId;

use crate::beside;
use crate::invariants;
use crate::script::{Agent, Edit, Script, decl};
use crate::versioned;
use crate::waiting;

/// Of how many states one is written and read back.
const TRAVELS_EVERY: usize = 8;

/// When the program is killed, counted in events of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// Right after this event became durable: nothing that it allows has been done.
    After(usize),
    /// Right before this event would have become durable: what led to it has been done.
    Before(usize),
}

/// The program is gone.
struct Crashed;
type Lived = Result<(), Crashed>;

/// Something under way.
struct Flight {
    ends_at: Timestamp,
    action: Action,
}

pub(crate) struct World {
    pub(crate) script: Script,
    pub(crate) rules: Rules,
    pub(crate) state: State,
    /// The journal as it lies on the disk.
    pub(crate) lines: Vec<String>,
    /// The same, read back.
    pub(crate) journal: Vec<Event>,
    /// The plan file.
    pub(crate) file: Vec<TaskDecl>,
    /// What was committed, under the key of the action that did.
    pub(crate) commits: BTreeMap<ActionKey, String>,
    /// The marks of all failures that were shown to the engine, by task.
    pub(crate) marks: BTreeMap<TaskId, BTreeSet<String>>,
    /// Every move of a task that was seen.
    pub(crate) moves: BTreeSet<(StatusKind, EventKind, StatusKind)>,
    now: Timestamp,
    in_flight: BTreeMap<ActionKey, Flight>,
    crashes: Vec<Crash>,
    /// True if every state is written and read back. Where the program is killed, they are those of the same run without.
    travels: bool,
    /// Whether what was in work trees is gone whenever the program is started.
    loses_trees: bool,
    edits_done: usize,
    steps_left: usize,
}

impl World {
    pub(crate) fn new(file: &[TaskDecl], script: Script, rules: Rules) -> Self {
        let steps_left = invariants::steps_max(file.len(), &script, &rules);
        Self {
            script,
            rules,
            state: State::default(),
            lines: Vec::new(),
            journal: Vec::new(),
            file: file.to_vec(),
            commits: BTreeMap::new(),
            marks: BTreeMap::new(),
            moves: BTreeSet::new(),
            now: "2026-01-26T14:30:00Z".parse().expect("a valid timestamp"),
            in_flight: BTreeMap::new(),
            crashes: Vec::new(),
            travels: true,
            loses_trees: false,
            edits_done: 0,
            steps_left,
        }
    }

    pub(crate) fn crashing(mut self, crashes: &[Crash]) -> Self {
        self.crashes = crashes.to_vec();
        self.travels = false;
        self
    }

    pub(crate) fn without_trees(mut self) -> Self {
        self.loses_trees = true;
        self
    }

    /// Lives until the run has ended and nobody starts it again.
    pub(crate) fn run(mut self) -> Self {
        self.edit();
        let mut opening = vec![self.started()];
        loop {
            if self.live(opening).is_err() {
                self.wake_up();
            }
            self.put_boxes_back();
            self.in_flight.clear();
            while self.script.notes && self.note_answer().is_err() {
                self.wake_up();
            }
            if self.state.end().is_some() && !self.starts_again() {
                return self;
            }
            if let (Some(rules), Some(_)) = (&self.script.later, self.state.end()) {
                self.rules = rules.clone();
            }
            opening = self.opening();
        }
    }

    /// One life of the program. The loop is the one of the real driver.
    fn live(&mut self, opening: Vec<Seen>) -> Lived {
        for seen in opening {
            self.see(seen)?;
        }
        self.drain()?;
        while self.state.end().is_none() {
            self.launch();
            if self.hear()? {
                continue;
            }
            for seen in self.next_observations() {
                self.see(seen.clone())?;
                self.drain()?;
                if self.script.echo && self.state.end().is_none() {
                    let observation = Observation { at: self.now, seen };
                    assert_eq!(
                        decide(&self.state, observation),
                        None,
                        "a result that arrives twice means nothing"
                    );
                }
            }
        }
        Ok(())
    }

    /// A person answers the question of a run that waits, without starting it.
    fn note_answer(&mut self) -> Lived {
        let Some(End::Waiting { task }) = self.state.end().cloned() else { return Ok(()) };
        match self.answer(&task) {
            Some(response) => self.see(Seen::Answered { task, response }),
            None => Ok(()),
        }
    }

    /// True if what there is now is written and read back.
    fn travels(&self) -> bool {
        self.travels && self.journal.len().is_multiple_of(TRAVELS_EVERY)
    }

    fn see(&mut self, seen: Seen) -> Lived {
        self.steps_left = self.steps_left.checked_sub(1).expect("the run ends within its bound");
        let observation = Observation { at: self.now, seen };
        if self.travels() {
            versioned::observation_travels(&observation);
        }
        match decide(&self.state, observation) {
            Some(event) => self.record(event),
            None => Ok(()),
        }
    }

    fn drain(&mut self) -> Lived {
        while let Some(event) = due(&self.state, self.now) {
            self.record(event)?;
        }
        Ok(())
    }

    fn record(&mut self, event: Event) -> Lived {
        self.strike(Crash::Before(self.journal.len() + 1))?;
        let line = serde_json::to_string(&event).expect("an event can be written");
        let read: Event = serde_json::from_str(&line).expect("what was written can be read");
        assert_eq!(read, event, "{line}");
        let before = self.state.clone();
        self.state.apply(&read).unwrap_or_else(|error| panic!("{error} ({line})"));
        self.lines.push(line);
        self.journal.push(read);
        self.note_moves(&statuses(&before));
        waiting::after_event(&self.rules, &before, &event);
        beside::after_event(&before, &self.state, &self.journal);
        invariants::after_event(self);
        if self.travels() {
            versioned::state_travels(&self.state, self.now);
        }
        if let What::Reopened { task, .. } = &event.what {
            self.set_box(task, false);
        }
        self.edit();
        self.strike(Crash::After(self.journal.len()))
    }

    fn strike(&mut self, moment: Crash) -> Lived {
        if self.crashes.first() == Some(&moment) {
            self.crashes.remove(0);
            return Err(Crashed);
        }
        Ok(())
    }

    /// After a crash: fold the journal anew.
    fn wake_up(&mut self) {
        self.state = fold(&self.lines);
        self.now = self.now.checked_add(SignedDuration::from_secs(7)).expect("time goes on");
    }

    /// Boxes that agents ticked which were ended with the run, or while nobody watched, are put back.
    fn put_boxes_back(&mut self) {
        let unproved = |task: &Task| {
            matches!(task.status, Status::Running(_) | Status::Checking(_) | Status::Judging(_))
        };
        let claimed = self.state.tasks().iter().filter(|task| unproved(task)).map(|task| task.id().clone());
        let stopped = self.in_flight.values().filter_map(|flight| {
            let Action::RunAgent { task, .. } = &flight.action else { return None };
            Some(task.clone())
        });
        let ids: Vec<TaskId> = claimed.chain(stopped).collect();
        ids.iter().for_each(|id| self.set_box(id, false));
    }

    fn started(&self) -> Seen {
        let (rules, tasks) = (self.rules.clone(), self.file.clone());
        let gone = self.state.tasks().iter().filter(|_| self.loses_trees).map(|task| task.id().clone());
        let holding = self.state.tasks().iter().filter(|task| self.is_committed(task));
        let holding = holding.map(|task| task.id().clone()).collect();
        Seen::Started(Opening { rules, tasks, gone: gone.collect(), holding, ..Opening::default() })
    }

    /// Whether the program died between the commit of a task's work and the event that tells of it.
    fn is_committed(&self, task: &Task) -> bool {
        let Status::Recording { attempt } = task.status else { return false };
        self.commits.contains_key(&Action::Record { task: task.id().clone(), attempt }.key())
    }

    /// Starting again; after a question with its answer.
    fn opening(&self) -> Vec<Seen> {
        let mut opening = vec![self.started()];
        if let Some(End::Waiting { task }) = self.state.end()
            && let Some(response) = self.answer(task)
        {
            opening.push(Seen::Answered { task: task.clone(), response });
        }
        opening
    }

    fn starts_again(&self) -> bool {
        match self.state.end() {
            None => true,
            Some(End::Complete { .. }) => false,
            Some(End::Waiting { task }) => !self.is_asked(task) || self.answer(task).is_some(),
            Some(
                End::Stopped(_)
                | End::Capped(_)
                | End::Paused { .. }
                | End::PullRequest { .. }
                | End::Unavailable { .. }
                | End::Aborted
                | End::Interrupted,
            ) => {
                let is_end = |event: &&Event| matches!(&event.what, What::Ended(end) if !matches!(end, End::Waiting { .. }));
                self.journal.iter().filter(is_end).count() <= self.script.restarts
            }
        }
    }

    fn is_asked(&self, task: &TaskId) -> bool {
        self.state.task(task).is_some_and(|task| matches!(task.status, Status::Asking(_)))
    }

    /// People tell the run from elsewhere what they have to say, at the moment they wait for. True if it had an effect.
    fn hear(&mut self) -> Result<bool, Crashed> {
        let directives = self.script.directives.clone();
        for (number, (task, status, said)) in directives.into_iter().enumerate() {
            let id = DirectiveId(format!("d{number}"));
            let is_time = self.state.task(&task).is_some_and(|task| task.status.kind() == status);
            if !is_time || self.state.has_taken(&id) {
                continue;
            }
            let directive = Directive { id: id.clone(), from: "ada".to_owned(), said };
            self.see(Seen::Directed(Box::new(directive.clone())))?;
            assert!(self.state.has_taken(&id), "{directive:?} has an effect");
            self.see(Seen::Directed(Box::new(directive)))?;
            self.drain()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Starts what is wanted and not under way.
    fn launch(&mut self) {
        for action in schedule(&self.state, self.now) {
            let key = action.key();
            if self.in_flight.contains_key(&key) {
                continue;
            }
            if self.travels() {
                versioned::action_travels(&action);
            }
            self.begin(&action);
            let takes = if self.script.is_even { even_duration(&action) } else { duration(&action) };
            let ends_at = self.now.checked_add(takes).expect("invented time has no end");
            self.in_flight.insert(key, Flight { ends_at, action });
        }
    }

    /// What an agent does to the plan while it works.
    fn begin(&mut self, action: &Action) {
        let Action::RunAgent { task, attempt, .. } = action else { return };
        // What an agent does to the plan in a tree of its own stays there.
        if self.state.task(task).is_some_and(|task| task.is_isolated()) {
            return;
        }
        let agent = self.script.turn(task, attempt.0).agent;
        if let Agent::TicksOwnBox | Agent::TicksAndFails(_) = agent {
            self.set_box(task, true);
        }
        if matches!(agent, Agent::AddsTask) && self.file.iter().all(|known| known.id.name() != "8.8") {
            self.file.push(decl("8.8"));
        }
    }

    /// Lets time pass until something has happened.
    fn next_observations(&mut self) -> Vec<Seen> {
        let deadline = self.state.next_deadline(self.now);
        // People are slow: whatever else is under way, or waited for, comes first, and they answer in the order
        // in which they were asked. So a crash, after which they are asked anew, changes nothing in the order of
        // things.
        let question = |flight: &Flight| {
            if let Action::Ask { task } = &flight.action { self.question(task) } else { None }
        };
        let next = self.in_flight.iter().min_by_key(|(_, flight)| (question(flight), flight.ends_at));
        let next = next.filter(|(_, flight)| deadline.is_none() || question(flight).is_none());
        let next = next.map(|(key, flight)| (key.clone(), flight.ends_at));
        match (next, deadline) {
            (None, None) => panic!("nothing is under way and nothing is due:\n{}", self.lines.join("\n")),
            (Some((key, ends_at)), deadline) if deadline.is_none_or(|deadline| ends_at <= deadline) => {
                self.now = self.now.max(ends_at);
                let flight = self.in_flight.remove(&key).expect("it was just found");
                self.perform(&flight.action)
            }
            (_, deadline) => {
                self.now = deadline.expect("one of the two is there");
                vec![Seen::TimePassed]
            }
        }
    }

    pub(crate) fn set_box(&mut self, task: &TaskId, ticked: bool) {
        if let Some(decl) = self.file.iter_mut().find(|decl| decl.id == *task) {
            decl.ticked = ticked;
        }
    }

    /// A person edits the plan between two attempts.
    fn edit(&mut self) {
        let ended = |event: &&Event| matches!(event.what, What::AttemptFailed { .. } | What::TaskDone { .. });
        let ended = self.journal.iter().filter(ended).count();
        while let Some((after, edit)) = self.script.edits.get(self.edits_done)
            && *after <= ended
        {
            self.edits_done += 1;
            edit_file(&mut self.file, edit, self.edits_done);
        }
    }

    fn note_moves(&mut self, before: &BTreeMap<TaskId, Status>) {
        let event = self.journal.last().expect("an event was just recorded");
        let subject = subject(&event.what);
        for task in self.state.tasks() {
            let Some(was) = before.get(task.id()) else { continue };
            let kind = match &subject {
                Some((id, kind)) if *id == task.id() => *kind,
                None if *was != task.status => side_effect(was, &task.status),
                Some(_) | None => continue,
            };
            self.moves.insert((was.kind(), kind, task.status.kind()));
        }
    }
}

pub(crate) fn fold(lines: &[String]) -> State {
    let mut state = State::default();
    for line in lines {
        let event: Event = serde_json::from_str(line).expect("a line of the journal can be read");
        state.apply(&event).unwrap_or_else(|error| panic!("{error} ({line})"));
    }
    state
}

fn statuses(state: &State) -> BTreeMap<TaskId, Status> {
    state.tasks().iter().map(|task| (task.id().clone(), task.status.clone())).collect()
}

fn duration(action: &Action) -> Duration {
    Duration::from_secs(match action {
        Action::Prepare { .. } | Action::Record { .. } | Action::InsertFix { .. } => 1,
        Action::Land { .. } => 2,
        Action::Prove { .. } | Action::Check { .. } | Action::Join { .. } => 5,
        Action::RunAgent { .. } | Action::RunJudge { .. } => 60,
        Action::Ask { .. } => 3_600,
        Action::Regress | Action::ProveAll | Action::Forge(_) => 10,
    })
}

fn even_duration(action: &Action) -> Duration {
    let takes_time = matches!(action, Action::RunAgent { .. } | Action::Prove { .. });
    if takes_time { Duration::from_secs(60) } else { Duration::ZERO }
}

fn edit_file(file: &mut Vec<TaskDecl>, edit: &Edit, number: usize) {
    let count = file.len().max(1);
    match *edit {
        Edit::Add(place) => file.insert(place.min(file.len()), decl(&format!("9.{number}"))),
        _ if file.is_empty() => {}
        Edit::Tick(place) => file[place % count].ticked = true,
        Edit::Untick(place) => file[place % count].ticked = false,
        Edit::Remove(place) => drop(file.remove(place % count)),
        Edit::Swap(left, right) => file.swap(left % count, right % count),
        Edit::Reword(place) => file[place % count].digest += 1,
    }
}

/// The task that an event moves, and the kind under which the table has it.
pub(crate) fn subject(what: &What) -> Option<(&TaskId, EventKind)> {
    Some(match what {
        What::Opened(_)
        | What::PlanChanged(_)
        | What::Noted { .. }
        | What::Told { .. }
        | What::PauseRequested
        | What::SkipRequested { .. }
        | What::LimitsChanged(_)
        | What::ClockMoved(_)
        | What::RegressionPassed
        | What::Found { .. }
        | What::Proved(_)
        | What::PullRequest(_)
        | What::Ended(_) => return None,
        What::ProofStarted { task, .. } => (task, EventKind::ProofStarted),
        What::ProofPassed { task, .. } => (task, EventKind::ProofPassed),
        What::ProofFailed { task, .. } => (task, EventKind::ProofFailed),
        What::Mended { task, .. } => (task, EventKind::Mended),
        What::AttemptStarted(started) => (&started.task, EventKind::AttemptStarted),
        What::AttemptClaimed { task, .. } => (task, EventKind::AttemptClaimed),
        What::AttemptFailed { task, .. } => (task, EventKind::AttemptFailed),
        What::AgentUnavailable { task, .. } | What::AgentDropped { task, .. } => {
            (task, EventKind::AgentUnavailable)
        }
        What::TreeUnavailable { task, .. } => (task, EventKind::TreeUnavailable),
        What::Spent(_) | What::Packed { .. } => return None,
        What::ChecksPassed { task, .. } => (task, EventKind::ChecksPassed),
        What::JudgeStarted { task, .. } => (task, EventKind::JudgeStarted),
        What::NoVerdict { task, .. } => (task, EventKind::NoVerdict),
        What::JudgePassed { task, .. } => (task, EventKind::JudgePassed),
        What::LandingStarted { task } => (task, EventKind::LandingStarted),
        What::Landed { task, .. } => (task, EventKind::Landed),
        What::JoinPassed { task, .. } => (task, EventKind::JoinPassed),
        What::HeldUp { task, .. } => (task, EventKind::HeldUp),
        What::TaskDone { task, .. } => (task, EventKind::TaskDone),
        What::Reopened { task, .. } => (task, EventKind::Reopened),
        What::RetryPlanned { task, .. } => (task, EventKind::RetryPlanned),
        What::FixPlanned(fix) => (&fix.failing, EventKind::FixPlanned),
        What::FixInserted { decl } => (&decl.id, EventKind::FixInserted),
        What::Deferred { task, .. } => (task, EventKind::Deferred),
        What::Escalated { task, .. } => (task, EventKind::Escalated),
        What::Answered { task, .. } => (task, EventKind::Answered),
        What::TaskSkipped { task, .. } => (task, EventKind::TaskSkipped),
    })
}

/// What an opening, an end or an edit of the plan did to a task.
fn side_effect(was: &Status, is: &Status) -> EventKind {
    match (was.kind(), is.kind()) {
        (_, StatusKind::Done) => EventKind::Ticked,
        (StatusKind::Done, _) => EventKind::Unticked,
        (StatusKind::Failed | StatusKind::Asking, _) => EventKind::Renewed,
        (_, _) => EventKind::Lost,
    }
}
