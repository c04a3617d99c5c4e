//! What a script loads besides the project's own files: packages that a language's package manager installed.

use super::assemble::Script;
use super::checks::{Runner, base_name, commands, runner, unwrapped, words_of};
use super::shell::read;

/// Programs that run Python or a check of it, besides `python` itself.
const OF_PYTHON: &[&str] = &["coverage", "mypy", "nose2", "py.test", "pylint", "pyright", "pytest"];
/// Programs that make environments of their own for what they run.
const MAKES_ENVIRONMENTS: &[&str] = &["hatch", "nox", "pdm", "pipenv", "poetry", "rye", "tox", "uv", "uvx"];
/// Endings of scripts for Node.
const OF_NODE: &[&str] = &[".cjs", ".cts", ".js", ".mjs", ".mts", ".ts"];

/// A program by which a script runs Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// The program, as the script names it.
    pub program: String,
    /// True if modules in the folder that it is started in come before installed ones, as with `-m` and `-c`.
    pub looks_here_first: bool,
}

impl Script {
    /// True if it runs tests or checks types with a program that loads sources together with installed packages.
    #[must_use]
    pub fn tests_with_packages(&self) -> bool {
        let is_one = |runner: &Runner| match runner {
            Runner::Pytest
            | Runner::Unittest
            | Runner::Jest
            | Runner::Vitest
            | Runner::Mocha
            | Runner::JavaScript
            | Runner::Rspec
            | Runner::Minitest
            | Runner::Phpunit
            | Runner::Tsc => true,
            Runner::Package(name) => ["test", "type", "spec", "unit"].iter().any(|word| name.contains(word)),
            Runner::CargoTest
            | Runner::GoTest
            | Runner::Jvm
            | Runner::Lint(_)
            | Runner::Make(_)
            | Runner::Script(_)
            | Runner::Other => false,
        };
        self.checks().iter().any(|check| is_one(&check.runner))
    }

    /// True if it runs a program that looks for packages of Node in the folder `node_modules`.
    #[must_use]
    pub fn runs_node(&self) -> bool {
        let is_one = |runner: &Runner| match runner {
            Runner::Jest
            | Runner::Vitest
            | Runner::Mocha
            | Runner::JavaScript
            | Runner::Tsc
            | Runner::Package(_) => true,
            Runner::Script(file) => OF_NODE.iter().any(|end| file.ends_with(end)),
            Runner::Lint(name) => matches!(name.as_str(), "eslint" | "stylelint" | "svelte-check"),
            Runner::Pytest
            | Runner::Unittest
            | Runner::CargoTest
            | Runner::GoTest
            | Runner::Rspec
            | Runner::Minitest
            | Runner::Phpunit
            | Runner::Jvm
            | Runner::Make(_)
            | Runner::Other => false,
        };
        self.checks().iter().any(|check| is_one(&check.runner))
    }

    /// The programs by which it runs Python in the environment that is there, as it names them: `pytest`,
    /// `.venv/bin/python`. Of a script or a target that may run anything, the usual ones.
    #[must_use]
    pub fn pythons(&self) -> Vec<Python> {
        self.snippets.iter().flat_map(|snippet| pythons(snippet)).collect()
    }
}

fn pythons(snippet: &str) -> Vec<Python> {
    let mut found = Vec::new();
    for words in commands(&read(snippet)).map(words_of) {
        let mut words = words.as_slice();
        if words.first().is_some_and(|first| base_name(first) == "timeout") {
            words = words.get(2..).unwrap_or_default();
        }
        let Some(first) = words.first() else { continue };
        let name = base_name(first);
        if MAKES_ENVIRONMENTS.contains(&name) {
            continue;
        }
        if name.starts_with("python") || OF_PYTHON.contains(&name) {
            let is_told = words.get(1).is_some_and(|flag| flag == "-m" || flag == "-c");
            let looks_here_first = name.starts_with("python") && is_told;
            found.push(Python { program: first.clone(), looks_here_first });
            continue;
        }
        let may_be_any = match runner(&unwrapped(words)) {
            Some((Runner::Make(_), _)) => true,
            Some((Runner::Script(file), _)) => !OF_NODE.iter().any(|end| file.ends_with(end)),
            Some(_) | None => matches!(name, "just" | "task" | "invoke"),
        };
        if may_be_any {
            let named = |name: &str| Python { program: name.to_owned(), looks_here_first: false };
            found.extend(["python3", "python", "pytest"].map(named));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(snippet: &str) -> Script {
        Script::new(vec![snippet.to_owned()])
    }

    #[test]
    fn what_loads_installed_packages() {
        for snippet in
            ["npm test", "npx jest a", "cd web && npm run typecheck", "tsc --noEmit", "node --test"]
        {
            assert!(script(snippet).tests_with_packages() && script(snippet).runs_node(), "{snippet}");
        }
        for snippet in [".venv/bin/pytest -q", "python -m unittest", "bundle exec rspec", "uv run pytest"] {
            assert!(script(snippet).tests_with_packages() && !script(snippet).runs_node(), "{snippet}");
        }
        for snippet in [
            "grep -q a b.js",
            "test -f a.py",
            "cargo test",
            "go test ./...",
            "./check.sh",
            "make",
            "ruff check .",
        ] {
            assert!(!script(snippet).tests_with_packages() && !script(snippet).runs_node(), "{snippet}");
        }
        for snippet in ["npm run build", "npx eslint .", "node scripts/check.mjs"] {
            assert!(!script(snippet).tests_with_packages() && script(snippet).runs_node(), "{snippet}");
        }
    }

    #[test]
    fn pythons_are_those_that_are_named_or_may_be_run() {
        let check = |snippet: &str, expected: &[&str]| {
            let found: Vec<String> =
                script(snippet).pythons().into_iter().map(|python| python.program).collect();
            assert_eq!(found, expected, "{snippet}");
        };
        check("pytest -q && python3 -c 'import a'", &["pytest", "python3"]);
        check("PYTHONPATH=src /opt/env/bin/python -m pytest", &["/opt/env/bin/python"]);
        check("timeout 60 pytest", &["pytest"]);
        check("make test", &["python3", "python", "pytest"]);
        check("sh check.sh", &["python3", "python", "pytest"]);
        let first = |snippet: &str| script(snippet).pythons()[0].looks_here_first;
        assert!(first("python -m pytest") && first("python3 -c 'import a'") && !first("pytest -m slow"));
        for snippet in
            ["uv run pytest", "poetry run mypy src", "tox", "npm test", "node a.js", "grep -q a b.py"]
        {
            check(snippet, &[]);
        }
    }
}
