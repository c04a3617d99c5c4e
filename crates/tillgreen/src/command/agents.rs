//! `tillgreen agents`: what can do the work here.

mod trial;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::args::{AgentsArgs, AgentsCommand, Format};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FileSettings, KNOWN, Programs, program_of};
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::text::clean;

/// An agent as it is listed.
#[derive(Serialize)]
struct Row {
    name: String,
    /// Whether `tillgreen.toml` defines it; only those can be named by `--agent`.
    defined: bool,
    installed: bool,
    path: Option<PathBuf>,
    version: Option<String>,
    command: String,
}

/// Lists the agents, or puts one to the test.
pub(crate) fn run(context: &mut Context, arguments: AgentsArgs) -> Ended {
    match arguments.command {
        None => list(context),
        Some(AgentsCommand::Test(arguments)) => trial::run(context, arguments),
    }
}

/// Lists the agents that are defined, then known programs that are not.
fn list(context: &mut Context) -> Ended {
    let project = context.project()?;
    let file = FileSettings::load(project.root())?;
    let mut rows = rows(&file, &Programs::of_environment(project.root()));
    for row in &mut rows {
        row.version = row.path.as_deref().and_then(runner::version_of);
    }
    match context.format {
        Format::Text => print(&mut context.out, &rows, Paint::of(&std::io::stdout()))?,
        Format::Json => json::document(&mut context.out, &rows)?,
    }
    Ok(exit::DONE)
}

fn rows(file: &FileSettings, programs: &Programs) -> Vec<Row> {
    let row = |name: &str, command: &str, defined| {
        let path = program_of(command).and_then(|program| programs.find(program));
        let installed = programs.missing(command).is_none();
        Row { name: name.to_owned(), defined, installed, path, version: None, command: command.to_owned() }
    };
    let defined: BTreeSet<&str> = file.agents.iter().map(|agent| agent.name.as_str()).collect();
    let of_file = file.agents.iter().map(|agent| row(&agent.name, &agent.command, true));
    let known = KNOWN.iter().filter(|known| !defined.contains(known.program));
    of_file.chain(known.map(|known| row(known.program, known.command, false))).collect()
}

fn print(out: &mut dyn Write, rows: &[Row], paint: Paint) -> Result<(), Error> {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    for row in rows {
        let mark = if row.installed { paint.good("✓") } else { paint.faint("–") };
        let place = match (&row.path, &row.version) {
            (Some(path), Some(version)) => format!("{} ({})", path.display(), clean(version)),
            (Some(path), None) => path.display().to_string(),
            (None, _) if row.installed => "a shell command; whether it can start is not known".to_owned(),
            (None, _) => "not installed".to_owned(),
        };
        let defined = if row.defined { "" } else { ", not in tillgreen.toml" };
        writeln!(out, "{mark} {:width$}  {}{}", row.name, clean(&place), paint.faint(defined))?;
        if row.defined {
            writeln!(out, "  {:width$}  {}", "", paint.faint(&clean(&row.command)))?;
        }
    }
    let chosen = rows.iter().find(|row| row.defined && row.installed);
    match chosen {
        Some(row) => writeln!(out, "\n`tillgreen run` uses {} unless told otherwise.", row.name)?,
        None => writeln!(
            out,
            "\nNo agent is set up: `tillgreen init` writes tillgreen.toml, or use `tillgreen run --agent-cmd 'COMMAND'`."
        )?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn defined_agents_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("mine");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let text = "[agents.local]\ncommand = \"mine -p\"\n[agents.claude]\ncommand = \"claude -p\"\n\
                    [agents.odd]\ncommand = \"$(cat x)\"\n";
        let file = FileSettings::parse(std::path::Path::new("tillgreen.toml"), text).unwrap();
        let rows = rows(&file, &Programs::new(Some(folder.path().into()), folder.path()));
        let mut out = Vec::new();
        print(&mut out, &rows, Paint::Plain).unwrap();
        let text = String::from_utf8(out).unwrap().replace(&folder.path().display().to_string(), "BIN");
        insta::assert_snapshot!(text, @r"
        ✓ local     BIN/mine
                    mine -p
        – claude    not installed
                    claude -p
        ✓ odd       a shell command; whether it can start is not known
                    $(cat x)
        – codex     not installed, not in tillgreen.toml
        – gemini    not installed, not in tillgreen.toml
        – opencode  not installed, not in tillgreen.toml
        – aider     not installed, not in tillgreen.toml

        `tillgreen run` uses local unless told otherwise.
        ");
    }
}
