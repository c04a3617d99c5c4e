//! Locks on the project. Several plans may be run in it at once, and only one of them at a time brings work in, or has
//! an agent work in the project itself: the others queue, and the lock ends with its process, however that ends.
//! Somebody's git that has its own lock on the index, or an editor open for a commit, is waited for as well.
//!
//! Waiting happens beside the loop, so that people can stop the run meanwhile; what was to be done is still wanted
//! afterwards and starts then.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use std::{env, io, thread};

use engine::{Action, ActionKey, Isolation, Status, Task, schedule, starts_in_project};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use plan::TaskId;

use crate::attempt::dispatch::Purpose;
use crate::attempt::invocation::MARKER;
use crate::error::RunError;
use crate::git::{Git, GitError};
use crate::inbox::Message;
use crate::run::driver::now;
use crate::run::effects::Effects;
use crate::work::places::Done;

/// A lock cannot be waited for and given up on request at once, so it is tried again and again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The number of looks before anything is said: mostly it takes a moment.
const LOOKS_UNTOLD: u32 = 25;

/// The lock on a project, until this is dropped.
#[derive(Debug)]
pub(crate) struct ProjectLock {
    _lock: Flock<File>,
}

/// The patience of a waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Left,
    Gone,
}

/// Tells somebody who waits for a lock to do so no longer.
#[derive(Debug)]
pub(crate) struct Release(Sender<()>);

impl Release {
    pub(crate) fn new() -> (Release, Receiver<()>) {
        let (sender, receiver) = channel();
        (Release(sender), receiver)
    }

    pub(crate) fn give(&self) {
        // Whoever is gone waits no longer.
        let _ = self.0.send(());
    }
}

impl ProjectLock {
    /// Takes the lock on a project. Each time that another has it, and before it is tried again, `wait` is called; it may
    /// give up. None then.
    pub(crate) fn take(
        folder: &Path,
        mut wait: impl FnMut() -> Patience,
    ) -> Result<Option<ProjectLock>, GitError> {
        let opened = |path: &Path| match path.is_dir() {
            true => File::open(path),
            false => File::options().create(true).read(true).append(true).open(path),
        };
        let (locks, mut next) = (LockFiles::of(folder), None);
        loop {
            next = match next {
                None => lock(&locks.queue, opened(&locks.queue))?,
                first @ Some(_) => first,
            };
            if next.is_some()
                && let Some(held) = lock(&locks.held, opened(&locks.held))?
            {
                return Ok(Some(ProjectLock { _lock: held }));
            }
            if wait() == Patience::Gone {
                return Ok(None);
            }
        }
    }
}

/// The files that are locked: by whoever has the project, and by whoever is next.
struct LockFiles {
    held: PathBuf,
    queue: PathBuf,
}

impl LockFiles {
    /// A run that an agent of another run has started in the same project works while that one has it, and waits for its like
    /// only.
    fn of(folder: &Path) -> LockFiles {
        let outer = env::var_os(MARKER).map(PathBuf::from);
        let is_within = outer.is_some_and(|home| home.parent() == Some(folder));
        match is_within {
            true => LockFiles { held: folder.join("inner.lock"), queue: folder.join("inner-queue.lock") },
            false => LockFiles { held: folder.join("project.lock"), queue: folder.to_owned() },
        }
    }
}

fn lock(path: &Path, opened: io::Result<File>) -> Result<Option<Flock<File>>, GitError> {
    let file = opened.map_err(GitError::io("open", path))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK | Errno::EINTR)) => Ok(None),
        Err((_, error)) => Err(GitError::io("lock", path)(error.into())),
    }
}

/// Waits a moment for a lock. Should it become a while, it is said once for what.
pub(crate) fn pause(
    released: &Receiver<()>,
    (who, looks): (&str, &mut u32),
    tell: impl FnOnce(String),
) -> Patience {
    *looks = looks.saturating_add(1);
    if *looks == LOOKS_UNTOLD {
        tell(format!("{who} waits for another run, which is at work in the project or brings work in"));
    }
    match released.recv_timeout(LOOK_AGAIN) {
        Err(RecvTimeoutError::Timeout) => Patience::Left,
        Ok(()) | Err(RecvTimeoutError::Disconnected) => Patience::Gone,
    }
}

impl Effects<'_, '_> {
    /// True if a task that is to work in the project itself has to wait until it has the project to itself, and does so from now on.
    /// Without one, what another run has half done there would be taken for its work.
    pub(crate) fn waits_to_start(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        if starts_in_project(self.state, id) { self.waits_for_project(key, id) } else { Ok(false) }
    }

    /// True if work has to wait until it may come in, and does so from now on. Work that was overtaken while it was verified
    /// has the project to itself the next time, or another run that is quicker would overtake it for ever.
    pub(crate) fn waits_to_land(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        let was_overtaken = self.state.task(id).is_some_and(|task| task.is_isolated() && task.returns() > 0);
        if was_overtaken { self.waits_for_project(key, id) } else { Ok(false) }
    }

    /// True if a task has to wait for the lock on the project, and does so from now on.
    pub(crate) fn waits_for_project(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        let has_one = self.world.project_lock.as_ref().is_some_and(|(task, _)| task == id);
        let shares = self.state.rules().is_some_and(|rules| rules.parallel.isolation == Isolation::Shared);
        if has_one || shares || self.world.files.git().is_none() {
            return Ok(false);
        }
        self.world.project_lock = None;
        let (folder, id) = (self.world.file.lock_folder(), id.clone());
        if let Some(lock) = ProjectLock::take(&folder, || Patience::Gone)? {
            self.world.project_lock = Some((id, lock));
            return Ok(false);
        }
        let ((release, released), sender) = (Release::new(), self.inbox_sender());
        self.beside(key, Purpose::Lock { release }, move || {
            let (who, mut looks) = (format!("task {id}"), 0);
            // The loop may be over; then nobody reads it.
            let tell = |text| drop(sender.send(Message::Note(text)));
            // What is wrong with it is found out when it is tried again.
            if let Ok(Some(lock)) = ProjectLock::take(&folder, || pause(&released, (&who, &mut looks), tell))
            {
                let _ = sender.send(Message::ProjectLock(id, lock));
            }
            Done::Lock
        })?;
        Ok(true)
    }

    /// When no work is half in the project, and nobody works there, others may.
    pub(crate) fn pass_project_on(&mut self) {
        let Some((holder, _)) = &self.world.project_lock else { return };
        let is_in_project = |task: &Task| {
            matches!(task.status, Status::Recording { .. }) || task.status.is_active() && !task.is_isolated()
        };
        let was_overtaken = self.state.task(holder).is_some_and(|task| task.returns() > 0);
        let is_next = |action: &Action| {
            matches!(action, Action::Prepare { task } | Action::Record { task, .. } if task == holder)
                || matches!(action, Action::Land { task, .. } | Action::Join { task, .. } if was_overtaken && task == holder)
        };
        if !self.state.attention().any(is_in_project) && !schedule(self.state, now()).iter().any(is_next) {
            self.world.project_lock = None;
        }
    }
}

impl crate::project::PlanFile {
    /// The folder that all plans of a project share.
    pub(crate) fn lock_folder(&self) -> PathBuf {
        self.home.parent().unwrap_or(&self.home).to_owned()
    }
}

impl Effects<'_, '_> {
    /// True if work has to wait until somebody has rebased what is checked out, and does so from now on: meanwhile no branch is.
    pub(crate) fn waits_for_rebase(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        let is_under_way = self.world.files.git().is_some_and(|git| git.rebasing().is_some());
        if is_under_way { self.waits_for_lock(key, id) } else { Ok(false) }
    }

    /// True if something that commits has to wait for another process's lock, and does so from now on.
    pub(crate) fn waits_for_lock(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        let Some((git, holder)) = self.world.files.git().and_then(|git| Some((git.clone(), somebody(git)?)))
        else {
            return Ok(false);
        };
        self.mention(words(&format!("task {id}"), &holder));
        let (release, released) = Release::new();
        self.beside(key, Purpose::Lock { release }, move || {
            outwait(&git, &released);
            Done::Lock
        })?;
        Ok(true)
    }
}

fn outwait(git: &Git, released: &Receiver<()>) {
    while somebody(git).is_some()
        && matches!(released.recv_timeout(LOOK_AGAIN), Err(RecvTimeoutError::Timeout))
    {}
}

/// Waits for git's lock before a run begins: what somebody is about to commit is neither in its way nor its own.
/// Signals end the program at once.
pub(crate) fn await_start(git: &Git, tell: &mut dyn FnMut(String)) {
    if let Some(holder) = somebody(git) {
        tell(words("this run", &holder));
        while somebody(git).is_some() {
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// The process that has the lock or is about to commit.
fn somebody(git: &Git) -> Option<String> {
    let holder = git.lock_holder().map(|holder| format!("git's lock on the index, held by {holder}"));
    holder.or_else(|| git.committing()).or_else(|| git.rebasing())
}

fn words(who: &str, holder: &str) -> String {
    format!("{who} waits for {holder}: somebody is at work with git")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::{LOOKS_UNTOLD, Patience, ProjectLock, Release, pause};

    #[test]
    fn a_turn_is_had_by_one_at_a_time_and_whoever_gives_up_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut looks = 0;
        let first = ProjectLock::take(folder.path(), || Patience::Gone).unwrap();
        assert!(first.is_some());
        let wait = || {
            looks += 1;
            if looks < 3 { Patience::Left } else { Patience::Gone }
        };
        assert!(ProjectLock::take(folder.path(), wait).unwrap().is_none());
        assert_eq!(looks, 3);
        drop(first);
        assert!(ProjectLock::take(folder.path(), || Patience::Gone).unwrap().is_some());
    }

    #[test]
    fn whoever_waits_is_next() {
        let folder = tempfile::tempdir().unwrap();
        let first = ProjectLock::take(folder.path(), || Patience::Gone).unwrap();
        let ((waits, is_waiting), (end, ended)) = (channel(), channel::<()>());
        let place = folder.path();
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                let wait = || {
                    waits.send(()).unwrap();
                    Patience::Left
                };
                let lock = ProjectLock::take(place, wait).unwrap();
                ended.recv().unwrap();
                lock.is_some()
            });
            is_waiting.recv().unwrap();
            drop(first);
            assert!(ProjectLock::take(folder.path(), || Patience::Gone).unwrap().is_none());
            end.send(()).unwrap();
            assert!(second.join().unwrap());
        });
    }

    #[test]
    fn a_long_wait_is_told_once_and_ends_on_request() {
        let ((release, released), mut looks, mut told) = (Release::new(), LOOKS_UNTOLD - 2, Vec::new());
        for _ in 0..3 {
            assert_eq!(pause(&released, ("this", &mut looks), |text| told.push(text)), Patience::Left);
        }
        assert_eq!(told, ["this waits for another run, which is at work in the project or brings work in"]);
        release.give();
        assert_eq!(pause(&released, ("this", &mut looks), |text| told.push(text)), Patience::Gone);
    }
}
