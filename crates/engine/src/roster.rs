//! The agents by role, and who takes over when one is out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::status::Role;
use crate::task::Dispatch;

/// The names of the agents for each role, the first choice first. Without any there is one agent for everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agents {
    /// The agents that do tasks.
    pub executor: Vec<String>,
    /// The agents that verify and judge.
    pub qa: Vec<String>,
    /// The agents that approve.
    pub reviewer: Vec<String>,
}

/// Why it is of no use to ask an agent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// Its account has nothing left.
    Quota,
    /// Its account is not accepted.
    Authentication,
    /// It does not understand how it is started.
    Misuse,
    /// It did not answer often enough, and another one can take over.
    Silence,
}

impl Agents {
    /// True if nobody is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The agents for a role.
    pub fn of(&self, role: Role) -> &[String] {
        match role {
            Role::Executor | Role::Planner => &self.executor,
            Role::Qa => &self.qa,
            Role::Reviewer => &self.reviewer,
        }
    }
}

/// The agents that work, and those that no longer do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Roster {
    agents: Agents,
    dropped: BTreeSet<String>,
    /// The agent that was started as each dispatch.
    started: BTreeMap<Dispatch, String>,
}

impl Roster {
    /// Gives agents that were dropped another chance, as the program is started anew.
    pub(crate) fn open(&mut self, agents: &Agents) {
        self.agents = agents.clone();
        self.dropped.clear();
    }

    /// The first agent for a role that is not out.
    pub(crate) fn first(&self, role: Role) -> Option<&str> {
        self.agents.of(role).iter().find(|name| !self.dropped.contains(*name)).map(String::as_str)
    }

    /// True if somebody else could take over from an agent.
    pub(crate) fn has_other(&self, role: Role, agent: &str) -> bool {
        self.agents.of(role).iter().any(|name| name != agent && !self.dropped.contains(name))
    }

    /// True if agents are named for a role and all of them are out.
    pub(crate) fn is_exhausted(&self, role: Role) -> bool {
        !self.agents.of(role).is_empty() && self.first(role).is_none()
    }

    pub(crate) fn start(&mut self, dispatch: Dispatch, role: Role) {
        if let Some(name) = self.first(role).map(str::to_owned) {
            self.started.insert(dispatch, name);
        }
    }

    pub(crate) fn started(&self, dispatch: Dispatch) -> Option<&str> {
        self.started.get(&dispatch).map(String::as_str)
    }

    pub(crate) fn drop(&mut self, agent: &str) {
        self.dropped.insert(agent.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_out_is_passed_over_until_the_next_start() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let agents = Agents { executor: names(&["a", "b"]), qa: names(&["a"]), ..Agents::default() };
        let mut roster = Roster::default();
        roster.open(&agents);
        roster.start(Dispatch(1), Role::Executor);
        assert!(roster.has_other(Role::Executor, "a"));
        assert!(!roster.has_other(Role::Qa, "a"));
        roster.drop("a");
        assert_eq!(roster.first(Role::Executor), Some("b"));
        assert_eq!(roster.started(Dispatch(1)), Some("a"));
        assert!(roster.is_exhausted(Role::Qa));
        assert!(!roster.is_exhausted(Role::Reviewer), "nobody is named there");
        roster.drop("b");
        assert!(roster.is_exhausted(Role::Executor));
        roster.open(&agents);
        assert_eq!(roster.first(Role::Executor), Some("a"));
    }
}
