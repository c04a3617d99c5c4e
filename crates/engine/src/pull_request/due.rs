//! The events that follow for the pull request from the state alone.

use jiff::Timestamp;

use super::event::{LimitReached, PullRequestEvent};
use super::stage::Stage;
use crate::event::{End, StopReason, What};
use crate::rules::Rules;
use crate::state::State;
use crate::status::Status;

/// The event that is due once every task is settled and nothing else is.
pub(crate) fn due(state: &State, rules: &Rules, now: Timestamp) -> Option<What> {
    let lifecycle = &state.pull_request;
    if let Stage::Satisfied(_) = lifecycle.stage {
        return Some(What::Ended(End::Complete { skipped: state.skipped_count() }));
    }
    if let Some(absence) = &lifecycle.absence
        && absence.nth >= rules.limits.unavailable_max
    {
        return Some(What::Ended(End::Unavailable { reason: absence.reason.clone() }));
    }
    if let Some(limit) = limit_reached(state, rules, now) {
        let url = lifecycle.place.as_ref().map(|place| place.url.clone());
        return Some(What::Ended(End::Stopped(StopReason::PullRequest { limit, url })));
    }
    following(state, rules).map(|event| What::PullRequest(Box::new(event)))
}

fn limit_reached(state: &State, rules: &Rules, now: Timestamp) -> Option<LimitReached> {
    let lifecycle = &state.pull_request;
    let rules = &rules.pull_request;
    let is_used_up = lifecycle.cycles >= rules.cycles_max && !lifecycle.goes_on;
    if lifecycle.stage == Stage::Resting && is_used_up {
        return Some(LimitReached::Cycles { limit: rules.cycles_max });
    }
    let is_up = lifecycle.time_up(rules).is_some_and(|up| now >= up);
    let awaited = || match &lifecycle.stage {
        Stage::Watching(watch) => watch.awaited.as_ref().map(super::Awaited::text).unwrap_or_default(),
        Stage::Resting
        | Stage::Publishing
        | Stage::Rerunning(_)
        | Stage::Reading(_)
        | Stage::Writing(_)
        | Stage::Replying(_)
        | Stage::Requesting(_)
        | Stage::Integrating(_)
        | Stage::Merging
        | Stage::Satisfied(_) => String::new(),
    };
    is_up.then(|| LimitReached::Time { seconds: rules.time_max.as_secs(), awaited: awaited() })
}

fn following(state: &State, rules: &Rules) -> Option<PullRequestEvent> {
    match &state.pull_request.stage {
        Stage::Resting => Some(PullRequestEvent::Begun),
        Stage::Watching(_) if rules.pull_request.reply.is_on() || rules.pull_request.resolve.is_on() => {
            let is_done = |id: &plan::TaskId| state.task(id).is_some_and(|task| task.status == Status::Done);
            let tasks = state.pull_request.unanswered(is_done);
            (!tasks.is_empty()).then_some(PullRequestEvent::RepliesPlanned { tasks })
        }
        Stage::Watching(_)
        | Stage::Publishing
        | Stage::Rerunning(_)
        | Stage::Reading(_)
        | Stage::Writing(_)
        | Stage::Replying(_)
        | Stage::Requesting(_)
        | Stage::Integrating(_)
        | Stage::Merging
        | Stage::Satisfied(_) => None,
    }
}
