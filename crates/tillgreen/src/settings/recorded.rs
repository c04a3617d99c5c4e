//! The settings of a run as text, the way the journal keeps them, and back. Keys are those of `tillgreen.toml`.

use std::collections::BTreeMap;

use engine::{Dialect, Isolation, Recovery, Rules};
use runner::{AgentKind, PlanFile, Settings};

use super::agents::RoleAssignment;
use super::agents::{COMMAND_AGENT, Programs};
use super::file::FileSettings;
use super::keyword::keyword;
use super::layer::{Names, Refusal, SettingsLayer};
use super::pull_request;
use super::resolve::settings;
use super::units::format_dollars;
use super::units::format_duration;
use crate::error::Error;

/// The settings that a journal holds, all of them: `answer` continues with what the run had that asked.
pub(crate) fn from_recorded(
    recorded: &BTreeMap<String, String>,
    dialect: Dialect,
    file: &FileSettings,
    programs: &Programs,
) -> Result<Settings, Error> {
    // What is to be masked is in no record.
    let layer = SettingsLayer { mask: file.layer.mask.clone(), ..read(recorded)? };
    if layer.agent.is_none() && layer.agent_cmd.is_none() {
        return Err(Error::usage("the journal does not say which agent the run was started with")
            .hint("continue with `tillgreen run --agent NAME`"));
    }
    // An agent that is known by its name is as it is now; the journal's command is for those that are not there.
    let chosen = SettingsLayer { agent: None, agent_cmd: None, ..layer.clone() };
    let assignment = RoleAssignment::resolve(&chosen, &layer, file, programs)?;
    Ok(settings(&layer, assignment, dialect))
}

/// Has a plan read and verified as the settings say that a journal holds.
pub(crate) fn apply_recorded(recorded: &BTreeMap<String, String>, file: &mut PlanFile) -> Result<(), Error> {
    read(recorded)?.apply_to(file);
    Ok(())
}

/// Reads the layer that a journal holds. Keys that this program does not know are those of a newer one and no reason to
/// give up.
pub(super) fn read(recorded: &BTreeMap<String, String>) -> Result<SettingsLayer, Error> {
    let mut layer = SettingsLayer::default();
    for (key, value) in recorded {
        match SettingsLayer::read(key, value) {
            Ok(one) => {
                // Unlike a person, the journal names both the agent and its command.
                layer.agent = layer.agent.take().or(one.agent.clone());
                layer.agent_cmd = layer.agent_cmd.take().or(one.agent_cmd.clone());
                layer = layer.or(one);
            }
            Err(Refusal::UnknownKey(_)) => {}
            Err(Refusal::Value(reason)) => {
                return Err(Error::usage(format!(
                    "the journal holds a setting that is not understood: `{key}` {reason}"
                ))
                .hint("start over from the boxes with `tillgreen run --fresh`"));
            }
        }
    }
    Ok(layer)
}

/// The limits as text: these settings can be changed while a run goes on.
pub(super) fn limits(rules: &Rules) -> [(&'static str, Option<String>); 9] {
    let limits = &rules.limits;
    [
        ("max_task_iterations", Some(limits.task_iterations_max.to_string())),
        ("max_fix_tasks", Some(limits.fix_tasks_max.to_string())),
        ("max_fix_depth", Some(limits.fix_depth_max.to_string())),
        ("max_global_iterations", limits.global_iterations_max.map(|limit| limit.to_string())),
        ("infra_retries", Some(limits.unavailable_max.to_string())),
        ("jobs", Some(rules.parallel.jobs.to_string())),
        ("max_cost", limits.cost_micros_max.map(format_dollars)),
        ("max_tokens", limits.tokens_max.map(|tokens| tokens.to_string())),
        ("max_time", limits.time_max.map(format_duration)),
    ]
}

/// The settings as text.
pub(super) fn write(settings: &Settings, layer: &SettingsLayer) -> BTreeMap<String, String> {
    let rules = &settings.rules;
    let recovery = if rules.recovery == Recovery::On { "true" } else { "false" };
    let (isolates, shares) = match rules.parallel.isolation {
        Isolation::Trees => ("false", "false"),
        Isolation::Always => ("true", "false"),
        Isolation::Shared => ("false", "true"),
    };
    let list = |paths: &[String]| Some(paths.join(",")).filter(|text| !text.is_empty());
    let named = Some(&settings.agent.name).filter(|name| *name != COMMAND_AGENT);
    let is_command = settings.agent.kind == AgentKind::Command;
    let command = Some(settings.agent.command.clone()).filter(|_| is_command);
    let entries = [
        ("recovery_mode", Some(recovery.to_owned())),
        ("on_exhausted", Some(keyword(rules.on_exhausted).to_owned())),
        ("on_escalation", Some(keyword(rules.on_escalation).to_owned())),
        ("clean_retry", Some(keyword(settings.clean_retry).to_owned())),
        ("keep_going", Some(keyword(rules.keep_going).to_owned())),
        ("infer_parallel", Some(keyword(rules.parallel.infer).to_owned())),
        ("isolate", Some(isolates.to_owned())),
        ("share_tree", Some(shares.to_owned())),
        ("worktree_link", list(&settings.worktrees.link)),
        ("worktree_copy", list(&settings.worktrees.copy)),
        ("worktree_setup", settings.worktrees.setup.clone()),
        ("worktree_dir", settings.worktrees.dir.as_ref().map(|dir| dir.to_string_lossy().into_owned())),
        ("agent", named.cloned()),
        ("agent_cmd", command),
        ("model", layer.model.clone()),
        ("executor", layer.executor.clone()),
        ("qa", layer.qa.clone()),
        ("reviewer", layer.reviewer.clone()),
        ("fallback", layer.fallback.as_ref().map(|Names(names)| names.join(","))),
        ("resume_sessions", Some(keyword(settings.resume_sessions).to_owned())),
        ("report_tools", Some(keyword(settings.report_tools).to_owned())),
        ("write_back", Some(keyword(settings.write_back).to_owned())),
        ("unverifiable", Some(keyword(rules.unverifiable).to_owned())),
        ("bookkeeping", Some(keyword(settings.bookkeeping).to_owned())),
        ("scope", Some(keyword(settings.scope).to_owned())),
        ("strict", Some(keyword(settings.strict).to_owned())),
        ("red_before", Some(keyword(settings.red_before).to_owned())),
        ("review", Some(keyword(rules.review).to_owned())),
        ("verify", layer.verify.clone()),
        ("optional", layer.optional.map(|optional| keyword(optional).to_owned())),
        ("regression", settings.regression.clone()),
        ("prove", Some(keyword(rules.prove).to_owned())),
        ("prove_budget", settings.prove_budget.map(format_duration)),
        ("attempt_timeout", Some(format_duration(settings.attempt_timeout))),
        ("no_progress_timeout", Some(format_duration(settings.no_progress_timeout))),
        ("verify_timeout", Some(format_duration(settings.verify_timeout))),
        ("review_timeout", Some(format_duration(settings.review_timeout))),
        ("sandbox", Some(keyword(settings.sandbox).to_owned())),
        ("env_block", list(&settings.worktrees.variables.block)),
        ("env_pass", list(&settings.worktrees.variables.pass)),
        ("branch", settings.branch.clone()),
        ("commit_prefix", settings.commit_prefix.clone()),
        ("allow_dirty", Some(keyword(settings.allow_dirty).to_owned())),
    ];
    let entries =
        entries.into_iter().chain(limits(rules)).filter_map(|(key, value)| Some((key.to_owned(), value?)));
    entries.chain(pull_request::write(settings)).collect()
}
