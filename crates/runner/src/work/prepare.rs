//! The preparation of a slot for an attempt: it shows what is checked out, with what an earlier attempt left, and a
//! verify command is tried in it before an agent is paid for.

use std::fs;
use std::path::PathBuf;

use engine::{Action, ActionKey, Before, Evidence, Failing, Seen};
use plan::{Script, TaskId};

use crate::attempt::dispatch::Purpose;
use crate::check::before::{Trial, tried};
use crate::error::RunError;
use crate::git::{Git, GitError, Join, Keep, Oid, Paths, Place};
use crate::process::{Ended, Exit, Invocation};
use crate::run::effects::Effects;
use crate::work::pack::fingerprint;
use crate::work::places::Done;
use crate::work::project_files::listed;
use crate::worktrees::{
    LANDING, SetUpRunner, Slots, Unready, lacking_packages, loads_project, missing, setting,
};

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
    /// The result of the task's command before the work, where that was tried.
    pub(super) evidence: Option<Evidence>,
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
    /// The task's command, to be tried before the work.
    trial: Option<SlotTrial>,
    /// The project's folder, and what of it belongs to the plan.
    project: PathBuf,
    plan_files: Vec<String>,
}

impl Preparation {
    fn run(&self) -> Result<Ready, Unready> {
        self.slots.forget_indexes(Some(self.slot));
        let mut notes = self.slots.show(self.slot, &self.head, &self.by)?;
        let before = match self.trial.as_ref().map_or(Tried::Nothing, |trial| trial.run_in(self)) {
            Tried::Nothing => None,
            Tried::Lacking(reason) => return Err(Unready::Lacking { reason }),
            Tried::CutShort(before) => {
                self.slots.distrust(self.slot);
                notes.extend(self.slots.show(self.slot, &self.head, &self.by)?);
                before
            }
            Tried::Ended(before) => {
                self.tidy().map_err(Unready::NoTree)?;
                before
            }
        };
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
        let tree = self.git.tree_of(&self.head).map_err(Unready::NoTree)?;
        let tree = Some(tree.as_str().to_owned());
        let evidence = before.map(|(before, failing)| Evidence::Before { before, tree, failing });
        Ok(Ready { notes, evidence, plan })
    }

    /// After a command was tried: what it wrote is nobody's work.
    fn tidy(&self) -> Result<(), GitError> {
        let head = self.git.tree_of(&self.head)?;
        self.git.begin_index(&self.place)?;
        let now = self.git.snapshot(&self.place)?;
        let changed = self.git.changed_between(head.as_str(), now.as_str())?;
        let scratch = self.place.index.with_extension("scratch");
        self.git.put_back(&head, &Paths { tree: &self.place.root, paths: &changed, scratch: &scratch })
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

/// A verify command that is tried in a slot before an agent is paid for. It shows what was so before the work, and whether
/// the slot lacks something: red there and green in the project, it does.
struct SlotTrial {
    script: Script,
    in_slot: Invocation,
    in_project: Invocation,
    /// True if its result at the base is to be known.
    is_due: bool,
    /// True if nobody has looked yet whether slots lack something that it needs.
    is_first: bool,
}

/// The result of trying a command in a slot. Where it was not due, that it was red or green is not told.
enum Tried {
    /// It was not run.
    Nothing,
    /// It ended.
    Ended(Option<(Before, Failing)>),
    /// It needs a file that is missing; with what to set.
    Lacking(String),
    /// It did not end in time, and may have left anything half written.
    CutShort(Option<(Before, Failing)>),
}

impl SlotTrial {
    /// Runs the command where its result is due, or where the project has something that git ignores and that is not in
    /// the slot.
    fn run_in(&self, slot: &Preparation) -> Tried {
        if let Some(reason) = loads_project(&self.script, &slot.project, &slot.place.root, &slot.git) {
            return Tried::Lacking(reason);
        }
        let lacks = |path: &String| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
            let is_output = OUTPUTS.contains(&name) || crate::work::project_files::is_own(path);
            !is_output && !slot.place.root.join(path).exists()
        };
        let ignored = slot.git.ignored_in_project().unwrap_or_default();
        let lacking: Vec<String> = ignored.into_iter().filter(|path| self.is_first && lacks(path)).collect();
        if lacking.is_empty() && !self.is_due {
            return Tried::Nothing;
        }
        let ended = slot.by.run(self.in_slot.clone());
        let before = tried(&self.script, &ended, &slot.place.root).filter(|_| self.is_due);
        let Ended { exit, stdout, stderr, .. } = ended;
        if !exit.is_whole() {
            return Tried::CutShort(before);
        }
        let is_red = matches!(exit, Exit::Code(code) if code != 0) && !lacking.is_empty();
        let root = &slot.place.root;
        let output = format!("{}\n{}", stdout.text, stderr.text);
        if let (true, Some(reason)) = (is_red, missing(&output, &slot.project, root, &slot.git)) {
            return Tried::Lacking(reason);
        }
        if !is_red {
            return Tried::Ended(before);
        }
        if slot.by.run(self.in_project.clone()).exit != Exit::Code(0) {
            // Red in both, as before new tests are there: whether packages are missing shows only after the work.
            let packages = || lacking_packages(&slot.project, root, &slot.git);
            let lacking = self.script.runs_node().then(packages).flatten();
            return lacking.map_or(Tried::Ended(before), Tried::Lacking);
        }
        let advice = setting(&slot.git).map_or_else(
            || "have worktree_copy or worktree_setup in tillgreen.toml bring it there".to_owned(),
            |setting| format!("set {setting} in tillgreen.toml"),
        );
        Tried::Lacking(format!(
            "the verify command is green in the project and red in a new work tree, which lacks what git ignores ({}): {advice}",
            listed(&lacking)
        ))
    }
}

impl Effects<'_, '_> {
    /// The command of a task that is to be tried in its slot. Whether slots lack something is looked at once for each
    /// command.
    fn slot_trial(&mut self, id: &TaskId, head: &Oid) -> Result<Option<SlotTrial>, RunError> {
        let git = self.world.files.git();
        let shown = git.map(|git| git.tree_of(head)).transpose()?.map(|tree| tree.as_str().to_owned());
        let is_due = matches!(self.trial_of(id, |_| Ok(shown))?, Trial::Due(_));
        let excerpt = self.world.plans.excerpt(self.state, id);
        let Some(script) = excerpt.as_ref().and_then(|excerpt| self.script_of(id, excerpt)) else {
            return Ok(None);
        };
        let is_first = self.world.remarks.probed.insert(script.source());
        let (place, slot) = (self.workplace(id), self.slot_of(id));
        let in_slot = self.invocation_before(&script, (place, slot));
        let in_project = self.invocation_before(&script, (self.world.project.root().to_owned(), LANDING));
        let (Some(in_slot), Some(in_project), true) = (in_slot, in_project, is_due || is_first) else {
            return Ok(None);
        };
        Ok(Some(SlotTrial { script, in_slot, in_project, is_due, is_first }))
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
        let (carried, trial) = (self.carried(id), self.slot_trial(id, &head)?);
        self.make_ready(key, (id, head), (carried, trial), purpose)
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
        (carried, trial): (Option<(Oid, Oid)>, Option<SlotTrial>),
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
            trial,
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
