//! The spending of a run. Every agent start is counted once, however often it reports.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::event::CapKind;
use crate::rules::Limits;
use crate::state::State;
use crate::task::Dispatch;
use crate::usage::{Session, Usage};

/// The usage of one start of an agent, as far as is known. A later report of the same start replaces an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The task that it worked for.
    pub task: TaskId,
    /// The agent's start.
    pub dispatch: Dispatch,
    /// The agent's name.
    pub agent: String,
    /// The usage.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
    /// The session that it can be taken up again by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// True if the agent is still at work: it told so far, and would not be asked again if the program died.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interim: bool,
}

/// How long a running agent's reports are kept to themselves after one that was recorded.
const INTERVAL: SignedDuration = SignedDuration::from_secs(10);

/// The spending so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spending {
    /// By each start of an agent, as last reported.
    by_dispatch: BTreeMap<Dispatch, Usage>,
    /// When those that are still at work were last recorded.
    told_at: BTreeMap<Dispatch, Timestamp>,
    /// Those that told all they ever will.
    closed: BTreeSet<Dispatch>,
    /// By the starts of this round.
    round: Usage,
    /// By all starts.
    total: Usage,
}

impl Spending {
    pub(crate) fn round(&self) -> Usage {
        self.round
    }

    pub(crate) fn total(&self) -> Usage {
        self.total
    }

    /// A new round has full budgets.
    pub(crate) fn renew(&mut self) {
        self.round = Usage::default();
    }

    /// Takes in a report and returns what it adds to those before.
    pub(crate) fn take_in(&mut self, dispatch: Dispatch, usage: Usage) -> Usage {
        let added = self.added(dispatch, usage);
        self.by_dispatch.insert(dispatch, usage);
        self.round = self.round.plus(added);
        self.total = self.total.plus(added);
        added
    }

    /// Notes when a running agent's report was recorded, or that the agent has ended.
    pub(crate) fn note_time(&mut self, spent: &Spent, at: Timestamp) {
        if spent.interim {
            self.told_at.insert(spent.dispatch, at);
        } else {
            self.told_at.remove(&spent.dispatch);
            self.closed.insert(spent.dispatch);
        }
    }

    /// True if an agent has told its last: it is through, though its end may not have been looked at yet.
    pub(crate) fn is_closed(&self, dispatch: Dispatch) -> bool {
        self.closed.contains(&dispatch)
    }

    /// True if a running agent's report is worth recording: it tells something new, and the last one is a while ago.
    fn is_news(&self, dispatch: Dispatch, usage: Usage, at: Timestamp) -> bool {
        let is_new = self.by_dispatch.get(&dispatch) != Some(&usage) && !usage.is_unknown();
        is_new && self.told_at.get(&dispatch).is_none_or(|told| at.duration_since(*told) >= INTERVAL)
    }

    fn added(&self, dispatch: Dispatch, usage: Usage) -> Usage {
        usage.since(self.by_dispatch.get(&dispatch).copied().unwrap_or_default())
    }

    /// The spending of the round with this report.
    fn round_with(&self, dispatch: Dispatch, usage: Usage) -> Usage {
        self.round.plus(self.added(dispatch, usage))
    }
}

/// The cap that a usage reaches.
fn cap(limits: &Limits, usage: Usage) -> Option<CapKind> {
    let reaches =
        |used: Option<u64>, limit: Option<u64>| limit.filter(|limit| used.is_some_and(|used| used >= *limit));
    let cost = reaches(usage.cost_micros, limits.cost_micros_max);
    let tokens = reaches(usage.tokens(), limits.tokens_max);
    cost.map(|micros| CapKind::Cost { micros }).or(tokens.map(|limit| CapKind::Tokens { limit }))
}

impl State {
    /// The usage of agents in this round.
    pub fn round_usage(&self) -> Usage {
        self.spending.round()
    }

    /// The usage of agents in all.
    pub fn usage(&self) -> Usage {
        self.spending.total()
    }

    /// The cap on spending that the round has reached, if any.
    pub(crate) fn spending_cap(&self) -> Option<CapKind> {
        cap(&self.rules()?.limits, self.spending.round())
    }

    /// The money that may still be spent in this round, in millionths of a dollar, where there is a cap.
    pub fn cost_left(&self) -> Option<u64> {
        let limit = self.rules()?.limits.cost_micros_max?;
        Some(limit.saturating_sub(self.spending.round().cost_micros.unwrap_or_default()))
    }

    /// True if a report of a running agent is to be recorded: what a program that dies has not recorded would be
    /// forgotten, and what takes the round to its cap ends it.
    pub(crate) fn is_worth_recording(&self, spent: &Spent, at: Timestamp) -> bool {
        self.would_reach_cap(spent.dispatch, spent.usage)
            || self.spending.is_news(spent.dispatch, spent.usage, at)
    }

    fn would_reach_cap(&self, dispatch: Dispatch, usage: Usage) -> bool {
        let reached =
            |rules: &crate::rules::Rules| cap(&rules.limits, self.spending.round_with(dispatch, usage));
        self.rules().and_then(reached).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64) -> Usage {
        Usage { input: Some(input), ..Usage::default() }
    }

    #[test]
    fn a_later_report_replaces_an_earlier_one() {
        let mut spending = Spending::default();
        spending.take_in(Dispatch(1), tokens(10));
        spending.take_in(Dispatch(1), tokens(30));
        spending.take_in(Dispatch(2), tokens(5));
        assert_eq!(spending.round(), tokens(35));
        spending.renew();
        assert_eq!(spending.take_in(Dispatch(3), tokens(1)), tokens(1));
        assert_eq!((spending.round(), spending.total()), (tokens(1), tokens(36)));
    }

    #[test]
    fn what_is_unknown_reaches_no_cap() {
        let limits = Limits { tokens_max: Some(10), cost_micros_max: Some(5), ..Limits::default() };
        assert_eq!(cap(&limits, Usage::default()), None);
        assert_eq!(cap(&limits, tokens(9)), None);
        assert_eq!(cap(&limits, tokens(10)), Some(CapKind::Tokens { limit: 10 }));
        let cost = Usage { cost_micros: Some(6), ..tokens(10) };
        assert_eq!(cap(&limits, cost), Some(CapKind::Cost { micros: 5 }));
        assert_eq!(cap(&Limits::default(), cost), None);
    }
}
