//! Bookkeeping: the work is committed, the box ticked, the progress noted, the spec files committed. Every
//! step looks before it acts, so that doing it again after a crash changes nothing.

use std::collections::BTreeSet;
use std::fs;

use engine::{Attempt, Cause, CheckFailure, Failing, Failure, FixPlan, Record, Seen, Task, TaskKind};
use plan::{Commit as CommitField, Dialect, ErrorType, FixTask, TaskId};

use crate::atomic;
use crate::error::RunError;
use crate::git::{Change, Commit, Git, GitError, Oid, Paths, Staging, Text};
use crate::landing::land::refused;
use crate::plan_file::Excerpt;
use crate::record::{Completed, Progress};
use crate::run::effects::Effects;
use crate::settings::Bookkeeping;
use crate::work::project_files::{listed, shown};

/// The trailer by which a commit of ours is found again.
pub(crate) const TRAILER: &str = "Tillgreen-Task";

/// The number of verifications of work whose files change each time.
const ROUNDS_MAX: u32 = 2;

/// The number of commits among which such a commit is looked for.
pub(crate) const TRAILER_SEARCH: usize = 50;

/// The reason why recording did not work out.
pub(crate) enum Obstacle {
    /// The user's hook does not accept the work.
    Refused(String),
    /// Git cannot take it in as it is.
    Unfit(String),
    /// Another commit came in between, or files changed since they were verified.
    Moved,
    /// Files of the user's are in the way.
    InTheWay(Vec<String>),
    /// Something else is in the way.
    Blocked(String),
}

/// The next step for work in the project itself when it is about to be committed.
#[derive(Debug, PartialEq, Eq)]
enum Again {
    /// It is committed as it lies there.
    AsItIs,
    /// It is verified once more.
    Verify,
    /// It is committed as this tree has it.
    Commit(Oid),
}

impl From<GitError> for Obstacle {
    fn from(error: GitError) -> Self {
        if let GitError::Hook { output } = error {
            return Self::Refused(output);
        }
        if error.is_of_files() {
            return Self::Unfit(error.told());
        }
        Self::Blocked(error.told())
    }
}

impl From<RunError> for Obstacle {
    fn from(error: RunError) -> Self {
        let source =
            std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
        Self::Blocked(format!("{error}{source}"))
    }
}

impl Effects<'_, '_> {
    /// Records a passed task.
    pub(crate) fn record_work(&mut self, id: &TaskId, attempt: Option<Attempt>) -> Record {
        match self.try_record(id, attempt) {
            Ok(commit) => Record::Kept { commit: commit.map(|commit| commit.as_str().to_owned()) },
            Err(Obstacle::Refused(output)) => Record::Refused(refused(&output)),
            Err(Obstacle::Unfit(output)) => unfit(&output),
            Err(Obstacle::Moved) => Record::Moved,
            Err(Obstacle::InTheWay(files)) => Record::InTheWay { files },
            Err(Obstacle::Blocked(reason)) => Record::Blocked { reason },
        }
    }

    fn try_record(&mut self, id: &TaskId, attempt: Option<Attempt>) -> Result<Option<Oid>, Obstacle> {
        if let Some(reason) = self.follow_branch()? {
            return Err(Obstacle::Blocked(reason));
        }
        let commit = match (self.commit_work(id, attempt)?, self.world.settings.bookkeeping) {
            (None, Bookkeeping::Agent) => self.head()?,
            (commit, Bookkeeping::Agent | Bookkeeping::Coordinator) => commit,
        };
        self.expect_there(id, commit.as_ref())?;
        self.note_progress(id, commit.as_ref())?;
        self.world.plans.tick(id).map_err(RunError::io("write", &self.world.file.path))?;
        self.write_back()?;
        self.commit_spec(&completes(id)).map_err(|error| match Obstacle::from(error) {
            Obstacle::Refused(output) => Obstacle::Blocked(format!(
                "a git hook refused the commit of the spec files: {}",
                last_line(&output)
            )),
            Obstacle::Unfit(output) => Obstacle::Blocked(output),
            obstacle @ (Obstacle::Blocked(_) | Obstacle::Moved | Obstacle::InTheWay(_)) => obstacle,
        })?;
        self.drop_progress_file(id);
        Ok(commit)
    }

    /// No box is ticked on a branch that lacks the work.
    fn expect_there(&self, id: &TaskId, commit: Option<&Oid>) -> Result<(), Obstacle> {
        let (Some(git), Some(commit)) = (self.world.files.git(), commit) else { return Ok(()) };
        if git.head()?.as_ref() == Some(commit) || git.contains(commit.as_str())? {
            return Ok(());
        }
        Err(Obstacle::Blocked(format!(
            "the work of task {id}, commit {}, is not in the history of what is checked out now: check out its branch \
             again, then run again",
            commit.short()
        )))
    }

    fn head(&self) -> Result<Option<Oid>, GitError> {
        self.world.files.git().map_or(Ok(None), Git::head)
    }

    /// Commits what attempts at the task left in the project: their paths and no others.
    fn commit_work(&mut self, id: &TaskId, attempt: Option<Attempt>) -> Result<Option<Oid>, Obstacle> {
        let Some(git) = self.world.files.git() else { return Ok(None) };
        if self.is_isolated(id) {
            return self.fast_forward(id, git);
        }
        let key = self.trailer(id, attempt);
        // What its command alone proved was made by nobody.
        let again = match attempt {
            Some(_) => self.pass_hook(id, git)?,
            None => Again::AsItIs,
        };
        if again == Again::Verify {
            return Err(Obstacle::Moved);
        }
        self.tell_of_mixed_work(id);
        self.commit_here(id, git, (attempt, &key), again)
    }

    /// Says which files of a task's work had changes before the run began: whose these are cannot be told apart any more,
    /// so nobody commits them.
    fn tell_of_mixed_work(&mut self, id: &TaskId) {
        let Some(task) = self.state.task(id) else { return };
        let others = self.changes_of_others(id).into_iter();
        let mixed: Vec<String> = others.filter(|path| task.touched.contains(path)).collect();
        if !mixed.is_empty() {
            self.note_of(
                id,
                format!(
                    "what task {id} changed in {} stays uncommitted: there were changes in it before",
                    listed(&mixed)
                ),
            );
        }
    }

    /// The next step where files of the work are no longer what was verified: the verify command wrote them, or
    /// somebody saved one. A command that formats the work comes to rest; of what changes each time, what was verified
    /// is committed.
    fn look_again(&mut self, id: &TaskId, git: &Git) -> Result<Again, Obstacle> {
        let Some(task) = self.state.task(id) else { return Ok(Again::AsItIs) };
        let (touched, returns) = (task.touched.clone(), task.returns());
        let Some(verified) = task.verified.clone() else { return Ok(Again::AsItIs) };
        let wrote = task.grounds.wrote.clone();
        let is_own = |path: &String| touched.contains(path) || wrote.contains(path);
        let (own, others): (Vec<Change>, Vec<Change>) = git
            .look(&self.project_place(), &verified)?
            .changes
            .into_iter()
            .partition(|change| is_own(&change.path));
        let script = self.excerpt_of_work(id).and_then(|excerpt| self.script_of(id, &excerpt));
        if returns < ROUNDS_MAX
            && let Some(script) = script
            && self.take_in_written(id, &script, others)
        {
            return Ok(Again::Verify);
        }
        let changed: Vec<String> = own.into_iter().map(|change| change.path).collect();
        if changed.is_empty() {
            return Ok(Again::AsItIs);
        }
        let files = listed(&changed);
        if returns >= ROUNDS_MAX {
            self.note_of(id, format!(
                "files of task {id} change each time it is verified ({files}): what was verified is committed, and what they \
                 have become since stays uncommitted"
            ));
            return Ok(Oid::parse(&verified).map_or(Again::AsItIs, Again::Commit));
        }
        self.note_of(id, format!(
            "files of task {id} changed since it was verified ({files}), so they are verified as they are now"
        ));
        Ok(Again::Verify)
    }

    /// Has the user's pre-commit hook look at what an agent committed itself: it may have passed it by. What the hook makes
    /// of it is verified, and committed on top.
    fn pass_hook(&mut self, id: &TaskId, git: &Git) -> Result<Again, Obstacle> {
        let again = self.look_again(id, git)?;
        let base = self.state.task(id).and_then(|task| task.base.clone());
        let Some(base) = base.filter(|_| again != Again::Verify && git.has_pre_commit()) else {
            return Ok(again);
        };
        let paths = self.paths_of_work(id);
        // Commits of ours went through it.
        if paths.is_disjoint(&git.changed_without(TRAILER, &base)?) {
            return Ok(again);
        }
        let tree = match &again {
            Again::Commit(tree) => tree.clone(),
            Again::AsItIs | Again::Verify => git.snapshot(&self.project_place())?,
        };
        let (keep, index) = (self.keep(git, id), self.world.file.home.join("work.index"));
        let passed = git.run_pre_commit((&base, &tree), &paths, (&keep, &index));
        let now = if again == Again::AsItIs { self.look_again(id, git)? } else { again };
        match passed {
            // Hooks that format files refuse them the first time.
            Err(GitError::Hook { .. }) | Ok(_) if now == Again::Verify => Ok(now),
            Ok(Some((staged, made))) => self.follow_staged(id, git, (&staged, &made), now),
            Ok(None) => Ok(now),
            Err(error) => Err(error.into()),
        }
    }

    /// Files of the work that a hook changed only where they are staged become what it made of them.
    fn follow_staged(
        &mut self,
        id: &TaskId,
        git: &Git,
        (staged, made): (&Oid, &Oid),
        now: Again,
    ) -> Result<Again, Obstacle> {
        let Some(task) = self.state.task(id).filter(|task| task.returns() < ROUNDS_MAX) else {
            return Ok(now);
        };
        let changed = git.changed_between(staged.as_str(), made.as_str())?.into_iter();
        let changed: Vec<String> = changed.filter(|path| task.touched.contains(path)).collect();
        if changed.is_empty() {
            return Ok(now);
        }
        let scratch = self.world.file.home.join("work.index");
        git.write_as_in(
            made,
            &Paths { tree: self.world.project.root(), paths: &changed, scratch: &scratch },
        )?;
        self.note_of(
            id,
            format!(
                "a git hook changed the work of task {id} ({}), so that is verified again",
                listed(&changed)
            ),
        );
        Ok(Again::Verify)
    }

    /// Commits the work in the project itself.
    fn commit_here(
        &mut self,
        id: &TaskId,
        git: &Git,
        (attempt, key): (Option<Attempt>, &str),
        again: Again,
    ) -> Result<Option<Oid>, Obstacle> {
        let paths = self.paths_of_work(id);
        git.uncover(&paths)?;
        let status = git.status()?;
        let mut changes: Vec<_> =
            status.changes.into_iter().filter(|change| paths.contains(&change.path)).collect();
        changes.retain(|change| !change.is_repository());
        let unnameable: Vec<_> =
            status.unnameable.into_iter().filter(|path| paths.contains(&shown(path))).collect();
        let paths: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
        let told: Vec<String> =
            paths.iter().cloned().chain(unnameable.iter().map(|path| shown(path))).collect();
        let Some(message) = self.commit_message(id) else {
            // A planner's draft is taken by other ways.
            if !told.is_empty() && self.world.settings.planning.is_none() {
                self.note_of(
                    id,
                    format!("task {id} asks for no commit; left uncommitted: {}", listed(&told)),
                );
            }
            return Ok(None);
        };
        let staging = git.staging_of(&changes, &unnameable)?;
        let request = Commit { unnameable: &unnameable, staging, ..Commit::new(&paths, &message) };
        let request = Commit { trailer: Some((TRAILER, key)), ..request };
        let before = git.head()?;
        let index = self.world.file.home.join("work.index");
        let committed = match (again, staging) {
            (Again::Commit(tree), _) => git.commit_of_tree(&tree, &request, &index),
            (_, Staging::Whole) => {
                git.commit_of_tree(&git.snapshot(&self.project_place())?, &request, &index)
            }
            (_, Staging::Add | Staging::Skip) => git.commit(&request),
        };
        let made = match committed {
            // Hooks that format files refuse them the first time; what they made is verified and tried again.
            Err(GitError::Hook { .. }) if attempt.is_some() && self.look_again(id, git)? == Again::Verify => {
                return Err(Obstacle::Moved);
            }
            made => made?,
        };
        if let Some(commit) = made {
            self.world.watch.advance(before.as_ref(), &commit);
            if attempt.is_some() && self.is_changed_by_hook(id, git, &commit)? {
                return Err(Obstacle::Moved);
            }
            return Ok(Some(commit));
        }
        let made = self.commit_already_made(id, git, key)?;
        if made.is_none() && !told.is_empty() {
            self.note_of(
                id,
                format!("git found nothing to commit of what task {id} changed: {}", listed(&told)),
            );
        }
        Ok(made)
    }

    /// True if a hook made something else of the work than was verified: that is verified as it is.
    fn is_changed_by_hook(&mut self, id: &TaskId, git: &Git, commit: &Oid) -> Result<bool, Obstacle> {
        let Some(task) = self.state.task(id).filter(|task| task.returns() < ROUNDS_MAX) else {
            return Ok(false);
        };
        let Some(verified) = task.verified.clone().filter(|_| git.has_commit_hook()) else {
            return Ok(false);
        };
        let touched = task.touched.clone();
        let made = git.changed_between(&verified, commit.as_str())?;
        let is_other = made.iter().any(|path| touched.contains(path));
        if is_other {
            self.follow_hook(git, &verified, commit, &touched)?;
            self.note_of(
                id,
                format!(
                    "a git hook changed the work of task {id} as it was committed, so that is verified again"
                ),
            );
        }
        Ok(is_other)
    }

    /// Files that nobody has touched since they were verified are what a hook made of them in the commit.
    fn follow_hook(
        &self,
        git: &Git,
        verified: &str,
        commit: &Oid,
        touched: &BTreeSet<String>,
    ) -> Result<(), Obstacle> {
        let now = git.snapshot(&self.project_place())?;
        let edited = git.changed_between(verified, now.as_str())?;
        let made = git.changed_between(verified, commit.as_str())?;
        let followed = made.into_iter().filter(|path| touched.contains(path) && !edited.contains(path));
        git.restore(commit.as_str(), &followed.collect::<Vec<_>>())?;
        let edited: Vec<String> = edited.into_iter().filter(|path| touched.contains(path)).collect();
        Ok(git.forget_staged(&edited)?)
    }

    /// By which the commit of a task's work is found again.
    pub(crate) fn trailer(&self, id: &TaskId, attempt: Option<Attempt>) -> String {
        format!("{}/{id}#{}", self.world.file.key(), attempt.map_or(0, |attempt| attempt.0))
    }

    /// The message of a commit that brings work back from a work tree of its own, which cannot be done without one.
    pub(crate) fn landing_message(&self, id: &TaskId) -> String {
        self.commit_message(id)
            .unwrap_or_else(|| self.own_message(&format!("chore({}): task {id}", self.world.file.name)))
    }

    /// Nothing was left to commit: the agent did it itself, or we did before a crash.
    fn commit_already_made(&self, id: &TaskId, git: &Git, key: &str) -> Result<Option<Oid>, Obstacle> {
        let left_something = |task: &&Task| !task.touched.is_empty() || !task.grounds.wrote.is_empty();
        let Some(task) = self.state.task(id).filter(left_something) else { return Ok(None) };
        if let Some(commit) = git.find_trailer(TRAILER, key, TRAILER_SEARCH)? {
            return Ok(Some(commit));
        }
        // What was checked out before its first attempt is known after a crash as well, and what came on top may be ours.
        Ok(task.base.as_ref().map_or(Ok(None), |base| git.newest_since(base, &task.touched))?)
    }

    /// The paths that attempts at the task changed, without those that were changed before the run began. What a
    /// failing task left behind is committed with its own message once it is done, not with that of its fix.
    pub(crate) fn paths_of_work(&self, id: &TaskId) -> BTreeSet<String> {
        let others = self.changes_of_others(id);
        // What was changed in a work tree of its own is not in the project.
        let task = self.state.task(id).filter(|task| !task.is_isolated());
        let mut paths: BTreeSet<String> = task
            .into_iter()
            .flat_map(|task| task.touched.iter().chain(&task.grounds.wrote).cloned())
            .collect();
        paths.retain(|path| !others.contains(path));
        paths
    }

    /// The files with changes that are not the task's: from before the run began, or from before its first attempt in the
    /// project, where no other task left them.
    fn changes_of_others(&self, id: &TaskId) -> BTreeSet<String> {
        let opened = self.state.opened();
        let mut paths: BTreeSet<String> =
            opened.into_iter().flat_map(|opened| opened.dirty.clone()).collect();
        let found = self.state.task(id).and_then(|task| task.found.as_ref());
        let trees = found.and_then(|found| Some((found.head.as_deref()?, found.tree.as_deref()?)));
        let dirty = self.world.files.git().zip(trees).and_then(|(git, (head, tree))| {
            // Where git cannot tell any more, nobody is suspected.
            git.changed_between(head, tree).ok()
        });
        let is_left = |path: &String| {
            self.state.tasks().iter().any(|task| {
                (task.id() != id && task.touched.contains(path)) || task.grounds.wrote.contains(path)
            })
        };
        paths.extend(dirty.into_iter().flatten().filter(|path| !is_left(path)));
        paths
    }

    /// The task's own message, or one made from its title; none if the task wants no commit.
    pub(crate) fn commit_message(&self, id: &TaskId) -> Option<String> {
        // Whoever mends a message that a hook refuses does so in the plan, while the work waits to be committed.
        let now = self.world.plans.excerpt(self.state, id).map(|excerpt| excerpt.fields().commit);
        if let Some(CommitField::Message(message)) = now {
            return Some(message);
        }
        let scope = match self.world.file.dialect {
            Dialect::Spec => self.world.file.name.as_str(),
            Dialect::Phase => id.name().split(':').next().unwrap_or(&self.world.file.name),
        };
        let Some(excerpt) = self.excerpt_of_work(id) else {
            return Some(self.own_message(&format!("feat({scope}): task {id}")));
        };
        match excerpt.fields().commit {
            CommitField::Message(message) | CommitField::OnlyIfNeeded(message) => Some(message),
            CommitField::None => None,
            CommitField::Unset => {
                let is_fix = excerpt.is_fix() || self.state.fix_plan(id).is_some();
                let is_verify = self.state.task(id).is_some_and(|task| task.decl.kind == TaskKind::Verify);
                let kind = if is_fix {
                    "fix"
                } else if is_verify {
                    "chore"
                } else {
                    "feat"
                };
                Some(self.own_message(&format!("{kind}({scope}): {}", subject(excerpt.title()))))
            }
        }
    }

    /// A message of the program's own, as the project wants to have them.
    fn own_message(&self, message: &str) -> String {
        match &self.world.settings.commit_prefix {
            Some(prefix) => format!("{} {message}", prefix.trim_end()),
            None => message.to_owned(),
        }
    }

    fn note_progress(&mut self, id: &TaskId, commit: Option<&Oid>) -> Result<(), RunError> {
        let path = self.world.file.progress();
        let mut progress =
            Progress::open(&path, &self.world.file.name).map_err(RunError::io("read", &path))?;
        if self.world.settings.bookkeeping == Bookkeeping::Coordinator {
            progress.add(&self.completed(id), commit.map(Oid::as_str));
        }
        progress.history(self.state, Some(id));
        progress.save().map_err(RunError::io("write", &path))
    }

    /// The words of the progress file about a task.
    pub(crate) fn completed(&self, id: &TaskId) -> Completed {
        let excerpt = self.world.plans.excerpt(self.state, id);
        let title = excerpt.as_ref().map(Excerpt::title).unwrap_or_default().to_owned();
        let own = atomic::read(&self.progress_file(id)).unwrap_or_default();
        let mut learnings = crate::record::learnings_in(&String::from_utf8_lossy(&own));
        // What was reported through tools stands in no file of the agent's; what earlier attempts learned counts too.
        if let Some(task) = self.state.task(id) {
            learnings.extend(task.failures.iter().flat_map(|failure| failure.learnings.clone()));
            learnings.extend(task.claimed.iter().flat_map(|claimed| claimed.learnings.clone()));
        }
        let tasks = self.state.tasks().iter().filter(|_| self.is_isolated(id)).map(|task| task.id());
        let later = tasks.skip_while(|other| *other != id).skip(1).cloned().collect();
        Completed { id: id.clone(), title, learnings, later }
    }

    pub(crate) fn drop_progress_file(&self, id: &TaskId) {
        if self.world.settings.bookkeeping == Bookkeeping::Coordinator {
            // Most attempts write none, and one that stays is merged again without effect.
            let _ = fs::remove_file(self.progress_file(id));
        }
    }

    fn kind_of_error(&self, fix: &FixPlan) -> ErrorType {
        let failure = self.state.task(&fix.failing).and_then(|task| task.last_failure());
        failure.map_or_else(|| ErrorType::of(&fix.error), Failure::error_type)
    }

    /// Writes a fix task into the plan and commits that before anything else happens.
    pub(crate) fn insert_fix(&mut self, fix: &TaskId) -> Result<(), RunError> {
        let path = self.world.file.path.clone();
        if let Some(planned) = self.state.fix_plan(fix).cloned() {
            let task = FixTask {
                id: &planned.fix,
                failing: &planned.failing,
                error: &planned.error,
                attempted_fix: planned.attempted_fix.as_deref(),
                kind: self.kind_of_error(&planned),
            };
            if let Err(source) = self.world.plans.insert_fix(&task) {
                return Err(RunError::Io { action: "write the fix task into", path, source });
            }
        }
        let progress_path = self.world.file.progress();
        let mut progress = Progress::open(&progress_path, &self.world.file.name)
            .map_err(RunError::io("read", &progress_path))?;
        progress.history(self.state, None);
        progress.save().map_err(RunError::io("write", &progress_path))?;
        self.commit_spec(&format!("chore(spec): add fix task {}", fix.name()))?;
        let known = self.state.task(fix).map(|task| task.decl.clone());
        if let Some(decl) = self.world.plans.decl(self.state, fix).or(known) {
            self.see(Seen::FixInserted { decl: Box::new(decl) });
        }
        Ok(())
    }

    /// Commits the plan and the progress file, if git is to know them and there is anything to commit.
    pub(crate) fn commit_spec(&mut self, message: &str) -> Result<(), GitError> {
        let Some(git) = self.world.files.git() else { return Ok(()) };
        let paths = self.committable_spec_files()?;
        let source = self.source_to_commit(git)?;
        if paths.is_empty() && source.is_none() {
            return Ok(());
        }
        let (before, message) = (git.head()?, self.own_message(message));
        let commit = match (self.without_their_words(git, &paths)?, &source) {
            (texts, None) if texts.is_empty() => git.commit(&Commit::new(&paths, &message))?,
            (texts, source) => {
                let texts = if texts.is_empty() { self.as_they_lie(&paths)? } else { texts };
                let source = source.iter().map(|(path, text)| Text { path, text: text.clone() });
                let texts: Vec<Text<'_>> = texts.into_iter().chain(source).collect();
                git.commit_texts(&texts, &message, &self.world.file.home.join("spec.index"))?
            }
        };
        if let Some(commit) = commit {
            self.world.watch.advance(before.as_ref(), &commit);
        }
        self.world.plans.edits_are_committed();
        Ok(())
    }

    /// The plan as it is committed, with the same edits of ours, where somebody has words in it that they have not
    /// committed.
    fn without_their_words<'p>(&self, git: &Git, paths: &'p [String]) -> Result<Vec<Text<'p>>, GitError> {
        let shown = self.world.project.relative(&self.world.file.path).to_string_lossy().into_owned();
        let plan = paths.iter().find(|path| **path == shown);
        let (Some(plan), Some((before, after))) = (plan, self.world.plans.uncommitted_edits()) else {
            return Ok(Vec::new());
        };
        let Some(committed) = git.committed_text(plan)? else { return Ok(Vec::new()) };
        let unix = |text: &str| text.replace("\r\n", "\n");
        if unix(&committed) == unix(before) {
            return Ok(Vec::new());
        }
        // Where their words stand just where ours do, they go together.
        let Some(text) = git.merge_texts(&self.world.file.home, (before, after), &committed)? else {
            return Ok(Vec::new());
        };
        let mut texts = self.as_they_lie(paths)?;
        texts.iter_mut().filter(|other| other.path == plan).for_each(|plan| plan.text.clone_from(&text));
        Ok(texts)
    }

    /// Files of the project with the texts that lie there.
    fn as_they_lie<'p>(&self, paths: &'p [String]) -> Result<Vec<Text<'p>>, GitError> {
        let text = |path: &'p String| {
            let file = self.world.project.root().join(path);
            Ok(Text { path, text: fs::read_to_string(&file).map_err(GitError::io("read", &file))? })
        };
        paths.iter().map(text).collect()
    }

    /// Commits the note of a skipped task. That it cannot be committed is no reason to stop.
    pub(crate) fn commit_skip(&mut self, task: &TaskId) {
        let Some(git) = self.world.files.git() else { return };
        let path = self.world.project.relative(&self.world.project.state_md()).to_string_lossy().into_owned();
        let message = self.own_message(&format!("chore(spec): note that task {} is skipped", task.name()));
        let (paths, before) = ([path], git.head().ok().flatten());
        match git.commit(&Commit::new(&paths, &message)) {
            Ok(Some(commit)) => self.world.watch.advance(before.as_ref(), &commit),
            Ok(None) => {}
            Err(error) => self.note(format!("the note of the skipped task could not be committed: {error}")),
        }
    }

    /// The spec files that exist and that git does not ignore.
    pub(crate) fn committable_spec_files(&self) -> Result<Vec<String>, GitError> {
        self.world.files.committable_spec_files()
    }

    /// With `--clean-retry` a failed attempt's changes are taken back before the next one.
    pub(crate) fn clean_before_retry(&mut self, id: &TaskId) -> Result<(), RunError> {
        let has_failed =
            self.state.task(id).is_some_and(|task| !task.failures.is_empty() && !task.status.is_active());
        let (true, true, Some(git)) =
            (self.world.settings.clean_retry.is_on(), has_failed, self.world.files.git())
        else {
            return Ok(());
        };
        let paths = self.paths_of_work(id);
        let changes = git.status()?.changes.into_iter().map(|change| change.path);
        let left: Vec<String> = changes.filter(|path| paths.contains(path)).collect();
        if let (Some(head), false) = (git.head()?, left.is_empty()) {
            git.restore(head.as_str(), &left)?;
            self.note_of(id, format!("taken back before the next attempt at task {id}: {}", listed(&left)));
        }
        Ok(())
    }
}

/// A title as the subject of a commit: in lower case, unless its first word is a name.
fn subject(title: &str) -> String {
    let title = plan::one_line(title);
    let first = title.split(' ').next().unwrap_or_default();
    let is_plain = first.chars().skip(1).all(char::is_lowercase);
    let mut characters = title.chars();
    match characters.next() {
        Some(initial) if is_plain && first.chars().count() > 1 => {
            initial.to_lowercase().chain(characters).collect()
        }
        Some(_) | None => title,
    }
}

/// The message of the commit in which a task is ticked.
pub(crate) fn completes(id: &TaskId) -> String {
    format!("chore(spec): complete task {}", id.name())
}

/// Git cannot read what the task left, or not in the encoding that attributes tell.
fn unfit(output: &str) -> Record {
    let details = crate::mask::mask(output);
    Record::Refused(CheckFailure {
        cause: Cause::CommitRefused,
        error: format!("git cannot commit the work: {}", last_line(&details)),
        details,
        command: Some("git commit".to_owned()),
        exit_code: None,
        failing: Failing::default(),
    })
}

pub(crate) fn last_line(text: &str) -> String {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no output");
    line.chars().take(200).collect()
}
