//! When keepers stand by: for the first agents from the start, while git still looks at the project, and for verify
//! commands and the next agents while agents work. When their work comes in there is no time for that.

use std::thread;
use std::time::Duration;

use engine::{Status, Task, TaskDecl};

use crate::driver::Driver;
use crate::process::Standby;
use crate::settings::Settings;

/// How long agents are left alone after their start.
const SETTLING: Duration = Duration::from_millis(100);

/// How many stand by at most: two for each task of a wide batch that ends at the same moment.
const KEEPERS_MAX: usize = 32;

/// Has keepers stand by for the agents that are started first.
pub(crate) fn await_first_agents(standby: &Standby, tasks: &[TaskDecl], settings: &Settings) {
    let jobs = usize::try_from(settings.rules.parallel.jobs).unwrap_or(KEEPERS_MAX);
    let agents_max = if is_wide(tasks, settings) { jobs } else { 1 };
    let open = tasks.iter().filter(|task| !task.ticked).count();
    standby.top_up(open.min(agents_max).min(KEEPERS_MAX), Duration::ZERO);
}

/// Whether anything in the plan could run side by side.
pub(crate) fn is_wide(tasks: &[TaskDecl], settings: &Settings) -> bool {
    let open = || tasks.iter().filter(|task| !task.ticked);
    let is_spec = settings.rules.dialect == plan::Dialect::Spec;
    let is_marked = |task: &&TaskDecl| task.parallel || !is_spec;
    settings.rules.parallel.infer.is_on() || open().filter(is_marked).count() > 1
}

impl Driver<'_> {
    /// While agents work, there is time to find out how commits are made here, and to start what will be asked when
    /// their work is taken up.
    pub(crate) fn learn_to_commit(&self) {
        if self.has_waiting_agents() {
            return;
        }
        let Some(git) = self.tree.git() else { return };
        let is_isolated = self.state.attention().any(|task| task.isolated && task.status.is_active());
        let committable = self.tree.committable().clone();
        if committable.is_known() && git.knows_how_to_commit() && (!is_isolated || git.has_standing()) {
            return;
        }
        let git = git.clone();
        let learn = move || {
            // The agents have just been started and need the processors themselves.
            thread::sleep(SETTLING);
            // If it cannot be had, that is said when it is needed.
            let _ = committable.ask(&git);
            git.learn_to_commit();
            if is_isolated {
                git.start_standing();
            }
        };
        // Should there be no thread, it is found out when it is needed.
        let _ = thread::Builder::new().name("habits".to_owned()).spawn(learn);
    }

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
    /// it comes in. And one for each agent that may be started when one of those at work has ended.
    fn keepers_of_use(&self) -> usize {
        let times = |task: &Task| match task.status {
            Status::Running(_) => 1 + usize::from(task.isolated),
            Status::Finished { .. } | Status::Landing { .. } => 1,
            Status::Checking(_) | Status::Judging(_) => usize::from(task.isolated),
            Status::Proving | Status::Joining { .. } | Status::Recording { .. } => 0,
            Status::Drafted | Status::Ready { .. } | Status::Failed | Status::WaitingFor(_) => 0,
            Status::Asking(_) | Status::Done | Status::Skipped => 0,
        };
        let jobs = self.state.rules().map_or(1, |rules| rules.parallel.jobs);
        let is_next = |task: &&Task| matches!(task.status, Status::Ready { .. });
        let next = self.state.unsettled().filter(is_next).take(usize::try_from(jobs).unwrap_or(KEEPERS_MAX));
        (next.count() + self.state.attention().map(times).sum::<usize>()).min(KEEPERS_MAX)
    }
}
