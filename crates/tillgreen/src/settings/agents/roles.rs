//! Roles of agents: which agent has which, and whether all of them are installed.

use engine::Agents;
use runner::{Agent, AgentKind};

use super::known::{KNOWN_AGENTS, KnownAgent, how_to_install};
use super::programs::Programs;
use super::table::COMMAND_AGENT;
use crate::error::{Error, Kind};
use crate::settings::file::FileSettings;
use crate::settings::layer::{Names, SettingsLayer};
use crate::view::text::quoted;

/// The agents of a run and their roles.
#[derive(Clone, Debug)]
pub(in crate::settings) struct RoleAssignment {
    /// The agent that does the work where no role says otherwise.
    pub(in crate::settings) agent: Agent,
    /// Every agent that a role names.
    pub(in crate::settings) agents: Vec<Agent>,
    /// The names for each role; none where one agent does everything.
    pub(in crate::settings) roles: Agents,
}

impl RoleAssignment {
    /// Finds everybody, and finds out whether they can be started.
    pub(in crate::settings) fn resolve(
        layer: &SettingsLayer,
        earlier: &SettingsLayer,
        file: &FileSettings,
        programs: &Programs,
    ) -> Result<Self, Error> {
        let mut agent = agent(layer, earlier, file, programs)?;
        if layer.model.is_some() {
            agent.model.clone_from(&layer.model);
        }
        installed(&agent, programs)?;
        let roles = roles(layer, &agent.name);
        let mut agents = vec![agent.clone()];
        for name in roles.executor.iter().chain(&roles.qa).chain(&roles.reviewer) {
            if agents.iter().all(|known| known.name != *name) {
                let named = find_agent(name, file).ok_or_else(|| unknown(name, file))?;
                installed(&named, programs)?;
                agents.push(named);
            }
        }
        let agents = if roles.is_empty() { Vec::new() } else { agents };
        Ok(Self { agent, agents, roles })
    }
}

/// The agents of each role, the first choice first. Where none is named, it is the one that does the work.
fn roles(layer: &SettingsLayer, agent: &str) -> Agents {
    let chosen = [&layer.executor, &layer.qa, &layer.reviewer];
    if chosen.iter().all(|choice| choice.is_none()) && layer.fallback.is_none() {
        return Agents::default();
    }
    let fallback = layer.fallback.as_ref().map(|Names(names)| names.clone()).unwrap_or_default();
    let worker = layer.executor.as_deref().unwrap_or(agent);
    let [executor, qa, reviewer] = chosen.map(|choice| {
        let first = choice.as_deref().unwrap_or(worker);
        let others = fallback.iter().map(String::as_str).filter(|name| *name != first);
        std::iter::once(first).chain(others).map(str::to_owned).collect()
    });
    Agents { executor, qa, reviewer }
}

/// The agent: as chosen, else as in the unfinished run, else the first that is installed.
fn agent(
    layer: &SettingsLayer,
    earlier: &SettingsLayer,
    file: &FileSettings,
    programs: &Programs,
) -> Result<Agent, Error> {
    if let Some(command) = &layer.agent_cmd {
        return Ok(Agent::new(COMMAND_AGENT, AgentKind::Command, command));
    }
    if let Some(name) = &layer.agent {
        return find_agent(name, file).ok_or_else(|| unknown(name, file));
    }
    if let Some(agent) = earlier_agent(earlier, file) {
        return Ok(agent);
    }
    if let Some(name) = &earlier.agent {
        return Err(unknown(name, file));
    }
    let of_file = file.agents.iter().find(|agent| is_installed(agent, programs)).cloned();
    let known = || KNOWN_AGENTS.iter().find(|known| known.is_installed(programs)).map(KnownAgent::agent);
    of_file.or_else(known).ok_or_else(|| no_agent(file))
}

/// The agent of a name: as tillgreen.toml has it, else as it is known.
pub(crate) fn find_agent(name: &str, file: &FileSettings) -> Option<Agent> {
    let of_file = file.agents.iter().find(|agent| agent.name == name).cloned();
    of_file.or_else(|| KnownAgent::named(name).map(KnownAgent::agent))
}

/// True if an agent can be started, as far as can be told without starting it.
pub(in crate::settings) fn is_installed(agent: &Agent, programs: &Programs) -> bool {
    match agent.kind {
        AgentKind::Command | AgentKind::Stream(_) => programs.missing(&agent.command).is_none(),
        AgentKind::Claude
        | AgentKind::Codex
        | AgentKind::Gemini
        | AgentKind::Opencode
        | AgentKind::Aider
        | AgentKind::Pi
        | AgentKind::Acp => programs.find(&agent.command).is_some(),
    }
}

/// The agent of the unfinished run, as `tillgreen.toml` has it now; the journal's command is for agents that are not
/// there.
fn earlier_agent(earlier: &SettingsLayer, file: &FileSettings) -> Option<Agent> {
    let known = earlier.agent.as_deref().and_then(|name| find_agent(name, file));
    known.or_else(|| {
        let name = earlier.agent.clone().unwrap_or_else(|| COMMAND_AGENT.to_owned());
        Some(Agent::new(name, AgentKind::Command, earlier.agent_cmd.clone()?))
    })
}

fn unknown(name: &str, file: &FileSettings) -> Error {
    let names: Vec<&str> = file.agents.iter().map(|table| table.name.as_str()).collect();
    let known: Vec<&str> = KNOWN_AGENTS.iter().map(|known| known.name).collect();
    let error = Error::usage(format!("unknown agent `{name}`"));
    let error = match plan::nearest(name, names.iter().chain(&known).copied()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    };
    let defined = if names.is_empty() {
        "no agent is defined in tillgreen.toml".to_owned()
    } else {
        format!("defined in tillgreen.toml: {}", names.join(", "))
    };
    error.note(defined).note(format!("known by name: {}", known.join(", "))).hint(format!(
        "define it in tillgreen.toml by `[agents.{name}]` and `command = \"…\"`, or use --agent-cmd 'COMMAND'"
    ))
}

fn no_agent(file: &FileSettings) -> Error {
    let error = if file.agents.is_empty() {
        Error::new(Kind::NoAgent, "no agent is set, and none of those that are known is installed")
    } else {
        let list: Vec<&str> = file.agents.iter().map(|table| table.name.as_str()).collect();
        let list = list.join(", ");
        Error::new(Kind::NoAgent, format!("none of the agents in tillgreen.toml is installed ({list})"))
    };
    error
        .hint("name a command that reads the prompt on standard input: --agent-cmd 'COMMAND'")
        .hint("or install one: `tillgreen agents` says how")
}

pub(in crate::settings) fn installed(agent: &Agent, programs: &Programs) -> Result<(), Error> {
    if matches!(agent.kind, AgentKind::Command | AgentKind::Stream(_))
        && let Some(file) = programs.forbidden(&agent.command)
    {
        let file = file.display();
        return Err(Error::usage(format!("the agent cannot be run: {file} is not executable"))
            .hint(format!("make it so: `chmod +x {}`", quoted(&file.to_string()))));
    }
    if is_installed(agent, programs) {
        return Ok(());
    }
    let program = programs.missing(&agent.command).unwrap_or_else(|| agent.command.clone());
    let what =
        if agent.name == COMMAND_AGENT { "the agent".to_owned() } else { format!("agent `{}`", agent.name) };
    let how = how_to_install(&program).map_or_else(
        || format!("install `{program}`, or choose another agent with --agent NAME or --agent-cmd 'COMMAND'"),
        |how| format!("install it: `{how}`, or choose another agent with --agent NAME"),
    );
    Err(Error::new(Kind::NoAgent, format!("{what} is not installed: `{program}` was not found"))
        .note(format!("its command: {}", agent.shown()))
        .hint(how)
        .hint("`tillgreen agents` lists what is installed"))
}
