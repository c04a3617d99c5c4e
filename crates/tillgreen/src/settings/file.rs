//! `tillgreen.toml` at the project's root. Everything that is wrong is said with its line.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::agent::{AgentTable, agent_name_problem};
use super::choices::{Choices, Refusal};
use super::{pull_request, suggest};
use crate::error::Error;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "tillgreen.toml";
/// Keys whose value may be a list.
const LISTS: [&str; 2] = ["worktree_link", "worktree_copy"];

/// The key under which agents are defined.
const AGENTS: &str = "agents";

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileSettings {
    /// The settings.
    pub(super) choices: Choices,
    /// The agents, in the order of the file.
    pub(crate) agents: Vec<AgentTable>,
}

impl FileSettings {
    /// Reads the file of a project; without one, it says nothing.
    pub(crate) fn load(root: &Path) -> Result<Self, Error> {
        let path = root.join(FILE_NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&path, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::file("read", &path, error)),
        }
    }

    /// Whether runs are to start over from the boxes.
    pub(crate) fn starts_fresh(&self) -> bool {
        self.choices.fresh.is_some_and(engine::Toggle::is_on)
    }

    /// Reads the text of the file; every problem is reported, not only the first.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let mut reader = Reader { text, problems: Vec::new(), settings: Self::default() };
        match DeTable::parse(text) {
            Ok(table) => reader.table(table.get_ref()),
            Err(error) => reader.problem(error.span(), error.message().trim().to_owned(), None),
        }
        reader.finish(path)
    }
}

/// Something wrong in the file.
struct Problem {
    line: usize,
    message: String,
    hint: Option<String>,
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
    settings: FileSettings,
}

type Key<'a> = Spanned<toml::de::DeString<'a>>;

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in in_order(table) {
            if key.get_ref() == AGENTS {
                self.agents(value);
            } else if key.get_ref() == pull_request::TABLE {
                self.pull_request(value);
            } else {
                self.setting(key, value);
            }
        }
    }

    /// The settings of the pull request, which have a table of their own.
    fn pull_request(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = value.get_ref() else {
            let hint =
                "write `[pull_request]` and under it, for example, `reply = true`; `pr = true` turns it on";
            let message = "`pull_request` must be a table".to_owned();
            return self.problem(Some(value.span()), message, Some(hint.to_owned()));
        };
        for (key, value) in in_order(table) {
            let name = pull_request::key_in_table(key.get_ref());
            self.named_setting(&name, key, value);
        }
    }

    fn names_second_agent(&self, choices: &Choices) -> bool {
        let known = &self.settings.choices;
        let names = |choices: &Choices| choices.agent.is_some() || choices.agent_cmd.is_some();
        names(known) && names(choices)
    }

    fn setting(&mut self, key: &Key<'_>, value: &Spanned<DeValue<'_>>) {
        let name = key.get_ref().as_ref();
        self.named_setting(name, key, value);
    }

    fn named_setting(&mut self, name: &str, key: &Key<'_>, value: &Spanned<DeValue<'_>>) {
        let listed = if LISTS.contains(&name) { list_text(value.get_ref()) } else { None };
        let Some(text) = listed.or_else(|| plain_text(value.get_ref())) else {
            let kind = describe(value.get_ref());
            return self.refuse(name, key.span(), value, Refusal::Value(format!("cannot be {kind}")));
        };
        match Choices::read(name, &text) {
            Ok(choices) if self.names_second_agent(&choices) => {
                let message = "`agent` and `agent_cmd` are both set: choose one".to_owned();
                self.problem(Some(key.span()), message, None);
            }
            Ok(choices) => self.settings.choices = std::mem::take(&mut self.settings.choices).or(choices),
            Err(refusal) => self.refuse(name, key.span(), value, refusal),
        }
    }

    fn refuse(&mut self, name: &str, key: Range<usize>, value: &Spanned<DeValue<'_>>, refusal: Refusal) {
        match refusal {
            Refusal::UnknownKey(near) => {
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                self.problem(Some(key), format!("unknown key `{name}`"), hint);
            }
            Refusal::Value(reason) => self.problem(Some(value.span()), format!("`{name}` {reason}"), None),
        }
    }

    fn agents(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(agents) = value.get_ref() else {
            let hint = "write `[agents.NAME]` and under it `command = \"…\"`";
            return self.problem(
                Some(value.span()),
                "`agents` must be tables".to_owned(),
                Some(hint.to_owned()),
            );
        };
        for (name, table) in in_order(agents) {
            self.agent(name, table);
        }
    }

    fn agent(&mut self, key: &Key<'_>, value: &Spanned<DeValue<'_>>) {
        let name = key.get_ref().as_ref();
        if let Some(problem) = agent_name_problem(name) {
            return self.problem(Some(key.span()), format!("the agent name `{name}` {problem}"), None);
        }
        let DeValue::Table(table) = value.get_ref() else {
            let hint = format!("write `[agents.{name}]` and under it `command = \"…\"`");
            return self.problem(Some(key.span()), format!("`agents.{name}` must be a table"), Some(hint));
        };
        let before = self.problems.len();
        let mut command = None;
        for (key, value) in in_order(table) {
            self.agent_key(name, (key, value), &mut command);
        }
        match command {
            Some(command) => self.settings.agents.push(AgentTable { name: name.to_owned(), command }),
            None if self.problems.len() == before => {
                let message = format!("the agent `{name}` has no command");
                self.problem(Some(key.span()), message, Some("add `command = \"…\"`".to_owned()));
            }
            None => {}
        }
    }

    fn agent_key(
        &mut self,
        agent: &str,
        (key, value): (&Key<'_>, &Spanned<DeValue<'_>>),
        command: &mut Option<String>,
    ) {
        let name = key.get_ref().as_ref();
        let text = if let DeValue::String(text) = value.get_ref() { Some(text.as_ref()) } else { None };
        match (name, text) {
            ("command", Some(text)) if !text.trim().is_empty() => *command = Some(text.to_owned()),
            ("command", _) => {
                self.problem(
                    Some(value.span()),
                    format!("`agents.{agent}.command` must be a text and not empty"),
                    None,
                );
            }
            ("kind", Some("command")) => {}
            ("kind", _) => {
                self.problem(Some(value.span()), format!("`agents.{agent}.kind` must be \"command\""), None);
            }
            (unknown, _) => {
                let near = suggest::nearest(unknown, ["command", "kind"]);
                let hint = near.map(|near| format!("did you mean `{near}`?"));
                self.problem(Some(key.span()), format!("unknown key `agents.{agent}.{unknown}`"), hint);
            }
        }
    }

    fn problem(&mut self, span: Option<Range<usize>>, message: String, hint: Option<String>) {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        let line = self.text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        self.problems.push(Problem { line, message, hint });
    }

    /// One problem is the error; of several, the error is the list.
    fn finish(mut self, path: &Path) -> Result<FileSettings, Error> {
        self.problems.sort_by_key(|problem| problem.line);
        let shown = |problem: &Problem| format!("{}:{}: {}", display(path), problem.line, problem.message);
        let mut error = match self.problems.as_slice() {
            [] => return Ok(self.settings),
            [only] => Error::usage(shown(only)),
            several => several.iter().fold(
                Error::usage(format!("{} has {} problems", display(path), several.len())),
                |error, problem| error.note(shown(problem)),
            ),
        };
        for hint in self.problems.into_iter().filter_map(|problem| problem.hint) {
            error = error.hint(hint);
        }
        Err(error)
    }
}

fn display(path: &Path) -> String {
    // The file is always the one at the project's root: its name says enough.
    path.file_name().map_or_else(|| PathBuf::from(FILE_NAME), PathBuf::from).display().to_string()
}

/// Keys and values in the order of the file.
fn in_order<'a, 'b>(table: &'a DeTable<'b>) -> Vec<(&'a Key<'b>, &'a Spanned<DeValue<'b>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// A list of texts as the flag of that name takes it.
fn list_text(value: &DeValue<'_>) -> Option<String> {
    let DeValue::Array(list) = value else { return None };
    let items: Option<Vec<String>> = list.iter().map(|item| plain_text(item.get_ref())).collect();
    items.map(|items| items.join(","))
}

fn plain_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => number.as_str().parse::<i64>().ok().map(|number| number.to_string()),
        DeValue::Boolean(toggle) => Some(toggle.to_string()),
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

fn describe(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "this number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
