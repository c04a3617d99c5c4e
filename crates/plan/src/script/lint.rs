//! Ways in which a verify command proves less than it seems to.

use super::assemble::{Pipefail, Script, mode_of_shell, only_passes_on, passes_on};
use super::shell::{Command, Join, Pipeline, Shell, Statement, read};

/// Something questionable about a verify command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptLint {
    /// It succeeds whatever happens; why.
    CannotFail(String),
    /// It mentions a path that exists on one machine only, unless it exists here.
    AbsolutePath(String),
    /// Part of it may fail without the whole failing; how.
    HidesFailure(String),
}

impl Script {
    /// Everything questionable about the script.
    #[must_use]
    pub fn lints(&self) -> Vec<ScriptLint> {
        let mut lints = Vec::new();
        if let Some(reason) = self.cannot_fail() {
            lints.push(ScriptLint::CannotFail(reason));
        }
        for snippet in &self.snippets {
            let shell = read(snippet);
            if lints.is_empty() {
                lints.extend(hidden_failures(snippet, &shell).map(ScriptLint::HidesFailure));
            }
            let seen: Vec<String> = absolute_paths(&shell);
            lints.extend(seen.into_iter().map(ScriptLint::AbsolutePath));
        }
        dedup(lints)
    }

    /// Why the script succeeds whatever happens, if it does.
    #[must_use]
    pub fn cannot_fail(&self) -> Option<String> {
        let mut reason = None;
        for snippet in &self.snippets {
            let shell = read(snippet);
            if shell.compound || shell.statements.is_empty() {
                return None;
            }
            let mode = mode_of_shell(snippet, &shell);
            for statement in &shell.statements {
                reason = Some(statement_cannot_fail(statement, mode)?);
            }
        }
        reason
    }
}

fn dedup(lints: Vec<ScriptLint>) -> Vec<ScriptLint> {
    let mut kept: Vec<ScriptLint> = Vec::new();
    for lint in lints {
        if kept.len() < 50 && !kept.contains(&lint) {
            kept.push(lint);
        }
    }
    kept
}

/// Why a list succeeds whatever its members do. `&&` and `||` bind alike and from the left.
fn statement_cannot_fail(statement: &Statement<'_>, mode: Pipefail) -> Option<String> {
    let mut fails = true;
    let mut reason = String::new();
    for (join, pipeline) in &statement.pipelines {
        let own = pipeline_can_fail(pipeline, mode);
        fails = match join {
            Join::First => own,
            Join::And => fails || own,
            Join::Or => fails && own,
        };
        let name = pipeline.commands.last().map_or("", Command::name);
        reason = match join {
            Join::Or => format!("`|| {name}` turns every failure into success"),
            Join::First | Join::And => format!("`{name}` always succeeds"),
        };
    }
    (!fails).then_some(reason)
}

fn pipeline_can_fail(pipeline: &Pipeline<'_>, mode: Pipefail) -> bool {
    if pipeline.negated {
        return true;
    }
    let last = pipeline.commands.len().saturating_sub(1);
    let fails =
        |(at, command): (usize, &Command<'_>)| can_fail(command) && !(at > 0 && only_passes_on(command));
    let mut commands = pipeline.commands.iter().enumerate();
    match mode {
        Pipefail::On => commands.any(fails),
        Pipefail::Off => commands.nth(last).is_some_and(fails),
    }
}

fn can_fail(command: &Command<'_>) -> bool {
    let words = command.bare();
    match command.name() {
        "echo" | "printf" | "true" | ":" | "sleep" => false,
        "exit" => words.get(1).is_some_and(|word| word.text != "0"),
        // Assignments alone: they fail only with what they substitute.
        "" => command.words.iter().any(|word| word.text.contains("$(") || word.text.contains('`')),
        _ => true,
    }
}

/// How a snippet hides failures, without being unable to fail.
fn hidden_failures(snippet: &str, shell: &Shell<'_>) -> Option<String> {
    let quiet = |statement: &Statement<'_>| statement_cannot_fail(statement, Pipefail::Off);
    let swallows = |statement: &&Statement<'_>| statement.pipelines.iter().any(|(join, _)| *join == Join::Or);
    if let Some(reason) = shell.statements.iter().filter(swallows).find_map(quiet) {
        return Some(reason);
    }
    if let Some(name) = quiet_end(shell) {
        return Some(format!(
            "`; {name}` at the end would hide a failure from a shell that is not run with -e"
        ));
    }
    let hidden = |(_, pipeline): &(Join, Pipeline)| pipeline.commands.len() > 1 && passes_on(pipeline);
    let any_hidden = shell.statements.iter().flat_map(|statement| &statement.pipelines).any(hidden);
    (any_hidden && mode_of_shell(snippet, shell) == Pipefail::Off && !snippet.contains("PIPESTATUS")).then(
        || {
            "a pipeline ends in a command that only passes text on, beside one whose last stage decides"
                .to_owned()
        },
    )
}

/// The command at the end of several statements that succeeds whatever happened before.
fn quiet_end<'a>(shell: &Shell<'a>) -> Option<&'a str> {
    let last = shell.statements.last().filter(|_| shell.statements.len() > 1)?;
    let command = last.pipelines.last()?.1.commands.last()?;
    let tells_status = command.words.iter().any(|word| word.text.contains("$?"));
    (matches!(command.name(), "true" | ":") || tells_status).then(|| command.name())
}

/// Directories below which things are found on one machine and not on another.
const ROOTS: [&str; 14] = [
    "Users",
    "home",
    "root",
    "opt",
    "srv",
    "var",
    "mnt",
    "media",
    "Volumes",
    "workspace",
    "workspaces",
    "app",
    "data",
    "private",
];

fn absolute_paths(shell: &Shell<'_>) -> Vec<String> {
    let commands = shell
        .statements
        .iter()
        .flat_map(|statement| &statement.pipelines)
        .flat_map(|(_, pipeline)| &pipeline.commands);
    commands.flat_map(|command| &command.words).flat_map(|word| paths_in(word.text)).collect()
}

/// The absolute paths in a word, also those inside a quoted program.
fn paths_in(word: &str) -> Vec<String> {
    let breaks = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '=' | ',' | ';' | '|' | '(' | ')' | '`' | '<' | '>' | '[' | ']')
    };
    let is_path = |part: &&str| {
        let drive = part.as_bytes().get(1..3).is_some_and(|rest| rest == b":/" || rest == b":\\")
            && part.starts_with(|c: char| c.is_ascii_alphabetic());
        let root = part.strip_prefix('/').and_then(|rest| rest.split_once('/')).map_or("", |(root, _)| root);
        drive || ROOTS.contains(&root)
    };
    // A quoted path may have spaces and brackets in it.
    let whole = word.trim_matches(['"', '\'']);
    if is_path(&whole) && !whole.contains(['\n', ';', '|', '$']) {
        return vec![whole.to_owned()];
    }
    word.split(breaks).filter(is_path).map(|part| part.trim_end_matches([':', '.']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(snippet: &str) -> Script {
        Script::new(vec![snippet.to_owned()])
    }

    #[test]
    fn what_cannot_fail() {
        for snippet in [
            "a || true",
            "a || echo no",
            "a && b || :",
            "echo done",
            "true",
            "a && echo OK || echo FAIL",
            "echo $(a)",
            "exit 0",
            "echo a | cat",
            "a || exit 0",
        ] {
            assert!(script(snippet).cannot_fail().is_some(), "{snippet}");
        }
        for snippet in [
            "a",
            "a; true",
            "a && echo OK",
            "a || exit 1",
            "a | grep -q x",
            "! true",
            "a || b",
            "a | tail -5",
            "echo 'a || true' | grep b",
            "a || true && b",
            "a || true; b",
            "if a; then echo b; fi",
            "x=$(a)",
            "a || { echo b; exit 1; }",
        ] {
            assert_eq!(script(snippet).cannot_fail(), None, "{snippet}");
        }
        assert_eq!(Script::new(vec!["a || true".into(), "b".into()]).cannot_fail(), None);
    }

    #[test]
    fn what_hides_failures() {
        for snippet in ["a; true", "a; echo $?", "a || true; b", "a | tail -3 && b | grep -q x"] {
            assert!(matches!(script(snippet).lints()[..], [ScriptLint::HidesFailure(_)]), "{snippet}");
        }
        for snippet in ["a", "a && echo OK", "a | tail -5", "a | grep -q x", "a; b"] {
            assert_eq!(script(snippet).lints(), [], "{snippet}");
        }
    }

    #[test]
    fn absolute_paths_are_named() {
        let paths = |snippet: &str| -> Vec<String> {
            script(snippet)
                .lints()
                .into_iter()
                .filter_map(|lint| if let ScriptLint::AbsolutePath(path) = lint { Some(path) } else { None })
                .collect()
        };
        assert_eq!(paths("cd /Users/x/y && cargo test 2>/dev/null"), ["/Users/x/y"]);
        assert_eq!(paths("test -f \"C:/a (b)/c.ts\""), ["C:/a (b)/c.ts"]);
        assert_eq!(paths("python3 -c \"open('/home/x/a.py').read()\""), ["/home/x/a.py"]);
        assert_eq!(paths("grep -q /api/users f && /usr/bin/true > /tmp/x && curl http://x/home/y"), [""; 0]);
    }
}
