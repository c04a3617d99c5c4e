//! When keepers stand by for verify commands: while agents work there is time to start them, and when their work comes in
//! there is none.

use std::time::Duration;

use engine::{Status, Task};

use crate::driver::Driver;
use crate::recording::SETTLING;

/// How many stand by at most. Work comes in piece by piece, so more of them would rarely be of use at once.
const KEEPERS_MAX: usize = 4;

impl Driver<'_> {
    /// An agent was started: when its work comes in, a keeper is to be there. Agents that have just been started, and those
    /// that wait for their work trees, need the processors themselves.
    pub(crate) fn have_keepers_stand_by(&self) {
        if !self.has_waiting_agents() {
            self.standby.top_up(self.keepers_of_use(), SETTLING);
        }
    }

    /// A verify command runs on what came together, so that nothing else comes in for the moment: that is when there is
    /// time for the keeper of the next one.
    pub(crate) fn replace_used_keeper(&self) {
        self.standby.top_up(self.keepers_of_use(), Duration::ZERO);
    }

    /// One for each task whose work is still to be verified, be it once more: what was verified in a tree of its own is
    /// verified again when it comes in.
    fn keepers_of_use(&self) -> usize {
        let is_to_be_verified = |task: &&Task| match task.status {
            Status::Running(_) | Status::Finished { .. } | Status::Landing { .. } => true,
            Status::Checking(_) | Status::Judging(_) => task.isolated,
            Status::Proving | Status::Joining { .. } | Status::Recording { .. } => false,
            Status::Drafted | Status::Ready { .. } | Status::Failed | Status::WaitingFor(_) => false,
            Status::Asking(_) | Status::Done | Status::Skipped => false,
        };
        self.state.attention().filter(is_to_be_verified).count().min(KEEPERS_MAX)
    }
}
