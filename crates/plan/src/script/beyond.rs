//! Verify commands that look beyond a checkout of the project, so that a clean one cannot show whether they hold.

use super::assemble::Script;
use super::shell::{Command, Join, Pipeline, read};

/// Programs that ask a forge.
const FORGE: &[&str] = &["gh", "glab", "hub"];
/// Programs that need containers.
const CONTAINERS: &[&str] = &[
    "act",
    "docker",
    "docker-compose",
    "helm",
    "kind",
    "kubectl",
    "minikube",
    "nerdctl",
    "podman",
    "supabase",
];
/// Programs that ask a server.
const SERVERS: &[&str] = &["mongosh", "mysql", "pg_isready", "psql", "redis-cli"];
/// Names of this machine.
const HERE: &[&str] = &["localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal"];
/// Files in which a run keeps its books.
const BOOKS: &[&str] =
    &["tasks.md", ".progress.md", ".ralph-state.json", ".tillgreen", ".ultraplan", "STATE.md"];
/// Programs whose failure says that something is not there: to negate them is to expect that.
const LOOKS: &[&str] = &[
    "[", "[[", "cmp", "command", "diff", "egrep", "fgrep", "find", "grep", "ls", "rg", "stat", "test",
    "which",
];
/// What a reader of another command's output looks for who expects it to fail.
const FAILURES: &[&str] = &["fail", "error", "not ok", "panicked", "cannot find", "not found"];

impl Script {
    /// Why a clean checkout of the project cannot show whether the command holds, in words; none where it can. `own` are
    /// the plan's own files.
    #[must_use]
    pub fn looks_beyond(&self, own: &[String]) -> Option<String> {
        self.snippets.iter().find_map(|snippet| beyond(snippet, own))
    }
}

fn beyond(snippet: &str, own: &[String]) -> Option<String> {
    let shell = read(snippet);
    let pipelines: Vec<&(Join, Pipeline<'_>)> =
        shell.statements.iter().flat_map(|statement| &statement.pipelines).collect();
    let commands = || pipelines.iter().flat_map(|(_, pipeline)| &pipeline.commands);
    let starts = |names: &[&str]| {
        let by_name = commands().map(Command::name).find(|name| names.contains(name)).map(str::to_owned);
        by_name.or_else(|| {
            names.iter().find(|name| is_substituted(snippet, name)).map(|name| (*name).to_owned())
        })
    };
    if let Some(name) = starts(FORGE).or_else(|| starts(&["git"])) {
        return Some(format!("it asks `{name}`"));
    }
    if let Some(name) = starts(CONTAINERS) {
        return Some(format!("it needs containers (`{name}`)"));
    }
    if starts(SERVERS).is_some() || HERE.iter().any(|name| snippet.contains(name)) {
        return Some("it asks a server on this machine".to_owned());
    }
    if let Some(file) =
        own.iter().map(String::as_str).chain(BOOKS.iter().copied()).find(|file| snippet.contains(file))
    {
        return Some(format!("it looks at the plan's own files (`{file}`)"));
    }
    let fails =
        snippet.contains("$? -ne 0") || snippet.contains("$? != 0") || snippet.contains("\"$?\" -ne 0");
    (fails || pipelines.iter().any(|(join, pipeline)| expects_failure(*join, pipeline)))
        .then(|| "it expects a failure".to_owned())
}

/// True if a program is started inside a substitution.
fn is_substituted(snippet: &str, name: &str) -> bool {
    ["$(", "`"].iter().any(|open| snippet.contains(&format!("{open}{name} ")))
}

fn expects_failure(join: Join, pipeline: &Pipeline<'_>) -> bool {
    let Some(last) = pipeline.commands.last() else { return false };
    let is_look = LOOKS.contains(&last.name());
    if pipeline.negated {
        return !is_look;
    }
    if join == Join::And && last.name() == "exit" {
        return last.bare().get(1).is_some_and(|code| code.text != "0");
    }
    let is_read = pipeline.commands.len() > 1 && matches!(last.name(), "grep" | "egrep" | "rg");
    let words = last.bare().get(1..).unwrap_or_default();
    let flags = words.iter().filter(|word| word.text.starts_with('-'));
    let inverts = flags.into_iter().any(|flag| !flag.text.starts_with("--") && flag.text.contains('v'));
    let mut patterns = words.iter().filter(|word| !word.text.starts_with('-'));
    let looks_for_failure = |text: &str| {
        let text = text.to_lowercase();
        // `0 failed` is what a green run prints.
        !text.contains("0 ") && !text.contains("no ") && FAILURES.iter().any(|word| text.contains(word))
    };
    is_read && !inverts && patterns.any(|word| looks_for_failure(word.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(snippet: &str, expected: Option<&str>) {
        let script = Script::new(vec![snippet.to_owned()]);
        assert_eq!(script.looks_beyond(&["specs/a/notes.md".to_owned()]).as_deref(), expected, "{snippet}");
    }

    #[test]
    fn what_a_checkout_cannot_show() {
        check("gh pr checks", Some("it asks `gh`"));
        check("test -z \"$(git status --porcelain)\"", Some("it asks `git`"));
        check("git log -1 | grep -q feat", Some("it asks `git`"));
        check("docker compose up -d && npm test", Some("it needs containers (`docker`)"));
        check("curl -sf http://localhost:3000/health", Some("it asks a server on this machine"));
        check("pg_isready", Some("it asks a server on this machine"));
        check("grep -q x specs/a/notes.md", Some("it looks at the plan's own files (`specs/a/notes.md`)"));
        check("grep -c '\\[x\\]' specs/b/tasks.md", Some("it looks at the plan's own files (`tasks.md`)"));
        check("! npm test", Some("it expects a failure"));
        check("npm test 2>&1 | grep -q FAILED", Some("it expects a failure"));
        check("npm test && exit 1 || true", Some("it expects a failure"));
        check("npm test; test $? -ne 0", Some("it expects a failure"));
    }

    #[test]
    fn what_it_can() {
        for snippet in [
            "npm test",
            "! grep -rq println src",
            "! test -e old.txt",
            "cargo test 2>&1 | tail -5",
            "cargo test | grep -q '0 failed'",
            "npm test | grep -v FAILED",
            "npm test || exit 1",
            "test -f .gitignore && grep -q node_modules .gitignore",
            "python3 -m pytest tests/test_errors.py",
            "cat log.txt | grep -q ready",
        ] {
            check(snippet, None);
        }
    }
}
