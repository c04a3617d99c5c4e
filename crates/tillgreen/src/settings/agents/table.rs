//! An `[agents.NAME]` table, from keys as they stand to an agent that can be started.

use std::collections::BTreeMap;

use runner::{Agent, AgentKind, Permission, StreamFormat};

use super::known::KnownAgent;
use crate::settings::keyword::Keyword;

/// The name of an agent that was given as a command only.
pub(crate) const COMMAND_AGENT: &str = "command";

/// Why a name cannot be an agent's.
pub(crate) fn agent_name_problem(name: &str) -> Option<&'static str> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    if name == COMMAND_AGENT {
        return Some("is what an agent given by agent_cmd is called; take another name");
    }
    let is_name = !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain);
    (!is_name).then_some("must be made of letters, digits, dashes, dots and underscores")
}

/// Keys whose values are texts.
const TEXTS: &[&str] = &[
    "kind",
    "command",
    "program",
    "model",
    "permission",
    "system_prompt",
    "done",
    "success",
    "text",
    "error",
    "session",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost",
];

/// Keys that describe a stream.
const STREAM: &[&str] = &[
    "done",
    "success",
    "text",
    "error",
    "session",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost",
];

/// Every key, for those who mistype one.
pub(in crate::settings) const KEYS: &[&str] = &[
    "kind",
    "command",
    "program",
    "args",
    "env",
    "model",
    "permission",
    "system_prompt",
    "done",
    "success",
    "text",
    "error",
    "session",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "cost",
];

/// A table as far as it was read.
#[derive(Debug, Default)]
pub(in crate::settings) struct AgentTable {
    texts: BTreeMap<&'static str, String>,
    pub(in crate::settings) args: Vec<String>,
    pub(in crate::settings) env: Vec<(String, String)>,
}

/// A problem of a table: at which key, if at one, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::settings) struct TableProblem {
    pub(in crate::settings) key: Option<&'static str>,
    pub(in crate::settings) message: String,
    pub(in crate::settings) hint: Option<String>,
}

impl AgentTable {
    /// The key of this name whose value is a text.
    pub(in crate::settings) fn text_key(name: &str) -> Option<&'static str> {
        TEXTS.iter().find(|key| **key == name).copied()
    }

    /// Takes in a text.
    pub(in crate::settings) fn set(&mut self, key: &'static str, text: &str) {
        self.texts.insert(key, text.to_owned());
    }

    /// The agent that the table describes.
    pub(in crate::settings) fn agent(mut self, name: &str) -> Result<Agent, TableProblem> {
        let base = self.base(name)?;
        let permission = self.permission(name)?;
        let is_shell = matches!(base.kind, AgentKind::Command | AgentKind::Stream(_));
        let unfit = if is_shell { "program" } else { "command" };
        if self.texts.contains_key(unfit) {
            let fit = if is_shell { "command" } else { "program" };
            let kind = base.kind.word();
            return Err(at(
                unfit,
                format!("`agents.{name}.{unfit}` is not for the kind {kind}: set `{fit}`"),
            ));
        }
        if let Some(key) = STREAM.iter().find(|key| self.texts.contains_key(*key)) {
            return Err(at(key, format!("`agents.{name}.{key}` is only for the kind stream")));
        }
        if is_shell && !self.args.is_empty() {
            return Err(at("args", format!("`agents.{name}.args` is not for a command: write them into it")));
        }
        let command = self.take("program").unwrap_or(base.command);
        let args = base.args.into_iter().chain(self.args.clone()).collect();
        let model = self.take("model");
        let system_prompt = self.take("system_prompt");
        let env = self.env;
        Ok(Agent {
            name: name.to_owned(),
            kind: base.kind,
            command,
            args,
            env,
            model,
            permission,
            system_prompt,
        })
    }

    fn take(&mut self, key: &'static str) -> Option<String> {
        self.texts.remove(key)
    }

    /// The agent that the kind, else the command, else the name stands for.
    fn base(&mut self, name: &str) -> Result<Agent, TableProblem> {
        let kind = self.take("kind");
        match kind.as_deref() {
            Some("stream") => {
                let command = self.command(name)?;
                Ok(Agent::new(name, AgentKind::Stream(Box::new(self.stream(name)?)), command))
            }
            Some("command") => Ok(Agent::new(name, AgentKind::Command, self.command(name)?)),
            Some("acp") => {
                let known = KnownAgent::named(name)
                    .filter(|known| known.kind == AgentKind::Acp)
                    .map(KnownAgent::agent);
                let program = self.texts.get("program").cloned();
                known
                    .or_else(|| Some(Agent::new(name, AgentKind::Acp, program?)))
                    .ok_or_else(|| lacks(name, "program"))
            }
            Some(kind) => of_kind(name, kind),
            None if self.texts.contains_key("command") => {
                Ok(Agent::new(name, AgentKind::Command, self.command(name)?))
            }
            None => KnownAgent::named(name).map(KnownAgent::agent).ok_or_else(|| lacks(name, "command")),
        }
    }

    fn command(&mut self, name: &str) -> Result<String, TableProblem> {
        self.take("command").ok_or_else(|| lacks(name, "command"))
    }

    fn permission(&mut self, name: &str) -> Result<Permission, TableProblem> {
        let Some(word) = self.take("permission") else { return Ok(Permission::default()) };
        let found = Permission::KEYWORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, permission)| *permission).ok_or_else(|| {
            let words: Vec<&str> = Permission::KEYWORDS.iter().map(|(word, _)| *word).collect();
            at("permission", format!("`agents.{name}.permission` must be one of {}", words.join(", ")))
        })
    }

    fn stream(&mut self, name: &str) -> Result<StreamFormat, TableProblem> {
        for key in ["done", "success"] {
            if self.texts.get(key).is_some_and(|text| !StreamFormat::is_condition(text)) {
                return Err(at(key, format!("`agents.{name}.{key}` must look like type=result")));
            }
        }
        let places = STREAM.iter().filter(|key| !matches!(**key, "done" | "success"));
        for key in places {
            if self.texts.get(key).is_some_and(|text| !StreamFormat::is_place(text)) {
                return Err(at(key, format!("`agents.{name}.{key}` must be keys joined by dots")));
            }
        }
        Ok(StreamFormat {
            done: self.take("done").ok_or_else(|| lacks(name, "done"))?,
            success: self.take("success"),
            text: self.take("text").ok_or_else(|| lacks(name, "text"))?,
            error: self.take("error"),
            session: self.take("session"),
            input_tokens: self.take("input_tokens"),
            cached_tokens: self.take("cached_tokens"),
            output_tokens: self.take("output_tokens"),
            cost: self.take("cost"),
        })
    }
}

fn of_kind(name: &str, kind: &str) -> Result<Agent, TableProblem> {
    let known = KnownAgent::named(kind).filter(|known| known.kind.word() == kind);
    known.map(|known| Agent { name: name.to_owned(), ..known.agent() }).ok_or_else(|| {
        let kinds = "claude, codex, gemini, opencode, aider, pi, acp, stream, command";
        at("kind", format!("`agents.{name}.kind` must be one of {kinds}"))
    })
}

fn at(key: &'static str, message: String) -> TableProblem {
    TableProblem { key: Some(key), message, hint: None }
}

fn lacks(name: &str, key: &'static str) -> TableProblem {
    let (message, hint) = (format!("the agent `{name}` has no {key}"), format!("add `{key} = \"…\"`"));
    TableProblem { key: None, message, hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_agents() {
        for known in crate::settings::KNOWN_AGENTS {
            assert_eq!(agent_name_problem(known.name), None);
        }
        assert!(agent_name_problem("command").is_some());
        assert!(agent_name_problem("a b").is_some());
        assert!(agent_name_problem("-x").is_some());
        assert!(agent_name_problem("").is_some());
    }
}
