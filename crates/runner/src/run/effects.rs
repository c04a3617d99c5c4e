//! The effects: an action of the engine's is carried out in the world, and what comes of it is answered with observations.
//! They decide nothing for the run: they are handed the state to look at, and have neither journal nor views.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;

use engine::{Action, ActionKey, Baseline, Event, Record, Seen, State, What};
use plan::TaskId;

use crate::attempt::dispatch::Purpose;
use crate::error::RunError;
use crate::git::{self, ConfigFiles, Git, GitError};
use crate::imports::WriteBack;
use crate::inbox::Message;
use crate::landing::history::Watch;
use crate::landing::project_lock::ProjectLock;
use crate::mask::mask;
use crate::plan_file::{Freshness, PlanFiles};
use crate::process::{Ended, Handle};
use crate::project::{PlanFile, Project};
use crate::run::open::Request;
use crate::settings::Settings;
use crate::work::project_files::ProjectFiles;
use crate::work::shared_repository::SharedNames;
use crate::worktrees::{LANDING, Slots};

/// Characters of a note.
const NOTE_CHARS_MAX: usize = 2_000;

/// Something under way in a process of its own, or in a person's head.
pub(crate) struct Flight {
    pub handle: Option<Handle>,
    pub purpose: Purpose,
}

/// The world that a run works in: the project, its plan and its repository, the places, and what is under way there.
pub(crate) struct World<'a> {
    pub project: &'a Project,
    pub file: &'a PlanFile,
    pub settings: &'a Settings,
    pub plans: PlanFiles,
    pub files: ProjectFiles<'a>,
    /// The linked work trees of this run; none without git.
    pub slots: Option<Slots>,
    /// The thread that watches the processes.
    pub runtime: tokio::runtime::Handle,
    /// The way into the loop's inbox.
    pub sender: Sender<Message>,
    /// The actions under way.
    pub flights: BTreeMap<ActionKey, Flight>,
    /// The text that a task had when its latest attempt began. It is in the attempt's folder as well, but there an
    /// agent can lay hands on it.
    pub text_at_start: BTreeMap<TaskId, String>,
    pub watch: Watch,
    /// The source of the plan, where it was imported.
    pub write_back: Option<WriteBack>,
    /// The lock on the project, and the task that works or records in it.
    pub project_lock: Option<(TaskId, ProjectLock)>,
    /// True if a change of the plan was read while a task kept its text.
    pub reads_plan_again: bool,
    /// The observations and notices since the loop last asked.
    pub outcome: Outcome,
    pub remarks: Remarks,
}

/// The answer of effects.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Observations, in their order.
    pub seen: Vec<Seen>,
    /// Notes that stay in the record.
    pub notes: Vec<Note>,
    /// Words in passing, such as what is waited for.
    pub mentions: Vec<String>,
}

/// A note.
#[derive(Debug)]
pub(crate) struct Note {
    pub task: Option<TaskId>,
    pub text: String,
    /// True if it is about this start of the program alone.
    pub passing: bool,
}

/// Looks that are taken, and things that are said, once in each start of the program.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub shared_names: SharedNames,
    /// The repository's settings when agents began.
    pub config: Option<ConfigFiles>,
    /// The verify commands by which it was looked whether slots lack something.
    pub probed: BTreeSet<String>,
    /// True once it was said that paths in verify commands are replaced.
    pub is_relocation_told: bool,
    /// Tasks of which it was said that they wait for others with the same files.
    pub overlaps_told: BTreeSet<TaskId>,
}

/// The world, with the state of the run that asks for something to be done in it.
pub(crate) struct Effects<'r, 'a> {
    pub state: &'r State,
    pub world: &'r mut World<'a>,
}

impl Effects<'_, '_> {
    /// Carries out an action. What takes its time goes on beside the loop, and ends with a message.
    pub(crate) fn perform(&mut self, action: &Action) -> Result<(), RunError> {
        let key = action.key();
        match action {
            Action::Prepare { task } if self.waits_to_start(key.clone(), task)? => Ok(()),
            Action::Prepare { task } => self.prepare(key, task),
            Action::Prove { task } => self.start_proof(key, task),
            Action::RunAgent { task, attempt, dispatch, role } => {
                self.start_agent(key, task, (*attempt, *dispatch), *role)
            }
            Action::Check { task, .. } | Action::RunJudge { task, .. }
                if self.renews_slot(action, task)? =>
            {
                Ok(())
            }
            Action::Check { task, attempt, dispatch } => self.start_check(key, task, (*attempt, *dispatch)),
            Action::RunJudge { task, attempt, dispatch, role } => {
                self.start_judge(key, task, (*attempt, *dispatch), *role)
            }
            Action::Land { task, .. }
                if self.waits_to_land(key.clone(), task)? || self.waits_for_rebase(key.clone(), task)? =>
            {
                Ok(())
            }
            Action::Land { task, attempt, .. } => self.start_landing(key, task, *attempt),
            Action::Join { task, attempt, dispatch } => self.start_join(key, task, (*attempt, *dispatch)),
            Action::Record { task, .. } | Action::InsertFix { fix: task }
                if self.waits_for_project(key.clone(), task)?
                    || self.waits_for_lock(key.clone(), task)? =>
            {
                Ok(())
            }
            Action::Record { task, attempt } => {
                let record = self.record_work(task, *attempt);
                let is_blocked = matches!(record, Record::Blocked { .. });
                if is_blocked && (git::is_interrupted() || self.waits_for_lock(key, task)?) {
                    return Ok(());
                }
                self.see(Seen::Recorded { task: task.clone(), record });
                Ok(())
            }
            Action::InsertFix { fix } => self.insert_fix(fix),
            Action::Ask { .. } => {
                self.depart(key, Flight { handle: None, purpose: Purpose::Ask });
                Ok(())
            }
            Action::Regress => self.start_regression(key),
            Action::ProveAll => self.start_final_proof(key),
            Action::Forge(forge) => self.start_forge(key, forge),
        }
    }

    /// Takes in the end of something that was under way.
    pub(crate) fn take_end(&mut self, message: Message) -> Result<(), RunError> {
        let (Message::Ended(key, _)
        | Message::Done(key, _)
        | Message::AgentEnded(key, _)
        | Message::Forge(key, _)) = &message
        else {
            return Ok(());
        };
        let flight = self.world.flights.remove(key);
        if let Some(Flight { purpose, .. }) = &flight {
            self.distrust_if_cut_short(purpose, &message);
        }
        let seen = match (message, flight.map(|flight| flight.purpose)) {
            (Message::Forge(key, report), _) => Seen::Forge { key, report: *report },
            (Message::Ended(key, ended), Some(purpose)) => self.land(key, purpose, &ended)?,
            (Message::Done(key, done), Some(purpose)) => self.take_in(key, purpose, *done)?,
            (Message::AgentEnded(key, ended), Some(purpose)) => self.land_agent(key, purpose, &ended)?,
            (_, _) => Seen::TimePassed,
        };
        self.see(seen);
        Ok(())
    }

    /// After whatever was killed, stopped or out of time in a work tree of ours, the next use keeps nothing of what is
    /// in it.
    fn distrust_if_cut_short(&self, purpose: &Purpose, message: &Message) {
        let exit = if let Message::Ended(_, ended) = message {
            &ended.exit
        } else if let Message::AgentEnded(_, ended) = message {
            &ended.0.exit
        } else {
            return;
        };
        if let (Some(slots), false) = (&self.world.slots, exit.is_whole()) {
            self.tree_of(purpose).into_iter().for_each(|slot| slots.distrust(slot));
        }
    }

    /// The work tree of ours in which something is under way; none for the project itself.
    fn tree_of(&self, purpose: &Purpose) -> Option<u32> {
        match purpose {
            Purpose::Agent { task, .. } | Purpose::Judge { task, .. } | Purpose::Check { task, .. } => {
                Some(self.slot_of(task)).filter(|slot| *slot != 0)
            }
            Purpose::Leaning { checked } => Some(self.slot_of(&checked.task)).filter(|slot| *slot != 0),
            Purpose::Join { task, .. } => self.is_isolated(task).then_some(LANDING),
            Purpose::Proof { root, .. } => (root != self.world.project.root()).then_some(LANDING),
            Purpose::Before { .. }
            | Purpose::Slot { .. }
            | Purpose::Again { .. }
            | Purpose::Look { .. }
            | Purpose::Landing { .. }
            | Purpose::Canary { .. }
            | Purpose::Regression { .. }
            | Purpose::FinalProof
            | Purpose::Forge(_)
            | Purpose::Lock { .. }
            | Purpose::Ask => None,
        }
    }

    /// Does what an event asks for that is in the journal and in the state.
    pub(crate) fn follow(&mut self, event: &Event, withdrawn: &[TaskId]) -> Result<(), RunError> {
        if let What::TaskSkipped { task, .. } = &event.what {
            self.commit_skip(task);
        }
        if let What::AttemptFailed { task, .. } | What::Reopened { task, .. } = &event.what {
            // With agent bookkeeping the agent may have ticked it; a tick must not outlive a failure.
            self.world.plans.untick(task).map_err(RunError::io("write", &self.world.file.path))?;
        }
        if let What::TaskDone { task, .. } = &event.what {
            self.watch_work(task);
            self.let_go_of_work(task);
        }
        self.set_withdrawn_aside(withdrawn);
        self.tell_of_outdated(event)?;
        if matches!(event.what, What::AttemptStarted(_)) && self.world.flights.is_empty() {
            self.tell_of_overlaps();
        }
        Ok(())
    }

    /// Looks at the plan and the project before a task starts.
    fn prepare(&mut self, key: ActionKey, task: &TaskId) -> Result<(), RunError> {
        let is_judging = self.state.task(task).is_some_and(|task| task.status.is_active());
        let is_changed = self.world.read_plan()? == Freshness::Changed;
        // While a task is judged it keeps its text, so a change is read once more when nothing is under way.
        let is_left_over = !is_judging && std::mem::take(&mut self.world.reads_plan_again);
        self.world.reads_plan_again |= is_changed && is_judging;
        if is_changed || is_left_over {
            let decls = self.world.plans.decls(self.state);
            self.see(Seen::PlanRead(decls));
            return Ok(());
        }
        if let Some(reason) = self.lost_work()? {
            self.see(Seen::Obstructed { reason });
            return Ok(());
        }
        let is_here = engine::starts_in_project(self.state, task);
        if let Some(reason) = self.in_progress(task).filter(|_| is_here) {
            self.see(Seen::Obstructed { reason });
            return Ok(());
        }
        if is_here && !is_judging && self.tries_in_project(key, task)? {
            return Ok(());
        }
        let head = self.world.files.git().map_or(Ok(None), Git::head)?.map(|head| head.as_str().to_owned());
        let hooks = self.world.files.git().map(Git::active_hooks).unwrap_or_default();
        let tree = if is_here {
            self.clean_before_retry(task)?;
            self.tree_before()?
        } else {
            None
        };
        let baseline = Baseline { head, tree, hooks };
        self.see(Seen::Prepared { task: task.clone(), baseline });
        Ok(())
    }

    /// The tree that lies in the project before an attempt there.
    pub(crate) fn tree_before(&self) -> Result<Option<String>, GitError> {
        let Some(git) = self.world.files.git() else { return Ok(None) };
        let place = self.project_place();
        git.begin_index(&place)?;
        Ok(Some(git.snapshot(&place)?.as_str().to_owned()))
    }

    /// Answers with an observation.
    pub(crate) fn see(&mut self, seen: Seen) {
        self.world.outcome.seen.push(seen);
    }

    /// Tells something that stays in the record.
    pub(crate) fn note(&mut self, text: String) {
        self.world.outcome.notes.push(Note { task: None, text: bounded(&text), passing: false });
    }

    /// Notes something about a task.
    pub(crate) fn note_of(&mut self, task: &TaskId, text: String) {
        let task = Some(task.clone());
        self.world.outcome.notes.push(Note { task, text: bounded(&text), passing: false });
    }

    /// Notes something that the next start of the program looks at again.
    pub(crate) fn note_for_now(&mut self, text: String) {
        self.world.outcome.notes.push(Note { task: None, text: bounded(&text), passing: true });
    }

    /// Says something in passing, such as what is waited for.
    pub(crate) fn mention(&mut self, text: String) {
        self.world.outcome.mentions.push(text);
    }

    /// Notes that something is under way.
    pub(crate) fn depart(&mut self, key: ActionKey, flight: Flight) {
        self.world.flights.insert(key, flight);
    }

    /// The way into the inbox.
    pub(crate) fn inbox_sender(&self) -> Sender<Message> {
        self.world.sender.clone()
    }

    /// Reports the end of a process.
    pub(crate) fn reporter(&self, key: ActionKey) -> impl FnOnce(Ended) + Send + 'static {
        let sender = self.inbox_sender();
        move |ended| {
            // The loop may be over; then nobody waits for the end.
            let _ = sender.send(Message::Ended(key, Box::new(ended)));
        }
    }
}

impl<'a> World<'a> {
    pub(crate) fn new(
        request: &Request<'a>,
        (plans, files, slots): (PlanFiles, ProjectFiles<'a>, Option<Slots>),
        (runtime, sender): (tokio::runtime::Handle, Sender<Message>),
    ) -> Self {
        Self {
            project: request.project,
            file: request.file,
            settings: request.settings,
            plans,
            files,
            slots,
            runtime,
            sender,
            flights: BTreeMap::new(),
            text_at_start: BTreeMap::new(),
            watch: Watch::default(),
            write_back: WriteBack::of(request.project, request.file),
            project_lock: None,
            reads_plan_again: false,
            outcome: Outcome::default(),
            remarks: Remarks::default(),
        }
    }

    /// Reads the plan if it changed.
    pub(crate) fn read_plan(&mut self) -> Result<Freshness, RunError> {
        self.plans.refresh().map_err(|source| RunError::Plan { path: self.file.path.clone(), source })
    }

    /// Reads the plan; what else changed in it is looked at before the next start.
    pub(crate) fn refresh_plan(&mut self) -> Result<(), RunError> {
        self.reads_plan_again |= self.read_plan()? == Freshness::Changed;
        Ok(())
    }
}

/// A note that fits into a journal, with what looks like a key masked.
fn bounded(text: &str) -> String {
    mask(&text.chars().take(NOTE_CHARS_MAX).collect::<String>())
}
