//! One layer of settings: the flags, `tillgreen.toml`, or an earlier run. The parsers of the flags are the parsers of
//! every place, so a key means the same wherever it stands.

use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser};
use engine::{OnEscalation, OnExhausted, Prove, Toggle, Unverifiable};
use plan::Optional;
use runner::{Bookkeeping, LISTED_CHARS_MIN, PlanFile, RedBefore, Sandboxing, Scope};

use super::keyword::keywords;
use super::path_list::PathList;
use super::pull_request::PullRequestLayer;
use super::units;

const FAILURES: &str = "After a failure";
const AGENT: &str = "Agent";
const PARALLEL: &str = "Side by side";
const CHECKS: &str = "Checks";
const TIMES: &str = "Times";
const SAFETY: &str = "Safety";
const START: &str = "Start";

/// One layer of settings; what it leaves open is for the next.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct SettingsLayer {
    /// Write fix tasks for what fails, then try again [default: off]
    #[arg(long, help_heading = FAILURES, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) recovery_mode: Option<Toggle>,
    /// Attempts at one task that end in retries, the first included [default: 5; 3 in a *-PLAN.md]
    #[arg(long, help_heading = FAILURES, value_parser = limit, value_name = "N")]
    pub(crate) max_task_iterations: Option<u32>,
    /// Fix tasks for one failing task [default: 3]
    #[arg(long, help_heading = FAILURES, value_parser = limit, value_name = "N")]
    pub(crate) max_fix_tasks: Option<u32>,
    /// How deep fixes of fixes may nest [default: 3]
    #[arg(long, help_heading = FAILURES, value_parser = limit, value_name = "N")]
    pub(crate) max_fix_depth: Option<u32>,
    /// Agent starts in all [default: the larger of 100 and 3 × tasks]
    #[arg(long, help_heading = FAILURES, value_parser = limit, value_name = "N")]
    pub(crate) max_global_iterations: Option<u32>,
    /// Times in a row that the agent may be unavailable before the run pauses [default: 10]
    #[arg(long, help_heading = FAILURES, value_parser = limit, value_name = "N")]
    pub(crate) infra_retries: Option<u32>,
    /// What follows when retries or fix tasks are used up [default: stop; ask in a *-PLAN.md]
    #[arg(long, help_heading = FAILURES, value_parser = keywords::<OnExhausted>(), value_name = "WHAT")]
    pub(crate) on_exhausted: Option<OnExhausted>,
    /// What happens with a question to a person [default: ask at a terminal, else pause]
    #[arg(long, help_heading = FAILURES, value_parser = keywords::<OnEscalation>(), value_name = "WHAT")]
    pub(crate) on_escalation: Option<OnEscalation>,
    /// Take a failed attempt's changes back before the next one [default: off]
    #[arg(long, help_heading = FAILURES, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) clean_retry: Option<Toggle>,
    /// While a person is asked about one task, go on with those that do not depend on it [default: off]
    #[arg(long, help_heading = FAILURES, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) keep_going: Option<Toggle>,

    /// How many agents may be at work at once [default: 4]
    #[arg(long, short, help_heading = PARALLEL, value_parser = limit, value_name = "N")]
    pub(crate) jobs: Option<u32>,
    /// Run tasks side by side that the plan's Files and dependencies show to be independent [default: off]
    #[arg(long, help_heading = PARALLEL, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) infer_parallel: Option<Toggle>,
    /// Let every task work in a work tree, also one that runs alone [default: off]
    #[arg(long, help_heading = PARALLEL, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) isolate: Option<Toggle>,
    /// Let tasks that run side by side share the project instead of having work trees [default: off]
    #[arg(long, help_heading = PARALLEL, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) share_tree: Option<Toggle>,
    /// Untracked paths that work trees share with the project by a link, for data that is only read [default: none]
    #[arg(long, help_heading = PARALLEL, value_parser = PathList::parse, value_name = "PATH,…")]
    pub(crate) worktree_link: Option<PathList>,
    /// Untracked paths that each work tree gets a copy of, besides local settings such as .env [default: none]
    #[arg(long, help_heading = PARALLEL, value_parser = PathList::parse, value_name = "PATH,…")]
    pub(crate) worktree_copy: Option<PathList>,
    /// The command that makes a work tree ready, such as npm ci; it runs again when lock files change [default: none]
    #[arg(long, help_heading = PARALLEL, value_parser = nonblank, value_name = "COMMAND")]
    pub(crate) worktree_setup: Option<String>,
    /// The folder in which work trees are made, outside the project [default: the user's cache folder]
    #[arg(long, help_heading = PARALLEL, value_parser = nonblank, value_name = "DIR")]
    pub(crate) worktree_dir: Option<String>,

    /// An agent by name: a known one, or one of tillgreen.toml [default: the first that is installed]
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "NAME", conflicts_with = "agent_cmd")]
    pub(crate) agent: Option<String>,
    /// A command that reads the prompt on standard input
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "COMMAND")]
    pub(crate) agent_cmd: Option<String>,
    /// The model that the agent is to use [default: its own choice]
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Who does tasks [default: the agent]
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "NAME")]
    pub(crate) executor: Option<String>,
    /// Who verifies, and judges what no command can prove [default: the agent]
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "NAME")]
    pub(crate) qa: Option<String>,
    /// Who reviews [default: the agent]
    #[arg(long, help_heading = AGENT, value_parser = nonblank, value_name = "NAME")]
    pub(crate) reviewer: Option<String>,
    /// Who takes over, in this order, when an agent has no quota or does not answer [default: nobody]
    #[arg(long, help_heading = AGENT, value_parser = names, value_name = "NAME,…")]
    pub(crate) fallback: Option<Names>,
    /// Take up the agent's own session again when a task is tried again [default: off]
    #[arg(long, help_heading = AGENT, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) resume_sessions: Option<Toggle>,
    /// Offer agents that take them tools to report through [default: on]
    #[arg(long, help_heading = AGENT, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) report_tools: Option<Toggle>,
    /// What the run may cost, as far as agents tell [default: no limit]
    #[arg(long, help_heading = AGENT, value_parser = units::parse_dollars, value_name = "USD")]
    pub(crate) max_cost: Option<u64>,
    /// How many tokens the run may use, as far as agents tell [default: no limit]
    #[arg(long, help_heading = AGENT, value_parser = units::parse_tokens, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,

    /// Who judges a task that has no runnable verify command [default: agent]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Unverifiable>(), value_name = "WHO")]
    pub(crate) unverifiable: Option<Unverifiable>,
    /// Who ticks the boxes and commits [default: coordinator]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Bookkeeping>(), value_name = "WHO")]
    pub(crate) bookkeeping: Option<Bookkeeping>,
    /// What a change outside the task's Files means [default: warn]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Scope>(), value_name = "WHAT")]
    pub(crate) scope: Option<Scope>,
    /// Reject where a verify proves nothing, instead of warning [default: off]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) strict: Option<Toggle>,
    /// Try each task's command before the work on it: what is green then proves little [default: on]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<RedBefore>(), value_name = "WHAT")]
    pub(crate) red_before: Option<RedBefore>,
    /// Let a reviewing agent approve each task against Done when [default: off]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) review: Option<Toggle>,
    /// A command for tasks that have none of their own; it never counts alone [default: none]
    #[arg(long, help_heading = CHECKS, value_parser = nonblank, value_name = "COMMAND")]
    pub(crate) verify: Option<String>,
    /// Have tasks done as well that their plan marks as optional, `[ ]*` [default: off]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) optional: Option<Toggle>,
    /// A command that has to be green at the very end [default: none]
    #[arg(long, help_heading = CHECKS, value_parser = nonblank, value_name = "COMMAND")]
    pub(crate) regression: Option<String>,
    /// Once all is done, every command again in a clean checkout; what is red is told, or opened again [default: report]
    #[arg(long, help_heading = CHECKS, value_parser = keywords::<Prove>(), value_name = "HOW")]
    pub(crate) prove: Option<Prove>,

    /// How long an attempt may take [default: 30m]
    #[arg(long, help_heading = TIMES, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) attempt_timeout: Option<Duration>,
    /// How long an agent may show no progress [default: 10m]
    #[arg(long, help_heading = TIMES, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) no_progress_timeout: Option<Duration>,
    /// How long a verify command may take [default: 2m]
    #[arg(long, help_heading = TIMES, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) verify_timeout: Option<Duration>,
    /// How long a judging agent may take [default: 5m]
    #[arg(long, help_heading = TIMES, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) review_timeout: Option<Duration>,
    /// How long that last proof may take [default: 10m]
    #[arg(long, help_heading = TIMES, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) prove_budget: Option<Duration>,
    /// How long the run may take [default: no limit]
    #[arg(long, help_heading = TIMES, value_parser = units::parse_duration, value_name = "DUR")]
    pub(crate) max_time: Option<Duration>,

    /// Let agents write in their folder alone, and reach no network if they are to be offline [default: off]
    #[arg(long, help_heading = SAFETY, value_parser = keywords::<Sandboxing>(), num_args = 0..=1,
          default_missing_value = "on", require_equals = true, value_name = "HOW")]
    pub(crate) sandbox: Option<Sandboxing>,
    /// Variables that do not reach agents and commands, such as AWS_* [default: none]
    #[arg(long, help_heading = SAFETY, value_parser = names, value_name = "NAME,…")]
    pub(crate) env_block: Option<Names>,
    /// The only variables that do, besides those that nothing works without [default: all]
    #[arg(long, help_heading = SAFETY, value_parser = names, value_name = "NAME,…")]
    pub(crate) env_pass: Option<Names>,
    /// What is masked in all that is written, besides what looks like a key; $NAME for a variable's value [default: none]
    #[arg(long, help_heading = SAFETY, value_parser = masked, value_name = "VALUE,…")]
    pub(crate) mask: Option<Names>,

    #[command(flatten)]
    pub(crate) pull_request: PullRequestLayer,

    /// Work on this branch, which is made if it is not there [default: the one that is checked out]
    #[arg(long, help_heading = START, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// What commit messages of the program's own begin with, such as a ticket's number [default: nothing]
    #[arg(long, help_heading = START, value_parser = nonblank, value_name = "TEXT")]
    pub(crate) commit_prefix: Option<String>,
    /// Tell the source of an imported plan what is done as it is done [default: on]
    #[arg(long, help_heading = START, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) write_back: Option<Toggle>,
    /// Start a new run though there are uncommitted changes; they are never committed [default: off]
    #[arg(long, help_heading = START, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) allow_dirty: Option<Toggle>,
    /// Put journal and state file aside and start over from the boxes [default: off]
    #[arg(long, help_heading = START, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) fresh: Option<Toggle>,
    /// Say what would be done, and do nothing [default: off]
    #[arg(long, help_heading = START, value_parser = keywords::<Toggle>(), num_args = 0..=1,
          default_missing_value = "true", require_equals = true, value_name = "BOOL", hide_possible_values = true)]
    pub(crate) dry_run: Option<Toggle>,
}

/// Names in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names(pub(crate) Vec<String>);

/// The flags on their own, to read a key and its value with.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct LayerParser {
    #[command(flatten)]
    layer: SettingsLayer,
}

/// Why a key or its value is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no such setting; perhaps this one was meant.
    UnknownKey(Option<String>),
    /// The value is wrong, and why.
    Value(String),
}

impl SettingsLayer {
    /// Has a plan read and verified as this layer says.
    pub(crate) fn apply_to(&self, file: &mut PlanFile) {
        if let Some(optional) = self.optional {
            file.reading.optional = if optional.is_on() { Optional::Included } else { Optional::LeftOut };
        }
        if self.verify.is_some() {
            file.defaults.all.clone_from(&self.verify);
        }
    }

    /// Every key, in the order of the help.
    pub(crate) fn keys() -> Vec<String> {
        LayerParser::command().get_arguments().map(|argument| argument.get_id().to_string()).collect()
    }

    /// Reads one key and its value.
    pub(super) fn read(key: &str, value: &str) -> Result<Self, Refusal> {
        let keys = Self::keys();
        if !keys.iter().any(|known| known == key) {
            let near = plan::nearest(key, keys.iter().map(String::as_str));
            return Err(Refusal::UnknownKey(near.map(str::to_owned)));
        }
        let argument = format!("--{}={value}", key.replace('_', "-"));
        let parsed =
            LayerParser::try_parse_from([argument]).map_err(|error| Refusal::Value(reason(&error)))?;
        Ok(parsed.layer)
    }

    /// This layer and, where it leaves something open, the next one. The agent is one choice, though it can be made in
    /// two ways.
    pub(super) fn or(self, next: Self) -> Self {
        let has_agent = self.agent.is_some() || self.agent_cmd.is_some();
        let (agent, agent_cmd) =
            if has_agent { (self.agent, self.agent_cmd) } else { (next.agent, next.agent_cmd) };
        Self {
            agent,
            agent_cmd,
            recovery_mode: self.recovery_mode.or(next.recovery_mode),
            max_task_iterations: self.max_task_iterations.or(next.max_task_iterations),
            max_fix_tasks: self.max_fix_tasks.or(next.max_fix_tasks),
            max_fix_depth: self.max_fix_depth.or(next.max_fix_depth),
            max_global_iterations: self.max_global_iterations.or(next.max_global_iterations),
            infra_retries: self.infra_retries.or(next.infra_retries),
            on_exhausted: self.on_exhausted.or(next.on_exhausted),
            on_escalation: self.on_escalation.or(next.on_escalation),
            clean_retry: self.clean_retry.or(next.clean_retry),
            keep_going: self.keep_going.or(next.keep_going),
            jobs: self.jobs.or(next.jobs),
            infer_parallel: self.infer_parallel.or(next.infer_parallel),
            isolate: self.isolate.or(next.isolate),
            share_tree: self.share_tree.or(next.share_tree),
            worktree_link: self.worktree_link.or(next.worktree_link),
            worktree_copy: self.worktree_copy.or(next.worktree_copy),
            worktree_setup: self.worktree_setup.or(next.worktree_setup),
            worktree_dir: self.worktree_dir.or(next.worktree_dir),
            unverifiable: self.unverifiable.or(next.unverifiable),
            bookkeeping: self.bookkeeping.or(next.bookkeeping),
            scope: self.scope.or(next.scope),
            strict: self.strict.or(next.strict),
            red_before: self.red_before.or(next.red_before),
            review: self.review.or(next.review),
            verify: self.verify.or(next.verify),
            optional: self.optional.or(next.optional),
            regression: self.regression.or(next.regression),
            prove: self.prove.or(next.prove),
            prove_budget: self.prove_budget.or(next.prove_budget),
            attempt_timeout: self.attempt_timeout.or(next.attempt_timeout),
            no_progress_timeout: self.no_progress_timeout.or(next.no_progress_timeout),
            verify_timeout: self.verify_timeout.or(next.verify_timeout),
            review_timeout: self.review_timeout.or(next.review_timeout),
            max_time: self.max_time.or(next.max_time),
            model: self.model.or(next.model),
            executor: self.executor.or(next.executor),
            qa: self.qa.or(next.qa),
            reviewer: self.reviewer.or(next.reviewer),
            fallback: self.fallback.or(next.fallback),
            resume_sessions: self.resume_sessions.or(next.resume_sessions),
            report_tools: self.report_tools.or(next.report_tools),
            max_cost: self.max_cost.or(next.max_cost),
            max_tokens: self.max_tokens.or(next.max_tokens),
            sandbox: self.sandbox.or(next.sandbox),
            env_block: self.env_block.or(next.env_block),
            env_pass: self.env_pass.or(next.env_pass),
            mask: self.mask.or(next.mask),
            pull_request: self.pull_request.or(next.pull_request),
            branch: self.branch.or(next.branch),
            write_back: self.write_back.or(next.write_back),
            commit_prefix: self.commit_prefix.or(next.commit_prefix),
            allow_dirty: self.allow_dirty.or(next.allow_dirty),
            fresh: self.fresh.or(next.fresh),
            dry_run: self.dry_run.or(next.dry_run),
        }
    }
}

/// The reason why clap refuses a value, without its words about command lines.
fn reason(error: &clap::Error) -> String {
    if let (ErrorKind::InvalidValue, Some(ContextValue::Strings(words))) =
        (error.kind(), error.get(ContextKind::ValidValue))
    {
        return format!("must be one of {}", words.join(", "));
    }
    let source = std::error::Error::source(error);
    source.map_or_else(|| "is not accepted".to_owned(), ToString::to_string)
}

pub(crate) fn limit(text: &str) -> Result<u32, String> {
    match text.trim().parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("must be a whole number from 1 to {}", u32::MAX)),
    }
}

fn names(text: &str) -> Result<Names, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err("must be names, separated by commas".to_owned());
    }
    Ok(Names(names))
}

/// Values that are masked. One of a few characters would be found in everything.
fn masked(text: &str) -> Result<Names, String> {
    let Names(values) = names(text)?;
    if values.iter().any(|value| value.chars().count() < LISTED_CHARS_MIN) {
        return Err(format!("must be values of at least {LISTED_CHARS_MIN} characters"));
    }
    Ok(Names(values))
}

pub(crate) fn nonblank(text: &str) -> Result<String, String> {
    let is_blank = text.trim().is_empty() || text.contains('\0');
    if is_blank { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}
