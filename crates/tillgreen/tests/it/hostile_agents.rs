//! hostile_agents
