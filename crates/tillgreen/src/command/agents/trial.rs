//! `tillgreen agents test`: an agent is put to the test.

use std::path::Path;

use rehearsal::{ClientConfig, Model, Part, Score, Trial, TrialError};
use runner::AgentKind;
use toml::{Table, Value};

use crate::args::{Format, TestArgs};
use crate::cli::{Context, Ended};
use crate::error::{Error, Kind};
use crate::exit;
use crate::settings::{FILE_NAME, FileSettings, KnownAgent, Programs};
use crate::view::paint::Paint;
use crate::view::{json, scorecard};

/// Plays all parts and prints what came of them.
pub(crate) fn run(context: &mut Context, arguments: TestArgs) -> Ended {
    let project = context.project()?;
    let subject = match (&arguments.name, &arguments.agent_cmd) {
        (Some(name), _) => named(project.root(), name)?,
        (None, command) => Subject::command(project.root(), command.as_deref().unwrap_or_default()),
    };
    let trial = Trial::prepare(&std::env::temp_dir(), (subject.arguments, subject.settings), subject.model)?;
    let parts = if arguments.only.is_empty() { Part::ALL.to_vec() } else { arguments.only };
    let scores = play(context, &trial, &subject.name, &parts)?;
    let passed = scores.iter().all(Score::is_passed);
    let folder = trial.folder().to_owned();
    // What cannot be removed is scratch all the same; it is said where it is.
    let is_gone = passed && trial.clear_away().is_ok();
    let folder = (!is_gone).then_some(folder);
    match context.format {
        Format::Text => write!(context.out, "{}", scorecard::summary(&scores, folder.as_deref()))?,
        Format::Json => {
            let card = scorecard::document(&subject.name, &scores, folder.as_deref());
            json::document(&mut context.out, &card)?;
        }
    }
    Ok(if passed { exit::DONE } else { exit::STOPPED })
}

fn play(context: &mut Context, trial: &Trial, name: &str, parts: &[Part]) -> Result<Vec<Score>, Error> {
    let paint = Paint::of(&std::io::stdout());
    if context.format == Format::Text {
        writeln!(context.out, "Rehearsing {name} against a scripted model\n")?;
    }
    let mut scores = Vec::new();
    for part in parts {
        let score = trial.play(*part)?;
        if context.format == Format::Text {
            write!(context.out, "{}", scorecard::line(&score, paint))?;
            context.out.flush()?;
        }
        scores.push(score);
    }
    Ok(scores)
}

/// The agent that is put to the test.
#[derive(Debug, PartialEq, Eq)]
struct Subject {
    name: String,
    arguments: Vec<String>,
    settings: String,
    model: Model,
}

impl Subject {
    fn command(root: &Path, command: &str) -> Self {
        let command = absolute(root, command);
        Self {
            name: format!("`{command}`"),
            arguments: vec!["--agent-cmd".to_owned(), command],
            settings: String::new(),
            model: Model::Optional,
        }
    }

    fn named(name: &str, settings: String, model: Model) -> Self {
        let arguments = vec!["--agent".to_owned(), name.to_owned()];
        Self { name: name.to_owned(), arguments, settings, model }
    }
}

/// An agent of `tillgreen.toml`, else a known one. Of the file, only what defines the agent comes along: all other
/// settings are the user's project's.
fn named(root: &Path, name: &str) -> Result<Subject, Error> {
    // Whatever is wrong with the file is said as always.
    let file = FileSettings::load(root)?;
    if let Some(agent) = file.agents.iter().find(|agent| agent.name == name) {
        let model = model(&agent.kind);
        let path = root.join(FILE_NAME);
        let text = std::fs::read_to_string(&path).map_err(|error| Error::file("read", &path, error))?;
        return Ok(Subject::named(name, definition(root, &text, name), model));
    }
    let Some(known) = KnownAgent::named(name) else {
        let hint = "`tillgreen agents` lists those that are known; --agent-cmd 'COMMAND' tests any command";
        return Err(Error::usage(format!("unknown agent `{name}`")).hint(hint));
    };
    if !known.is_installed(&Programs::of_environment(root)) {
        let message = format!("{name} is not installed: there is no `{}` on the path", known.program);
        return Err(Error::usage(message).hint(format!("install it: {}", known.install)));
    }
    Ok(Subject::named(name, String::new(), Model::Asked))
}

/// The use that an agent of a kind makes of the scripted model. One that only speaks a protocol may have its own.
fn model(kind: &AgentKind) -> Model {
    match kind {
        AgentKind::Claude
        | AgentKind::Codex
        | AgentKind::Gemini
        | AgentKind::Opencode
        | AgentKind::Aider
        | AgentKind::Pi => Model::Asked,
        AgentKind::Acp | AgentKind::Stream(_) | AgentKind::Command => Model::Optional,
    }
}

/// The part of a `tillgreen.toml` that defines an agent, which was read before and found right.
fn definition(root: &Path, text: &str, name: &str) -> String {
    let table: Table = text.parse().unwrap_or_default();
    let agent = table.get("agents").and_then(|agents| agents.get(name)).and_then(Value::as_table);
    let lines = agent.into_iter().flatten().map(|(key, value)| {
        let value = match (key.as_str(), value.as_str(), value.as_table()) {
            ("command" | "program", Some(command), _) => Value::String(absolute(root, command)),
            ("env", _, Some(variables)) => Value::Table(harmless(variables)),
            _ => value.clone(),
        };
        format!("{key} = {}\n", inline(&value))
    });
    format!("[agents.{name}]\n{}", lines.collect::<String>())
}

/// Variables without those that would lead the agent past the scripted model.
fn harmless(variables: &Table) -> Table {
    let led = ClientConfig::at("").env;
    let is_harmless = |name: &str| !led.iter().any(|(other, _)| other == name);
    variables.clone().into_iter().filter(|(name, _)| is_harmless(name)).collect()
}

/// A value on one line. Strings of JSON are strings of TOML.
fn inline(value: &Value) -> String {
    let text = |text: &str| serde_json::Value::String(text.to_owned()).to_string();
    match value {
        Value::String(string) => text(string),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(values) => format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", text(key), inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// The command with every word that names a file of the project made absolute: it is run elsewhere. The program
/// itself is looked for on the path unless it has a slash.
fn absolute(root: &Path, command: &str) -> String {
    let program = command.split(' ').position(|word| !word.is_empty());
    let words = command.split(' ').enumerate().map(|(index, word)| {
        let is_on_path = Some(index) == program && !word.contains('/');
        let is_file = !word.is_empty() && !word.starts_with('/') && root.join(word).is_file();
        if is_file && !is_on_path { root.join(word).display().to_string() } else { word.to_owned() }
    });
    words.collect::<Vec<_>>().join(" ")
}

impl From<TrialError> for Error {
    fn from(error: TrialError) -> Self {
        let hint = "it needs git and a folder it may write to; TMPDIR names another one";
        Self::from_source(Kind::Unavailable, error).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_project_are_made_absolute() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["agent.sh", "sh"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let root = folder.path().display();
        let check = |command: &str, expected: String| assert_eq!(absolute(folder.path(), command), expected);
        check("sh agent.sh -x", format!("sh {root}/agent.sh -x"));
        check("./agent.sh  a", format!("{root}/./agent.sh  a"));
        check(" sh other.sh", " sh other.sh".to_owned());
    }

    #[test]
    fn only_the_definition_of_the_agent_comes_along() {
        let text = "regression = \"false\"\n[agents.a]\ncommand = \"x \\\"y\\\"\"\nargs = [\"b\", \"c\"]\n\
                    env = { A = \"1\", ANTHROPIC_BASE_URL = \"x\" }\n[agents.b]\ncommand = \"z\"\n";
        let found = definition(Path::new("/nowhere"), text, "a");
        assert_eq!(
            found,
            "[agents.a]\nargs = [\"b\", \"c\"]\ncommand = \"x \\\"y\\\"\"\nenv = { \"A\" = \"1\" }\n"
        );
        assert!(found.parse::<Table>().is_ok());
    }
}
