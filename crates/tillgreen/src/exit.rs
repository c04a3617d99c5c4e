//! Exit codes. Scripts depend on them: what is here keeps its meaning.

use engine::End;

/// The line that a complete run prints; nothing else ever does.
pub(crate) const ALL_TASKS_COMPLETE: &str = "ALL_TASKS_COMPLETE";

/// All tasks complete (or complete with skips); for other commands: done.
pub(crate) const DONE: u8 = 0;
/// Stopped: a task's retries, fix tasks or the pull request's limits are exhausted.
pub(crate) const STOPPED: u8 = 1;
/// Usage, settings, plan or state error, agent not installed; nothing was started.
pub(crate) const USAGE: u8 = 2;
/// Paused: waiting for an answer, or for a person to see to the pull request, or because somebody asked for it.
pub(crate) const WAITING: u8 = 3;
/// Another run holds the plan.
pub(crate) const HELD: u8 = 4;
/// Stopped at a global cap: iterations, cost, tokens or time.
pub(crate) const CAPPED: u8 = 5;
/// Paused: an agent, a service or the disk is unavailable.
pub(crate) const UNAVAILABLE: u8 = 6;
/// Aborted by a response.
pub(crate) const ABORTED: u8 = 7;
/// Another process answered first.
pub(crate) const ANSWERED: u8 = 8;
/// Interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// The exit codes as the help shows them.
pub(crate) const HELP: &str = "\
Exit codes:
  0    all tasks complete (or complete with skips); other commands: done
  1    stopped: a task's retries, fix tasks or the pull request's limits are exhausted
  2    usage, settings, plan or state error, agent not installed; nothing was started
  3    paused: a person has to answer (see `tillgreen answer`) or to see to the pull request, or
       asked for it (see `tillgreen pause`)
  4    another run holds the plan
  5    stopped at a global cap: iterations, cost, tokens or time
  6    paused: an agent, a service or the disk is unavailable
  7    aborted by a response
  8    somebody else answered first
  130  interrupted";

/// The exit code of a run that ended so.
pub(crate) fn of(end: &End) -> u8 {
    match end {
        End::Complete { .. } => DONE,
        End::Stopped(_) => STOPPED,
        End::Capped(_) => CAPPED,
        End::Waiting { .. } | End::Paused { .. } | End::PullRequest { .. } => WAITING,
        End::Unavailable { .. } => UNAVAILABLE,
        End::Aborted => ABORTED,
        End::Interrupted => INTERRUPTED,
    }
}
