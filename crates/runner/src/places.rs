//! Where attempts work: in the project itself, or in a slot. How a slot is made ready for one, and what it left there.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use engine::{
    Action, ActionKey, AgentReport, Attempt, Cause, CheckFailure, Dispatch, End, Failing, FileState, Seen,
};
use plan::TaskId;

use crate::atomic;
use crate::attempt::{AgentEnded, Purpose};
use crate::check;
use crate::delegation::file_name;
use crate::effects::{Effects, Flight};
use crate::error::RunError;
use crate::git::{Change, Git, GitError, Keep, Left, Oid, Paths, Place};
use crate::inbox::Message;
use crate::landing::Brought;
use crate::process::{Exit, Invocation, ProcessLimits};
use crate::recording::TRAILER;
use crate::tree::{listed, words};
use crate::work::{Canary, SET_UP_DEADLINE, SetUpRunner, Slots, Unready, propose_setup};

/// How many tasks that wait for others are named at once.
const OVERLAPS_TOLD_MAX: usize = 20;

/// How long a command may take that only shows whether a slot is complete.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Folders that builds and tests make: that they are missing says nothing.
const OUTPUTS: [&str; 12] = [
    "target",
    "dist",
    "build",
    "out",
    ".next",
    ".vite",
    ".turbo",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    "coverage",
];

/// How far down files of the plan are looked for.
const PLAN_DEPTH_MAX: usize = 4;

/// What was done beside the loop.
#[derive(Debug)]
pub(crate) enum Done {
    /// A slot is ready.
    Slot(Result<Ready, Unready>),
    /// What an attempt left in its slot was looked at.
    Look(Result<Look, GitError>),
    /// Work was brought into the landing tree.
    Landing(Brought),
    /// A file was broken on purpose, and mended.
    Canary(Option<Canary>),
    /// The landing tree shows what is checked out.
    LandingTree(Result<Vec<String>, Unready>),
    /// Nobody has git's lock any more, or nobody waits for it.
    Lock,
}

/// A slot that is ready.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    notes: Vec<String>,
    /// The files of the plan, as the agent finds them.
    plan: Vec<(PathBuf, String)>,
}

/// What an attempt left in a place.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub touched: Vec<FileState>,
    /// The work as a commit of its own, and the one that it was made on.
    pub packed: Option<(Oid, Option<Oid>)>,
    /// Why no commit can hold it.
    pub unfit: Option<CheckFailure>,
    /// Files of the plan that it changed, which is dropped.
    pub dropped: Vec<String>,
}

/// A slot that is to be made ready for an attempt.
struct Preparation {
    git: Git,
    slots: Slots,
    slot: u32,
    place: Place,
    head: Oid,
    /// What an earlier attempt left: what it was made on, and a commit of it.
    carried: Option<(Oid, Oid)>,
    keep: Keep,
    by: SetUpRunner,
    /// What shows whether the slot lacks something that the project has.
    probe: Option<Probe>,
    /// The project's folder, and what of it belongs to the plan.
    project: PathBuf,
    plan_files: Vec<String>,
}

impl Preparation {
    fn run(&self) -> Result<Ready, Unready> {
        self.slots.forget_indexes(Some(self.slot));
        let mut notes = self.slots.show(self.slot, &self.head, &self.by)?;
        match self.probe.as_ref().map_or(Probed::Complete, |probe| probe.look(self)) {
            Probed::Complete => {}
            Probed::Lacking(reason) => return Err(Unready::Lacking { reason }),
            Probed::CutShort => {
                self.slots.distrust(self.slot);
                notes.extend(self.slots.show(self.slot, &self.head, &self.by)?);
            }
        }
        if let Some((base, work)) = &self.carried {
            let conflict = self.git.carry_over(&self.place.root, (base, work), &self.head);
            if let Some(conflict) = conflict.map_err(Unready::NoTree)? {
                self.git.keep_told(&self.keep, work).map_err(Unready::NoTree)?;
                notes.push(format!(
                    "what the attempt before left does not fit to what came in since ({}): the next one starts without it; \
                     until the task is done it is kept as {work}",
                    listed(&conflict.files)
                ));
            }
        }
        let plan = self.copy_plan().map_err(Unready::NoTree)?;
        self.git.begin_index(&self.place).map_err(Unready::NoTree)?;
        Ok(Ready { notes, plan })
    }

    /// The agent finds the plan as it lies in the project now, also what git does not know of it.
    fn copy_plan(&self) -> Result<Vec<(PathBuf, String)>, GitError> {
        let mut plan = Vec::new();
        for path in &self.plan_files {
            let (from, to) = (self.project.join(path), self.place.root.join(path));
            let Ok(text) = fs::read(&from) else { continue };
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder).map_err(GitError::io("create", folder))?;
            }
            if fs::read(&to).ok().as_deref() != Some(&text) {
                fs::write(&to, &text).map_err(GitError::io("write", &to))?;
            }
            plan.push((to.clone(), fingerprint(&to)));
        }
        Ok(plan)
    }
}

/// A verify command that is run before an agent is: red in the slot and green in the project, it lacks something there.
struct Probe {
    in_slot: Invocation,
    in_project: Invocation,
}

/// What a probe showed.
enum Probed {
    /// Nothing that is missing.
    Complete,
    /// What is missing, and what to set.
    Lacking(String),
    /// Nobody knows.
    CutShort,
}

impl Probe {
    /// Whether tasks can be verified in slots. The command is run only where the project has something that git ignores and
    /// that is not in the slot.
    fn look(&self, slot: &Preparation) -> Probed {
        let lacks = |path: &String| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            let is_output = OUTPUTS.contains(&name) || crate::tree::is_own(path);
            !is_output && !slot.place.root.join(path).exists()
        };
        let ignored = slot.git.ignored_in_project().unwrap_or_default();
        let lacking: Vec<String> = ignored.into_iter().filter(lacks).collect();
        if lacking.is_empty() {
            return Probed::Complete;
        }
        let exit = slot.by.run(self.in_slot.clone()).exit;
        if !exit.is_whole() {
            // A command that takes longer tells nothing, and may have left anything half written.
            return Probed::CutShort;
        }
        let is_red = matches!(exit, Exit::Code(code) if code != 0);
        if !is_red || slot.by.run(self.in_project.clone()).exit != Exit::Code(0) {
            return Probed::Complete;
        }
        let proposal = propose_setup(&slot.git).ok().flatten();
        let advice = proposal.map_or_else(
            || "have worktree_copy or worktree_setup in tillgreen.toml bring it there".to_owned(),
            |proposal| format!("set worktree_setup = {:?} in tillgreen.toml", proposal.command),
        );
        Probed::Lacking(format!(
            "the verify command is green in the project and red in a new work tree, which lacks what git ignores ({}): {advice}",
            listed(&lacking)
        ))
    }
}

impl Effects<'_, '_> {
    /// What shows, once for each verify command, whether slots lack something that the project has.
    fn probe(&mut self, id: &TaskId) -> Option<Probe> {
        let excerpt = self.world.book.excerpt(self.state, id)?;
        let script = check::script_of(&excerpt)?;
        if !self.world.remarks.probed.insert(script.source()) {
            return None;
        }
        let dir = self.world.file.home.join("probe");
        fs::create_dir_all(&dir).ok()?;
        let (place, slot) = (self.workplace(id), self.slot_of(id));
        let bounded = |invocation: Invocation| {
            let limits = ProcessLimits { deadline: PROBE_DEADLINE, ..invocation.limits };
            Invocation { limits, ..invocation }
        };
        let in_slot = bounded(self.verification((&script, place, slot), &dir));
        let in_project = bounded(self.verification((&script, self.world.project.root().to_owned(), 0), &dir));
        Some(Probe { in_slot, in_project })
    }

    /// True if the task's latest attempt is in a slot.
    pub(crate) fn is_isolated(&self, id: &TaskId) -> bool {
        self.state.task(id).is_some_and(engine::Task::is_isolated)
    }

    /// The number of the slot in which a task is worked on; 0 is the project itself.
    pub(crate) fn slot_of(&self, id: &TaskId) -> u32 {
        self.state.task(id).and_then(|task| task.slot).map_or(0, |slot| slot.0)
    }

    /// Where a task is worked on.
    pub(crate) fn workplace(&self, id: &TaskId) -> PathBuf {
        self.root_of(self.slot_of(id))
    }

    fn root_of(&self, slot: u32) -> PathBuf {
        match &self.world.slots {
            Some(slots) if slot > 0 => slots.root(slot),
            Some(_) | None => self.world.project.root().to_owned(),
        }
    }

    /// The same as a place that is looked at through an index of our own.
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
            left_out: self.world.tree.plan_files(),
        }
    }

    /// What belongs to the plan, from the project's root: its files, and what lies beside them and git does not know.
    fn plan_files(&self) -> Vec<String> {
        let mut files = self.world.tree.plan_files();
        let known = self
            .world
            .tree
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
            files.extend(beside.filter(|file| !known.contains(file) && !crate::tree::is_own(file)));
        }
        files.sort();
        files.dedup();
        files
    }

    /// The reference that keeps the work of a task. Plans of the same name, in other folders or in other working trees
    /// of the same repository, have others.
    pub(crate) fn keep(&self, git: &Git, id: &TaskId) -> Keep {
        Keep::new(&self.kept_for(git), &file_name(id))
    }

    pub(crate) fn kept_for(&self, git: &Git) -> String {
        let linked = git.git_dir().file_name().filter(|_| git.git_dir() != git.common_dir());
        let linked = linked.map(|name| format!("@{}", name.to_string_lossy())).unwrap_or_default();
        format!("{}{linked}", self.world.file.key())
    }

    /// What runs set-up commands.
    pub(crate) fn set_up_runner(&self) -> SetUpRunner {
        let logs = self.world.file.home.join("setup");
        let markers = self.markers(&logs);
        SetUpRunner::new(self.world.runtime.clone(), logs, SET_UP_DEADLINE).with_variables(markers)
    }

    /// What earlier attempts left: at the task itself or, for a fix task, at the one that it repairs.
    fn carried(&self, id: &TaskId) -> Option<(Oid, Oid)> {
        if self.world.settings.clean_retry.is_on() {
            return None;
        }
        let mut current = Some(id);
        while let Some(id) = current {
            let work = self.state.task(id).and_then(|task| task.work.as_ref());
            let oids =
                work.and_then(|work| Some((Oid::parse(&work.base)?, Oid::parse(work.commit.as_deref()?)?)));
            if oids.is_some() {
                return oids;
            }
            current = self.state.fix_plan(id).map(|fix| &fix.failing);
        }
        None
    }

    /// Makes the slot of a task ready, beside the loop. The agent starts when that is done.
    pub(crate) fn prepare_slot(
        &mut self,
        key: ActionKey,
        (id, head): (&TaskId, Oid),
        purpose: Purpose,
    ) -> Result<(), RunError> {
        let (carried, probe) = (self.carried(id), self.probe(id));
        self.make_ready(key, (id, head), (carried, probe), purpose)
    }

    /// True if something was cut short in the slot in which the work of a task is to be checked or judged, so that it is made
    /// ready again first, with the work written into it.
    pub(crate) fn renews_slot(&mut self, action: &Action, id: &TaskId) -> Result<bool, RunError> {
        let Some(slots) = self.world.slots.as_ref().filter(|_| self.is_isolated(id)) else {
            return Ok(false);
        };
        let work = self.state.task(id).and_then(|task| task.work.as_ref());
        let Some((base, work)) =
            work.and_then(|work| Some((Oid::parse(&work.base)?, work.commit.as_deref())))
        else {
            return Ok(false);
        };
        if slots.is_held(self.slot_of(id)) {
            return Ok(false);
        }
        let carried = work.and_then(Oid::parse).map(|work| (base.clone(), work));
        let purpose = Purpose::Again { action: action.clone() };
        self.make_ready(action.key(), (id, base), (carried, None), purpose)?;
        Ok(true)
    }

    fn make_ready(
        &mut self,
        key: ActionKey,
        (id, head): (&TaskId, Oid),
        (carried, probe): (Option<(Oid, Oid)>, Option<Probe>),
        purpose: Purpose,
    ) -> Result<(), RunError> {
        let (Some(git), Some(slots)) = (self.world.tree.git().cloned(), self.world.slots.clone()) else {
            return Ok(());
        };
        let preparation = Preparation {
            keep: self.keep(&git, id),
            slot: self.slot_of(id),
            place: self.place_of(id),
            carried,
            by: self.set_up_runner(),
            probe,
            project: self.world.project.root().to_owned(),
            plan_files: self.plan_files(),
            git,
            slots,
            head,
        };
        let look_at_names = self.look_at_names();
        self.beside(key, purpose, move || {
            look_at_names(Some(&preparation.git));
            Done::Slot(preparation.run())
        })
    }

    /// An attempt in the project itself does not see what an earlier one left in a slot.
    pub(crate) fn tell_of_left_work(&mut self, id: &TaskId) {
        let work = self.state.task(id).and_then(|task| task.work.as_ref()?.commit.clone());
        if let (Some(commit), false) = (work, self.world.settings.clean_retry.is_on()) {
            self.note_of(id, format!(
                "what an earlier attempt at task {id} left in its work tree is not brought along; until the task is done it \
                 is kept as commit {commit}"
            ));
        }
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

    /// What the end of something that was done beside the loop amounts to.
    pub(crate) fn take_in(&mut self, key: ActionKey, purpose: Purpose, done: Done) -> Result<Seen, RunError> {
        match (purpose, done) {
            (Purpose::Slot { delegated }, Done::Slot(made)) => match made {
                Ok(ready) => {
                    let task = &delegated.task;
                    ready
                        .notes
                        .into_iter()
                        .for_each(|note| self.note_of(task, format!("task {task}: {note}")));
                    self.launch_agent(key, *delegated, ready.plan)?;
                    Ok(Seen::TimePassed)
                }
                Err(Unready::Interrupted) => Ok(Seen::Interrupted),
                Err(unready) => {
                    let (task, dispatch) = (delegated.task, delegated.dispatch);
                    Ok(Seen::TreeFailed { task, dispatch, reason: unready.to_string() })
                }
            },
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
            (Purpose::Proof { task, script, root }, Done::LandingTree(shown)) => {
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
                | Done::Lock,
            ) => Ok(Seen::TimePassed),
        }
    }

    /// Checks or judges work in a slot that was made ready again.
    fn go_on_in_slot(
        &mut self,
        key: ActionKey,
        action: &Action,
        made: Result<Ready, Unready>,
    ) -> Result<Seen, RunError> {
        match (action, made) {
            (_, Err(Unready::Interrupted)) => return Ok(Seen::Interrupted),
            (Action::Check { task, dispatch, .. }, Err(unready)) => {
                let (task, dispatch) = (task.clone(), *dispatch);
                return Ok(Seen::TreeFailed { task, dispatch, reason: unready.to_string() });
            }
            (_, Err(unready)) => return Ok(Seen::Obstructed { reason: unready.to_string() }),
            (Action::Check { task, attempt, dispatch }, Ok(_)) => {
                self.start_check(key, task, (*attempt, *dispatch))?;
            }
            (Action::RunJudge { task, attempt, dispatch, role }, Ok(_)) => {
                self.start_judge(key, task, (*attempt, *dispatch), *role)?;
            }
            (_, Ok(_)) => {}
        }
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

    /// Looks at what an attempt left in its slot, beside the loop.
    pub(crate) fn look_at_slot(
        &mut self,
        key: ActionKey,
        (task, dispatch): (TaskId, Dispatch),
        ended: AgentEnded,
    ) -> Result<(), RunError> {
        let base = self.running_baseline(&task).head.as_deref().and_then(Oid::parse);
        let packing = self.packing(&task);
        let plan = ended.plan.clone();
        let purpose = Purpose::Look { task, dispatch, ended: Box::new(ended) };
        self.beside(key, purpose, move || {
            let (Some(packing), Some(base)) = (packing, base) else { return Done::Look(Ok(Look::default())) };
            let changed = plan.iter().filter(|(file, before)| fingerprint(file) != *before);
            let root = packing.place.root.clone();
            let shown = |file: &Path| file.strip_prefix(&root).unwrap_or(file).display().to_string();
            let dropped = changed.map(|(file, _)| shown(file)).collect();
            Done::Look(packing.pack(&base).map(|look| Look { dropped, ..look }))
        })
    }

    /// How the work in a task's slot is packed.
    pub(crate) fn packing(&self, task: &TaskId) -> Option<Packing> {
        let git = self.world.tree.git()?.clone();
        let attempt = self.running_attempt(task);
        Some(Packing {
            place: self.place_of(task),
            message: self.landing_message(task),
            trailer: self.trailer(task, attempt),
            keep: self.keep(&git, task),
            git,
        })
    }

    /// Nothing is lost and no attempt spent, but nobody can go on. What to do comes before git's own words, which may
    /// be many.
    pub(crate) fn obstructed(&self, task: &TaskId, error: &GitError) -> Seen {
        let place = self.workplace(task);
        let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        Seen::Obstructed {
            reason: format!("git cannot take in what task {task} left in {}{hint}: {error}", place.display()),
        }
    }

    fn running_attempt(&self, id: &TaskId) -> Option<Attempt> {
        match self.state.task(id).map(|task| &task.status) {
            Some(engine::Status::Running(running)) => Some(running.attempt),
            Some(_) | None => None,
        }
    }

    fn looked(
        &mut self,
        (task, dispatch): (TaskId, Dispatch),
        look: Result<Look, GitError>,
        AgentEnded { end, elapsed, learnings: reported, .. }: AgentEnded,
    ) -> Result<Seen, RunError> {
        let look = look.unwrap_or_else(|error| {
            let unfit = Some(unreadable(&error));
            Look { unfit, ..Look::default() }
        });
        if !look.dropped.is_empty() {
            let files = listed(&look.dropped);
            self.note_of(&task, format!("task {task} changed files of the plan, which is dropped: {files}"));
        }
        if let Some((base, commit)) = &look.packed {
            let (base, commit) = (base.as_str().to_owned(), commit.as_ref().map(|it| it.as_str().to_owned()));
            self.see(Seen::Packed { task: task.clone(), dispatch, base, commit });
        }
        let kept = look.packed.as_ref().and_then(|(_, commit)| commit.as_ref());
        self.tell_of_skipped_work(&task, &look.touched, kept);
        self.fetch_progress(&task)?;
        let mut learnings = self.read_learnings(&task);
        learnings.extend(reported);
        // Nobody is blamed for commits that are gone from the project's history: several are at work. They are missed
        // when something is to come in on top.
        let report = AgentReport {
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: look.touched,
            unfit: look.unfit,
            learnings,
            elapsed,
        };
        Ok(Seen::AgentEnded { task, dispatch, report })
    }

    /// After the agent of a task that is left out has ended: what it did is nobody's any more, and stays.
    pub(crate) fn tell_of_skipped_work(&mut self, task: &TaskId, touched: &[FileState], kept: Option<&Oid>) {
        if !self.state.is_leaving(task) || touched.is_empty() {
            return;
        }
        let paths: Vec<String> = touched.iter().map(|file| file.path.clone()).collect();
        let place = match kept {
            Some(commit) => format!("is kept as commit {commit}"),
            None => "stays in the project and is not committed".to_owned(),
        };
        let paths = listed(&paths);
        self.note_of(task, format!("what the agent had changed for skipped task {task} {place}: {paths}"));
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

    /// When a run ends with tasks that failed: where what they left is kept.
    pub(crate) fn tell_of_kept_work(&mut self) {
        let tasks: Vec<&engine::Task> = match self.state.end() {
            Some(End::Stopped(_) | End::Waiting { .. }) => self.state.attention().collect(),
            Some(_) | None => return,
        };
        let failed = tasks.into_iter().filter(|task| task.is_isolated() && !task.failures.is_empty());
        let kept = failed.filter_map(|task| Some((task.id().clone(), task.work.as_ref()?.commit.clone()?)));
        let notes = kept.map(|(task, commit)| {
            format!(
                "what the last attempt at task {task} left is kept as commit {commit} (`git show {commit}`); the next one \
                 goes on from it"
            )
        });
        notes.collect::<Vec<_>>().into_iter().for_each(|note| self.note(note));
    }

    /// What a green verify command made of the files that an attempt had changed in its slot, as one that formats them does,
    /// is part of the work. What else it left there is not.
    pub(crate) fn pack_verified(&mut self, id: &TaskId, dispatch: Dispatch) -> Result<(), RunError> {
        let Some(task) = self.state.task(id).filter(|task| task.is_isolated()) else { return Ok(()) };
        let work = task
            .work
            .as_ref()
            .and_then(|work| Some((Oid::parse(&work.base)?, Oid::parse(work.commit.as_deref()?)?)));
        let (Some((base, commit)), Some(packing)) = (work, self.packing(id)) else { return Ok(()) };
        let attempt = self.checked_attempt(id);
        let packing = Packing { trailer: self.trailer(id, attempt), ..packing };
        let Some(commit) = packing.repack((&base, &commit))? else { return Ok(()) };
        let (base, commit) = (base.as_str().to_owned(), Some(commit.as_str().to_owned()));
        self.see(Seen::Packed { task: id.clone(), dispatch, base, commit });
        Ok(())
    }

    fn checked_attempt(&self, id: &TaskId) -> Option<Attempt> {
        match self.state.task(id).map(|task| &task.status) {
            Some(engine::Status::Checking(checking)) => Some(checking.attempt),
            Some(_) | None => None,
        }
    }

    /// What an attempt noted in its slot is merged from beside the plan, in the order in which tasks come in.
    fn fetch_progress(&self, task: &TaskId) -> Result<(), RunError> {
        let to = self.progress_file(task);
        let from = self.workplace(task).join(self.world.project.relative(&to));
        match atomic::read(&from) {
            Ok(text) => {
                atomic::replace(&to, &String::from_utf8_lossy(&text)).map_err(RunError::io("write", &to))
            }
            Err(_) => Ok(()),
        }
    }

    /// Before a run goes on: what attempts that were cut off left in their slots is packed, and the slots are not trusted.
    pub(crate) fn pack_lost_attempts(&mut self) -> Result<(), RunError> {
        let lost: Vec<(TaskId, Dispatch, Option<Oid>)> = self
            .state
            .attention()
            .filter(|task| task.is_isolated())
            .filter_map(|task| {
                let engine::Status::Running(running) = &task.status else { return None };
                let head = running.head.as_deref().and_then(Oid::parse);
                Some((task.id().clone(), running.dispatch, head))
            })
            .collect();
        for (task, dispatch, head) in lost {
            let slot = self.slot_of(&task);
            let (Some(packing), Some(base)) = (self.packing(&task), head) else { continue };
            // The tree may never have been made ready, or be gone.
            let is_ready = packing.place.root.is_dir() && packing.place.index.exists();
            let packed = is_ready.then(|| packing.pack(&base));
            match packed {
                Some(Ok(Look { packed: Some((base, Some(commit))), .. })) => {
                    let (base, commit) = (base.as_str().to_owned(), Some(commit.as_str().to_owned()));
                    self.see(Seen::Packed { task, dispatch, base, commit });
                }
                Some(Err(error)) => {
                    self.note(format!(
                        "what the attempt at task {task} left that was cut off is lost: {error}"
                    ));
                }
                Some(Ok(_)) | None => {}
            }
            self.world.slots.iter().for_each(|slots| slots.distrust(slot));
        }
        self.world.slots.iter().for_each(|slots| slots.forget_indexes(None));
        Ok(())
    }

    /// Tasks with finished work that is nowhere any more: somebody removed what kept it.
    pub(crate) fn gone_work(&self) -> Vec<TaskId> {
        let Some(git) = self.world.tree.git() else { return Vec::new() };
        let waiting = self.state.attention().filter(|task| task.waits_in_tree());
        let is_gone = |task: &&engine::Task| {
            let commit = task.work.as_ref().and_then(|work| work.commit.as_deref());
            commit.is_some_and(|commit| !git.has_commit(commit))
        };
        waiting.filter(is_gone).map(|task| task.id().clone()).collect()
    }

    /// What is kept of tasks that this run does not know is put where nothing touches it, and told of.
    pub(crate) fn set_orphans_aside(&mut self) {
        let Some(git) = self.world.tree.git() else { return };
        // One that stays is in nobody's way.
        let _ = git.sweep_probes();
        let plan = self.kept_for(git);
        let open = self.state.tasks().iter().filter(|task| task.status != engine::Status::Done);
        let known = open.map(|task| Keep::new(&plan, &file_name(task.id()))).collect();
        match git.set_kept_aside(&plan, &known) {
            Ok(left) if left.is_empty() => {}
            Ok(left) => self.note(told_of_orphans(&left)),
            Err(error) => self.note(format!("what an earlier run left in git cannot be seen to: {error}")),
        }
    }

    /// Once a task is done nobody needs what was kept of its attempts, nor of those that it repaired. That it stays is a
    /// nuisance and no more.
    pub(crate) fn let_go_of_work(&self, id: &TaskId) {
        let Some(git) = self.world.tree.git() else { return };
        if self.world.slots.is_some() {
            let keep = self.keep(git, id);
            let _ = git.drop_kept(&keep).and_then(|()| git.drop_kept(&keep.landed()));
            let _ = git.drop_told(&keep);
        }
    }
}

/// How work in a slot becomes a commit.
#[derive(Debug)]
pub(crate) struct Packing {
    git: Git,
    pub place: Place,
    message: String,
    trailer: String,
    keep: Keep,
}

impl Packing {
    /// Looks at the place and packs what differs from a commit. Nothing that a command leaves afterwards is in it.
    pub(crate) fn pack(&self, base: &Oid) -> Result<Look, GitError> {
        let left = self.git.look(&self.place, base.as_str())?;
        let unsaved = self.git.unsaved_submodules(&self.place.root)?.into_iter().collect::<Vec<_>>();
        let commit = if left.changes.is_empty() {
            self.git.drop_kept(&self.keep)?;
            None
        } else {
            let trailer = (TRAILER, self.trailer.as_str());
            Some(self.git.pack((base, &left.tree), &self.message, trailer, &self.keep)?)
        };
        let unfit = unfit(&left, &unsaved);
        Ok(Look {
            touched: touched(&left.changes),
            packed: Some((base.clone(), commit)),
            unfit,
            dropped: Vec::new(),
        })
    }
}

impl Packing {
    /// Packs files of the work again that have become others since; none if none have.
    fn repack(&self, (base, commit): (&Oid, &Oid)) -> Result<Option<Oid>, GitError> {
        let now = self.git.snapshot(&self.place)?;
        let touched = self.git.changed_between(base.as_str(), commit.as_str())?;
        let changed = self.git.changed_between(commit.as_str(), now.as_str())?;
        let changed: Vec<String> = changed.into_iter().filter(|path| touched.contains(path)).collect();
        if changed.is_empty() {
            return Ok(None);
        }
        let scratch = self.place.index.with_extension("scratch");
        let paths = Paths { tree: &self.place.root, paths: &changed, scratch: &scratch };
        let tree = self.git.tree_of_paths(commit.as_str(), &paths)?;
        self.git.pack((base, &tree), &self.message, (TRAILER, &self.trailer), &self.keep).map(Some)
    }
}

/// Changes as the record tells them.
pub(crate) fn touched(changes: &[Change]) -> Vec<FileState> {
    let told =
        |change: &Change| FileState { path: change.path.clone(), state: words(change.kind).to_owned() };
    changes.iter().map(told).collect()
}

/// Why no commit of the project's can hold what an attempt left.
pub(crate) fn unfit(left: &Left, unsaved: &[String]) -> Option<CheckFailure> {
    let nested = left.repositories.iter().map(|path| {
        (path, format!(
            "{path} is a repository of its own inside the project, and its files cannot be committed with the project. If \
             they belong to the project, make them plain files (remove {path}/.git); if not, delete {path} or have git \
             ignore it. A repository that is to stay one is added as a submodule (git submodule add). In a work tree of its \
             own, the next attempt begins without {path}."
        ))
    });
    let unreachable = left.unreachable.iter().map(|path| {
        (path, format!(
            "The submodule {path} is at a commit that only this work tree has: it would be gone with it. Push it from inside \
             the submodule, or have the task run in the project itself (`--jobs 1`)."
        ))
    });
    let unsaved = unsaved.iter().map(|path| {
        (path, format!(
            "The submodule {path} has uncommitted changes. Only commits of a submodule are part of the work: commit them \
             inside of it (git -C {path} commit), or take them back."
        ))
    });
    let (names, advice): (Vec<&str>, Vec<String>) =
        nested.chain(unreachable).chain(unsaved).map(|(path, advice)| (path.as_str(), advice)).unzip();
    (!names.is_empty()).then(|| CheckFailure {
        cause: Cause::CommitRefused,
        error: format!("the work cannot be committed as it is: {}", names.join(", ")),
        details: advice.join("\n"),
        command: None,
        exit_code: None,
        failing: Failing::default(),
    })
}

/// The failure of an attempt whose files git cannot read.
pub(crate) fn unreadable(error: &GitError) -> CheckFailure {
    CheckFailure {
        cause: Cause::CommitRefused,
        error: format!("git cannot take in the work: {error}"),
        details: error.told(),
        command: None,
        exit_code: None,
        failing: Failing::default(),
    }
}

/// A sum by which it shows whether a file changed.
fn fingerprint(file: &Path) -> String {
    atomic::read(file).map_or_else(|_| "none".to_owned(), |text| format!("{:08x}", crc32fast::hash(&text)))
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

fn told_of_orphans(left: &[String]) -> String {
    const TOLD_MAX: usize = 20;
    let (shown, rest) = left.split_at(left.len().min(TOLD_MAX));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let one = shown.first().map(String::as_str).unwrap_or_default();
    format!(
        "work of an earlier run that nothing else is known of is kept under {}{more} (to look at it: `git show {one}`; to \
         let it go: `git update-ref -d {one}`)",
        shown.join(", ")
    )
}
