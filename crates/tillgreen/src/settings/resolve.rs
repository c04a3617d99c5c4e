//! One complete value out of several places: flag, else `tillgreen.toml`, else (agent and recovery mode only)
//! the unfinished run, else (recovery mode only) a state file that others wrote, else the default.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::{
    Dialect, Isolation, Limits, OnEscalation, OnExhausted, Parallel, Prove, Recovery, Rules, Toggle,
    Unverifiable,
};
use runner::{Beginning, Bookkeeping, RedBefore, Sandboxing, Scope, Settings, Variables, Worktrees};

use super::agents::Programs;
use super::agents::RoleAssignment;
use super::file::FileSettings;
use super::layer::{Names, SettingsLayer};
use super::recorded;
use crate::error::Error;

/// Attempts at a task of a `*-PLAN.md`, unless something else was said.
const PHASE_TASK_ITERATIONS_MAX: u32 = 3;

/// How many tasks are worked on at once.
const JOBS: u32 = 4;

const MINUTE: Duration = Duration::from_secs(60);

/// All places that settings come from.
#[derive(Debug)]
pub(crate) struct Sources<'a> {
    /// The command line.
    pub(crate) flags: SettingsLayer,
    /// `tillgreen.toml`.
    pub(crate) file: &'a FileSettings,
    /// The settings that the unfinished run was started with.
    pub(crate) earlier: Option<&'a BTreeMap<String, String>>,
    /// The recovery mode that a state file asks for.
    pub(crate) state_file: Option<Toggle>,
    /// The attendance at the terminal: a question needs a person.
    pub(crate) attendance: Attendance,
    /// The kind of plan, which some defaults depend on.
    pub(crate) dialect: Dialect,
    /// Where programs are found.
    pub(crate) programs: &'a Programs,
}

/// The attendance at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attendance {
    /// A person is there: standard input and standard error are a terminal.
    Attended,
    /// Nobody is there.
    Unattended,
}

impl Attendance {
    /// Asking needs somebody who answers; elsewhere the run pauses and keeps the question.
    pub(crate) fn escalation(self, chosen: OnEscalation) -> OnEscalation {
        match (self, chosen) {
            (Self::Unattended, OnEscalation::Ask) => OnEscalation::Pause,
            (Self::Attended | Self::Unattended, chosen) => chosen,
        }
    }
}

/// Everything that `run` was told.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The run's settings.
    pub(crate) settings: Settings,
    /// From where it starts.
    pub(crate) start: Start,
    /// A real run, or a dry one.
    pub(crate) mode: Mode,
}

/// From where a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// From what the journal knows.
    Resume,
    /// From the boxes alone.
    Fresh,
}

impl Start {
    /// What the runner calls it.
    pub(crate) fn beginning(self) -> Beginning {
        match self {
            Start::Resume => Beginning::Resume,
            Start::Fresh => Beginning::Fresh,
        }
    }
}

/// A real run, or a dry one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything is done.
    Run,
    /// It is only said what would be done.
    DryRun,
}

/// Resolves every setting, and finds out whether the agent can be started.
pub(crate) fn resolve(sources: Sources<'_>) -> Result<Resolved, Error> {
    let earlier = sources.earlier.map(recorded::read).transpose()?.unwrap_or_default();
    let mut layer = sources.flags.or(sources.file.layer.clone());
    layer.recovery_mode = layer.recovery_mode.or(earlier.recovery_mode).or(sources.state_file);
    if let (Some(link), Some(copy)) = (&layer.worktree_link, &layer.worktree_copy)
        && let Some((linked, copied)) = link.clash(copy)
    {
        return Err(Error::usage(format!(
            "`{linked}` is to be linked into work trees, and `{copied}` copied: one is in the other's place"
        ))
        .hint("take one of them out of worktree_link or worktree_copy"));
    }
    if layer.isolate.is_some_and(Toggle::is_on) && layer.share_tree.is_some_and(Toggle::is_on) {
        return Err(Error::usage(
            "tasks cannot share the project and work in work trees: isolate and share_tree",
        )
        .hint("turn one of them off with --isolate=false or --share-tree=false"));
    }
    let assignment = RoleAssignment::resolve(&layer, &earlier, sources.file, sources.programs)?;
    let chosen = layer.on_escalation.unwrap_or(OnEscalation::Ask);
    layer.on_escalation = Some(sources.attendance.escalation(chosen));
    let is_on = |choice: Option<Toggle>| choice.is_some_and(Toggle::is_on);
    Ok(Resolved {
        settings: settings(&layer, assignment, sources.dialect),
        start: if is_on(layer.fresh) { Start::Fresh } else { Start::Resume },
        mode: if is_on(layer.dry_run) { Mode::DryRun } else { Mode::Run },
    })
}

/// The settings that a layer amounts to, with the defaults for what it leaves open.
pub(super) fn settings(layer: &SettingsLayer, assignment: RoleAssignment, dialect: Dialect) -> Settings {
    let toggle = |choice: Option<Toggle>| choice.unwrap_or(Toggle::Off);
    let mut settings = Settings {
        rules: Rules { agents: assignment.roles, ..rules(layer, dialect) },
        agent: assignment.agent,
        agents: assignment.agents,
        resume_sessions: toggle(layer.resume_sessions),
        report_tools: layer.report_tools.unwrap_or(Toggle::On),
        write_back: layer.write_back.unwrap_or(Toggle::On),
        attempt_timeout: layer.attempt_timeout.unwrap_or(30 * MINUTE),
        no_progress_timeout: layer.no_progress_timeout.unwrap_or(10 * MINUTE),
        verify_timeout: layer.verify_timeout.unwrap_or(2 * MINUTE),
        review_timeout: layer.review_timeout.unwrap_or(5 * MINUTE),
        bookkeeping: layer.bookkeeping.unwrap_or(Bookkeeping::Coordinator),
        scope: layer.scope.unwrap_or(Scope::Warn),
        strict: toggle(layer.strict),
        red_before: layer.red_before.unwrap_or(RedBefore::On),
        clean_retry: toggle(layer.clean_retry),
        branch: layer.branch.clone(),
        commit_prefix: layer.commit_prefix.clone(),
        allow_dirty: toggle(layer.allow_dirty),
        worktrees: worktrees(layer),
        sandbox: layer.sandbox.unwrap_or(Sandboxing::Off),
        mask: names(layer.mask.as_ref()),
        regression: layer.regression.clone(),
        prove_budget: layer.prove_budget,
        pull_request: layer.pull_request.settings(),
        planning: None,
        launch: BTreeMap::new(),
    };
    settings.launch = recorded::write(&settings, layer);
    settings
}

/// The policy that a layer amounts to.
pub(super) fn rules(layer: &SettingsLayer, dialect: Dialect) -> Rules {
    let defaults = Limits::default();
    let (iterations, on_exhausted) = match dialect {
        Dialect::Spec => (defaults.task_iterations_max, OnExhausted::Stop),
        Dialect::Phase => (PHASE_TASK_ITERATIONS_MAX, OnExhausted::Ask),
    };
    let recovers = layer.recovery_mode.is_some_and(Toggle::is_on);
    Rules {
        recovery: if recovers { Recovery::On } else { Recovery::Off },
        limits: Limits {
            task_iterations_max: layer.max_task_iterations.unwrap_or(iterations),
            fix_tasks_max: layer.max_fix_tasks.unwrap_or(defaults.fix_tasks_max),
            fix_depth_max: layer.max_fix_depth.unwrap_or(defaults.fix_depth_max),
            global_iterations_max: layer.max_global_iterations,
            unavailable_max: layer.infra_retries.unwrap_or(defaults.unavailable_max),
            time_max: layer.max_time,
            cost_micros_max: layer.max_cost,
            tokens_max: layer.max_tokens,
            ..defaults
        },
        on_exhausted: layer.on_exhausted.unwrap_or(on_exhausted),
        on_escalation: layer.on_escalation.unwrap_or(OnEscalation::Pause),
        unverifiable: layer.unverifiable.unwrap_or(Unverifiable::Agent),
        review: layer.review.unwrap_or(Toggle::Off),
        regression: if layer.regression.is_some() { Toggle::On } else { Toggle::Off },
        prove: layer.prove.unwrap_or(Prove::Report),
        keep_going: layer.keep_going.unwrap_or(Toggle::Off),
        pull_request: layer.pull_request.rules(),
        dialect,
        parallel: parallel(layer),
        ..Rules::default()
    }
}

/// The settings of `tillgreen.toml` for a proof outside of a run.
pub(crate) fn proof_settings(file: &FileSettings) -> ProofSettings {
    let layer = &file.layer;
    ProofSettings {
        worktrees: worktrees(layer),
        verify_timeout: layer.verify_timeout.unwrap_or(2 * MINUTE),
        budget: layer.prove_budget,
        jobs: layer.jobs.unwrap_or(JOBS),
    }
}

/// The settings of a proof outside of a run.
#[derive(Debug)]
pub(crate) struct ProofSettings {
    /// What a clean checkout is given.
    pub(crate) worktrees: Worktrees,
    /// The time that a command may take.
    pub(crate) verify_timeout: Duration,
    /// The time that all of them may take.
    pub(crate) budget: Option<Duration>,
    /// The number of commands at once.
    pub(crate) jobs: u32,
}

fn worktrees(layer: &SettingsLayer) -> Worktrees {
    Worktrees {
        link: layer.worktree_link.clone().unwrap_or_default().0,
        copy: layer.worktree_copy.clone().unwrap_or_default().0,
        setup: layer.worktree_setup.clone(),
        dir: layer.worktree_dir.as_ref().map(PathBuf::from),
        variables: Variables { block: names(layer.env_block.as_ref()), pass: names(layer.env_pass.as_ref()) },
    }
}

fn names(list: Option<&Names>) -> Vec<String> {
    list.map(|Names(names)| names.clone()).unwrap_or_default()
}

/// How a run with these flags would have tasks work side by side.
pub(crate) fn parallel_settings(flags: SettingsLayer, file: &FileSettings) -> Parallel {
    parallel(&flags.or(file.layer.clone()))
}

fn parallel(layer: &SettingsLayer) -> Parallel {
    let shares = layer.share_tree.is_some_and(Toggle::is_on);
    let isolates = layer.isolate.is_some_and(Toggle::is_on);
    Parallel {
        jobs: layer.jobs.unwrap_or(JOBS),
        infer: layer.infer_parallel.unwrap_or(Toggle::Off),
        isolation: match (shares, isolates) {
            (true, _) => Isolation::Shared,
            (false, true) => Isolation::Always,
            (false, false) => Isolation::Trees,
        },
    }
}
