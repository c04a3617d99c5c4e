//! When keepers stand by for verify commands: while agents work there is time to start them, and when their work comes in
//! there is none.

use std::time::Duration;

use engine::{Status, Task};

use crate::driver::Driver;
use crate::recording::SETTLING;

/// How many stand by at most: two for each task of a wide batch that ends at the same moment.
const KEEPERS_MAX: usize = 32;

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

    /// One for each time that work is still to be verified: what was verified in a tree of its own is verified again when
    /// it comes in.
    fn keepers_of_use(&self) -> usize {
        let times = |task: &Task| match task.status {
            Status::Running(_) => 1 + usize::from(task.isolated),
            Status::Finished { .. } | Status::Landing { .. } => 1,
            Status::Checking(_) | Status::Judging(_) => usize::from(task.isolated),
            Status::Proving | Status::Joining { .. } | Status::Recording { .. } => 0,
            Status::Drafted | Status::Ready { .. } | Status::Failed | Status::WaitingFor(_) => 0,
            Status::Asking(_) | Status::Done | Status::Skipped => 0,
        };
        self.state.attention().map(times).sum::<usize>().min(KEEPERS_MAX)
    }
}
