//! The agents that settings name: known ones, those of `tillgreen.toml`, and who has which role in a run.

mod known;
mod programs;
mod roles;
mod table;

pub(crate) use known::{KNOWN_AGENTS, KnownAgent, how_to_install};
pub(crate) use programs::{Programs, program_of};
pub(super) use roles::RoleAssignment;
pub(crate) use roles::find_agent;
pub(super) use table::{AgentTable, COMMAND_AGENT, KEYS, TableProblem, agent_name_problem};
