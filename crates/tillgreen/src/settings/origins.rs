//! Where the commands of a run come from: nobody should have to look through a stranger's files to know what `run` starts.

use std::path::Path;

use plan::{Plan, Verify};
use runner::{Agent, Settings};
use serde::Serialize;

use super::agents::{COMMAND_AGENT, KnownAgent};
use super::file::{FILE_NAME, FileSettings};
use super::layer::SettingsLayer;

/// A command that a run would start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CommandOrigin {
    /// The command.
    pub(crate) command: String,
    /// Its place: a file and perhaps a line, a flag.
    pub(crate) from: String,
    /// Its purpose.
    pub(crate) purpose: String,
    /// True if a file of the project has it.
    #[serde(skip)]
    pub(crate) of_project: bool,
}

/// The commands of the settings.
pub(crate) fn of_settings(
    settings: &Settings,
    file: &FileSettings,
    flags: &SettingsLayer,
) -> Vec<CommandOrigin> {
    let one = std::slice::from_ref(&settings.agent);
    let agents = if settings.agents.is_empty() { one } else { &settings.agents };
    let agents = agents.iter().map(|agent| of_agent(agent, file, flags));
    let verify = flags.verify.clone().or_else(|| file.layer.verify.clone());
    let others = [
        ("verify", &verify, "verify tasks that have no command"),
        ("worktree_setup", &settings.worktrees.setup, "make work trees ready"),
        ("regression", &settings.regression, "look for regressions at the very end"),
    ];
    let others = others.into_iter().filter_map(|(key, command, purpose)| {
        let of_project = file.values.get(key) == command.as_ref();
        let from = if of_project { FILE_NAME.to_owned() } else { elsewhere(key) };
        Some(CommandOrigin { command: command.clone()?, from, purpose: purpose.to_owned(), of_project })
    });
    let hosts = file.notify.webhooks.iter().map(|webhook| format!("curl {}", webhook.host()));
    let notices = file.notify.command.iter().cloned().chain(hosts).map(|command| CommandOrigin {
        command,
        from: FILE_NAME.to_owned(),
        purpose: "tell you".to_owned(),
        of_project: true,
    });
    let by_path = file.verify_paths.iter().map(|(pattern, command)| CommandOrigin {
        command: command.clone(),
        from: format!("{FILE_NAME}, [verify_paths]"),
        purpose: format!("verify tasks that have no command, about {pattern}"),
        of_project: true,
    });
    agents.chain(others).chain(by_path).chain(notices).collect()
}

/// A flag that was given now, or when the unfinished run was started.
fn elsewhere(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn of_agent(agent: &Agent, file: &FileSettings, flags: &SettingsLayer) -> CommandOrigin {
    let is_command = agent.name == COMMAND_AGENT;
    let of_project = if is_command {
        file.values.get("agent_cmd") == Some(&agent.command)
    } else {
        file.agents.iter().any(|defined| defined.name == agent.name)
    };
    let from = match (of_project, is_command) {
        (true, _) => FILE_NAME.to_owned(),
        (false, true) if flags.agent_cmd.is_some() => elsewhere("agent_cmd"),
        (false, false) if KnownAgent::named(&agent.name).is_some() => "known by name".to_owned(),
        (false, _) => "the unfinished run".to_owned(),
    };
    let variables: Vec<&str> = agent.env.iter().map(|(name, _)| name.as_str()).collect();
    let with =
        if variables.is_empty() { String::new() } else { format!(", with {} set", variables.join(", ")) };
    let purpose = if is_command { "work".to_owned() } else { format!("work as agent {}{with}", agent.name) };
    CommandOrigin { command: agent.shown(), from, purpose, of_project }
}

/// The verify commands of a plan's open tasks.
pub(crate) fn of_plan<'a>(path: &'a Path, plan: &'a Plan) -> impl Iterator<Item = CommandOrigin> + 'a {
    plan.tasks().iter().filter(|task| !task.state.is_done()).filter_map(move |task| {
        let Verify::Runnable(script) = plan.verify(task) else { return None };
        let from = format!("{}:{}", path.display(), task.line);
        let purpose = format!("verify {}", task.id);
        Some(CommandOrigin { command: script.snippets.join("; "), from, purpose, of_project: true })
    })
}
