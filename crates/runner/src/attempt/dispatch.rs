//! Agents on behalf of a task: how they are started, and what their end amounts to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use engine::{
    Action, ActionKey, AgentEnd, AgentReport, Attempt, Baseline, CheckFailure, ChecksReport, Claim, Dispatch,
    Evidence, Facts, FileState, Role, Seen, Session, Spent, Status, Stuck, Usage,
};
use plan::{Script, TaskId};

use crate::agent::{Duty, Outcome, Words, agent_end};
use crate::attempt::invocation::{DISPATCH_MARKER, Delegation, REPORT_FILE};
use crate::attempt::judge::Judged;
use crate::attempt::report;
use crate::check::Looks;
use crate::check::leaning::Checked;
use crate::error::RunError;
use crate::forge::Stopper;
use crate::git::{Change, ChangeKind, GitError, Oid};
use crate::landing::project_lock::Release;
use crate::mask::mask;
use crate::plan_file::OwnBox;
use crate::process::{self, Ended, Exit};
use crate::run::effects::{Effects, Flight};
use crate::settings::Bookkeeping;
use crate::work::pack::{touched, unfit, unreadable};
use crate::work::project_files::{changed_since, listed};
use crate::work::shared_folder::without_others;

/// The purpose of something under way.
pub(crate) enum Purpose {
    /// An attempt at a task.
    Agent { task: TaskId, at_work: AtWork, before: Before },
    /// The verify command of a task, before the work, on the tree that lies in the project.
    Before { task: TaskId, script: Script, tree: Option<String> },
    /// A slot is made ready for an attempt.
    Slot { delegated: Box<Delegated> },
    /// A slot in which something was cut short is made ready again, with the work in it, for what is to be done there.
    Again { action: Action },
    /// Looks at what an attempt left in its slot.
    Look { task: TaskId, dispatch: Dispatch, ended: Box<AgentEnded> },
    /// Work is joined and committed in the landing tree.
    Landing { task: TaskId, dispatch: Dispatch },
    /// The verify command of an attempt, on the tree that came together.
    Join { task: TaskId, dispatch: Dispatch, script: Script, tree: Option<String>, looks: Looks },
    /// A file of work that was green is broken on purpose.
    Canary { task: TaskId, dispatch: Dispatch, report: ChecksReport, tree: Option<String> },
    /// A judgement.
    Judge { task: TaskId, at_work: AtWork, facts: Facts, judged: Option<Judged> },
    /// A `[VERIFY]` command without an agent.
    Proof { task: TaskId, script: Script, root: PathBuf, tree: Option<String> },
    /// The verify command of an attempt, on the tree that lies in its place.
    Check {
        task: TaskId,
        dispatch: Dispatch,
        text: String,
        script: Script,
        tree: Option<String>,
        looks: Looks,
    },
    /// The same with files as they were before the task.
    Leaning { checked: Box<Checked> },
    /// The regression command.
    Regression { script: Script },
    /// The final proof.
    FinalProof,
    /// A person's answer.
    Ask,
    /// Something at the forge.
    Forge(Stopper),
    /// Waits for another process's lock.
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
    /// The usage, for the record.
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
            | Self::Before { task, .. }
            | Self::Proof { task, .. }
            | Self::Check { task, .. } => Some(task),
            Self::Leaning { checked } => Some(&checked.task),
            // Work that comes in does so whole, and what is done beside the loop ends by itself.
            Self::Slot { .. }
            | Self::Again { .. }
            | Self::Look { .. }
            | Self::Landing { .. }
            | Self::Join { .. }
            | Self::Canary { .. }
            | Self::Regression { .. }
            | Self::FinalProof
            | Self::Forge(_)
            | Self::Lock { .. }
            | Self::Ask => None,
        }
    }

    /// The agent at work, and what on, if it is one.
    pub(crate) fn at_work(&self) -> Option<(&TaskId, &AtWork)> {
        match self {
            Self::Agent { task, at_work, .. } | Self::Judge { task, at_work, .. } => Some((task, at_work)),
            Self::Before { .. }
            | Self::Slot { .. }
            | Self::Again { .. }
            | Self::Look { .. }
            | Self::Landing { .. }
            | Self::Join { .. }
            | Self::Canary { .. }
            | Self::Proof { .. }
            | Self::Check { .. }
            | Self::Leaning { .. }
            | Self::Regression { .. }
            | Self::FinalProof
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

/// The state of a place when an agent began.
pub(crate) struct Before {
    pub baseline: Baseline,
    pub since: SystemTime,
    /// Submodules that had uncommitted changes already.
    unsaved: BTreeSet<String>,
    /// The paths that people had staged.
    staged: BTreeSet<String>,
    /// The paths that git ignored.
    ignored: Vec<String>,
    /// The files of the plan in a slot, each with a sum.
    plan: Vec<(PathBuf, String)>,
}

/// The end of an agent in a slot, until it is known what it changed.
pub(crate) struct AgentEnded {
    pub end: AgentEnd,
    pub elapsed: Duration,
    /// The files of the plan as it found them.
    pub plan: Vec<(PathBuf, String)>,
    /// The learnings that it noted through tools.
    pub learnings: Vec<String>,
}

impl Effects<'_, '_> {
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
            return self.prepare_slot(key, (id, head), Purpose::Slot { delegated: Box::new(delegated) });
        }
        self.bring_left_work(id)?;
        self.launch_agent(key, delegated, Vec::new())
    }

    /// Starts the process of an agent whose workplace is ready.
    pub(crate) fn launch_agent(
        &mut self,
        key: ActionKey,
        delegated: Delegated,
        plan: Vec<(PathBuf, String)>,
    ) -> Result<(), RunError> {
        let Delegated { task, attempt, dispatch, role, dir, prompt, session } = delegated;
        let before = self.before(&task, plan);
        self.remember_config();
        let delegation = Delegation {
            task: &task,
            attempt,
            dispatch,
            role,
            duty: Duty::Work,
            dir,
            prompt,
            session,
            timeout: self.world.settings.attempt_timeout,
        };
        let (handle, at_work) = self.delegate(key.clone(), delegation)?;
        let purpose = Purpose::Agent { task, at_work, before };
        self.depart(key, Flight { handle: Some(handle), purpose });
        Ok(())
    }

    /// The state of a task's place before its agent begins. Where git cannot tell, nobody is blamed.
    fn before(&self, id: &TaskId, plan: Vec<(PathBuf, String)>) -> Before {
        let git = self.world.files.git().filter(|_| !self.is_isolated(id));
        Before {
            baseline: self.running_baseline(id),
            since: SystemTime::now(),
            unsaved: git.and_then(|git| git.unsaved_submodules(git.root()).ok()).unwrap_or_default(),
            staged: git.and_then(|git| git.staged().ok()).unwrap_or_default(),
            ignored: git.and_then(|git| git.ignored_in_project().ok()).unwrap_or_default(),
            plan,
        }
    }

    /// Takes in the end of an agent.
    pub(crate) fn land_agent(
        &mut self,
        key: ActionKey,
        purpose: Purpose,
        (ended, outcome): &(Ended, Outcome),
    ) -> Result<Seen, RunError> {
        let Some((task, at_work)) = purpose.at_work() else { return self.land(key, purpose, ended) };
        sweep_if_killed(ended, &at_work.dir);
        mask_logs(&at_work.dir);
        self.tell_of_config(task);
        let (dialect, role) = (self.world.settings.rules.dialect, at_work.role);
        let duty = if matches!(purpose, Purpose::Judge { .. }) { Duty::Judge } else { Duty::Work };
        let end = agent_end(ended, outcome, Words { prompt: &at_work.prompt, dialect, role, duty });
        let reports = report::reports(&at_work.dir.join(REPORT_FILE));
        let end = report::with_reports(end, &reports, role);
        let spent = at_work.spent(task, outcome.usage, outcome.session.clone());
        self.see(Seen::Spent { spent: Box::new(spent) });
        match purpose {
            Purpose::Agent { task, at_work, before } => {
                let end = self.spell_out(end);
                let mut learnings: Vec<String> = report::learnings(&reports).collect();
                // Nobody goes on with what the agent of a skipped task asks for.
                let asked = if self.state.is_leaving(&task) { Vec::new() } else { report::changes(&reports) };
                if self.is_isolated(&task) {
                    let requested = self.request_changes(&task, &asked)?;
                    let end = requested.holding_up(end);
                    learnings.extend(requested.notes);
                    let ended = AgentEnded { end, elapsed: ended.elapsed, learnings, plan: before.plan };
                    self.look_at_slot(key, (task, at_work.dispatch), ended)?;
                    return Ok(Seen::TimePassed);
                }
                let mut report = self.settle((&task, &at_work.dir), &before, (end, ended.elapsed))?;
                self.tell_of_skipped_work(&task, &report.touched, None);
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
                    unfit: None,
                    learnings: Vec::new(),
                    elapsed: ended.elapsed,
                };
                Ok(Seen::JudgeEnded { task, dispatch: at_work.dispatch, report, facts })
            }
            Purpose::Before { .. }
            | Purpose::Slot { .. }
            | Purpose::Again { .. }
            | Purpose::Look { .. }
            | Purpose::Landing { .. }
            | Purpose::Join { .. }
            | Purpose::Canary { .. }
            | Purpose::Proof { .. }
            | Purpose::Check { .. }
            | Purpose::Leaning { .. }
            | Purpose::Regression { .. }
            | Purpose::FinalProof
            | Purpose::Forge(_)
            | Purpose::Lock { .. }
            | Purpose::Ask => Ok(Seen::TimePassed),
        }
    }

    /// A blocker is named in any of the ways that tasks are spelled.
    fn spell_out(&self, mut end: engine::AgentEnd) -> engine::AgentEnd {
        if let engine::AgentEnd::Answered { claim: Claim::Stuck(Stuck { by: Some(by), .. }), .. } = &mut end
            && let Some(id) = self.world.plans.spelled(by)
        {
            *by = id.to_string();
        }
        end
    }

    /// After an attempt: the plan file is put in order, and what the attempt changed is noted.
    fn settle(
        &mut self,
        (task, dir): (&TaskId, &Path),
        before: &Before,
        (end, elapsed): (engine::AgentEnd, Duration),
    ) -> Result<AgentReport, RunError> {
        // After the end of the run nobody examines what an agent claims.
        let own_box = match self.world.settings.bookkeeping {
            Bookkeeping::Agent if self.state.end().is_none() => OwnBox::Keep,
            Bookkeeping::Agent | Bookkeeping::Coordinator => OwnBox::PutBack,
        };
        let tampered = self.inspect_plan(task, dir, own_box)?;
        let (touched, unfit) = self.left_here(task, before)?;
        let lost_commit = self.lost_commit(&before.baseline)?;
        let learnings = self.read_learnings(task);
        Ok(AgentReport { end, tampered, lost_commit, touched, unfit, learnings, elapsed })
    }

    /// The changes of an attempt in the project itself, and why no commit could hold them.
    fn left_here(
        &mut self,
        task: &TaskId,
        before: &Before,
    ) -> Result<(Vec<FileState>, Option<CheckFailure>), RunError> {
        let Some(git) = self.world.files.git() else { return Ok((Vec::new(), None)) };
        let from = before.baseline.tree.as_ref().or(before.baseline.head.as_ref());
        let Some(from) = from.cloned() else { return Ok((Vec::new(), None)) };
        let mut left = match git.look(&self.project_place(), &from) {
            Ok(left) => left,
            Err(error) if error.is_of_files() => return Ok((Vec::new(), Some(unreadable(&error)))),
            Err(error) => return Err(error.into()),
        };
        let root = self.world.project.root().to_owned();
        // What was there before and git ignored is nobody's work, whoever changed what git ignores.
        let was_ignored = |path: &str| {
            let is_in = |folder: &String| path == folder || folder.ends_with('/') && path.starts_with(folder);
            before.ignored.iter().any(is_in)
        };
        let is_uncovered = |change: &Change| {
            let is_old = || changed_since(&root.join(&change.path), before.since) == Some(false);
            change.kind == ChangeKind::Added && was_ignored(&change.path) && is_old()
        };
        let (uncovered, changes): (Vec<Change>, Vec<Change>) =
            std::mem::take(&mut left.changes).into_iter().partition(is_uncovered);
        left.changes = changes;
        left.repositories
            .retain(|path| changed_since(&root.join(path).join(".git"), before.since) != Some(false));
        let now = git.unsaved_submodules(&root)?;
        let unsaved: Vec<String> = now.difference(&before.unsaved).cloned().collect();
        // What only the index says is nobody's work, and would be in the next commit of anybody's.
        let is_work = |path: &String| left.changes.iter().any(|change| change.path == *path);
        let staged = git.staged()?.into_iter().filter(|path| !before.staged.contains(path) && !is_work(path));
        let staged: Vec<String> = staged.collect();
        git.forget_staged(&staged)?;
        let new =
            before.baseline.head.as_deref().map_or(Ok(Vec::new()), |head| git.new_in(head, &left.tree))?;
        for change in left.changes.iter_mut().filter(|change| new.contains(&change.path)) {
            change.kind = ChangeKind::Added;
        }
        self.tell_of_uncovered(task, &uncovered);
        if !staged.is_empty() {
            self.note_of(task, format!(
                "while task {task} was running, {} was staged, although it is not of the task; it is no longer staged, and \
                 the files are as they were (`git add` stages it again)",
                listed(&staged)
            ));
        }
        let touched = without_others(self.state, task, before.since, touched(&left.changes));
        Ok((touched, unfit(&left, &unsaved)))
    }

    fn tell_of_uncovered(&mut self, task: &TaskId, uncovered: &[Change]) {
        let paths: Vec<String> = uncovered.iter().map(|change| change.path.clone()).collect();
        if !paths.is_empty() {
            self.note_of(
                task,
                format!(
                    "{} were ignored by git until task {task} changed that; they are not part of its work",
                    listed(&paths)
                ),
            );
        }
    }

    /// The commit that was checked out when an attempt began, if the history no longer contains it.
    fn lost_commit(&self, baseline: &Baseline) -> Result<Option<String>, GitError> {
        let (Some(git), Some(before)) = (self.world.files.git(), &baseline.head) else { return Ok(None) };
        Ok((!git.contains(before)?).then(|| before.clone()))
    }

    pub(crate) fn inspect_plan(
        &mut self,
        task: &TaskId,
        dir: &Path,
        own_box: OwnBox,
    ) -> Result<Vec<TaskId>, RunError> {
        let path = self.world.file.path.clone();
        let aside = dir.join("plan-as-left.md");
        let inspection =
            self.world.plans.inspect(task, own_box, &aside).map_err(RunError::io("put back", path))?;
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
        for text in inspection.rewritten {
            let is_open = self.state.task(&text.task).is_some_and(|task| task.grounds.former.is_some());
            if text.is_verify_changed || is_open {
                let (during, former, digest) = (task.clone(), text.former, text.digest);
                let evidence = Evidence::VerifyChanged { during, former, digest };
                self.see(Seen::Found { task: text.task, evidence });
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

    pub(crate) fn running_baseline(&self, id: &TaskId) -> Baseline {
        match self.state.task(id).map(|task| &task.status) {
            Some(Status::Running(running)) => {
                Baseline { head: running.head.clone(), tree: running.tree.clone(), ..Baseline::default() }
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
            unfit: None,
            learnings: Vec::new(),
            elapsed: Duration::ZERO,
        };
        self.see(Seen::AgentEnded { task: id.clone(), dispatch, report });
        Ok(())
    }
}

/// Looks for the keeper's processes one by one, where there are no namespaces and the keeper itself was killed.
fn sweep_if_killed(ended: &Ended, dir: &Path) {
    const KILLED: i32 = 9;
    if ended.exit == Exit::Signal(KILLED) {
        process::sweep(&format!("{DISPATCH_MARKER}={}", dir.display()));
    }
}

/// Masks what looks like a key in the logs. A log that cannot be rewritten is still a log.
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
