//! The start of verify commands, on an attempt's place, the landing tree or the project, and the checks that follow a
//! green one.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{
    ActionKey, Attempt, Before, Cause, CheckFailure, ChecksReport, Dispatch, Evidence, Failing, FileState,
    Seen,
};
use plan::{Script, TaskId};

use crate::attempt::AttemptFiles;
use crate::attempt::dispatch::Purpose;
use crate::attempt::invocation::Use;
use crate::check;
use crate::check::leaning::{Checked, Ran};
use crate::error::RunError;
use crate::git::{Git, GitError, Oid};
use crate::plan_file::Excerpt;
use crate::process::{self, Ended, Invocation};
use crate::run::effects::{Effects, Flight};
use crate::settings::{Bookkeeping, Scope};
use crate::work::places::Done;
use crate::work::project_files::listed;
use crate::worktrees::{LANDING, Slots, loads_project, missing};

impl Effects<'_, '_> {
    /// Runs a `[VERIFY]` command directly.
    pub(crate) fn start_proof(&mut self, key: ActionKey, id: &TaskId) -> Result<(), RunError> {
        let excerpt = self.world.plans.excerpt(self.state, id);
        let Some(script) = excerpt.and_then(|excerpt| self.script_of(id, &excerpt)) else {
            let failure = red(Cause::VerifyRed, "the verify command is gone from the plan");
            let report =
                ChecksReport { failure: Some(failure), warnings: Vec::new(), ..ChecksReport::default() };
            self.see(Seen::ProofEnded { task: id.clone(), report, uncommitted: Vec::new() });
            return Ok(());
        };
        let dir = AttemptFiles::of_proof(self.world.file, id).dir().to_owned();
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let head = self.world.files.git().map_or(Ok(None), Git::head)?;
        // What a command formats is wanted in the project.
        let is_apart = engine::proves_in_landing_tree(self.state, id) && !script.rewrites();
        let slots = self.world.slots.clone().filter(|_| is_apart);
        if let (Some(slots), Some(head)) = (slots.filter(|slots| self.is_about(id, &script, slots)), head) {
            let root = slots.root(LANDING);
            let purpose = Purpose::Proof { task: id.clone(), script, root, tree: None };
            let by = self.set_up_runner();
            return self.beside(key, purpose, move || Done::LandingTree(slots.show(LANDING, &head, &by)));
        }
        let root = self.world.project.root().to_owned();
        self.run_proof(key, (id, script), root)
    }

    /// True if a `[VERIFY]` command that runs in the landing tree is about that. Else it is told what leads elsewhere.
    fn is_about(&mut self, id: &TaskId, script: &Script, slots: &Slots) -> bool {
        let (git, project) = (self.world.files.git(), self.world.project.root());
        let elsewhere = git.and_then(|git| loads_project(script, project, &slots.root(LANDING), git));
        if let Some(reason) = &elsewhere {
            self.note_of(id, format!("{reason}; task {id} is proved in the project"));
        }
        elsewhere.is_none()
    }

    /// Starts a `[VERIFY]` command in a place that is ready.
    pub(crate) fn run_proof(
        &mut self,
        key: ActionKey,
        (id, script): (&TaskId, Script),
        root: PathBuf,
    ) -> Result<(), RunError> {
        let dir = AttemptFiles::of_proof(self.world.file, id).dir().to_owned();
        let is_here = root == self.world.project.root();
        let tree = if is_here { self.tree_before()? } else { None };
        let (task, run) = (id.clone(), script.clone());
        let purpose = Purpose::Proof { task, script: run, root: root.clone(), tree };
        self.start_script(key, (&script, root, LANDING), &dir, purpose);
        Ok(())
    }

    /// Runs the verify command of an attempt, or goes on to the checks after it where there is none.
    pub(crate) fn start_check(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
    ) -> Result<(), RunError> {
        let dir = self.attempt_dir(id, attempt, dispatch)?;
        let text = self.task_text(id, &dir);
        let excerpt = Excerpt::of(self.world.file, &text);
        match excerpt.as_ref().and_then(|excerpt| self.script_of(id, excerpt)) {
            Some(script) => {
                let (tree, looks) = (self.lying_tree(id)?, check::Looks::new(&dir));
                let purpose =
                    Purpose::Check { task: id.clone(), dispatch, text, script: script.clone(), tree, looks };
                self.start_script(key, (&script, self.workplace(id), self.slot_of(id)), &dir, purpose);
            }
            None => {
                let tree = self.lying_tree(id)?;
                let report = self.later_checks(id, &text, (Vec::new(), tree.as_deref()))?;
                let report = ChecksReport { hooks_gone: self.hooks_gone(id, &text), ..report };
                self.see(Seen::ChecksEnded { task: id.clone(), dispatch, report, tree });
            }
        }
        Ok(())
    }

    /// The tree that lies in the project while a task's work is verified there. What a slot holds is no fact about what
    /// comes in.
    fn lying_tree(&self, id: &TaskId) -> Result<Option<String>, GitError> {
        let git = self.world.files.git().filter(|_| !self.is_isolated(id));
        git.map_or(Ok(None), |git| Ok(Some(git.snapshot(&self.project_place())?.as_str().to_owned())))
    }

    /// The tree of a task's place while its work is verified there.
    pub(crate) fn looked_at(&self, id: &TaskId, lying: Option<&str>) -> Result<Option<String>, GitError> {
        let Some((git, work)) =
            self.world.files.git().zip(self.state.task(id).and_then(|task| task.work.as_ref()))
        else {
            return Ok(lying.map(str::to_owned));
        };
        if !self.is_isolated(id) {
            return Ok(lying.map(str::to_owned));
        }
        let commit = work.commit.as_ref().unwrap_or(&work.base);
        Oid::parse(commit).map(|commit| Ok(git.tree_of(&commit)?.as_str().to_owned())).transpose()
    }

    /// Runs the regression command.
    pub(crate) fn start_regression(&mut self, key: ActionKey) -> Result<(), RunError> {
        let Some(command) = &self.world.settings.regression else {
            self.see(Seen::RegressionEnded { report: ChecksReport::default() });
            return Ok(());
        };
        let script = Script::new(vec![command.clone()]);
        let dir = AttemptFiles::of_regression(self.world.file).dir().to_owned();
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let purpose = Purpose::Regression { script: script.clone() };
        self.start_script(key, (&script, self.world.project.root().to_owned(), LANDING), &dir, purpose);
        Ok(())
    }

    /// Starts a verify command in a place.
    pub(crate) fn start_script(
        &mut self,
        key: ActionKey,
        (script, cwd, slot): (&Script, PathBuf, u32),
        dir: &Path,
        purpose: Purpose,
    ) {
        let invocation = self.verification((script, cwd, slot), dir);
        let handle = process::start(&self.world.runtime, invocation, self.reporter(key.clone()));
        self.depart(key, Flight { handle: Some(handle), purpose });
    }

    /// A verify command as it is run in a place.
    pub(crate) fn verification(
        &mut self,
        (script, cwd, slot): (&Script, PathBuf, u32),
        dir: &Path,
    ) -> Invocation {
        let relocated = self.relocated(script, &cwd);
        let mut env = self.markers(dir);
        let env_remove = self.surroundings(&cwd, slot, Use::Verification, &mut env);
        Invocation {
            command: check::verify_program(relocated.as_ref().unwrap_or(script)),
            cwd,
            env,
            env_remove,
            stdin: None,
            stdout_log: dir.join("verify.out.log"),
            stderr_log: dir.join("verify.err.log"),
            limits: self.limits(self.world.settings.verify_timeout, None),
        }
    }

    /// Takes in the end of a command.
    pub(crate) fn land(&mut self, key: ActionKey, purpose: Purpose, ended: &Ended) -> Result<Seen, RunError> {
        match purpose {
            // The end of an agent comes with its own account.
            Purpose::Agent { .. } | Purpose::Judge { .. } | Purpose::Ask => Ok(Seen::TimePassed),
            Purpose::Proof { task, script, root, tree } => {
                self.verified_directly(key, task, (script, root, tree), ended)
            }
            Purpose::Check { task, dispatch, text, script, tree, mut looks } => {
                let place = self.workplace(&task);
                let report = verdict(&script, ended, &place);
                if let Some(reason) = self.missing_in(&place, (&report, ended)) {
                    return Ok(Seen::TreeFailed { task, dispatch, reason });
                }
                let looked_at = self.looked_at(&task, tree.as_deref())?;
                let was_red = self.was_red(&task, looked_at.as_deref());
                let is_contrary = was_red.is_some() && report.failure.is_none();
                if looks.take(report, ended, is_contrary) {
                    let (run, slot, dir) = (script.clone(), self.slot_of(&task), looks.dir.clone());
                    let purpose = Purpose::Check { task, dispatch, text, script, tree, looks };
                    self.start_script(key, (&run, place, slot), &dir, purpose);
                    return Ok(Seen::TimePassed);
                }
                let dir = looks.dir.clone();
                let settled = self.settled(&task, looks, &was_red.unwrap_or_default());
                let report = ChecksReport { tree: looked_at, ..settled };
                let report = match report.failure {
                    Some(_) => report,
                    None => {
                        self.pack_verified(&task, dispatch)?;
                        self.after_verify(&task, &text, (&script, report.warnings, tree.as_deref()))?
                    }
                };
                let facts = self.facts_beside(&task, &text)?;
                let report = ChecksReport { hooks_gone: self.hooks_gone(&task, &text), facts, ..report };
                let ran = if check::ran_no_test(ended, &place) { Ran::NoTest } else { Ran::Anything };
                let checked = Checked::new((task, dispatch), (script, dir, ran), (report, tree));
                self.checked(key, checked, &text)
            }
            Purpose::Leaning { checked } => self.leaned(key, *checked, ended),
            Purpose::Before { task, script, tree } => {
                self.look_for_written(&task, &script, tree.as_deref())?;
                Ok(match check::before::tried(&script, ended, self.world.project.root()) {
                    Some((before, failing)) => {
                        Seen::Found { task, evidence: Evidence::Before { before, tree, failing } }
                    }
                    None => Seen::TimePassed,
                })
            }
            Purpose::Regression { script } => {
                Ok(Seen::RegressionEnded { report: verdict(&script, ended, self.world.project.root()) })
            }
            Purpose::Join { task, dispatch, script, tree, looks } => {
                self.joined(key, (task, dispatch), (&script, tree, looks), ended)
            }
            // These end in other ways than by the end of a process.
            Purpose::Slot { .. }
            | Purpose::Again { .. }
            | Purpose::Look { .. }
            | Purpose::Landing { .. }
            | Purpose::Canary { .. }
            | Purpose::FinalProof
            | Purpose::Lock { .. }
            | Purpose::Forge(_) => Ok(Seen::TimePassed),
        }
    }

    /// Takes in the end of a command that is run without an agent.
    fn verified_directly(
        &mut self,
        key: ActionKey,
        task: TaskId,
        (script, root, tree): (Script, PathBuf, Option<String>),
        ended: &Ended,
    ) -> Result<Seen, RunError> {
        let mut report = verdict(&script, ended, &root);
        if let Some(reason) = self.missing_in(&root, (&report, ended)) {
            self.note_of(&task, format!("{reason}; task {task} is proved in the project"));
            self.run_proof(key, (&task, script), self.world.project.root().to_owned())?;
            return Ok(Seen::TimePassed);
        }
        if report.failure.is_none() && check::ran_no_test(ended, &root) {
            report.failure = self.without_tests(&task);
        }
        if report.failure.is_none() {
            self.look_for_written(&task, &script, tree.as_deref())?;
        }
        if report.failure.is_some() && root == self.world.project.root() {
            report.tree = self.lying_tree(&task)?;
        }
        let uncommitted = self.uncommitted_since_start()?;
        Ok(Seen::ProofEnded { task, report, uncommitted })
    }

    /// The paths that are changed in the project, not committed, and were not so when the run began.
    fn uncommitted_since_start(&mut self) -> Result<Vec<String>, RunError> {
        let mut uncommitted = self.world.files.dirty()?;
        let before = self.state.opened().map(|opened| opened.dirty.as_slice()).unwrap_or_default();
        uncommitted.retain(|path| !before.contains(path));
        Ok(uncommitted)
    }

    /// The checks that follow a green verify command.
    fn after_verify(
        &mut self,
        id: &TaskId,
        text: &str,
        (script, mut warnings, tree): (&Script, Vec<String>, Option<&str>),
    ) -> Result<ChecksReport, RunError> {
        if let Some(reason) = self.proves_nothing(id, script) {
            if self.world.settings.strict.is_on() {
                let failure =
                    red(Cause::ProvesNothing, &format!("the verify command proves nothing: {reason}"));
                return Ok(ChecksReport { failure: Some(failure), warnings, ..ChecksReport::default() });
            }
            warnings.push(format!("verify proves nothing: {reason}"));
        }
        self.later_checks(id, text, (warnings, tree))
    }

    /// That a green command ran no test is told, or refused where what proves nothing is.
    pub(crate) fn without_tests(&mut self, id: &TaskId) -> Option<CheckFailure> {
        if self.world.settings.strict.is_on() {
            return Some(red(
                Cause::ProvesNothing,
                "the verify command proves nothing: it is green, and not one test ran",
            ));
        }
        self.see(Seen::Found { task: id.clone(), evidence: Evidence::NoTestRan });
        None
    }

    /// The file that a red command lacks in a work tree, and that the project has and git ignores.
    pub(crate) fn missing_in(
        &self,
        place: &Path,
        (report, ended): (&ChecksReport, &Ended),
    ) -> Option<String> {
        let git = self
            .world
            .files
            .git()
            .filter(|_| place != self.world.project.root() && report.failure.is_some())?;
        let output = format!("{}\n{}", ended.stdout.text, ended.stderr.text);
        missing(&output, self.world.project.root(), place, git)
    }

    fn proves_nothing(&self, id: &TaskId, script: &Script) -> Option<String> {
        if let Some(reason) = script.cannot_fail() {
            return Some(reason);
        }
        let task = self.state.task(id)?;
        let is_work = task.decl.kind == engine::TaskKind::Work;
        // What was red at an earlier attempt and is green now proves that something happened in between.
        let was_red = task.failures.iter().any(|failure| failure.cause == Cause::VerifyRed);
        let is_unchanged = self.world.files.git().is_some() && task.touched.is_empty();
        let reason = match task.grounds.before {
            Some(Before::Green) => "it was green before, and git sees no change",
            Some(Before::Red) => return None,
            Some(Before::Unknown) | None => {
                "it is green and git sees no change, so it may have been green before"
            }
        };
        (is_work && is_unchanged && !was_red).then(|| reason.to_owned())
    }

    /// Bookkeeping and scope, and a look at what was added where they are green.
    fn later_checks(
        &mut self,
        id: &TaskId,
        text: &str,
        (warnings, tree): (Vec<String>, Option<&str>),
    ) -> Result<ChecksReport, RunError> {
        let report = self.bookkeeping_and_scope(id, text, (warnings, tree))?;
        if report.failure.is_none() {
            self.look_for_signs((id, text), tree)?;
        }
        Ok(report)
    }

    fn bookkeeping_and_scope(
        &mut self,
        id: &TaskId,
        text: &str,
        (mut warnings, tree): (Vec<String>, Option<&str>),
    ) -> Result<ChecksReport, RunError> {
        warnings.extend(self.likely_keys(id));
        warnings.extend(check::oddities(text, &self.touched_files(id)));
        if let Some(failure) = self.unresolved(id) {
            return Ok(ChecksReport { failure: Some(failure), warnings, ..ChecksReport::default() });
        }
        if self.world.settings.bookkeeping == Bookkeeping::Agent {
            let files = (&*self.committable_spec_files()?, &*self.uncommitted_work(id, tree)?);
            let missing =
                check::bookkeeping(self.world.files.git(), files, (self.state, &self.world.plans), id)?;
            if let Some(failure) = missing {
                return Ok(ChecksReport { failure: Some(failure), warnings, ..ChecksReport::default() });
            }
        }
        if self.world.settings.scope == Scope::Off {
            return Ok(ChecksReport { failure: None, warnings, ..ChecksReport::default() });
        }
        let touched = self.touched_files(id);
        let excerpt = Excerpt::of(self.world.file, text);
        let outside = excerpt.map(|excerpt| check::scope(&excerpt, &touched)).unwrap_or_default();
        let outside = self.still_changed(id, outside)?;
        if outside.is_empty() {
            return Ok(ChecksReport { failure: None, warnings, ..ChecksReport::default() });
        }
        let message = format!("changed outside the task's Files: {}", listed(&outside));
        if self.world.settings.scope == Scope::Reject {
            return Ok(ChecksReport {
                failure: Some(red(Cause::OutOfScope, &message)),
                warnings,
                ..ChecksReport::default()
            });
        }
        warnings.push(message);
        Ok(ChecksReport { failure: None, warnings, ..ChecksReport::default() })
    }

    /// The hooks that git ran when the task began and does not run any more, unless the task speaks of such things.
    fn hooks_gone(&self, id: &TaskId, text: &str) -> Vec<String> {
        const WORDS: [&str; 6] = ["hook", "husky", "pre-commit", "commit-msg", "pre-push", "lint-staged"];
        let before = self.state.task(id).and_then(|task| task.hooks.as_deref()).unwrap_or_default();
        let text = text.to_lowercase();
        let Some(git) = self.world.files.git().filter(|_| !before.is_empty()) else { return Vec::new() };
        if WORDS.iter().any(|word| text.contains(word)) {
            return Vec::new();
        }
        let now = git.active_hooks();
        before.iter().filter(|hook| !now.contains(hook)).cloned().collect()
    }

    /// The result that counts of a command, which was known for something before. That it is flaky is told to people, and to
    /// the next agent where it is red.
    pub(crate) fn settled(&mut self, id: &TaskId, looks: check::Looks, before: &str) -> ChecksReport {
        let told = looks.told(id, before);
        let mut report = looks.settled();
        if let Some(told) = told {
            if let Some(failure) = &mut report.failure {
                failure.details = format!("{told}\n\n{}", failure.details);
            }
            self.note_of(id, told);
        }
        report
    }

    /// The words for it where the command of a task was red before on the same files.
    fn was_red(&self, id: &TaskId, tree: Option<&str>) -> Option<String> {
        // A planner that hands in again what was sent back once says that it means it.
        if self.world.settings.planning.is_some() {
            return None;
        }
        let task = self.state.task(id)?;
        let red = task.red_on(tree?)?;
        Some(match task.failures.contains(red) {
            true => format!("red in attempt {}", red.attempt),
            false => "red before the attempt".to_owned(),
        })
    }

    /// The files of a task's work that were in no commit when it was verified.
    fn uncommitted_work(&self, id: &TaskId, verified: Option<&str>) -> Result<Vec<String>, RunError> {
        let (Some(git), Some(verified)) = (self.world.files.git(), verified) else { return Ok(Vec::new()) };
        let Some(head) = git.head()?.filter(|_| self.commit_message(id).is_some()) else {
            return Ok(Vec::new());
        };
        let paths = self.paths_of_work(id);
        let changed = git.changed_between(head.as_str(), verified)?.into_iter();
        Ok(changed.filter(|path| paths.contains(path) && !is_cache(path)).collect())
    }

    /// After a conflict: the files that still have its marks in them.
    fn unresolved(&self, id: &TaskId) -> Option<CheckFailure> {
        let task = self.state.task(id)?;
        let met = task.failures.iter().any(|failure| failure.cause == Cause::Conflict);
        let root = self.workplace(id);
        let marked = task.touched.iter().filter(|path| met && check::has_conflict_marks(&root.join(path)));
        let marked: Vec<&str> = marked.map(String::as_str).collect();
        let error = format!("the marks of a conflict are still in {}", marked.join(", "));
        (!marked.is_empty()).then(|| red(Cause::Conflict, &error))
    }

    /// Those of the paths that attempts at a task changed that still differ from what they were before the first of
    /// them: what a later attempt took back is no longer a change.
    pub(crate) fn still_changed(&self, id: &TaskId, paths: Vec<String>) -> Result<Vec<String>, RunError> {
        let base =
            self.state.task(id).filter(|task| !task.is_isolated()).and_then(|task| task.base.as_deref());
        match (self.world.files.git(), base) {
            (Some(git), Some(base)) if !paths.is_empty() => {
                let differing = git.differing_from(base)?;
                Ok(paths.into_iter().filter(|path| differing.contains(path)).collect())
            }
            (_, _) => Ok(paths),
        }
    }

    fn touched_files(&self, id: &TaskId) -> Vec<FileState> {
        let paths = self
            .state
            .task(id)
            .map(|task| task.touched.iter().cloned().collect::<Vec<_>>())
            .unwrap_or_default();
        paths.into_iter().map(|path| FileState { path, state: "modified".to_owned() }).collect()
    }
}

pub(crate) fn verdict(script: &Script, ended: &Ended, root: &Path) -> ChecksReport {
    match check::judge_verify(script, ended, root) {
        Ok(warning) => ChecksReport { warnings: warning.into_iter().collect(), ..ChecksReport::default() },
        Err(failure) => ChecksReport {
            failure: Some(check::or_missing(*failure, ended)),
            warnings: Vec::new(),
            ..ChecksReport::default()
        },
    }
}

/// True of what tools keep for themselves in folders of their own.
pub(crate) fn is_cache(path: &str) -> bool {
    path.split('/').any(|name| matches!(name, "__pycache__" | "node_modules") || is_hidden_cache(name))
}

/// As `.pytest_cache`, `.mypy_cache`, `.eslintcache`.
fn is_hidden_cache(name: &str) -> bool {
    name.starts_with('.') && name.ends_with("cache")
}

fn red(cause: Cause, error: &str) -> CheckFailure {
    CheckFailure {
        cause,
        error: error.to_owned(),
        details: String::new(),
        command: None,
        exit_code: None,
        failing: Failing::default(),
    }
}
