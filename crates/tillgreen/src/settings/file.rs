//! `tillgreen.toml` at the project's root. Everything that is wrong is said with its line.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use runner::{Agent, Notify, PlanFile};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::agents::agent_name_problem;
use super::agents::{AgentTable, KEYS, TableProblem};
use super::layer::{Names, Refusal, SettingsLayer};
use super::notify;
use super::pull_request;
use crate::args::Format;
use crate::error::Error;

/// The name of the file.
pub(crate) const FILE_NAME: &str = "tillgreen.toml";
/// Keys whose value may be a list.
const LISTS: [&str; 6] = ["fallback", "worktree_link", "worktree_copy", "env_block", "env_pass", "mask"];

/// The key under which agents are defined.
const AGENTS: &str = "agents";

/// The key of the commands for tasks that have none.
const VERIFY_PATHS: &str = "verify_paths";

/// The one setting that may have a fraction.
const DECIMAL: &str = "max_cost";

/// The settings of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileSettings {
    /// The settings.
    pub(super) layer: SettingsLayer,
    /// The agents, in the order of the file.
    pub(crate) agents: Vec<Agent>,
    /// Who is told what when nobody is there.
    pub(crate) notify: Notify,
    /// Commands for tasks that have none of their own, by patterns of paths, in the order of the file.
    pub(super) verify_paths: Vec<(String, String)>,
    /// Each key with its value as text.
    pub(super) values: BTreeMap<String, String>,
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

    /// Has masked what the file lists, for a command that is no run.
    pub(crate) fn mask(&self) {
        let listed = self.layer.mask.as_ref().map(|Names(values)| values.as_slice());
        runner::mask_values(listed.unwrap_or_default(), self.agents.iter().flat_map(|agent| &agent.env));
    }

    /// True if runs are to start over from the boxes.
    pub(crate) fn starts_fresh(&self) -> bool {
        self.layer.fresh.is_some_and(engine::Toggle::is_on)
    }

    /// Has a plan read and verified as these settings say.
    pub(crate) fn apply_to(&self, file: &mut PlanFile) {
        self.layer.apply_to(file);
        file.defaults.paths.clone_from(&self.verify_paths);
    }

    /// The folder in which work trees are made, if one is named.
    pub(crate) fn worktree_dir(&self) -> Option<&Path> {
        self.layer.worktree_dir.as_deref().map(Path::new)
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

/// What is wrong with the text of a `tillgreen.toml`, as its user reads it; none if nothing is.
#[must_use]
pub fn settings_problem(text: &str) -> Option<String> {
    FileSettings::parse(Path::new(FILE_NAME), text).err().map(|error| error.render(Format::Text))
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

pub(super) type Key<'a> = Spanned<toml::de::DeString<'a>>;

impl Reader<'_> {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in in_order(table) {
            if key.get_ref() == AGENTS {
                self.agents(value);
            } else if key.get_ref() == notify::TABLE {
                let (notify, problems) = notify::read(value);
                self.settings.notify = notify;
                for (span, message, hint) in problems {
                    self.problem(Some(span), message, hint);
                }
            } else if key.get_ref() == VERIFY_PATHS {
                self.verify_paths(value);
            } else if key.get_ref() == pull_request::TABLE {
                self.pull_request(value);
            } else {
                self.setting(key, value);
            }
        }
    }

    /// Commands for tasks that have none of their own, by the files that they are about.
    fn verify_paths(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = value.get_ref() else {
            let hint = "write `[verify_paths]` and under it, for example, `\"backend/**\" = \"pytest -q\"`";
            let message = "`verify_paths` must be a table".to_owned();
            return self.problem(Some(value.span()), message, Some(hint.to_owned()));
        };
        for (pattern, command) in in_order(table) {
            let text = plain_text(command.get_ref()).filter(|text| !text.trim().is_empty());
            match text.filter(|_| matches!(command.get_ref(), DeValue::String(_))) {
                Some(text) => self.settings.verify_paths.push((pattern.get_ref().to_string(), text)),
                None => {
                    let message = format!("the command for `{}` must be a text", pattern.get_ref());
                    self.problem(Some(command.span()), message, None);
                }
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

    fn names_second_agent(&self, layer: &SettingsLayer) -> bool {
        let known = &self.settings.layer;
        let names = |layer: &SettingsLayer| layer.agent.is_some() || layer.agent_cmd.is_some();
        names(known) && names(layer)
    }

    fn setting(&mut self, key: &Key<'_>, value: &Spanned<DeValue<'_>>) {
        let name = key.get_ref().as_ref();
        self.named_setting(name, key, value);
    }

    fn named_setting(&mut self, name: &str, key: &Key<'_>, value: &Spanned<DeValue<'_>>) {
        let is_fit = LISTS.contains(&name) || !matches!(value.get_ref(), DeValue::Array(_));
        let is_fit = is_fit && (name == DECIMAL || !matches!(value.get_ref(), DeValue::Float(_)));
        let Some(text) = plain_text(value.get_ref()).filter(|_| is_fit) else {
            let kind = describe(value.get_ref());
            return self.refuse(name, key.span(), value, Refusal::Value(format!("cannot be {kind}")));
        };
        match SettingsLayer::read(name, &text) {
            Ok(layer) if self.names_second_agent(&layer) => {
                let message = "`agent` and `agent_cmd` are both set: choose one".to_owned();
                self.problem(Some(key.span()), message, None);
            }
            Ok(layer) => {
                self.settings.layer = std::mem::take(&mut self.settings.layer).or(layer);
                self.settings.values.insert(name.to_owned(), text);
            }
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
        let mut draft = AgentTable::default();
        let mut places = Vec::new();
        for (key, value) in in_order(table) {
            self.agent_key(name, (key, value), &mut draft);
            places.push((key.get_ref().to_string(), value.span()));
        }
        if self.problems.len() > before {
            return;
        }
        match draft.agent(name) {
            Ok(agent) => self.settings.agents.push(agent),
            Err(TableProblem { key: at, message, hint }) => {
                let place = places.into_iter().find(|(key, _)| Some(key.as_str()) == at);
                self.problem(Some(place.map_or_else(|| key.span(), |(_, span)| span)), message, hint);
            }
        }
    }

    fn agent_key(
        &mut self,
        agent: &str,
        (key, value): (&Key<'_>, &Spanned<DeValue<'_>>),
        draft: &mut AgentTable,
    ) {
        let name = key.get_ref().as_ref();
        let wrong = |what: &str| format!("`agents.{agent}.{name}` must be {what}");
        match (AgentTable::text_key(name), name, value.get_ref()) {
            (Some(key), _, DeValue::String(text)) if !text.trim().is_empty() => draft.set(key, text),
            (Some(_), ..) => self.problem(Some(value.span()), wrong("a text and not empty"), None),
            (None, "args", list) => match texts(list) {
                Some(args) => draft.args = args,
                None => self.problem(Some(value.span()), wrong("a list of texts"), None),
            },
            (None, "env", DeValue::Table(table)) => match variables(table) {
                Some(env) => draft.env = env,
                None => self.problem(Some(value.span()), wrong("a table of names and texts"), None),
            },
            (None, "env", _) => self.problem(Some(value.span()), wrong("a table of names and texts"), None),
            (None, unknown, _) => {
                let near = plan::nearest(unknown, KEYS.iter().copied());
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
pub(super) fn in_order<'a, 'b>(table: &'a DeTable<'b>) -> Vec<(&'a Key<'b>, &'a Spanned<DeValue<'b>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn plain_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => number.as_str().parse::<i64>().ok().map(|number| number.to_string()),
        DeValue::Boolean(toggle) => Some(toggle.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        list @ DeValue::Array(_) => texts(list).map(|texts| texts.join(",")),
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

/// The texts of a list of nothing else.
pub(super) fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    let DeValue::Array(items) = value else { return None };
    let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(_)
        | DeValue::Float(_)
        | DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Array(_)
        | DeValue::Table(_) => None,
    };
    items.iter().map(text).collect()
}

/// Variables of an environment.
fn variables(table: &DeTable<'_>) -> Option<Vec<(String, String)>> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let variable = |(key, value): (&Key<'_>, &Spanned<DeValue<'_>>)| {
        let name = key.get_ref().to_string();
        let DeValue::String(text) = value.get_ref() else { return None };
        (is_name(&name) && !text.contains('\0')).then(|| (name, text.to_string()))
    };
    in_order(table).into_iter().map(variable).collect()
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
