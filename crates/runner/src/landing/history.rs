//! The check that the commits of this run are still there. An agent, or a person, may take commits out of the history,
//! or check out another one; whatever came in on top of that would end green without what is gone.

use std::thread;
use std::time::{Duration, Instant};

use engine::{Attempt, Status, Task};

use crate::git::{Git, GitError, Missing, Oid, WayBack, is_interrupted};
use crate::record::done::TRAILER;
use crate::run::effects::Effects;

/// The number of commits among which one is looked for that was rebased.
const SEARCH: usize = 1_000;
/// The time that a rebase under way is waited for.
const REBASE_PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The commits that have to be in the history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// A commit in whose history it was found to be, which saves a look as long as that is checked out.
    sound: Option<Oid>,
    work: Option<Work>,
    /// The commit that was checked out when this program began: until work comes in, that is what can be lost.
    floor: Option<Oid>,
    /// The branch that was checked out then.
    branch: Option<String>,
}

/// The work that was committed last.
#[derive(Clone, Debug)]
struct Work {
    task: plan::TaskId,
    commit: Oid,
    trailer: String,
}

impl Watch {
    /// Notes that a commit of ours came on top of what was checked out.
    pub(crate) fn advance(&mut self, before: Option<&Oid>, after: &Oid) {
        if self.sound.as_ref() == before {
            self.sound = Some(after.clone());
        }
    }

    /// The reason why nothing may come on top of what is checked out, if that is no branch any more, or lacks what was
    /// committed. While somebody rebases, it is neither, for a moment.
    pub(crate) fn obstacle(&self, git: &Git) -> Result<Option<String>, GitError> {
        let give_up = Instant::now() + REBASE_PATIENCE;
        while self.obstacle_now(git)?.is_some() && Instant::now() < give_up && !is_interrupted() {
            if git.rebasing().is_none() {
                // It may have ended just now.
                return self.obstacle_now(git);
            }
            thread::sleep(LOOK_AGAIN);
        }
        self.obstacle_now(git)
    }

    fn obstacle_now(&self, git: &Git) -> Result<Option<String>, GitError> {
        let gone = self.gone(git)?;
        if gone.is_some() { Ok(gone) } else { self.elsewhere(git) }
    }

    /// The reason why nothing may be committed where no branch is checked out any more: the work would be on none.
    fn elsewhere(&self, git: &Git) -> Result<Option<String>, GitError> {
        let Some(branch) = self.branch.as_ref().filter(|_| !matches!(git.branch(), Ok(Some(_)))) else {
            return Ok(None);
        };
        Ok(Some(format!(
            "no branch is checked out any more, and the run began on {branch}: check that out again (`git checkout \
             {branch}`) and run again, or run again to go on without a branch"
        )))
    }

    /// Another branch that is checked out now, and the one before.
    fn other_branch(&self, git: &Git) -> Result<Option<(String, String)>, GitError> {
        let (Some(before), Some(now)) = (&self.branch, git.branch()?) else { return Ok(None) };
        Ok((*before != now).then(|| (now, before.clone())))
    }

    fn gone(&self, git: &Git) -> Result<Option<String>, GitError> {
        let head = git.head()?;
        if head.is_some() && head == self.sound {
            return Ok(None);
        }
        match (&self.work, &self.floor) {
            (Some(work), _) => self.lost(git, work),
            (None, Some(floor)) if !git.contains(floor.as_str())? => Ok(Some(format!(
                "commit {}, which was checked out when the run began, is no longer in the history: {}, or run again to \
                 go on from what is there",
                floor.short(),
                self.advice(git, floor)?
            ))),
            (None, _) => Ok(None),
        }
    }

    fn lost(&self, git: &Git, work: &Work) -> Result<Option<String>, GitError> {
        if git.contains(work.commit.as_str())? {
            return Ok(None);
        }
        // Whoever rebased has it under another name.
        if git.find_trailer(TRAILER, &work.trailer, SEARCH)?.is_some() {
            return Ok(None);
        }
        Ok(Some(format!(
            "the work of task {}, commit {}, is no longer in the history of what is checked out: {} and run again, or go \
             on from what is there with `tillgreen run --fresh`",
            work.task,
            work.commit.short(),
            self.advice(git, &work.commit)?
        )))
    }

    /// The advice that brings a commit back. Following it costs nobody a commit of theirs.
    fn advice(&self, git: &Git, commit: &Oid) -> Result<String, GitError> {
        let missing = Missing { commit, known: self.sound.as_ref(), branch: self.branch.as_deref() };
        Ok(match git.way_back(missing)? {
            WayBack::CheckOut(branch) => format!("check its branch out again (`git checkout {branch}`)"),
            WayBack::Reset(back) => format!("bring it back (`git reset --hard {back}`)"),
            WayBack::Merge(back) => format!(
                "bring it back beside the commits that came instead (`git merge {back}`, after a `git stash` if git asks for \
                 one, or by `git cherry-pick`)"
            ),
        })
    }
}

impl Effects<'_, '_> {
    /// The commits that have to be in the history now. A task that was opened again has nothing there to lose.
    pub(crate) fn watch(&mut self) -> &Watch {
        let is_done = |id: &plan::TaskId| {
            let task = self.state.task(id);
            task.is_some_and(|task| task.status == Status::Done && task.commit.is_some())
        };
        if !self.world.watch.work.as_ref().is_some_and(|work| is_done(&work.task)) {
            self.world.watch.work = self.last_work();
        }
        &self.world.watch
    }

    fn last_work(&self) -> Option<Work> {
        let done = self.state.tasks().iter().filter(|task| task.status == Status::Done);
        let last = done.filter(|task| task.commit.is_some()).max_by_key(|task| task.ended_at)?;
        self.work_of(last)
    }

    fn work_of(&self, task: &Task) -> Option<Work> {
        let commit = Oid::parse(task.commit.as_deref()?)?;
        let trailer = self.trailer(task.id(), Some(Attempt(task.attempted)));
        Some(Work { task: task.id().clone(), commit, trailer })
    }

    /// Notes that a task is done: what it committed is what has to stay.
    pub(crate) fn watch_work(&mut self, id: &plan::TaskId) {
        let work = self.state.task(id).and_then(|task| self.work_of(task));
        self.world.watch.work = work.or(self.world.watch.work.take());
    }

    /// The reason why no task may start, if what was committed is gone.
    pub(crate) fn lost_work(&mut self) -> Result<Option<String>, GitError> {
        let Some(git) = self.world.files.git() else { return Ok(None) };
        if self.world.watch.floor.is_none() {
            (self.world.watch.floor, self.world.watch.branch) = (git.head()?, git.branch()?);
        }
        let obstacle = self.watch().obstacle(git)?;
        if obstacle.is_none() {
            self.world.watch.sound = git.head()?;
            return self.follow_branch();
        }
        Ok(obstacle)
    }

    /// The reason why no task may start in the project itself while a merge or the like is half done there: it could
    /// not be committed, and its files would be in the way of whoever goes on with that. An attempt that failed may
    /// have left it there, and the next one puts it in order.
    pub(crate) fn in_progress(&self, id: &plan::TaskId) -> Option<String> {
        if self.state.task(id).is_some_and(|task| !task.failures.is_empty()) {
            return None;
        }
        let error = self.world.files.git()?.refuse_if_in_progress().err()?;
        let hint = error.hint().map(|hint| format!(": {hint}, then run again")).unwrap_or_default();
        Some(format!("{error}{hint}"))
    }

    /// Before something is committed: why that cannot be where another branch is checked out than before, or none. Where
    /// all of the work is there, it goes on there, and that is said.
    pub(crate) fn follow_branch(&mut self) -> Result<Option<String>, GitError> {
        let Some(git) = self.world.files.git() else { return Ok(None) };
        let Some((now, before)) = self.world.watch.other_branch(git)? else {
            return self.world.watch.elsewhere(git);
        };
        if let Some(reason) = self.watch().obstacle(git)? {
            return Ok(Some(reason));
        }
        self.note(format!("branch {now} is checked out now instead of {before}: the run goes on there"));
        self.world.watch.branch = Some(now);
        Ok(None)
    }
}
