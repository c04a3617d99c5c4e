//! Orders: actions of a run whose loop is elsewhere. They are carried out by the same effects as at home, in a clone that
//! nobody else works in; what was seen is handed back, and decided on where the loop is.

use std::time::Duration;
use std::{io, thread};

use engine::{
    Action, ChecksReport, Landing, Observation, Opening, Record, Seen, Slot, State, decide, schedule,
};
use plan::TaskId;

use crate::error::RunError;
use crate::git::{self, Git};
use crate::inbox::{Inbox, Message};
use crate::journal::RunLock;
use crate::plan_file::PlanFiles;
use crate::process::sweep;
use crate::project::{PlanFile, Project};
use crate::proof::surroundings;
use crate::record::done::{TRAILER, TRAILER_SEARCH};
use crate::run::driver::now;
use crate::run::effects::{Effects, Note, World};
use crate::run::open::{self, Beginning, Request};
use crate::settings::Settings;
use crate::work::project_files::ProjectFiles;
use crate::worktrees::Slots;

/// The slot of an attempt: in a clone that carries out one order at a time, there is one.
const SLOT: Slot = Slot(1);

/// The exit code of a process that nobody waits for.
const INTERRUPTED: i32 = 130;

/// The time that processes get to end when an order is taken back.
const LAST_WAIT: Duration = Duration::from_secs(20);

/// The place in which an order is carried out: a clone with nothing in it that is not committed.
#[derive(Debug)]
pub struct OrderPlace<'a> {
    /// The clone.
    pub project: &'a Project,
    /// The plan in it.
    pub file: &'a PlanFile,
    /// The settings of the run, with the agents that are here.
    pub settings: &'a Settings,
}

/// The end of an order.
#[derive(Debug)]
pub enum Carried {
    /// It was carried out, and this was seen.
    Out(Vec<Seen>),
    /// It was taken back. What was started for it is gone.
    Interrupted,
}

/// With what a run would begin in a clone in which all tasks work in slots.
pub fn opening(place: &OrderPlace<'_>) -> Result<Opening, RunError> {
    let request = place.request();
    let OrderPlace { project, settings, .. } = place;
    let plan_files = open::read_plan(&request)?;
    open::refuse_without_sandbox(settings)?;
    let git = project.git();
    let (parallel, reason) = open::side_by_side(git, settings, &[]);
    if let Some(reason) = reason {
        return Err(RunError::NotIsolated { reason });
    }
    let rules = engine::Rules { parallel, ..open::rules(settings, &plan_files) };
    let head = git.map_or(Ok(None), Git::head)?.map(|head| head.as_str().to_owned());
    let (tasks, launch) = (plan_files.decls(&State::default()), settings.launch.clone());
    Ok(Opening { rules, tasks, head, launch, surroundings: surroundings(git), ..Opening::default() })
}

/// Reads the plan, where tasks are about to start or none is named; then carries out actions of a run, one after another, and for each what follows from it alone in the same place: the check
/// of what an agent made, the way in of what was landed. What is worth saying in passing is told.
pub fn carry_out(
    place: &OrderPlace<'_>,
    (state, actions): (&State, &[Action]),
    tell: &mut dyn FnMut(String),
) -> Result<Carried, RunError> {
    let OrderPlace { project, file, settings } = *place;
    let agents = settings.agents.iter().chain([&settings.agent]);
    crate::mask::mask_values(&settings.mask, agents.flat_map(|agent| &agent.env));
    open::refuse_without_sandbox(settings)?;
    let runtime = open::runtime().map_err(RunError::io("start a thread for", &file.home))?;
    open::make_private(&file.home).map_err(RunError::io("create", &file.home))?;
    project.git().map_or(Ok(()), open::keep_own_files_out)?;
    let _lock = RunLock::acquire(&file.lock())?;
    let git = project.git().map(|git| git.clone().with_notes(&file.home));
    if let Some(git) = &git {
        git.check_identity()?;
        sweep(&format!("{}={}", crate::attempt::invocation::MARKER, file.home.display()));
        git.clear_stale_lock()?;
    }
    let plans = PlanFiles::open(file, settings.strict)
        .map_err(|(path, source)| RunError::Plan { path, source })?
        .with_regression(settings.regression.as_ref());
    let files = ProjectFiles::new(project, git.as_ref(), file);
    let slots = git.as_ref().map(|git| Slots::new(git, &file.key(), &settings.worktrees));
    let inbox = Inbox::new();
    inbox.listen_to_signals().map_err(RunError::io("listen to signals for", &file.home))?;
    let world = World::new(&place.request(), (plans, files, slots), (runtime, inbox.sender()));
    let state = actions.iter().filter_map(task_of).fold(state.clone(), |state, id| state.in_slot(id, SLOT));
    Hand { state, world, inbox, seen: Vec::new(), tell }.carry_out(actions)
}

impl<'a> OrderPlace<'a> {
    fn request(&self) -> Request<'a> {
        let Self { project, file, settings } = *self;
        Request { project, file, settings, beginning: Beginning::Resume }
    }
}

/// Ends this process, and all that it started, once nobody holds the other end of its input any more.
pub fn live_as_long_as(mut input: impl io::Read + Send + 'static) -> io::Result<()> {
    let wait = move || {
        // What cannot be read any more has nobody at its other end either.
        let _ = io::copy(&mut input, &mut io::sink());
        git::end_all_and_exit(INTERRUPTED);
    };
    thread::Builder::new().name("owner".to_owned()).spawn(wait).map(drop)
}

/// The task that an action is about.
fn task_of(action: &Action) -> Option<&TaskId> {
    match action {
        Action::Prepare { task }
        | Action::Prove { task }
        | Action::RunAgent { task, .. }
        | Action::Check { task, .. }
        | Action::RunJudge { task, .. }
        | Action::Land { task, .. }
        | Action::Join { task, .. }
        | Action::Record { task, .. }
        | Action::Ask { task } => Some(task),
        Action::InsertFix { fix } => Some(fix),
        Action::Regress | Action::ProveAll | Action::Forge(_) => None,
    }
}

/// True if an action follows from another one alone, and is best done in the same place.
fn follows(first: &Action, next: &Action) -> bool {
    let is_next = matches!(
        (first, next),
        (Action::RunAgent { .. }, Action::Check { .. })
            | (Action::Land { .. }, Action::Join { .. })
            | (Action::Join { .. } | Action::Prove { .. }, Action::Record { .. })
    );
    is_next && task_of(first) == task_of(next)
}

/// Whoever carries out an order: its own copy of the state, which is never the record.
struct Hand<'a, 't> {
    state: State,
    world: World<'a>,
    inbox: Inbox,
    seen: Vec<Seen>,
    tell: &'t mut dyn FnMut(String),
}

impl<'a> Hand<'a, '_> {
    fn carry_out(mut self, actions: &[Action]) -> Result<Carried, RunError> {
        if actions.iter().all(|action| matches!(action, Action::Prepare { .. })) {
            let decls = self.world.plans.decls(&self.state);
            self.effects().see(Seen::PlanRead(decls));
            self.take_outcome()?;
        }
        for action in actions {
            let mut next = Some(action.clone());
            while let Some(action) = next {
                let before = self.seen.len();
                if self.has_come_in(&action)? {
                    break;
                }
                self.effects().perform(&action)?;
                self.take_outcome()?;
                let has_waited = !self.world.flights.is_empty();
                if !self.await_ends()? {
                    self.take_back();
                    return Ok(Carried::Interrupted);
                }
                // Whoever waited for a lock has not begun.
                let is_unanswered = has_waited && self.seen.len() == before;
                let wanted = schedule(&self.state, now()).into_iter();
                next = { wanted }
                    .find(|other| follows(&action, other) || is_unanswered && other.key() == action.key());
            }
        }
        if let Some(slots) = &self.world.slots {
            slots.existing().into_iter().for_each(|slot| slots.release(slot));
        }
        Ok(Carried::Out(self.seen))
    }

    /// True if the work that is to come in is there already, with its box ticked: whoever brought it in could not say so
    /// any more. It is told now.
    fn has_come_in(&mut self, action: &Action) -> Result<bool, RunError> {
        let (Action::Land { task: id, attempt, dispatch } | Action::Join { task: id, attempt, dispatch }) =
            action
        else {
            return Ok(false);
        };
        let trailer = self.effects().trailer(id, Some(*attempt));
        let base = self.state.task(id).and_then(|task| task.work.as_ref()).map(|work| work.base.clone());
        let (Some(git), Some(base), true) = (self.world.files.git(), base, self.world.plans.is_ticked(id))
        else {
            return Ok(false);
        };
        let found = git.find_trailer(TRAILER, &trailer, TRAILER_SEARCH)?;
        // An earlier run of the same plan may have used the same name.
        let Some(commit) = found else { return Ok(false) };
        if git.is_ancestor(commit.as_str(), &base)? {
            return Ok(false);
        }
        let onto = git.commit_before(&commit)?;
        let touched = match &onto {
            Some(onto) => git.changed_between(onto.as_str(), commit.as_str())?,
            None => Vec::new(),
        };
        let tree = Some(git.tree_of(&commit)?.as_str().to_owned());
        let (task, dispatch) = (id.clone(), *dispatch);
        let (onto, commit) = (onto.map(|onto| onto.as_str().to_owned()), Some(commit.as_str().to_owned()));
        let landing = Landing::Done { touched, onto, commit: commit.clone() };
        let report = ChecksReport::default();
        let mut effects = self.effects();
        effects.see(Seen::LandingEnded { task: task.clone(), dispatch, landing });
        effects.see(Seen::JoinEnded { task: task.clone(), dispatch, report, tree });
        effects.see(Seen::Recorded { task, record: Record::Kept { commit } });
        self.take_outcome()?;
        Ok(true)
    }

    fn effects(&mut self) -> Effects<'_, 'a> {
        Effects { state: &self.state, world: &mut self.world }
    }

    /// Waits until nothing is under way. False if the order is taken back meanwhile.
    fn await_ends(&mut self) -> Result<bool, RunError> {
        while !self.world.flights.is_empty() {
            let Some(message) = self.inbox.receive(None) else { break };
            match message {
                Message::Interrupted => return Ok(false),
                Message::ProjectLock(task, lock) => self.world.project_lock = Some((task, lock)),
                Message::Note(text) => (self.tell)(text),
                message @ (Message::Ended(..)
                | Message::AgentEnded(..)
                | Message::Done(..)
                | Message::Forge(..)) => {
                    self.effects().take_end(message)?;
                    self.take_outcome()?;
                }
                Message::Surveyed(_)
                | Message::WrittenBack(_)
                | Message::Told(..)
                | Message::References(_)
                | Message::Posted
                | Message::Settings(_)
                | Message::Answered(..)
                | Message::NobodyAnswers(_) => {}
            }
        }
        Ok(!git::is_interrupted())
    }

    /// Takes over what was seen. What it means is decided where the loop is; here it only shows what comes next.
    fn take_outcome(&mut self) -> Result<(), RunError> {
        let outcome = std::mem::take(&mut self.world.outcome);
        outcome.mentions.into_iter().for_each(|text| (self.tell)(text));
        let notes = outcome.notes.into_iter();
        let notes = notes.map(|Note { task, text, passing }| Seen::Noted { task, text, passing });
        let seen = outcome.seen.into_iter().filter(|seen| *seen != Seen::TimePassed);
        for seen in notes.chain(seen) {
            self.seen.push(seen.clone());
            if let Some(event) = decide(&self.state, Observation { at: now(), seen }) {
                let path = self.world.file.path.clone();
                self.state.apply(&event).map_err(|source| RunError::Impossible { path, source })?;
            }
        }
        Ok(())
    }

    /// Ends what was started, and leaves nothing behind that anybody would trust.
    fn take_back(&mut self) {
        for handle in self.world.flights.values().filter_map(|flight| flight.handle.as_ref()) {
            handle.stop();
        }
        while !self.world.flights.is_empty() {
            let (Message::Ended(key, _) | Message::AgentEnded(key, _) | Message::Done(key, _)) =
                (match self.inbox.receive(Some(LAST_WAIT)) {
                    Some(message) => message,
                    None => break,
                })
            else {
                continue;
            };
            self.world.flights.remove(&key);
        }
        git::end_all();
    }
}
