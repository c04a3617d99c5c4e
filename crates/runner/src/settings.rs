//! Everything a run is told, with all defaults resolved. Where a value came from (flag, file, earlier run) is
//! the binary's business.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::{Rules, Toggle};

use crate::agent::{AgentKind, Permission};
use crate::planning::Brief;
use crate::worktrees::Worktrees;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine's policy.
    pub rules: Rules,
    /// The agent for all work, unless the rules name others.
    pub agent: Agent,
    /// Everybody whom the rules name.
    pub agents: Vec<Agent>,
    /// On if a retry takes up the agent's own session again.
    pub resume_sessions: Toggle,
    /// On if agents are offered a server through which they can report.
    pub report_tools: Toggle,
    /// Whether the source of an imported plan is told what is done while the plan is run.
    pub write_back: Toggle,
    /// The time an attempt may take.
    pub attempt_timeout: Duration,
    /// The time an agent may stay silent.
    pub no_progress_timeout: Duration,
    /// The time a verify command may take.
    pub verify_timeout: Duration,
    /// The time a judging agent may take.
    pub review_timeout: Duration,
    /// The one who ticks and commits.
    pub bookkeeping: Bookkeeping,
    /// The meaning of a change outside the task's files.
    pub scope: Scope,
    /// On if a verify that proves nothing is an error.
    pub strict: Toggle,
    /// On if a task's command is tried before the work.
    pub red_before: RedBefore,
    /// On if a failed attempt's changes are taken back before the next one.
    pub clean_retry: Toggle,
    /// The branch to work on; none: the one that is checked out.
    pub branch: Option<String>,
    /// The text that commit messages of the program's own begin with.
    pub commit_prefix: Option<String>,
    /// On if uncommitted changes in the project are accepted at the start of a new run.
    pub allow_dirty: Toggle,
    /// The set-up of the work trees of tasks that run side by side.
    pub worktrees: Worktrees,
    /// The sandbox of agents.
    pub sandbox: Sandboxing,
    /// Values that are masked in everything that is written; `$NAME` stands for that of a variable.
    pub mask: Vec<String>,
    /// The command that has to be green at the very end.
    pub regression: Option<String>,
    /// The time that the final proof may take; none: ten minutes, or as long as the run's own verification.
    pub prove_budget: Option<Duration>,
    /// The shape of the pull request.
    pub pull_request: PullRequest,
    /// The thing that a planner is asked for, where the run is about that.
    pub planning: Option<Brief>,
    /// The settings as text, kept in the journal so that the run can be continued with them.
    pub launch: BTreeMap<String, String>,
}

/// The shape of a pull request; how it is looked after is the engine's policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequest {
    /// On if there is to be one; where nothing was said, the plan decides.
    pub wanted: Option<Toggle>,
    /// Its title; without one it is made from the plan's name.
    pub title: Option<String>,
    /// The branch that it is to be merged into; without one, the default branch.
    pub base: Option<String>,
    /// On if it is created as a draft.
    pub draft: Toggle,
}

/// An agent that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The name it goes by.
    pub name: String,
    /// The language it speaks.
    pub kind: AgentKind,
    /// The program; of a plain command or stream, the command that is given to `sh -c`.
    pub command: String,
    /// Arguments that are added to those it needs.
    pub args: Vec<String>,
    /// Variables that are added to its environment.
    pub env: Vec<(String, String)>,
    /// The model it is to use; without one, its own choice.
    pub model: Option<String>,
    /// The permission it has without being asked.
    pub permission: Permission,
    /// The words it is told beside every prompt.
    pub system_prompt: Option<String>,
}

impl Settings {
    /// The agent of a name; whoever does the work where nobody is named so.
    pub(crate) fn agent_named(&self, name: Option<&str>) -> &Agent {
        let named = name.and_then(|name| self.agents.iter().find(|agent| agent.name == name));
        named.unwrap_or(&self.agent)
    }
}

impl Agent {
    /// An agent of some kind, with nothing set.
    pub fn new(name: impl Into<String>, kind: AgentKind, command: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind,
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            model: None,
            permission: Permission::default(),
            system_prompt: None,
        }
    }

    /// True if it brings a sandbox of its own, which does not work within another.
    pub(crate) fn has_sandbox(&self) -> bool {
        self.kind == AgentKind::Codex && self.permission != Permission::Full
    }

    /// The command line for people to read.
    pub fn shown(&self) -> String {
        std::iter::once(self.command.as_str())
            .chain(self.args.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The prompt for an agent that can be told nothing beside it.
    pub(crate) fn with_system_prompt(&self, prompt: &str) -> String {
        match &self.system_prompt {
            Some(system) => format!("{system}\n\n{prompt}"),
            None => prompt.to_owned(),
        }
    }

    /// A variable as the agent will see it.
    pub(crate) fn env_value(&self, name: &str) -> Option<String> {
        let set = self.env.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        set.or_else(|| std::env::var(name).ok())
    }
}

/// The one who ticks the box and commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bookkeeping {
    /// The program.
    Coordinator,
    /// The agent, and the program checks that it did.
    Agent,
}

/// The sandbox of agents that bring none of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandboxing {
    /// There is none.
    Off,
    /// They write in their place alone.
    On,
    /// And reach no network.
    Offline,
}

/// A task's command before the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedBefore {
    /// It is tried.
    On,
    /// It is not.
    Off,
}

/// The meaning of a change outside the task's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A warning.
    Warn,
    /// A rejection.
    Reject,
    /// Nothing.
    Off,
}
