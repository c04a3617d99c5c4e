//! Agents and commands on behalf of a task: how they are started and what their end amounts to.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use engine::{
    ActionKey, AgentEnd, AgentReport, Attempt, Baseline, Cause, CheckFailure, ChecksReport, Claim, Dispatch,
    Facts, Failing, FileState, Role, Seen, Session, Spent, Status, Stuck, Usage,
};
use plan::{Script, TaskId, Verify};

use crate::agent::{Duty, Outcome, Words, agent_end};
use crate::attempt_files::AttemptFiles;
use crate::book::{Excerpt, OwnBox};
use crate::check;
use crate::delegation::{DISPATCH_MARKER, Delegation, REPORT_FILE};
use crate::driver::{Driver, Flight};
use crate::error::RunError;
use crate::forge::Stopper;
use crate::git::Oid;
use crate::judging::Judged;
use crate::mask::mask;
use crate::own_place::told_of_own_place;
use crate::process::{self, Ended, Exit, Invocation};
use crate::report;
use crate::settings::{Bookkeeping, Scope};
use crate::traces::listed;
use crate::turn::Release;

/// What a process is under way for.
pub(crate) enum Purpose {
    /// An attempt at a task.
    Agent { task: TaskId, at_work: AtWork, since: SystemTime, baseline: Baseline },
    /// A work tree is made ready for an attempt.
    Tree { delegated: Box<Delegated> },
    /// What an attempt left in its work tree is looked at.
    Survey { task: TaskId, dispatch: Dispatch, ended: Box<AgentEnded> },
    /// Work is brought from its tree into the project.
    Landing { task: TaskId, dispatch: Dispatch, release: Release },
    /// The verify command of an attempt, on all that came together.
    Join { task: TaskId, dispatch: Dispatch, script: Script },
    /// A judgement.
    Judge { task: TaskId, at_work: AtWork, facts: Facts, judged: Option<Judged> },
    /// A `[VERIFY]` command without an agent.
    Proof { task: TaskId, script: Script },
    /// The verify command of an attempt.
    Check { task: TaskId, dispatch: Dispatch, text: String, script: Script },
    /// The regression command.
    Regression { script: Script },
    /// A person's answer.
    Ask,
    /// Something at the forge.
    Forge(Stopper),
    /// Somebody's lock is waited for.
    Lock { release: Release },
}

/// An agent at work.
pub(crate) struct AtWork {
    pub dispatch: Dispatch,
    pub role: Role,
    pub agent: String,
    pub prompt: String,
    pub dir: PathBuf,
}

impl AtWork {
    /// What it used, for the record.
    pub(crate) fn spent(&self, task: &TaskId, usage: Usage, session: Option<Session>) -> Spent {
        let agent = self.agent.clone();
        Spent { task: task.clone(), dispatch: self.dispatch, agent, usage, session, interim: false }
    }
}

impl Purpose {
    /// The task whose agent or command it is, where that can be ended at any time.
    pub(crate) fn endable(&self) -> Option<&TaskId> {
        match self {
            Self::Agent { task, .. }
            | Self::Judge { task, .. }
            | Self::Proof { task, .. }
            | Self::Check { task, .. } => Some(task),
            // Work that comes in does so whole, and what is done beside the loop ends by itself.
            Self::Tree { .. }
            | Self::Survey { .. }
            | Self::Landing { .. }
            | Self::Join { .. }
            | Self::Regression { .. }
            | Self::Forge(_)
            | Self::Lock { .. }
            | Self::Ask => None,
        }
    }

    /// The agent at work, and what on, if it is one.
    pub(crate) fn at_work(&self) -> Option<(&TaskId, &AtWork)> {
        match self {
            Self::Agent { task, at_work, .. } | Self::Judge { task, at_work, .. } => Some((task, at_work)),
            Self::Tree { .. }
            | Self::Survey { .. }
            | Self::Landing { .. }
            | Self::Join { .. }
            | Self::Proof { .. }
            | Self::Check { .. }
            | Self::Regression { .. }
            | Self::Forge(_)
            | Self::Lock { .. }
            | Self::Ask => None,
        }
    }
}

/// An attempt that is to be started.
pub(crate) struct Delegated {
    pub task: TaskId,
    pub attempt: Attempt,
    pub dispatch: Dispatch,
    pub role: Role,
    pub dir: PathBuf,
    pub prompt: String,
    pub session: Option<Session>,
}

/// How an agent in a work tree ended, until it is known what it changed.
pub(crate) struct AgentEnded {
    pub end: AgentEnd,
    pub elapsed: Duration,
    /// What it noted down through tools.
    pub learnings: Vec<String>,
}

impl Driver<'_> {
    /// Starts an agent on a task.
    pub(crate) fn start_agent(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
        role: Role,
    ) -> Result<(), RunError> {
        let dir = self.attempt_dir(id, attempt, dispatch)?;
        let Some((prompt, session)) = self.words_for(id, (attempt, dispatch), role) else {
            return self.report_missing_task(id, dispatch);
        };
        self.keep_task_text(id, &dir)?;
        let delegated = Delegated { task: id.clone(), attempt, dispatch, role, dir, prompt, session };
        let head = self.running_baseline(id).head.as_deref().and_then(Oid::parse);
        if let (true, Some(head)) = (self.is_isolated(id), head) {
            return self.prepare_tree(key, (id, head), Purpose::Tree { delegated: Box::new(delegated) });
        }
        self.tell_of_left_tree(id);
        self.launch_agent(key, delegated)
    }

    /// Starts the process of an agent whose workplace is ready.
    pub(crate) fn launch_agent(&mut self, key: ActionKey, delegated: Delegated) -> Result<(), RunError> {
        let Delegated { task, attempt, dispatch, role, dir, prompt, session } = delegated;
        let baseline = self.running_baseline(&task);
        let since = SystemTime::now();
        self.note_hidden(&task);
        self.look_at_customs();
        let delegation = Delegation {
            task: &task,
            attempt,
            dispatch,
            role,
            duty: Duty::Work,
            dir,
            prompt,
            session,
            timeout: self.settings.attempt_timeout,
        };
        let (handle, at_work) = self.delegate(key.clone(), delegation)?;
        let purpose = Purpose::Agent { task, at_work, since, baseline };
        self.depart(key, Flight { handle: Some(handle), purpose });
        Ok(())
    }

    /// Runs a `[VERIFY]` command directly.
    pub(crate) fn start_proof(&mut self, key: ActionKey, id: &TaskId) -> Result<(), RunError> {
        let verify = self.book.excerpt(&self.state, id).map(|excerpt| excerpt.verify());
        let Some(Verify::Runnable(script)) = verify else {
            let failure = red(Cause::VerifyRed, "the verify command is gone from the plan");
            let report = ChecksReport { failure: Some(failure), warnings: Vec::new() };
            self.see(Seen::ProofEnded { task: id.clone(), report, uncommitted: Vec::new() });
            return Ok(());
        };
        let dir = AttemptFiles::of_proof(self.file, id).dir().to_owned();
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let purpose = Purpose::Proof { task: id.clone(), script: script.clone() };
        self.start_script(key, (&script, self.project.root().to_owned()), &dir, purpose);
        Ok(())
    }

    /// Runs the verify command of an attempt, or goes on to the checks after it where there is none.
    pub(crate) fn start_check(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
    ) -> Result<(), RunError> {
        if let Some(reason) = self.missing_trees(id) {
            self.see(Seen::Obstructed { reason });
            return Ok(());
        }
        let dir = self.attempt_dir(id, attempt, dispatch)?;
        let text = self.task_text(id, &dir);
        let excerpt = Excerpt::read(self.file.dialect, &text);
        match excerpt.as_ref().and_then(check::script_of) {
            Some(script) => {
                self.note_files(id);
                let purpose = Purpose::Check { task: id.clone(), dispatch, text, script: script.clone() };
                self.start_script(key, (&script, self.workplace(id)), &dir, purpose);
            }
            None => {
                let report = self.later_checks(id, &text, Vec::new())?;
                self.see(Seen::ChecksEnded { task: id.clone(), dispatch, report });
            }
        }
        Ok(())
    }

    /// Runs the regression command.
    pub(crate) fn start_regression(&mut self, key: ActionKey) -> Result<(), RunError> {
        let Some(command) = &self.settings.regression else {
            self.see(Seen::RegressionEnded { report: ChecksReport::default() });
            return Ok(());
        };
        let script = Script::new(vec![command.clone()]);
        let dir = AttemptFiles::of_regression(self.file).dir().to_owned();
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let purpose = Purpose::Regression { script: script.clone() };
        self.start_script(key, (&script, self.project.root().to_owned()), &dir, purpose);
        Ok(())
    }

    pub(crate) fn start_script(
        &mut self,
        key: ActionKey,
        (script, cwd): (&Script, PathBuf),
        dir: &Path,
        purpose: Purpose,
    ) {
        // It may ask git about what an agent has just changed.
        self.mend_repository();
        let invocation = Invocation {
            command: check::verify_program(script),
            cwd,
            env: self.markers(dir),
            stdin: None,
            stdout_log: dir.join("verify.out.log"),
            stderr_log: dir.join("verify.err.log"),
            limits: self.limits(self.settings.verify_timeout, None),
        };
        let handle = process::start(&self.runtime, invocation, self.reporter(key.clone()));
        self.depart(key, Flight { handle: Some(handle), purpose });
    }

    /// What the end of an agent amounts to.
    pub(crate) fn land_agent(
        &mut self,
        key: ActionKey,
        purpose: Purpose,
        (ended, outcome): &(Ended, Outcome),
    ) -> Result<Seen, RunError> {
        let Some((task, at_work)) = purpose.at_work() else { return self.land(purpose, ended) };
        sweep_if_killed(ended, &at_work.dir);
        mask_logs(&at_work.dir);
        self.mend_repository();
        self.tell_of_customs(task);
        let (dialect, role) = (self.settings.rules.dialect, at_work.role);
        let duty = if matches!(purpose, Purpose::Judge { .. }) { Duty::Judge } else { Duty::Work };
        let end = agent_end(ended, outcome, Words { prompt: &at_work.prompt, dialect, role, duty });
        let reports = report::reports(&at_work.dir.join(REPORT_FILE));
        let end = report::with_reports(end, &reports, role);
        let spent = at_work.spent(task, outcome.usage, outcome.session.clone());
        self.decide(Seen::Spent { spent: Box::new(spent) })?;
        match purpose {
            Purpose::Agent { task, at_work, since, baseline } => {
                let end = self.spell_out(end);
                let mut learnings: Vec<String> = report::learnings(&reports).collect();
                // Nobody goes on with what the agent of a skipped task asks for.
                let asked = if self.state.is_leaving(&task) { Vec::new() } else { report::changes(&reports) };
                if self.is_isolated(&task) {
                    let requested = self.request_changes(&task, &asked)?;
                    let end = requested.holding_up(end);
                    learnings.extend(requested.notes);
                    let ended = AgentEnded { end, elapsed: ended.elapsed, learnings };
                    self.survey(key, (task, at_work.dispatch), ended)?;
                    return Ok(Seen::TimePassed);
                }
                let mut report =
                    self.settle((&task, &at_work.dir), &baseline, since, (end, ended.elapsed))?;
                self.tell_of_left_work(&task, &report.touched);
                let requested = self.request_changes(&task, &asked)?;
                report.end = requested.holding_up(report.end);
                learnings.extend(requested.notes);
                report.learnings.extend(learnings);
                Ok(Seen::AgentEnded { task, dispatch: at_work.dispatch, report })
            }
            Purpose::Judge { task, at_work, facts, judged } => {
                if let Some(judged) = judged {
                    self.put_back_judged(&task, &judged, &at_work.dir)?;
                }
                let tampered = self.inspect_plan(&task, &at_work.dir, OwnBox::PutBack)?;
                let report = AgentReport {
                    end,
                    tampered,
                    lost_commit: None,
                    touched: Vec::new(),
                    learnings: Vec::new(),
                    elapsed: ended.elapsed,
                };
                self.tree.forget();
                Ok(Seen::JudgeEnded { task, dispatch: at_work.dispatch, report, facts })
            }
            Purpose::Tree { .. }
            | Purpose::Survey { .. }
            | Purpose::Landing { .. }
            | Purpose::Join { .. }
            | Purpose::Proof { .. }
            | Purpose::Check { .. }
            | Purpose::Regression { .. }
            | Purpose::Forge(_)
            | Purpose::Lock { .. }
            | Purpose::Ask => Ok(Seen::TimePassed),
        }
    }

    /// What the end of a command amounts to.
    pub(crate) fn land(&mut self, purpose: Purpose, ended: &Ended) -> Result<Seen, RunError> {
        match purpose {
            // The end of an agent comes with its own account.
            Purpose::Agent { .. } | Purpose::Judge { .. } | Purpose::Ask => Ok(Seen::TimePassed),
            Purpose::Proof { task, script } => {
                let report = verdict(&script, ended, self.project.root());
                self.tree.forget();
                let uncommitted = self.uncommitted_since_start()?;
                Ok(Seen::ProofEnded { task, report, uncommitted })
            }
            Purpose::Check { task, dispatch, text, script } => {
                let report = verdict(&script, ended, &self.workplace(&task));
                // What a verify command leaves behind belongs to nobody's work.
                self.tree.forget();
                let report = match report.failure {
                    Some(_) => report,
                    None => self.after_verify(&task, &text, (&script, report.warnings))?,
                };
                Ok(Seen::ChecksEnded { task, dispatch, report })
            }
            Purpose::Regression { script } => {
                Ok(Seen::RegressionEnded { report: verdict(&script, ended, self.project.root()) })
            }
            Purpose::Join { task, dispatch, script } => self.joined((task, dispatch), &script, ended),
            // These end in other ways than by the end of a process.
            Purpose::Tree { .. }
            | Purpose::Survey { .. }
            | Purpose::Landing { .. }
            | Purpose::Lock { .. }
            | Purpose::Forge(_) => Ok(Seen::TimePassed),
        }
    }

    /// A blocker is named in any of the ways that tasks are spelled.
    fn spell_out(&self, mut end: engine::AgentEnd) -> engine::AgentEnd {
        if let engine::AgentEnd::Answered { claim: Claim::Stuck(Stuck { by: Some(by), .. }), .. } = &mut end
            && let Some(id) = self.book.spelled(by)
        {
            *by = id.to_string();
        }
        end
    }

    /// After an attempt: the plan file is put in order, and what the attempt changed is noted.
    fn settle(
        &mut self,
        (task, dir): (&TaskId, &Path),
        baseline: &Baseline,
        since: SystemTime,
        (end, elapsed): (engine::AgentEnd, Duration),
    ) -> Result<AgentReport, RunError> {
        // After the end of the run nobody examines what an agent claims.
        let own_box = match self.settings.bookkeeping {
            Bookkeeping::Agent if self.state.end().is_none() => OwnBox::Keep,
            Bookkeeping::Agent | Bookkeeping::Coordinator => OwnBox::PutBack,
        };
        let tampered = self.inspect_plan(task, dir, own_box)?;
        let touched = self.touched_here(task, baseline, since)?;
        self.look_inside(task, (baseline, since), &touched)?;
        let lost_commit = self.tree.lost_commit(baseline)?;
        let learnings = self.read_learnings(task);
        let report = AgentReport { end, tampered, lost_commit, touched, learnings, elapsed };
        Ok(report)
    }

    pub(crate) fn inspect_plan(
        &mut self,
        task: &TaskId,
        dir: &Path,
        own_box: OwnBox,
    ) -> Result<Vec<TaskId>, RunError> {
        let path = self.file.path.clone();
        let aside = dir.join("plan-as-left.md");
        let inspection = self.book.inspect(task, own_box, &aside).map_err(RunError::io("put back", path))?;
        for (ids, what) in [(&inspection.added, "added to"), (&inspection.reworded, "reworded in")] {
            if !ids.is_empty() {
                let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
                self.note_of(
                    task,
                    format!(
                        "while task {task} was running, these tasks were {what} the plan: {}",
                        names.join(", ")
                    ),
                );
            }
        }
        if !inspection.restored.is_empty() {
            let names: Vec<String> = inspection.restored.iter().map(ToString::to_string).collect();
            self.note(format!(
                "gone from the plan while task {task} was running, and put back, since an agent may have done it: {}; \
                 to drop it for good, delete it again, or while nothing runs in the project",
                names.join(", ")
            ));
        }
        Ok(inspection.tampered)
    }

    /// What is changed in the project, not committed, and was not so when the run began.
    fn uncommitted_since_start(&mut self) -> Result<Vec<String>, RunError> {
        let mut uncommitted = self.tree.baseline()?.dirty;
        let before = self.state.opened().map(|opened| opened.dirty.as_slice()).unwrap_or_default();
        uncommitted.retain(|path| !before.contains(path));
        Ok(uncommitted)
    }

    /// The checks that follow a green verify command.
    fn after_verify(
        &mut self,
        id: &TaskId,
        text: &str,
        (script, mut warnings): (&Script, Vec<String>),
    ) -> Result<ChecksReport, RunError> {
        if let Some(reason) = self.proves_nothing(id, script) {
            if self.settings.strict.is_on() {
                let failure =
                    red(Cause::ProvesNothing, &format!("the verify command proves nothing: {reason}"));
                return Ok(ChecksReport { failure: Some(failure), warnings });
            }
            warnings.push(format!("verify proves nothing: {reason}"));
        }
        self.later_checks(id, text, warnings)
    }

    fn proves_nothing(&self, id: &TaskId, script: &Script) -> Option<String> {
        if let Some(reason) = script.cannot_fail() {
            return Some(reason);
        }
        let task = self.state.task(id)?;
        let is_work = task.decl.kind == engine::TaskKind::Work;
        // What was red at an earlier attempt and is green now proves that something happened in between.
        let was_red = task.failures.iter().any(|failure| failure.cause == Cause::VerifyRed);
        let is_unchanged = self.tree.git().is_some() && task.touched.is_empty();
        (is_work && is_unchanged && !was_red)
            .then(|| "it is green and git sees no change, so it may have been green before".to_owned())
    }

    /// Bookkeeping and scope.
    fn later_checks(
        &mut self,
        id: &TaskId,
        text: &str,
        mut warnings: Vec<String>,
    ) -> Result<ChecksReport, RunError> {
        let remnants = self.site(id).filter(|_| self.is_isolated(id)).map(|site| site.remnants());
        let unsaved = if remnants.is_none() { self.unsaved_failure(id) } else { None };
        if let Some(failure) = remnants.and_then(|remnants| remnants.failure()).or(unsaved) {
            return Ok(ChecksReport { failure: Some(failure), warnings });
        }
        if let Some(failure) = self.unresolved(id) {
            return Ok(ChecksReport { failure: Some(failure), warnings });
        }
        if let Some(task) = self.state.task(id).filter(|task| task.isolated) {
            warnings.extend(told_of_own_place(&self.workplace(id), &task.touched));
        }
        if self.settings.bookkeeping == Bookkeeping::Agent {
            let spec_files = self.committable_spec_files()?;
            let missing = check::bookkeeping(self.tree.git(), &spec_files, (&self.state, &self.book), id)?;
            if let Some(failure) = missing {
                return Ok(ChecksReport { failure: Some(failure), warnings });
            }
        }
        if self.settings.scope == Scope::Off {
            return Ok(ChecksReport { failure: None, warnings });
        }
        let touched = self.touched_files(id);
        let excerpt = Excerpt::read(self.file.dialect, text);
        let outside = excerpt.map(|excerpt| check::scope(&excerpt, &touched)).unwrap_or_default();
        let outside = self.still_changed(id, outside)?;
        if outside.is_empty() {
            return Ok(ChecksReport { failure: None, warnings });
        }
        let message = format!("changed outside the task's Files: {}", listed(&outside));
        if self.settings.scope == Scope::Reject {
            return Ok(ChecksReport { failure: Some(red(Cause::OutOfScope, &message)), warnings });
        }
        warnings.push(message);
        Ok(ChecksReport { failure: None, warnings })
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
        let base = self.state.task(id).filter(|task| !task.isolated).and_then(|task| task.base.as_deref());
        match (self.tree.git(), base) {
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

    fn running_baseline(&self, id: &TaskId) -> Baseline {
        match self.state.task(id).map(|task| &task.status) {
            Some(Status::Running(running)) => {
                Baseline { head: running.head.clone(), dirty: running.dirty.clone() }
            }
            _ => Baseline::default(),
        }
    }

    /// A task that vanished between being prepared and being started is found out at the next look.
    pub(crate) fn report_missing_task(&mut self, id: &TaskId, dispatch: Dispatch) -> Result<(), RunError> {
        let end = engine::AgentEnd::Unavailable {
            reason: format!("task {id} is gone from the plan"),
            retry_after: Some(Duration::ZERO),
        };
        let report = AgentReport {
            end,
            tampered: Vec::new(),
            lost_commit: None,
            touched: Vec::new(),
            learnings: Vec::new(),
            elapsed: Duration::ZERO,
        };
        self.see(Seen::AgentEnded { task: id.clone(), dispatch, report });
        Ok(())
    }
}

/// Where there are no namespaces and somebody killed the keeper itself, its charges are looked for one by one.
fn sweep_if_killed(ended: &Ended, dir: &Path) {
    const KILLED: i32 = 9;
    if ended.exit == Exit::Signal(KILLED) {
        process::sweep(&format!("{DISPATCH_MARKER}={}", dir.display()));
    }
}

/// What looks like a key does not stay in the logs either. A log that cannot be rewritten is still a log.
fn mask_logs(dir: &Path) {
    for name in ["stdout.log", "stderr.log"] {
        let path = dir.join(name);
        let Ok(bytes) = fs::read(&path) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let masked = mask(&text);
        if masked != text {
            let _ = fs::write(&path, masked);
        }
    }
}

pub(crate) fn verdict(script: &Script, ended: &Ended, root: &Path) -> ChecksReport {
    match check::judge_verify(script, ended, root) {
        Ok(warning) => ChecksReport { failure: None, warnings: warning.into_iter().collect() },
        Err(failure) => {
            ChecksReport { failure: Some(check::or_missing(*failure, ended)), warnings: Vec::new() }
        }
    }
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
