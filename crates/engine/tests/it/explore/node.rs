//! A moment of a run, everything that can come next, and what the engine makes of it.

use std::rc::Rc;

use engine::{
    Action, Directive, DirectiveId, End, Event, Observation, Opening, Record, Response, Rules, Said, Seen,
    State, Status, Task, TaskDecl,
};
use jiff::Timestamp;
use plan::TaskId;

use super::laws;
use super::ledger::Ledger;
use super::outcomes::{self, Trouble};

/// The engine, or one that decides a thing otherwise.
#[derive(Clone, Copy)]
pub(crate) struct Engine {
    pub(crate) decide: fn(&State, Observation) -> Option<Event>,
    pub(crate) due: fn(&State, Timestamp) -> Option<Event>,
    pub(crate) schedule: fn(&State, Timestamp) -> Vec<Action>,
}

impl Default for Engine {
    fn default() -> Self {
        Self { decide: engine::decide, due: engine::due, schedule: engine::schedule }
    }
}

/// A plan under certain rules, and what can go wrong with it.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) plan: Vec<TaskDecl>,
    pub(crate) rules: Rules,
    pub(crate) troubles: Vec<Trouble>,
    /// How often a person asks for more work: by an answer, or by starting a run again that has ended.
    pub(crate) interventions: u32,
}

/// A moment of a run.
#[derive(Clone)]
pub(crate) struct Node {
    case: Rc<Case>,
    pub(crate) state: Rc<State>,
    pub(crate) now: Timestamp,
    pub(crate) ledger: Ledger,
    pub(crate) interventions: u32,
}

/// A step from one moment to the next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The event that is due without anything being seen.
    Due,
    /// Something is seen.
    See(Box<Seen>),
    /// Time passes until something is due.
    Wait,
    /// Somebody starts a run again that has ended, and perhaps answers its question before or after that.
    StartAgain { before: Option<Box<Seen>>, after: Option<Box<Seen>> },
    /// The program goes down and is started again.
    GoDown(Down),
}

/// How the program goes down.
#[derive(Clone, Debug)]
pub(crate) enum Down {
    /// It is killed.
    Killed,
    /// It is killed between doing something that lasts and recording it.
    KilledAfter(Box<Seen>),
    /// It is killed, and all work trees with it.
    TreesGone,
    /// A person interrupts it.
    Interrupted,
}

impl Node {
    /// The first moment of a run.
    pub(crate) fn first(engine: &Engine, case: &Rc<Case>) -> Self {
        let empty = Self {
            case: Rc::clone(case),
            state: Rc::default(),
            now: "2026-01-26T14:30:00Z".parse().expect("a valid timestamp"),
            ledger: Ledger::default(),
            interventions: case.interventions,
        };
        let (rules, tasks) = (case.rules.clone(), case.plan.clone());
        let mut first = empty;
        first.see(engine, &Seen::Started(Opening { rules, tasks, ..Opening::default() }), &mut Vec::new());
        first
    }

    pub(crate) fn may(&self, trouble: Trouble) -> bool {
        self.case.troubles.contains(&trouble)
    }

    /// True if tasks run side by side, so that a run that ends early has come as far with the others as time allowed.
    pub(crate) fn is_side_by_side(&self) -> bool {
        let stands_alone = |task: &&TaskDecl| task.parallel && task.depends_on.is_empty();
        self.case.plan.iter().filter(stands_alone).count() > 1
    }

    /// True if the run ends as soon as nothing is under way any more.
    pub(crate) fn is_about_to_end(&self) -> bool {
        let is_given_up = self.ledger.absences >= self.rules().limits.unavailable_max;
        let has_failed = self.state.tasks().iter().any(|task| task.status == Status::Failed);
        is_given_up || self.ledger.is_agent_out || has_failed
    }

    /// True if a file is in the way of finished work, and nobody was asked about it yet.
    pub(crate) fn has_held_up(&self) -> bool {
        self.state.tasks().iter().any(|task| task.is_held_up())
    }

    /// True if the work of a task comes together with the rest and is not recorded yet.
    pub(crate) fn comes_together(&self) -> bool {
        let tasks = self.state.tasks().iter();
        tasks.into_iter().any(|task| matches!(task.status, Status::Landing { .. } | Status::Joining { .. }))
    }

    /// True if a command is run without an agent beside work that is recorded: started again, it waits for that.
    pub(crate) fn proves_beside_what_is_recorded(&self) -> bool {
        let has = |is_one: fn(&Status) -> bool| self.state.tasks().iter().any(|task| is_one(&task.status));
        has(|status| *status == Status::Proving) && has(|status| matches!(status, Status::Recording { .. }))
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.case.rules
    }

    pub(crate) fn task(&self, id: &TaskId) -> &Task {
        self.state.task(id).expect("the engine names tasks that exist")
    }

    pub(crate) fn is_committed(&self, task: &TaskId) -> bool {
        self.ledger.page(task).is_committed
    }

    /// Everything that can come next.
    pub(crate) fn steps(&self, engine: &Engine) -> Vec<Step> {
        if let Some(end) = self.state.end() {
            return self.starts_again(end);
        }
        let mut steps = Vec::new();
        if (engine.due)(&self.state, self.now).is_some() {
            steps.push(Step::Due);
        } else {
            let actions = (engine.schedule)(&self.state, self.now);
            steps.extend(
                actions
                    .iter()
                    .flat_map(|action| outcomes::of_action(self, action))
                    .map(|seen| Step::See(Box::new(seen))),
            );
            steps.extend(self.state.next_deadline(self.now).map(|_| Step::Wait));
            assert!(!steps.is_empty(), "stuck: nothing is under way or waited for");
            steps.extend(self.directives().map(|seen| Step::See(Box::new(seen))));
        }
        assert!(!steps.is_empty(), "stuck: nothing is due, under way or waited for");
        let downs = self.ways_down(&steps);
        steps.extend(downs.into_iter().map(Step::GoDown));
        steps
    }

    /// The ways in which the program can go down. Nobody is heard before what is due has happened.
    fn ways_down(&self, steps: &[Step]) -> Vec<Down> {
        let mut downs: Vec<Down> = steps.iter().filter_map(lasts).collect();
        downs.push(Down::Killed);
        if self.may(Trouble::TreesGone) && self.state.tasks().iter().any(|task| task.waits_in_tree()) {
            downs.push(Down::TreesGone);
        }
        if self.may(Trouble::Interrupted) && !matches!(steps, [Step::Due]) {
            downs.push(Down::Interrupted);
        }
        downs
    }

    /// What people tell the run from elsewhere: to leave out any task, or to start nothing new.
    fn directives(&self) -> impl Iterator<Item = Seen> {
        let open = self.state.unsettled().filter(|task| self.may(Trouble::Skips) && !self.is_leaving(task));
        let skips = open.map(|task| Said::Skip { task: task.id().clone() });
        let pauses = self.may(Trouble::Pauses) && self.state.pause().is_none();
        let id = DirectiveId(self.interventions.to_string());
        let directed = move |said| Directive { id: id.clone(), from: "ada".to_owned(), said };
        let all = skips.chain(pauses.then_some(Said::Pause)).filter(|_| self.interventions > 0);
        all.map(move |said| Seen::Directed(Box::new(directed(said))))
    }

    /// True if work is coming in whose task is to be left out should it not.
    pub(crate) fn leaves_what_comes_in(&self) -> bool {
        self.state.attention().any(|task| task.status.is_coming_back() && self.is_leaving(task))
    }

    pub(crate) fn is_leaving(&self, task: &Task) -> bool {
        self.state.is_leaving(task.id())
    }

    fn starts_again(&self, end: &End) -> Vec<Step> {
        let start = |before, after| Step::StartAgain { before, after };
        match end {
            End::Complete { .. } => Vec::new(),
            End::Waiting { task } => {
                let answers = outcomes::answers(self, task).into_iter();
                let answers =
                    answers.map(|response| Box::new(Seen::Answered { task: task.clone(), response }));
                answers.flat_map(|seen| [start(Some(seen.clone()), None), start(None, Some(seen))]).collect()
            }
            // Who paused a run goes on with it.
            End::Paused { .. } => vec![start(None, None)],
            End::Stopped(_)
            | End::Capped(_)
            | End::PullRequest { .. }
            | End::Unavailable { .. }
            | End::Aborted
            | End::Interrupted => (self.interventions > 0).then(|| start(None, None)).into_iter().collect(),
        }
    }

    /// The moment after a step, and what happened on the way.
    pub(crate) fn after(&self, engine: &Engine, step: &Step) -> (Self, Vec<Event>) {
        let (mut next, mut events) = (self.clone(), Vec::new());
        match step {
            Step::Due => {
                let event = (engine.due)(&self.state, self.now).expect("something is due");
                next.take(event, &mut events);
            }
            Step::See(seen) => {
                next.see(engine, seen, &mut events);
                assert!(!events.is_empty(), "nothing follows from {seen:?}");
            }
            Step::Wait => next.now = self.state.next_deadline(self.now).expect("something is waited for"),
            Step::StartAgain { before, after } => {
                let is_paused = matches!(self.state.end(), Some(End::Paused { .. }));
                let is_answered = before.is_some() || after.is_some() || is_paused;
                next.interventions -= u32::from(!is_answered);
                before.iter().for_each(|seen| next.see(engine, seen, &mut events));
                // Nobody starts a run again that was just given up.
                if !matches!(next.state.end(), Some(End::Aborted)) || before.is_none() {
                    next.see(engine, &next.opening(Vec::new()), &mut events);
                }
                after.iter().for_each(|seen| next.see(engine, seen, &mut events));
            }
            Step::GoDown(down) => next.go_down(engine, down, &mut events),
        }
        (next, events)
    }

    fn go_down(&mut self, engine: &Engine, down: &Down, events: &mut Vec<Event>) {
        let before = Rc::clone(&self.state);
        let mut gone = Vec::new();
        match down {
            Down::Killed => {}
            Down::KilledAfter(seen) => self.ledger.note_done(seen),
            Down::TreesGone => gone = self.state.tasks().iter().map(|task| task.id().clone()).collect(),
            Down::Interrupted => self.see(engine, &Seen::Interrupted, events),
        }
        self.see(engine, &self.opening(gone), events);
        laws::after_going_down(&before, &self.state, down);
    }

    /// The program is started: it reads the plan as it is on the disk.
    fn opening(&self, gone: Vec<TaskId>) -> Seen {
        let holding = self.state.tasks().iter().map(|task| task.id().clone());
        let holding = holding.filter(|task| self.is_committed(task)).collect();
        let (rules, tasks) = (self.rules().clone(), self.file());
        // Nobody commits beside the run, so that what was proved is.
        let head = self.state.proof().map(|proof| proof.head.clone());
        Seen::Started(Opening { rules, tasks, gone, holding, head, ..Opening::default() })
    }

    fn file(&self) -> Vec<TaskDecl> {
        let there = self
            .state
            .tasks()
            .iter()
            .filter(|task| task.status != Status::Drafted || self.ledger.page(task.id()).is_inserted);
        let written = |task: &Task| {
            let decl = if task.status == Status::Drafted {
                outcomes::inserted(self, task.id())
            } else {
                task.decl.clone()
            };
            TaskDecl { ticked: task.status == Status::Done || self.is_committed(task.id()), ..decl }
        };
        there.map(|task| written(task)).collect()
    }

    /// Shows something to the engine.
    fn see(&mut self, engine: &Engine, seen: &Seen, events: &mut Vec<Event>) {
        self.ledger.note_seen(&self.state, seen);
        if let Seen::Answered { response: Response::Retry | Response::Fix(_), .. } | Seen::Directed(_) = seen
        {
            self.interventions -= 1;
        }
        let observation = Observation { at: self.now, seen: seen.clone() };
        if let Some(event) = (engine.decide)(&self.state, observation) {
            self.take(event, events);
        }
    }

    fn take(&mut self, event: Event, events: &mut Vec<Event>) {
        let before = Rc::clone(&self.state);
        let mut state = State::clone(&before);
        state.apply(&event).unwrap_or_else(|error| panic!("impossible: {error}"));
        self.state = Rc::new(state);
        self.ledger.note_event(&before, &event);
        events.push(event);
        laws::after_event(&before, self, events.last().expect("it was just added"));
    }
}

/// The way in which the program can be killed after a step was done and before it was recorded.
fn lasts(step: &Step) -> Option<Down> {
    let Step::See(seen) = step else { return None };
    let is_kept = matches!(**seen, Seen::Recorded { record: Record::Kept { .. }, .. });
    let lasts = is_kept || matches!(**seen, Seen::FixInserted { .. });
    lasts.then(|| Down::KilledAfter(seen.clone()))
}
