//! The command by which a project tests itself, from its manifests or what its CI runs: a proposal for tasks that have
//! none, which people confirm.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use plan::{Runner, Script};

/// How many folders below the root get a command of their own.
const FOLDERS_MAX: usize = 6;
/// Folders that are not the project's own.
const OTHERS: [&str; 8] = ["node_modules", "target", "vendor", "dist", "build", "venv", "examples", "docs"];
/// Where CI systems are told what to run, besides the workflows of GitHub.
const CI_FILES: [&str; 4] = [".gitlab-ci.yml", ".circleci/config.yml", ".travis.yml", "azure-pipelines.yml"];
const WORKFLOWS: &str = ".github/workflows";

/// A command to propose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedVerify {
    /// The folder that it is for; none for the whole project.
    pub folder: Option<String>,
    /// The command, as it runs from the root.
    pub command: String,
    /// The file that speaks for it.
    pub reason: String,
}

/// The commands of a project and of the folders right below its root.
pub fn propose_verify(root: &Path) -> Vec<ProposedVerify> {
    let whole = command_in(root).or_else(|| command_of_ci(root)).map(|(command, reason)| ProposedVerify {
        folder: None,
        command,
        reason,
    });
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let folders: BTreeSet<String> = entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') && !OTHERS.contains(&name.as_str()) && !name.contains(' '))
        .collect();
    let below = folders.into_iter().filter_map(|folder| {
        let (command, reason) = command_in(&root.join(&folder))?;
        let (command, reason) = (format!("cd {folder} && {command}"), format!("{folder}/{reason}"));
        Some(ProposedVerify { folder: Some(folder), command, reason })
    });
    whole.into_iter().chain(below.take(FOLDERS_MAX)).collect()
}

/// The command for what lies in a folder, and the file that speaks for it.
fn command_in(folder: &Path) -> Option<(String, String)> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    let has = |name: &str| folder.join(name).is_file();
    let told = |command: &str, reason: &str| Some((command.to_owned(), reason.to_owned()));
    if let Some(target) = read("Makefile").as_deref().and_then(make_target) {
        return told(&format!("make {target}"), "Makefile");
    }
    if read("package.json").is_some_and(|text| has_test_script(&text)) {
        let runner = [
            ("pnpm-lock.yaml", "pnpm"),
            ("yarn.lock", "yarn"),
            ("bun.lock", "bun run"),
            ("bun.lockb", "bun run"),
        ];
        let runner = runner.iter().find(|(lock, _)| has(lock)).map_or("npm", |(_, runner)| runner);
        return told(&format!("{runner} test"), "package.json");
    }
    if has("Cargo.toml") {
        return told("cargo test", "Cargo.toml");
    }
    if has("go.mod") {
        return told("go test ./...", "go.mod");
    }
    let of_python = ["pyproject.toml", "pytest.ini", "setup.cfg", "requirements-dev.txt", "requirements.txt"];
    let reason = of_python.iter().find(|name| read(name).is_some_and(|text| text.contains("pytest")))?;
    match (has("uv.lock"), has("poetry.lock")) {
        (true, _) => told("uv run pytest -q", reason),
        (false, true) => told("poetry run pytest -q", reason),
        (false, false) => told("pytest -q", reason),
    }
}

/// The first command in what CI runs that is known to run tests, and the file that says so.
fn command_of_ci(root: &Path) -> Option<(String, String)> {
    let entries = fs::read_dir(root.join(WORKFLOWS)).into_iter().flatten().flatten();
    let workflows: BTreeSet<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".yml") || name.ends_with(".yaml"))
        .map(|name| format!("{WORKFLOWS}/{name}"))
        .collect();
    let files = workflows.into_iter().chain(CI_FILES.map(str::to_owned));
    files.into_iter().find_map(|file| {
        let text = fs::read_to_string(root.join(&file)).ok()?;
        Some((text.lines().find_map(test_command)?, file))
    })
}

/// The command of a line, be it a step's, an item of a list or a line of a block, if it runs tests and nothing else.
fn test_command(line: &str) -> Option<String> {
    let line = line.trim().trim_start_matches("- ");
    let line =
        ["run:", "script:", "command:"].iter().find_map(|key| line.strip_prefix(key)).unwrap_or(line).trim();
    let command = line.trim_matches(['"', '\'']);
    let script = Script::new(vec![command.to_owned()]);
    let runs_tests = |runner: &Runner| match runner {
        Runner::Tsc | Runner::Lint(_) | Runner::Other | Runner::Script(_) => false,
        Runner::Package(name) => name == "test",
        Runner::Make(targets) => targets.iter().any(|target| target == "test" || target == "check"),
        Runner::Pytest
        | Runner::Unittest
        | Runner::Jest
        | Runner::Vitest
        | Runner::Mocha
        | Runner::JavaScript
        | Runner::CargoTest
        | Runner::GoTest
        | Runner::Rspec
        | Runner::Minitest
        | Runner::Phpunit
        | Runner::Jvm => true,
    };
    let is_plain = !command.contains("${{") && script.only_checks();
    (is_plain && script.checks().iter().any(|check| runs_tests(&check.runner))).then(|| command.to_owned())
}

fn make_target(makefile: &str) -> Option<&'static str> {
    let has = |target: &str| {
        makefile.lines().any(|line| {
            line.strip_prefix(target)
                .is_some_and(|rest| rest.trim_start().starts_with(':') && !rest.contains(":="))
        })
    };
    ["check", "test"].into_iter().find(|target| has(target))
}

fn has_test_script(manifest: &str) -> bool {
    let manifest: Option<serde_json::Value> = serde_json::from_str(manifest).ok();
    let script = manifest.as_ref().and_then(|manifest| manifest.get("scripts")?.get("test")?.as_str());
    script.is_some_and(|script| !script.contains("no test specified"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_from_manifests() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(propose_verify(root.path()), []);
        write(
            "package.json",
            "{\"scripts\": {\"test\": \"echo \\\"Error: no test specified\\\" && exit 1\"}}",
        );
        write("backend/pyproject.toml", "[tool.pytest.ini_options]\n");
        write("backend/uv.lock", "");
        write("web/package.json", "{\"scripts\": {\"test\": \"vitest\"}}");
        write("web/pnpm-lock.yaml", "");
        write("node_modules/a/package.json", "{\"scripts\": {\"test\": \"x\"}}");
        write("node_modules/package.json", "{\"scripts\": {\"test\": \"x\"}}");
        let shown = |proposed: Vec<ProposedVerify>| {
            proposed.into_iter().map(|one| format!("{}: {}", one.reason, one.command)).collect::<Vec<_>>()
        };
        let below = [
            "backend/pyproject.toml: cd backend && uv run pytest -q",
            "web/package.json: cd web && pnpm test",
        ];
        assert_eq!(shown(propose_verify(root.path())), below);
        write("Makefile", "test := 1\nall: x\ntest: all\n\techo\n");
        let all = ["Makefile: make test", below[0], below[1]];
        assert_eq!(shown(propose_verify(root.path())), all);
        fs::remove_file(root.path().join("Makefile")).unwrap();
        write("Cargo.toml", "");
        assert_eq!(shown(propose_verify(root.path()))[0], "Cargo.toml: cargo test");
    }

    #[test]
    fn commands_from_what_ci_runs() {
        let root = tempfile::tempdir().unwrap();
        let proposed = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let proposed = propose_verify(root.path()).into_iter().map(|one| one.command).next();
            fs::remove_file(path).unwrap();
            proposed
        };
        let workflow = ".github/workflows/ci.yaml";
        for (path, text, expected) in [
            (
                workflow,
                "    steps:\n      - uses: actions/checkout@v4\n      - run: bundle exec rspec\n",
                Some("bundle exec rspec"),
            ),
            (
                workflow,
                "      - run: |\n          pip install -e .\n          python -m pytest tests\n",
                Some("python -m pytest tests"),
            ),
            (
                workflow,
                "      - name: test\n        run: \"phpunit --colors=never\"\n",
                Some("phpunit --colors=never"),
            ),
            (
                workflow,
                "      - run: pytest -k ${{ matrix.part }}\n      - run: npm run deploy\n      - run: eslint .\n",
                None,
            ),
            (workflow, "      - run: pytest && ./publish.sh\n", None),
            ("docs/ci.yml", "      - run: pytest\n", None),
            (".gitlab-ci.yml", "test:\n  script:\n    - ./gradlew test\n", Some("./gradlew test")),
        ] {
            assert_eq!(proposed(path, text).as_deref(), expected, "{text}");
        }
        fs::write(root.path().join("Cargo.toml"), "").unwrap();
        assert_eq!(proposed(workflow, "      - run: make test\n").as_deref(), Some("cargo test"));
    }
}
