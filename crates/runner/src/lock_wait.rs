//! Waiting for whoever has git's lock on the project's index, or has an editor open for the message of a commit, which
//! fails if others commit first. It is done beside the loop, so that people can stop the run meanwhile; what was to be done
//! is still wanted afterwards and starts then.
//!
//! A lock that nobody has any more is no reason to wait: it is an error where it is met.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use engine::ActionKey;
use plan::TaskId;

use crate::attempt::Purpose;
use crate::effects::Effects;
use crate::error::RunError;
use crate::git::Git;
use crate::places::Done;
use crate::turn::Release;

/// Somebody else's process cannot be waited for otherwise than by looking again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl Effects<'_, '_> {
    /// Whether something that commits has to wait for somebody's lock, and does so from now on.
    pub(crate) fn waits_for_lock(&mut self, key: ActionKey, id: &TaskId) -> Result<bool, RunError> {
        let Some((git, holder)) = self.world.tree.git().and_then(|git| Some((git.clone(), somebody(git)?)))
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

/// The same before a run begins: what somebody is about to commit is neither in its way nor its own. Signals end the
/// program at once.
pub(crate) fn await_start(git: &Git, tell: &mut dyn FnMut(String)) {
    if let Some(holder) = somebody(git) {
        tell(words("this run", &holder));
        while somebody(git).is_some() {
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Whoever has the lock or is about to commit.
fn somebody(git: &Git) -> Option<String> {
    let holder = git.lock_holder().map(|holder| format!("git's lock on the index, held by {holder}"));
    holder.or_else(|| git.committing())
}

fn words(who: &str, holder: &str) -> String {
    format!("{who} waits for {holder}: somebody is at work with git")
}
