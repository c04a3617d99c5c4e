//! The way of a task's work from its slot onto the user's branch: joined with what is checked out and committed in the
//! landing tree, verified there, and taken into the user's checkout by one fast-forward.

use std::fs;
use std::path::{Path, PathBuf};

use engine::{
    ActionKey, Attempt, Cause, CheckFailure, ChecksReport, Dispatch, Failing, Landing, Seen, did_its_job,
};
use plan::TaskId;

use crate::attempt::dispatch::Purpose;
use crate::check::Looks;
use crate::check::command::verdict;
use crate::error::RunError;
use crate::git::{Commit, Conflict, FastForward, Git, GitError, Join, Keep, Oid};
use crate::landing::history::Watch;
use crate::mask::mask;
use crate::plan_file::Excerpt;
use crate::process::{Ended, Exit};
use crate::record::done::{Obstacle, TRAILER, last_line};
use crate::run::effects::Effects;
use crate::work::places::Done;
use crate::work::project_files::listed;
use crate::worktrees::{
    BroughtBy, LANDING, SetUpRunner, Slots, Unready, Verdict, Worktrees, canary, lacking, missing,
};

/// From how many times on it is told that somebody committed while work came in.
const RETURNS_UNTOLD: u32 = 2;

/// The landing of work that changes nothing.
const NOTHING: Landing = Landing::Done { touched: Vec::new(), onto: None, commit: None };

/// The result of bringing work into the landing tree, and what was noticed on the way.
#[derive(Debug)]
pub(crate) struct Brought {
    pub landing: Result<Landing, Unready>,
    pub notes: Vec<String>,
}

/// Work that is to be joined and committed.
struct Piece {
    git: Git,
    slots: Slots,
    by: SetUpRunner,
    keep: Keep,
    base: Oid,
    work: Oid,
    message: String,
    trailer: String,
    watch: Watch,
}

impl Piece {
    fn bring(&self) -> Brought {
        let mut notes = Vec::new();
        // What is checked out is read before it is asked whether it has all that came in: whoever takes something out of the
        // history in between is noticed here, and whoever does so later by the fast-forward.
        let head = self.git.head();
        let landing = match head.and_then(|head| Ok((head, self.watch.obstacle(&self.git)?))) {
            Ok((_, Some(reason))) => Ok(Landing::Blocked { reason }),
            Ok((Some(head), None)) => self.join(&head, &mut notes),
            Ok((None, None)) => Ok(NOTHING),
            Err(error) => Ok(Landing::Blocked { reason: error.told() }),
        };
        Brought { landing, notes }
    }

    fn join(&self, head: &Oid, notes: &mut Vec<String>) -> Result<Landing, Unready> {
        match self.git.join_work((&self.base, &self.work), head) {
            Ok(Join::Tree(tree)) => self.commit(head, &tree, notes),
            Ok(Join::Nothing) => Ok(NOTHING),
            Ok(Join::Conflict(conflict)) => Ok(self.conflicting(&conflict)),
            Err(error) => Ok(Landing::Blocked { reason: error.told() }),
        }
    }

    fn commit(&self, head: &Oid, tree: &Oid, notes: &mut Vec<String>) -> Result<Landing, Unready> {
        notes.extend(self.slots.show(LANDING, head, &self.by)?);
        let root = self.slots.root(LANDING);
        let request = Commit { trailer: Some((TRAILER, &self.trailer)), ..Commit::new(&[], &self.message) };
        let made = self.git.commit_joined(&root, (head, tree), &request, &self.keep.landed());
        let made = made.and_then(|commit| {
            let touched = self.git.changed_between(head.as_str(), commit.as_str())?;
            Ok((commit, touched))
        });
        match made {
            Ok((commit, touched)) if touched.is_empty() => Ok(Landing::Failed(refused(&format!(
                "it left nothing of the work to commit ({})",
                commit.short()
            )))),
            Ok((commit, touched)) => {
                if let Some(failure) = self.set_up_again(&commit, notes)? {
                    return Ok(Landing::Failed(failure));
                }
                Ok(Landing::Done {
                    touched,
                    onto: Some(head.as_str().to_owned()),
                    commit: Some(commit.as_str().to_owned()),
                })
            }
            Err(GitError::Hook { output }) => {
                self.unless_lacking(&output, || Landing::Failed(refused(&output)))
            }
            Err(GitError::MessageRefused { subject, output }) => {
                let error = GitError::MessageRefused { subject, output: output.clone() };
                self.unless_lacking(&output, || Landing::Blocked { reason: error.told() })
            }
            Err(error) if error.is_of_files() => Ok(Landing::Failed(crate::work::pack::unreadable(&error))),
            Err(error) => {
                // A hook may have been killed in the middle of something.
                self.slots.distrust(LANDING);
                Ok(Landing::Blocked { reason: error.told() })
            }
        }
    }

    /// The end of a landing that a hook refused. One that lacks something in the landing tree says nothing about the work.
    fn unless_lacking(&self, output: &str, refused: impl FnOnce() -> Landing) -> Result<Landing, Unready> {
        let root = self.slots.root(LANDING);
        match missing(output, self.git.root(), &root, &self.git) {
            Some(reason) => {
                Err(Unready::Lacking { reason: format!("a git hook refused the commit: {reason}") })
            }
            None => Ok(refused()),
        }
    }

    /// Sets the landing tree up for work that changes what is installed there: what was set up for the commit before would
    /// prove nothing. That it fails then is the work's doing.
    fn set_up_again(&self, commit: &Oid, notes: &mut Vec<String>) -> Result<Option<CheckFailure>, Unready> {
        if !self.slots.is_set_up_for_another(LANDING)? {
            return Ok(None);
        }
        match self.slots.show(LANDING, commit, &self.by) {
            Ok(told) => notes.extend(told),
            Err(Unready::SetUp { command, output, .. }) => {
                return Ok(Some(CheckFailure {
                    cause: Cause::RedTogether,
                    error: format!(
                        "the set-up `{command}` fails with what the work changed: {}",
                        last_line(&output)
                    ),
                    details: mask(&output),
                    command: Some(command),
                    exit_code: None,
                    failing: Failing::default(),
                }));
            }
            Err(other) => return Err(other),
        }
        Ok(None)
    }

    fn conflicting(&self, conflict: &Conflict) -> Landing {
        // That it is not kept beyond the next attempt is a nuisance and no more.
        let _ = self.git.keep_told(&self.keep, &self.work);
        let since = self.git.told_since(&self.base).unwrap_or_default();
        let error = format!("the work conflicts with what came in meanwhile: {}", listed(&conflict.files));
        let details = format!(
            "{}\nCame in meanwhile:\n{}\nUntil the task is done, the work of this attempt is kept as commit {} (git show {}).\n{}",
            conflict.messages.join("\n"),
            since.join("\n"),
            self.work,
            self.work,
            conflict.hunks
        );
        Landing::Failed(CheckFailure {
            cause: Cause::Conflict,
            error,
            details: mask(&details),
            command: None,
            exit_code: None,
            failing: Failing::default(),
        })
    }
}

/// The failure of work that a hook does not let pass.
pub(crate) fn refused(output: &str) -> CheckFailure {
    CheckFailure {
        cause: Cause::CommitRefused,
        error: format!("a git hook refused the commit: {}", last_line(output)),
        details: mask(output),
        command: Some("git commit".to_owned()),
        exit_code: Some(1),
        failing: Failing::default(),
    }
}

impl Effects<'_, '_> {
    /// Joins and commits the work of a task in the landing tree, beside the loop. Work that was made in the project itself
    /// is there already, and only verified again.
    pub(crate) fn start_landing(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        attempt: Attempt,
    ) -> Result<(), RunError> {
        let piece = if self.is_isolated(id) { self.piece(id, attempt) } else { None };
        let Some(task) = self.state.task(id) else { return Ok(()) };
        let dispatch = task.dispatch;
        let Some(piece) = piece else {
            let touched =
                if task.is_isolated() { Vec::new() } else { task.touched.iter().cloned().collect() };
            let landing = Landing::Done { touched, onto: None, commit: None };
            self.see(Seen::LandingEnded { task: id.clone(), dispatch, landing });
            return Ok(());
        };
        let purpose = Purpose::Landing { task: id.clone(), dispatch };
        self.beside(key, purpose, move || Done::Landing(piece.bring()))
    }

    fn piece(&mut self, id: &TaskId, attempt: Attempt) -> Option<Piece> {
        let git = self.world.files.git()?.clone();
        let work = self.state.task(id)?.work.clone()?;
        let watch = self.watch().clone();
        Some(Piece {
            slots: self.world.slots.clone()?,
            by: self.set_up_runner(),
            keep: self.keep(&git, id),
            base: Oid::parse(&work.base)?,
            work: Oid::parse(work.commit.as_deref()?)?,
            message: self.landing_message(id),
            trailer: self.trailer(id, Some(attempt)),
            watch,
            git,
        })
    }

    /// The landing tree, where a task's work has been committed in it; else the project.
    fn joined_root(&self, id: &TaskId) -> PathBuf {
        let is_there = self.state.task(id).is_some_and(|task| task.is_isolated());
        match &self.world.slots {
            Some(slots) if is_there => slots.root(LANDING),
            Some(_) | None => self.world.project.root().to_owned(),
        }
    }

    /// Runs the verify command on what came together. Where that tree was green already, it need not run again.
    pub(crate) fn start_join(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
    ) -> Result<(), RunError> {
        let dir = self.attempt_dir(id, attempt, dispatch)?.join("joined");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let text = self.task_text(id, dir.parent().unwrap_or(&dir));
        let excerpt = Excerpt::of(self.world.file, &text);
        let script = excerpt.as_ref().and_then(|excerpt| self.script_of(id, excerpt));
        let script = script.filter(|_| self.has_to_be_joined(id));
        let tree = self.joined_tree(id)?;
        let is_green = tree.is_some() && self.state.task(id).is_some_and(|task| task.verified == tree);
        match script.filter(|_| !is_green || !self.is_isolated(id)) {
            Some(script) => {
                let looks = Looks::new(&dir);
                let purpose =
                    Purpose::Join { task: id.clone(), dispatch, script: script.clone(), tree, looks };
                self.start_script(key, (&script, self.joined_root(id), LANDING), &dir, purpose);
            }
            None => {
                let report = ChecksReport::default();
                self.see(Seen::JoinEnded { task: id.clone(), dispatch, report, tree });
            }
        }
        Ok(())
    }

    /// False for work that changed nothing.
    fn has_to_be_joined(&self, id: &TaskId) -> bool {
        let Some(task) = self.state.task(id) else { return false };
        !task.is_isolated() || task.landed.as_ref().is_some_and(|landed| landed.commit.is_some())
    }

    /// The tree that is verified.
    fn joined_tree(&self, id: &TaskId) -> Result<Option<String>, GitError> {
        let Some(git) = self.world.files.git() else { return Ok(None) };
        let landed =
            self.state.task(id).filter(|task| task.is_isolated()).and_then(|task| task.landed.as_ref());
        let tree = match landed.and_then(|landed| Oid::parse(landed.commit.as_deref()?)) {
            Some(commit) => git.tree_of(&commit)?,
            None if self.is_isolated(id) => return Ok(None),
            None => git.snapshot(&self.project_place())?,
        };
        Ok(Some(tree.as_str().to_owned()))
    }

    /// Red together: nothing is to be taken back, and the feedback says what the work met.
    pub(crate) fn joined(
        &mut self,
        key: ActionKey,
        (task, dispatch): (TaskId, Dispatch),
        (script, tree, mut looks): (&plan::Script, Option<String>, Looks),
        ended: &Ended,
    ) -> Result<Seen, RunError> {
        let root = self.joined_root(&task);
        let report = verdict(script, ended, &root);
        if let Some(reason) = self.missing_in(&root, (&report, ended)) {
            return Ok(Seen::TreeFailed { task, dispatch, reason });
        }
        let untraced = self.untraced(&task, &root, (&report, ended));
        let is_red_here = report.failure.is_some() && untraced.is_none();
        let is_contrary = is_red_here && self.was_green_in_slot(&task, tree.as_deref())?;
        if looks.take(report, ended, is_contrary) {
            let dir = looks.dir.clone();
            let purpose = Purpose::Join { task, dispatch, script: script.clone(), tree, looks };
            self.start_script(key, (script, root, LANDING), &dir, purpose);
            return Ok(Seen::TimePassed);
        }
        let mut report = self.settled(&task, looks, "green in its work tree");
        let is_red = |report: &ChecksReport| {
            report.failure.as_ref().is_some_and(|red| !did_its_job(self.state, &task, &red.failing))
        };
        if is_red(&report) {
            let told = match untraced {
                Some(untraced) => format!("Green in its own work tree only: {untraced}."),
                None if self.is_isolated(&task) => self.told_of_others(&task),
                None => MADE_RED.to_owned(),
            };
            let cause = if self.is_isolated(&task) { Some(Cause::RedTogether) } else { None };
            if let Some(failure) = &mut report.failure {
                failure.cause = cause.unwrap_or(failure.cause);
                failure.details = format!("{told}\n\n{}", failure.details);
            }
        }
        self.start_canary(key, (task, dispatch), (script, tree), report)
    }

    /// The words for it where a command is red for want of a package that was installed in the work tree of the task and that
    /// nothing of the work names.
    fn untraced(&self, id: &TaskId, root: &Path, (report, ended): (&ChecksReport, &Ended)) -> Option<String> {
        let is_red = report.failure.is_some() && self.is_isolated(id);
        let git = self.world.files.git().filter(|_| is_red)?;
        let output = format!("{}\n{}", ended.stdout.text, ended.stderr.text);
        let lacking = lacking(&output, &self.workplace(id), root, git)?;
        (lacking.by == BroughtBy::Nothing).then_some(lacking.told)
    }

    /// True if work comes in as it was green in its slot: nothing came in meanwhile, and no hook changed it.
    fn was_green_in_slot(&self, id: &TaskId, joined: Option<&str>) -> Result<bool, GitError> {
        let work = self.state.task(id).filter(|task| task.is_isolated()).and_then(|task| task.work.as_ref());
        let work = work.and_then(|work| Oid::parse(work.commit.as_deref()?));
        let Some((git, work)) = self.world.files.git().zip(work) else { return Ok(false) };
        Ok(Some(git.tree_of(&work)?.as_str()) == joined)
    }

    /// Breaks a file of work that was green in the landing tree, once for each set-up, beside the loop: the verify command
    /// has to turn red, or it is about other files.
    pub(crate) fn start_canary(
        &mut self,
        key: ActionKey,
        (task, dispatch): (TaskId, Dispatch),
        (script, tree): (&plan::Script, Option<String>),
        report: ChecksReport,
    ) -> Result<Seen, RunError> {
        // A command that only looks at a file is about the tree, whatever was set up there.
        let may_be_led = report.failure.is_none() && self.is_isolated(&task) && script.tests_with_packages();
        let slots = self.world.slots.clone().filter(|_| may_be_led);
        let touched = self.state.task(&task).map(|task| task.touched.iter().cloned().collect::<Vec<_>>());
        let (Some(slots), true) = (slots, self.world.settings.worktrees != Worktrees::default()) else {
            return Ok(Seen::JoinEnded { task, dispatch, report, tree });
        };
        let dir = self.world.file.home.join("canary");
        fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
        let invocation = self.verification((script, slots.root(LANDING), LANDING), &dir);
        let by = self.set_up_runner();
        let purpose = Purpose::Canary { task, dispatch, report, tree };
        self.beside(key, purpose, move || {
            let run = || match by.run(invocation).exit {
                Exit::Code(0) => Verdict::Green,
                Exit::Code(_) => Verdict::Red,
                Exit::Signal(_)
                | Exit::DeadlinePassed
                | Exit::NoProgress
                | Exit::Stopped
                | Exit::CannotStart(_) => {
                    slots.distrust(LANDING);
                    Verdict::Unknown
                }
            };
            Done::Canary(canary(&slots, LANDING, &touched.unwrap_or_default(), run).ok())
        })?;
        Ok(Seen::TimePassed)
    }

    /// The words about other work, where work was green in its agent's place and is red on top of what is checked out.
    fn told_of_others(&self, id: &TaskId) -> String {
        let base = self.state.task(id).and_then(|task| Oid::parse(&task.work.as_ref()?.base));
        let since = self.world.files.git().zip(base).and_then(|(git, base)| git.told_since(&base).ok());
        match since.filter(|since| !since.is_empty()) {
            Some(since) => format!(
                "Green in its own work tree, red together with what came in meanwhile:\n{}\n{ALONG}",
                since.join("\n")
            ),
            None => format!(
                "Green in its own work tree, red in a clean tree of what would be committed, although nothing came in \
                 meanwhile.\n{ALONG}"
            ),
        }
    }

    /// Takes the commit of the landing tree into the user's checkout.
    pub(crate) fn fast_forward(&mut self, id: &TaskId, git: &Git) -> Result<Option<Oid>, Obstacle> {
        let landed = self.state.task(id).and_then(|task| task.landed.clone());
        let oids = landed.and_then(|landed| Some((Oid::parse(&landed.onto?)?, Oid::parse(&landed.commit?)?)));
        let Some((onto, commit)) = oids else { return Ok(None) };
        match git.fast_forward(&onto, &commit)? {
            FastForward::Done => {
                self.world.watch.advance(Some(&onto), &commit);
                Ok(Some(commit))
            }
            FastForward::Moved => {
                if self.state.task(id).is_some_and(|task| task.returns() >= RETURNS_UNTOLD) {
                    self.note_of(
                        id,
                        format!(
                            "others commit while task {id} comes in, so it is joined and verified once more"
                        ),
                    );
                }
                Err(Obstacle::Moved)
            }
            FastForward::InTheWay(files) => Err(Obstacle::InTheWay(files)),
        }
    }

    /// Before a run goes on: a fast-forward that was cut off in the middle is cleared up after.
    pub(crate) fn mend_fast_forward(&self) -> Result<(), RunError> {
        let Some(git) = self.world.files.git() else { return Ok(()) };
        let recording =
            self.state.attention().find(|task| matches!(task.status, engine::Status::Recording { .. }));
        let landed = recording.and_then(|task| task.landed.as_ref());
        let oids = landed.and_then(|landed| {
            Some((Oid::parse(landed.onto.as_deref()?)?, Oid::parse(landed.commit.as_deref()?)?))
        });
        match oids {
            Some((onto, commit)) => Ok(git.mend_fast_forward(&onto, &commit)?),
            None => Ok(()),
        }
    }
}

/// The words where work in the project itself is red at the second look.
const MADE_RED: &str = "Files of the work changed while it was verified. The verify command, a git hook or somebody did that, \
                        and as they are now they are red.";

/// The words about what does not come in with work from a slot.
const ALONG: &str = "Files that git ignores, or that lie outside the work tree, do not come along: if the result needs one of \
                     them, have it made by what is committed or by the verify command, or do not ignore it. What all trees \
                     need is made by worktree_setup or copied by worktree_copy in the settings.";
