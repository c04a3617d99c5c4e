//! The command by which a project tests itself, from its manifests: a proposal for tasks that have none, which people
//! confirm.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How many folders below the root get a command of their own.
const FOLDERS_MAX: usize = 6;
/// Folders that are not the project's own.
const OTHERS: [&str; 8] = ["node_modules", "target", "vendor", "dist", "build", "venv", "examples", "docs"];

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
    let whole = command_in(root).map(|(command, reason)| ProposedVerify { folder: None, command, reason });
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
}
