//! Gits of a run that died and that outlived it, because a hook or a filter takes its time. They are waited for, and that
//! is said: nobody else could tell what is going on.

use super::child_note::{ChildNote, Noted};
use super::process::COMMIT_DEADLINE;
use super::stale_lock::outwait;
use crate::git::repository::Git;

impl Git {
    /// Waits for gits of an earlier process of this run, and in the end kills them.
    pub fn outwait_earlier(&self, tell: &mut dyn FnMut(String)) {
        let noted = self.note_place().map(ChildNote::read_all).unwrap_or_default();
        let noted: Vec<Noted> = noted.into_iter().map(|(_, noted)| noted).collect();
        for git in noted.iter().chain(&self.orphans()).filter(|git| git.is_another()) {
            // One that was noted is found twice, and has ended by then.
            if !git.is_alive() {
                continue;
            }
            tell(format!(
                "git of an earlier start (process {}) is still running, perhaps in a hook; waiting for it, at most {} s: \
                 `kill -- -{}` ends it if it hangs",
                git.pid,
                COMMIT_DEADLINE.as_secs(),
                git.pid
            ));
            outwait(git, COMMIT_DEADLINE);
        }
    }
}
