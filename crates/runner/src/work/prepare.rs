//! The preparation of a slot for an attempt: it shows what is checked out, with what an earlier attempt left, and a
//! verify command is tried in it before an agent is paid for.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use engine::{Action, ActionKey, Seen};
use plan::TaskId;

use crate::attempt::dispatch::Purpose;
use crate::check;
use crate::error::RunError;
use crate::git::{Git, GitError, Join, Keep, Oid, Place};
use crate::process::{Ended, Exit, Invocation, ProcessLimits};
use crate::run::effects::Effects;
use crate::work::pack::fingerprint;
use crate::work::places::Done;
use crate::work::project_files::listed;
use crate::worktrees::{SetUpRunner, Slots, Unready, missing, propose_setup};

/// The time for a command that only shows whether a slot is complete.
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

/// A slot that is ready.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub(super) notes: Vec<String>,
    /// The files of the plan, as the agent finds them.
    pub(super) plan: Vec<(PathBuf, String)>,
}

/// A slot that is to be made ready for an attempt.
struct Preparation {
    git: Git,
    slots: Slots,
    slot: u32,
    place: Place,
    head: Oid,
    /// The work of an earlier attempt: what it was made on, and a commit of it.
    carried: Option<(Oid, Oid)>,
    keep: Keep,
    by: SetUpRunner,
    /// The probe that shows whether the slot lacks something that the project has.
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

/// The result of a probe.
enum Probed {
    /// Nothing that is missing.
    Complete,
    /// The file that is missing, and what to set.
    Lacking(String),
    /// Nobody knows.
    CutShort,
}

impl Probe {
    /// Probes whether tasks can be verified in slots. The command is run only where the project has something that git
    /// ignores and that is not in the slot.
    fn look(&self, slot: &Preparation) -> Probed {
        let lacks = |path: &String| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            let is_output = OUTPUTS.contains(&name) || crate::work::project_files::is_own(path);
            !is_output && !slot.place.root.join(path).exists()
        };
        let ignored = slot.git.ignored_in_project().unwrap_or_default();
        let lacking: Vec<String> = ignored.into_iter().filter(lacks).collect();
        if lacking.is_empty() {
            return Probed::Complete;
        }
        let Ended { exit, stdout, stderr, .. } = slot.by.run(self.in_slot.clone());
        if !exit.is_whole() {
            // A command that takes longer tells nothing, and may have left anything half written.
            return Probed::CutShort;
        }
        let is_red = matches!(exit, Exit::Code(code) if code != 0);
        let output = format!("{}\n{}", stdout.text, stderr.text);
        if let (true, Some(reason)) = (is_red, missing(&output, &slot.project, &slot.place.root, &slot.git)) {
            return Probed::Lacking(reason);
        }
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
    /// The probe, once for each verify command, that shows whether slots lack something that the project has.
    fn probe(&mut self, id: &TaskId) -> Option<Probe> {
        let excerpt = self.world.plans.excerpt(self.state, id)?;
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

    /// The work of earlier attempts: at the task itself or, for a fix task, at the one that it repairs.
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
        let (Some(git), Some(slots)) = (self.world.files.git().cloned(), self.world.slots.clone()) else {
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

    /// Brings what an earlier attempt left in a slot into the project, where the next one works. Where its files are changed
    /// there already, that was done before, or they are somebody's.
    pub(crate) fn bring_left_work(&mut self, id: &TaskId) -> Result<(), RunError> {
        let Some(git) = self.world.files.git() else { return Ok(()) };
        let (Some((base, work)), Some(head)) = (self.carried(id), git.head()?) else { return Ok(()) };
        let told = match git.join_work((&base, &work), &head)? {
            Join::Nothing => return Ok(()),
            Join::Tree(tree) => {
                let paths = git.changed_between(head.as_str(), tree.as_str())?;
                let changed = git.status()?.changes.into_iter().map(|change| change.path);
                if changed.into_iter().any(|path| paths.contains(&path)) {
                    return Ok(());
                }
                git.restore(tree.as_str(), &paths)?;
                git.forget_staged(&paths)?;
                format!("is in the project now: {}", listed(&paths))
            }
            Join::Conflict(conflict) => format!(
                "does not fit to what came in since ({}): the next one starts without it; until the task is done it is kept \
                 as commit {work}",
                listed(&conflict.files)
            ),
        };
        self.note_of(id, format!("what an earlier attempt at task {id} left in its work tree {told}"));
        Ok(())
    }

    /// Checks or judges work in a slot that was made ready again.
    pub(crate) fn go_on_in_slot(
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
}
