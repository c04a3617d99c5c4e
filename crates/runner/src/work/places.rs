//! The places in which attempts work: the project itself, or a slot. What is done in one beside the loop, and how that ends.

use std::path::{Path, PathBuf};
use std::{fs, thread};

use engine::{ActionKey, Dispatch, End, Seen};
use plan::TaskId;

use crate::attempt::dispatch::{Delegated, Purpose};
use crate::error::RunError;
use crate::git::{GitError, Place};
use crate::inbox::Message;
use crate::landing::land::Brought;
use crate::run::effects::{Effects, Flight};
use crate::work::pack::Look;
use crate::work::prepare::Ready;
use crate::worktrees::{Canary, SET_UP_DEADLINE, SetUpRunner, Unready};

/// The number of waiting tasks that are named at once.
const OVERLAPS_TOLD_MAX: usize = 20;

/// The depth to which files of the plan are looked for.
const PLAN_DEPTH_MAX: usize = 4;

/// The result of work beside the loop.
#[derive(Debug)]
pub(crate) enum Done {
    /// A slot is ready.
    Slot(Result<Ready, Unready>),
    /// The files that an attempt left in its slot were looked at.
    Look(Result<Look, GitError>),
    /// Work was brought into the landing tree.
    Landing(Brought),
    /// A file was broken on purpose, and mended.
    Canary(Option<Canary>),
    /// The landing tree shows what is checked out.
    LandingTree(Result<Vec<String>, Unready>),
    /// The final proof was taken, with what is to be told; nothing where the run was interrupted.
    Proof(Option<Box<(engine::Proof, Vec<String>)>>),
    /// Nobody has git's lock any more, or nobody waits for it.
    Lock,
}

impl Effects<'_, '_> {
    /// True if the task's latest attempt is in a slot.
    pub(crate) fn is_isolated(&self, id: &TaskId) -> bool {
        self.state.task(id).is_some_and(engine::Task::is_isolated)
    }

    /// The number of the slot in which a task is worked on; 0 is the project itself.
    pub(crate) fn slot_of(&self, id: &TaskId) -> u32 {
        self.state.task(id).and_then(|task| task.slot).map_or(0, |slot| slot.0)
    }

    /// The folder in which a task is worked on.
    pub(crate) fn workplace(&self, id: &TaskId) -> PathBuf {
        self.root_of(self.slot_of(id))
    }

    fn root_of(&self, slot: u32) -> PathBuf {
        match &self.world.slots {
            Some(slots) if slot > 0 => slots.root(slot),
            Some(_) | None => self.world.project.root().to_owned(),
        }
    }

    /// The place in which a task is worked on, looked at through an index of our own.
    pub(crate) fn place_of(&self, id: &TaskId) -> Place {
        let slot = self.slot_of(id);
        // Each attempt has an index of its own: where it is missing, the slot was never ready for it.
        let dispatch = self.state.task(id).map_or(0, |task| task.dispatch.0);
        match &self.world.slots {
            Some(slots) if slot > 0 => Place {
                root: slots.root(slot),
                index: slots.folder().join(format!("slot-{slot}.{dispatch}.index")),
                left_out: self.plan_files().into_iter().chain(slots.provided()).collect(),
            },
            Some(_) | None => self.project_place(),
        }
    }

    /// The project itself as a place.
    pub(crate) fn project_place(&self) -> Place {
        Place {
            root: self.world.project.root().to_owned(),
            index: self.world.file.home.join("project.index"),
            left_out: self.world.files.plan_files(),
        }
    }

    /// The plan's paths, from the project's root: its files, and what lies beside them and git does not know.
    pub(crate) fn plan_files(&self) -> Vec<String> {
        let mut files = self.world.files.plan_files();
        let known = self
            .world
            .files
            .git()
            .map(|git| git.tracked_below(self.world.project.relative(&self.world.file.dir)));
        let known = known.and_then(Result::ok).unwrap_or_default();
        if self.world.project.relative(&self.world.file.dir).is_relative()
            && self.world.file.dir != self.world.project.root()
        {
            let mut beside = Vec::new();
            collect(&self.world.file.dir, PLAN_DEPTH_MAX, &mut beside);
            let beside =
                beside.iter().map(|file| self.world.project.relative(file).to_string_lossy().into_owned());
            files.extend(
                beside.filter(|file| !known.contains(file) && !crate::work::project_files::is_own(file)),
            );
        }
        files.sort();
        files.dedup();
        files
    }

    /// The runner of set-up commands.
    pub(crate) fn set_up_runner(&self) -> SetUpRunner {
        let logs = self.world.file.home.join("setup");
        let markers = self.markers(&logs);
        SetUpRunner::new(self.world.runtime.clone(), logs, SET_UP_DEADLINE)
            .with_variables(markers)
            .without(&self.world.settings.worktrees.variables)
    }

    /// Does something beside the loop.
    pub(crate) fn beside(
        &mut self,
        key: ActionKey,
        purpose: Purpose,
        work: impl FnOnce() -> Done + Send + 'static,
    ) -> Result<(), RunError> {
        let (sender, name) = (self.inbox_sender(), key.clone());
        let thread = thread::Builder::new().name("beside".to_owned());
        let started = thread.spawn(move || {
            // The loop may be over; then nobody waits.
            let _ = sender.send(Message::Done(name, Box::new(work())));
        });
        started.map_err(RunError::io("start a thread for", &self.world.file.home))?;
        self.depart(key, Flight { handle: None, purpose });
        Ok(())
    }

    /// Takes in the result of work beside the loop.
    pub(crate) fn take_in(&mut self, key: ActionKey, purpose: Purpose, done: Done) -> Result<Seen, RunError> {
        match (purpose, done) {
            (Purpose::Slot { delegated }, Done::Slot(made)) => self.start_in_slot(key, *delegated, made),
            (Purpose::Again { action }, Done::Slot(made)) => self.go_on_in_slot(key, &action, made),
            // What was done is there, and nobody can tell what it is: no failure of the task's.
            (Purpose::Look { task, .. }, Done::Look(Err(error))) if error.is_of_surroundings() => {
                Ok(self.obstructed(&task, &error))
            }
            (Purpose::Look { task, dispatch, ended }, Done::Look(look)) => {
                self.looked((task, dispatch), look, *ended)
            }
            (Purpose::Landing { task, dispatch, .. }, Done::Landing(brought)) => {
                brought.notes.into_iter().for_each(|note| self.note_of(&task, note));
                Ok(match brought.landing {
                    Ok(landing) => Seen::LandingEnded { task, dispatch, landing },
                    Err(unready) => self.without_landing_tree(task, dispatch, &unready),
                })
            }
            (Purpose::Proof { task, script, root, .. }, Done::LandingTree(shown)) => {
                let root = match shown {
                    Ok(notes) => {
                        notes.into_iter().for_each(|note| self.note_of(&task, note));
                        root
                    }
                    Err(Unready::Interrupted) => return Ok(Seen::Interrupted),
                    Err(unready) => {
                        self.note_of(&task, format!("{}; task {task} is proved in the project", unready));
                        self.world.project.root().to_owned()
                    }
                };
                self.run_proof(key, (&task, script), root)?;
                Ok(Seen::TimePassed)
            }
            (Purpose::FinalProof, Done::Proof(Some(taken))) => {
                let (proof, notes) = *taken;
                notes.into_iter().for_each(|note| self.note(note));
                Ok(Seen::ProofTaken { proof: Box::new(proof) })
            }
            (Purpose::Canary { task, dispatch, mut report, tree }, Done::Canary(found)) => {
                if let Some(Canary::Green { told, .. }) = found {
                    report.warnings.push(told);
                }
                Ok(Seen::JoinEnded { task, dispatch, report, tree })
            }
            (
                _,
                Done::Canary(_)
                | Done::Slot(_)
                | Done::Look(_)
                | Done::Landing(..)
                | Done::LandingTree(_)
                | Done::Proof(_)
                | Done::Lock,
            ) => Ok(Seen::TimePassed),
        }
    }

    /// Starts the agent of an attempt whose slot was made ready.
    fn start_in_slot(
        &mut self,
        key: ActionKey,
        delegated: Delegated,
        made: Result<Ready, Unready>,
    ) -> Result<Seen, RunError> {
        let ready = match made {
            Ok(ready) => ready,
            Err(Unready::Interrupted) => return Ok(Seen::Interrupted),
            Err(unready) => {
                let (task, dispatch) = (delegated.task, delegated.dispatch);
                return Ok(Seen::TreeFailed { task, dispatch, reason: unready.to_string() });
            }
        };
        let task = &delegated.task;
        ready.notes.into_iter().for_each(|note| self.note_of(task, format!("task {task}: {note}")));
        if let Some(evidence) = ready.evidence {
            self.see(Seen::Found { task: task.clone(), evidence });
        }
        self.launch_agent(key, delegated, ready.plan)?;
        Ok(Seen::TimePassed)
    }

    /// Work that cannot be looked at in the landing tree does not come in.
    fn without_landing_tree(&self, task: TaskId, dispatch: Dispatch, unready: &Unready) -> Seen {
        match unready {
            Unready::Interrupted => Seen::Interrupted,
            Unready::NoTree(error) if error.is_of_surroundings() => self.obstructed(&task, error),
            Unready::NoTree(_)
            | Unready::SetUp { .. }
            | Unready::LowDisk { .. }
            | Unready::Lacking { .. } => Seen::TreeFailed { task, dispatch, reason: unready.to_string() },
        }
    }

    /// When tasks begin to run side by side: which of them wait although they need not by their marks, and why.
    pub(crate) fn tell_of_overlaps(&mut self) {
        let mut overlaps = engine::overlaps(self.state);
        overlaps.retain(|(task, _)| self.world.remarks.overlaps_told.insert(task.clone()));
        let more = overlaps.len().saturating_sub(OVERLAPS_TOLD_MAX);
        for (task, hold) in overlaps.into_iter().take(OVERLAPS_TOLD_MAX) {
            self.mention(format!("{task} waits for {}: {}", hold.by, hold.why.words()));
        }
        if more > 0 {
            self.mention(format!("{more} more tasks wait for others that are about the same files"));
        }
    }

    /// Once a plan is complete nobody needs its work trees. That one stays is a nuisance and no more. Else whoever goes on
    /// finds what was set up in them, unless something is still at work there.
    pub(crate) fn leave_slots(&mut self) {
        let Some(slots) = &self.world.slots else { return };
        if !matches!(self.state.end(), Some(End::Complete { .. })) {
            if self.world.flights.is_empty() {
                slots.existing().into_iter().for_each(|slot| slots.release(slot));
            }
        } else if let Err(error) = slots.remove_all() {
            self.note(format!("the work trees of this run could not be removed: {}", error.told()));
        }
    }
}

/// The files in a folder and below it.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&entry.path(), depth - 1, files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
}
