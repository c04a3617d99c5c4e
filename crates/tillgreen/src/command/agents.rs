//! `tillgreen agents`: what can do the work here.

mod trial;

use std::io::Write;
use std::path::{Path, PathBuf};

use runner::{Agent, AgentKind, Support};
use serde::Serialize;

use crate::args::{AgentsArgs, AgentsCommand, Format};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::{FileSettings, KNOWN_AGENTS, KnownAgent, Programs, how_to_install, program_of};
use crate::view::json;
use crate::view::paint::Paint;
use crate::view::text::clean;

/// An agent as it is listed.
#[derive(Serialize)]
struct Row {
    name: String,
    kind: &'static str,
    /// True if `tillgreen.toml` defines it.
    defined: bool,
    installed: bool,
    path: Option<PathBuf>,
    version: Option<String>,
    /// Why it was not asked for its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_asked: Option<&'static str>,
    command: String,
    /// Its permission as it is set.
    allows: &'static str,
    supports: Vec<&'static str>,
    /// Things that people might count on and that it cannot do.
    caveats: Vec<&'static str>,
    /// How to install it, where that is known.
    install: Option<&'static str>,
}

/// Lists the agents, or puts one to the test.
pub(crate) fn run(context: &mut Context, arguments: AgentsArgs) -> Ended {
    match arguments.command {
        None => list(context),
        Some(AgentsCommand::Test(arguments)) => trial::run(context, arguments),
    }
}

/// Lists the agents that are defined, then those that are known by name.
fn list(context: &mut Context) -> Ended {
    let project = context.project()?;
    let file = FileSettings::load(project.root())?;
    let mut rows = rows(&file, &Programs::of_environment(project.root()));
    rows.iter_mut().for_each(|row| row.not_asked = why_not_asked(row, project.root()));
    // Some take seconds to say which they are.
    std::thread::scope(|scope| {
        for row in rows.iter_mut().filter(|row| row.not_asked.is_none()) {
            scope.spawn(|| row.version = row.path.as_deref().and_then(runner::version_of));
        }
    });
    match context.format {
        Format::Text => print(&mut context.out, &rows, Paint::of(&std::io::stdout()))?,
        Format::Json => json::document(&mut context.out, &rows)?,
    }
    Ok(exit::DONE)
}

/// The reason why a program that is there is not started to tell its version: nobody has said yet that anything of this
/// project's may run.
fn why_not_asked(row: &Row, root: &Path) -> Option<&'static str> {
    let path = row.path.as_deref()?;
    let is_within = |path: &Path| path.starts_with(root);
    if is_within(path) || path.canonicalize().is_ok_and(|path| is_within(&path)) {
        return Some("it lies in the project");
    }
    row.install.is_none().then_some("only tillgreen.toml names it")
}

fn rows(file: &FileSettings, programs: &Programs) -> Vec<Row> {
    let of_file = file.agents.iter().map(|agent| row(agent, true, programs));
    let is_new = |known: &&KnownAgent| file.agents.iter().all(|agent| agent.name != known.name);
    let known = KNOWN_AGENTS.iter().filter(is_new).map(|known| row(&known.agent(), false, programs));
    of_file.chain(known).collect()
}

fn row(agent: &Agent, defined: bool, programs: &Programs) -> Row {
    let is_shell = matches!(agent.kind, AgentKind::Command | AgentKind::Stream(_));
    let program = if is_shell { program_of(&agent.command) } else { Some(agent.command.as_str()) };
    let path = program.and_then(|program| programs.find(program));
    let installed = if is_shell { programs.missing(&agent.command).is_none() } else { path.is_some() };
    Row {
        name: agent.name.clone(),
        kind: agent.kind.word(),
        defined,
        installed,
        path,
        version: None,
        not_asked: None,
        command: agent.shown(),
        allows: agent.kind.allows(agent.permission),
        supports: supported(agent.kind.support()),
        caveats: agent.kind.caveats(),
        install: program.and_then(how_to_install),
    }
}

fn supported(support: Support) -> Vec<&'static str> {
    let parts = [
        (support.stream, "stream"),
        (support.session, "session"),
        (support.usage, "tokens"),
        (support.cost, "cost"),
        (support.cancel, "cancel"),
        (support.mcp, "report tools"),
    ];
    parts.into_iter().filter(|(has, _)| *has).map(|(_, name)| name).collect()
}

fn print(out: &mut dyn Write, rows: &[Row], paint: Paint) -> Result<(), Error> {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    for row in rows {
        let mark = if row.installed { paint.good("✓") } else { paint.faint("–") };
        let defined = if row.defined { ", from tillgreen.toml" } else { "" };
        writeln!(out, "{mark} {:width$}  {}{}", row.name, clean(&place(row)), paint.faint(defined))?;
        let mut detail = |text: &str| writeln!(out, "  {:width$}  {}", "", paint.faint(&clean(text)));
        if row.defined {
            detail(&row.command)?;
        }
        if row.installed {
            detail(row.allows)?;
            let supports =
                if row.supports.is_empty() { "its answer only".to_owned() } else { row.supports.join(", ") };
            detail(&format!("gives: {supports}"))?;
            row.caveats.iter().try_for_each(|caveat| detail(&format!("but it {caveat}")))?;
        }
    }
    match rows.iter().find(|row| row.installed) {
        Some(row) => writeln!(out, "\n`tillgreen run` uses {} unless told otherwise.", row.name)?,
        None => writeln!(
            out,
            "\nNo agent is installed: install one, or use `tillgreen run --agent-cmd 'COMMAND'`."
        )?,
    }
    Ok(())
}

fn place(row: &Row) -> String {
    match (&row.path, &row.version) {
        (Some(path), Some(version)) => format!("{} ({version})", path.display()),
        (Some(path), None) => match row.not_asked {
            Some(reason) => format!("{} (not asked for its version: {reason})", path.display()),
            None => path.display().to_string(),
        },
        (None, _) if row.installed => "a shell command; whether it can start is not known".to_owned(),
        (None, _) => row
            .install
            .map_or_else(|| "not installed".to_owned(), |install| format!("not installed: `{install}`")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn defined_agents_come_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["mine", "codex"] {
            let program = folder.path().join(name);
            std::fs::write(&program, "").unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let text = "[agents.local]\ncommand = \"mine -p\"\n[agents.claude]\nmodel = \"m\"\n\
                    [agents.odd]\ncommand = \"$(cat x)\"\n";
        let file = FileSettings::parse(std::path::Path::new("tillgreen.toml"), text).unwrap();
        let rows = rows(&file, &Programs::new(Some(folder.path().into()), folder.path()));
        let mut out = Vec::new();
        print(&mut out, &rows, Paint::Plain).unwrap();
        let text = String::from_utf8(out).unwrap().replace(&folder.path().display().to_string(), "BIN");
        insta::assert_snapshot!(text, @r"
        ✓ local         BIN/mine, from tillgreen.toml
                        mine -p
                        may do whatever its command allows
                        gives: its answer only
                        but it does not tell what it costs: --max-cost does not hold it
                        but it does not tell what it uses: --max-tokens does not hold it
        – claude        not installed: `npm install -g @anthropic-ai/claude-code`, from tillgreen.toml
                        claude
        ✓ odd           a shell command; whether it can start is not known, from tillgreen.toml
                        $(cat x)
                        may do whatever its command allows
                        gives: its answer only
                        but it does not tell what it costs: --max-cost does not hold it
                        but it does not tell what it uses: --max-tokens does not hold it
        ✓ codex         BIN/codex
                        may edit files and run commands within its own sandbox: it writes in its folder and in temporary folders
                        gives: stream, session, tokens, report tools
                        but it does not tell what it costs: --max-cost does not hold it
        – gemini        not installed: `npm install -g @google/gemini-cli`
        – opencode      not installed: `npm install -g opencode-ai`
        – aider         not installed: `pipx install aider-chat`
        – pi            not installed: `npm install -g @mariozechner/pi-coding-agent`
        – claude-acp    not installed: `npm install -g @agentclientprotocol/claude-agent-acp`
        – codex-acp     not installed: `npm install -g @agentclientprotocol/codex-acp`
        – gemini-acp    not installed: `npm install -g @google/gemini-cli`
        – opencode-acp  not installed: `npm install -g opencode-ai`

        `tillgreen run` uses local unless told otherwise.
        ");
    }
}
