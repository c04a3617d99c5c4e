//! The policy of a run: every limit and every choice that decides what happens after a failure.

use std::time::Duration;

use plan::Dialect;
use serde::{Deserialize, Serialize};

use crate::pull_request::PullRequestRules;
use crate::roster::Agents;
use crate::status::Role;

/// All that a run was told about how to decide. Recorded with the start of every run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// On if a failed task gets a fix task.
    pub recovery: Recovery,
    /// Every limit.
    pub limits: Limits,
    /// The step that follows when retries or fix tasks are used up.
    pub on_exhausted: OnExhausted,
    /// The way in which a question to a person is handled.
    pub on_escalation: OnEscalation,
    /// The judge of a task that has no runnable verify command.
    pub unverifiable: Unverifiable,
    /// On if a reviewing agent has to approve.
    pub review: Toggle,
    /// On if a command has to be green once more at the very end.
    pub regression: Toggle,
    /// The way in which what is done is shown once more, in a clean checkout.
    #[serde(skip_serializing_if = "Prove::is_off")]
    pub prove: Prove,
    /// On if tasks that do not depend on it go on while a person is asked about another.
    pub keep_going: Toggle,
    /// How the pull request is looked after.
    #[serde(skip_serializing_if = "PullRequestRules::is_default")]
    pub pull_request: PullRequestRules,
    /// The dialect of the plan: it decides how an agent claims success.
    pub dialect: Dialect,
    /// The limits of what runs side by side, and where.
    pub parallel: Parallel,
    /// The agents by role, and who takes over.
    #[serde(skip_serializing_if = "Agents::is_empty")]
    pub agents: Agents,
    /// The role in which tasks are worked on.
    #[serde(skip_serializing_if = "is_executor")]
    pub worker: Role,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_executor(role: &Role) -> bool {
    *role == Role::Executor
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            recovery: Recovery::Off,
            limits: Limits::default(),
            on_exhausted: OnExhausted::Stop,
            on_escalation: OnEscalation::Pause,
            unverifiable: Unverifiable::Agent,
            review: Toggle::Off,
            regression: Toggle::Off,
            prove: Prove::Off,
            keep_going: Toggle::Off,
            pull_request: PullRequestRules::default(),
            dialect: Dialect::Spec,
            parallel: Parallel::default(),
            agents: Agents::default(),
            worker: Role::Executor,
        }
    }
}

/// The limits of what runs side by side, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parallel {
    /// How many agents may be at work at once.
    pub jobs: u32,
    /// On if tasks that the plan shows to be independent run together though no marker says so.
    pub infer: Toggle,
    /// Where tasks that run side by side work.
    pub isolation: Isolation,
}

impl Default for Parallel {
    fn default() -> Self {
        Self { jobs: 1, infer: Toggle::Off, isolation: Isolation::Shared }
    }
}

/// Where tasks that run side by side work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Each in a slot, a work tree of its own; whoever is alone works in the project itself.
    Trees,
    /// Each in a slot, also whoever is alone.
    Always,
    /// All in the project itself.
    Shared,
}

impl Isolation {
    /// True if those that run side by side work in slots.
    pub fn has_slots(self) -> bool {
        match self {
            Self::Trees | Self::Always => true,
            Self::Shared => false,
        }
    }
}

/// Nothing in a run is without a limit; each of them is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Attempts at one task that end in plain retries, the first one included.
    pub task_iterations_max: u32,
    /// Fix tasks for one failing task.
    pub fix_tasks_max: u32,
    /// How deep fixes of fixes may nest.
    pub fix_depth_max: u32,
    /// Agent starts in one round; without a value the larger of 100 and three times the tasks.
    pub global_iterations_max: Option<u32>,
    /// Times in a row that an agent may be unavailable before the run pauses.
    pub unavailable_max: u32,
    /// The first wait for an unavailable agent; it doubles each time.
    pub unavailable_wait: Duration,
    /// The longest such wait.
    pub unavailable_wait_max: Duration,
    /// Times that finished work comes in once more because somebody committed meanwhile, before the run pauses.
    pub returns_max: u32,
    /// How long a round may take.
    pub time_max: Option<Duration>,
    /// The cap on the cost of a round, in millionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros_max: Option<u64>,
    /// How many tokens a round may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_max: Option<u64>,
    /// Characters of one failure in the feedback.
    pub failure_chars_max: usize,
    /// Characters of the whole feedback.
    pub feedback_chars_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            task_iterations_max: 5,
            fix_tasks_max: 3,
            fix_depth_max: 3,
            global_iterations_max: None,
            unavailable_max: 10,
            unavailable_wait: Duration::from_secs(1),
            unavailable_wait_max: Duration::from_secs(300),
            returns_max: 50,
            time_max: None,
            cost_micros_max: None,
            tokens_max: None,
            failure_chars_max: 2_000,
            feedback_chars_max: 10_000,
        }
    }
}

impl Limits {
    /// How long to wait when an agent is unavailable for the `nth` time in a row.
    pub fn wait(&self, nth: u32) -> Duration {
        let doublings = nth.saturating_sub(1).min(30);
        self.unavailable_wait.saturating_mul(1 << doublings).min(self.unavailable_wait_max)
    }

    /// The cap on agent starts for a plan of so many tasks.
    pub fn global_cap(&self, tasks: usize) -> u32 {
        let of_plan = u32::try_from(tasks).unwrap_or(u32::MAX).saturating_mul(3);
        self.global_iterations_max.unwrap_or_else(|| of_plan.max(100))
    }
}

/// The recovery from failures by fix tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Failures are retried.
    Off,
    /// Failures get fix tasks.
    On,
}

/// The step that follows when retries or fix tasks are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnExhausted {
    /// The run stops with an error.
    Stop,
    /// A person is asked.
    Ask,
}

/// The way in which a question to a person is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnEscalation {
    /// Somebody sits there: ask and wait.
    Ask,
    /// The run pauses and keeps the question.
    Pause,
    /// The task is skipped.
    Skip,
    /// The run is aborted.
    Abort,
}

/// The judge of a task that has no runnable verify command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unverifiable {
    /// The QA agent.
    Agent,
    /// A person.
    Ask,
    /// Nobody: a run with such a task does not start.
    Refuse,
}

/// The way in which all that is done is shown once more, before the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prove {
    /// What is red in a clean checkout is named, and the run is not called complete without a word.
    Report,
    /// What is red there is opened again.
    Require,
    /// Nothing is proved.
    #[default]
    Off,
}

impl Prove {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// On or off, where a bare `bool` would say nothing at the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Toggle {
    /// Off.
    #[default]
    Off,
    /// On.
    On,
}

impl Toggle {
    /// True if it is on.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}
