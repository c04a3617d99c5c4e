//! The meaning of an observation at the forge: at most one event.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::address;
use super::assess::{Verdict, assess};
use super::checks::labels_that_count;
use super::event::{LimitReached, Outcome, PullRequestEvent};
use super::look::Look;
use super::report::ForgeReport;
use super::request::CheckRef;
use super::stage::{Source, Stage};
use super::wanted::{ForgeAction, wanted};
use crate::event::{End, StopReason, What};
use crate::rules::Rules;
use crate::state::State;

/// The time between two looks for what is over in a moment or not at all.
const SOON: Duration = Duration::from_secs(20);

/// Gives the event that a report means. One about something that is not wanted any more means nothing.
pub(crate) fn decide(state: &State, key: &str, report: ForgeReport, at: Timestamp) -> Option<What> {
    let action = wanted(state, at).filter(|action| action.key() == key)?;
    let rules = state.rules()?;
    let event = match (action, report) {
        // Writing needs nobody but us.
        (ForgeAction::Write { .. }, ForgeReport::Obstructed(_) | ForgeReport::Unavailable { .. }) => {
            return None;
        }
        (_, ForgeReport::Obstructed(obstacle)) => {
            return Some(What::Ended(End::PullRequest { obstacle }));
        }
        (_, ForgeReport::Unavailable { reason, retry_after }) => {
            let wait = retry_after.unwrap_or_else(|| rules.limits.wait(nth(state)));
            PullRequestEvent::Unavailable { reason, nth: nth(state), until: after(at, wait) }
        }
        (ForgeAction::Publish { cycle }, ForgeReport::Published(published)) => {
            let cycle = if is_watched_on(state, &published.head) { cycle.saturating_sub(1) } else { cycle };
            PullRequestEvent::Published { published, cycle }
        }
        (ForgeAction::Publish { .. }, ForgeReport::AlreadyMerged { number, url }) => {
            PullRequestEvent::Satisfied { outcome: Outcome::Merged { number, url } }
        }
        (ForgeAction::Publish { .. }, ForgeReport::Moved) => {
            PullRequestEvent::IntegrationPlanned { source: Source::Branch }
        }
        (ForgeAction::Look { .. }, ForgeReport::Looked(look)) => return looked(state, rules, &look, at),
        (ForgeAction::Rerun { .. }, ForgeReport::Rerun { refused }) => {
            PullRequestEvent::Rerun { refused, until: after(at, rules.pull_request.look_every) }
        }
        (ForgeAction::ReadLogs { checks, .. }, ForgeReport::LogsRead(logs)) => {
            let drafts = address::of_checks(&checks, &logs);
            let place = state.pull_request.place.as_ref()?;
            PullRequestEvent::TasksPlanned { requests: address::number(state, place, drafts) }
        }
        (ForgeAction::Write { .. }, ForgeReport::Written { decls, kept }) => {
            PullRequestEvent::TasksWritten { decls, kept }
        }
        (ForgeAction::Integrate { .. }, ForgeReport::Integrated) => PullRequestEvent::Integrated,
        (ForgeAction::Reply { .. }, ForgeReport::Replied { failed }) => {
            let warnings = failed.iter().map(|(task, why)| format!("{task}: {why}")).collect();
            PullRequestEvent::Replied { warnings }
        }
        (ForgeAction::RequestReview { .. }, ForgeReport::ReviewRequested { failed }) => {
            let until = after(at, rules.pull_request.look_every);
            PullRequestEvent::ReviewRequested { warnings: failed, until }
        }
        (ForgeAction::Merge { .. }, ForgeReport::Merged) => {
            let place = state.pull_request.place.as_ref()?;
            let outcome = Outcome::Merged { number: place.number, url: place.url.clone() };
            PullRequestEvent::Satisfied { outcome }
        }
        (ForgeAction::Merge { .. }, ForgeReport::MergeQueued) => {
            PullRequestEvent::MergeQueued { until: after(at, soon(rules)) }
        }
        // A report that answers something else than what was asked.
        _ => return None,
    };
    Some(What::PullRequest(Box::new(event)))
}

/// True if the commit is the one that was watched when the run ended: going on with that is no further push.
fn is_watched_on(state: &State, head: &str) -> bool {
    let lifecycle = &state.pull_request;
    lifecycle.goes_on && lifecycle.place.as_ref().is_some_and(|place| place.head == head)
}

fn after(at: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).ok();
    wait.and_then(|wait| at.checked_add(wait).ok()).unwrap_or(Timestamp::MAX)
}

/// How long to wait for what is over in a moment.
fn soon(rules: &Rules) -> Duration {
    rules.pull_request.look_every.min(SOON)
}

fn nth(state: &State) -> u32 {
    state.pull_request.absence.as_ref().map_or(0, |absence| absence.nth).saturating_add(1)
}

fn looked(state: &State, rules: &Rules, look: &Look, at: Timestamp) -> Option<What> {
    let lifecycle = &state.pull_request;
    let place = lifecycle.place.as_ref()?;
    let event = match assess(lifecycle, &rules.pull_request, look)? {
        Verdict::Obstructed(obstacle) => return Some(What::Ended(End::PullRequest { obstacle })),
        Verdict::Believe(checks) => return Some(believed(state, rules, checks)),
        Verdict::Await(awaited) => PullRequestEvent::Looked {
            until: after(at, if awaited.is_brief() { soon(rules) } else { rules.pull_request.look_every }),
            awaited,
            checks: labels_that_count(&rules.pull_request, look),
        },
        Verdict::Rerun(checks) => PullRequestEvent::RerunPlanned { checks },
        Verdict::Address(drafts) => {
            PullRequestEvent::TasksPlanned { requests: address::number(state, place, drafts) }
        }
        Verdict::RequestReview(reviewers) => PullRequestEvent::ReviewPlanned { reviewers },
        Verdict::Integrate(source) => PullRequestEvent::IntegrationPlanned { source },
        Verdict::Over(outcome) => PullRequestEvent::Satisfied { outcome },
        Verdict::Ready(_) if rules.pull_request.merge.is_some() => PullRequestEvent::MergePlanned,
        Verdict::Ready(outcome) => PullRequestEvent::Satisfied { outcome },
    };
    Some(What::PullRequest(Box::new(event)))
}

/// Red checks get tasks, but not for ever: no green in between resets the count.
fn believed(state: &State, rules: &Rules, checks: Vec<CheckRef>) -> What {
    let lifecycle = &state.pull_request;
    let limit = rules.pull_request.ci_fixes_max;
    if lifecycle.ci_rounds < limit {
        return What::PullRequest(Box::new(PullRequestEvent::FailuresBelieved { checks }));
    }
    let checks = checks.into_iter().map(|check| check.label).collect();
    let url = lifecycle.place.as_ref().map(|place| place.url.clone());
    let limit = LimitReached::CiFixes { limit, checks };
    What::Ended(End::Stopped(StopReason::PullRequest { limit, url }))
}

impl Stage {
    /// True if something is being done or waited for at the forge.
    pub fn is_active(&self) -> bool {
        !matches!(self, Self::Resting | Self::Satisfied(_))
    }
}
