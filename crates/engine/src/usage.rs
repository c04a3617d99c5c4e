//! The usage of agents: tokens and money. What an agent does not say stays unknown, which is not zero.

use serde::{Deserialize, Serialize};

/// The usage of an agent, as far as it tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens that the model read afresh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens that the model read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The price, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl Usage {
    /// True if nothing is known.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// All tokens, if any number of them is known.
    pub fn tokens(&self) -> Option<u64> {
        let known = [self.input, self.cached, self.output];
        known.into_iter().flatten().reduce(u64::saturating_add)
    }

    /// Both together. What only one of them knows is taken for the whole.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// The difference to what was there before: cumulative figures become those of one attempt.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let less = |now: Option<u64>, before: Option<u64>| {
            now.map(|now| now.saturating_sub(before.unwrap_or_default()))
        };
        Self {
            input: less(self.input, before.input),
            cached: less(self.cached, before.cached),
            output: less(self.output, before.output),
            cost_micros: less(self.cost_micros, before.cost_micros),
        }
    }

    fn with(self, other: Self, both: impl Fn(u64, u64) -> u64) -> Self {
        let join = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(both(one, other)),
            (one, other) => one.or(other),
        };
        Self {
            input: join(self.input, other.input),
            cached: join(self.cached, other.cached),
            output: join(self.output, other.output),
            cost_micros: join(self.cost_micros, other.cost_micros),
        }
    }
}

/// An agent's own memory of a conversation, by which it can be taken up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The agent's own name for it.
    pub id: String,
    /// The usage of the whole session, where the agent counts on through it.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub total: Usage,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_not_zero() {
        let unknown = Usage::default();
        let some = Usage { input: Some(3), output: Some(0), ..unknown };
        assert_eq!(unknown.tokens(), None);
        assert_eq!(some.tokens(), Some(3));
        assert_eq!(some.plus(unknown), some);
        assert_eq!(some.plus(some).input, Some(6));
        assert_eq!(some.plus(some).cost_micros, None);
        assert_eq!(serde_json::to_string(&unknown).unwrap(), "{}");
    }

    #[test]
    fn cumulative_figures_become_those_of_one_attempt() {
        let first = Usage { input: Some(100), output: Some(20), ..Usage::default() };
        let second = Usage { input: Some(200), output: Some(40), ..Usage::default() };
        assert_eq!(second.since(first), first);
        assert_eq!(first.since(Usage::default()), first);
        assert_eq!(first.since(second).input, Some(0), "a counter that went backwards gives nothing");
    }
}
