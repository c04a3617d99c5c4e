//! The needs of a project in a new checkout before its commands work, from the files that it tracks: a proposal, which
//! people confirm.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::agent::find_program;
use crate::git::{Git, GitError};

/// The number of folders with dependencies of their own that are looked at for one kind.
const FOLDERS_MAX: usize = 4;

/// Folders whose projects are not this one's.
const OTHERS: [&str; 9] = [
    "examples",
    "example",
    "fixtures",
    "node_modules",
    "templates",
    "test",
    "tests",
    "third_party",
    "vendor",
];

/// A set-up command to propose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The command.
    pub command: String,
    /// The files that speak for it.
    pub reason: String,
    /// True if it is known to do what is needed, and its programs are there.
    pub is_sure: bool,
}

/// One kind of dependencies.
struct Part {
    command: String,
    reason: String,
    is_sure: bool,
}

/// The facts about a project.
struct Project<'a> {
    tracked: BTreeSet<String>,
    read: &'a dyn Fn(&str) -> Option<String>,
    is_ignored: &'a dyn Fn(&[String]) -> BTreeSet<String>,
    /// The folders with a virtual environment, from the top.
    environments: Vec<String>,
}

/// The set-up command that a project needs in its work trees; none if it needs none.
pub fn propose_setup(git: &Git) -> Result<Option<Proposal>, GitError> {
    let root = git.root();
    let project = Project {
        tracked: git.tracked_paths()?,
        read: &|path| fs::read_to_string(root.join(path)).ok(),
        // Without an answer nothing is ignored.
        is_ignored: &|paths| git.ignored_among(paths).unwrap_or_default(),
        environments: environments(root),
    };
    let is_there = |program: &str| find_program(program, root).is_some();
    Ok(project.proposal(&is_there))
}

/// The virtual environments at the top of a project.
pub(super) fn environments(root: &Path) -> Vec<String> {
    let names = [".venv", "venv", "env", ".env"];
    let is_one = |name: &&str| root.join(name).join("pyvenv.cfg").is_file();
    names.into_iter().filter(is_one).map(str::to_owned).collect()
}

/// The set-up that a project needs as a line of the settings, if it is known.
pub(crate) fn setting(git: &Git) -> Option<String> {
    let proposal = propose_setup(git).ok().flatten()?;
    Some(format!("worktree_setup = {}", quoted_setting(&proposal.command)))
}

/// A text as a value in the settings.
fn quoted_setting(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') { format!("'{text}'") } else { format!("{text:?}") }
}

impl Project<'_> {
    fn proposal(&self, is_there: &dyn Fn(&str) -> bool) -> Option<Proposal> {
        let mut parts: Vec<Part> = self.submodules().into_iter().collect();
        parts.extend(self.in_folders(Project::node));
        parts.extend(self.in_folders(Project::python));
        parts.extend(self.in_folders(Project::others));
        if parts.is_empty() {
            return None;
        }
        let program = |command: &str| {
            command.split([' ', '(']).find(|word| !word.contains('=') && !word.is_empty()).map(str::to_owned)
        };
        let is_sure = parts
            .iter()
            .all(|part| part.is_sure && program(&part.command).is_some_and(|name| is_there(&name)));
        let command = parts.iter().map(|part| part.command.as_str()).collect::<Vec<_>>().join(" && ");
        let reason = parts.iter().map(|part| part.reason.as_str()).collect::<Vec<_>>().join(", ");
        Some(Proposal { command, reason, is_sure })
    }

    /// The parts of one kind: at the top, or in folders of their own where there are none at the top.
    fn in_folders(&self, kind: fn(&Self, &str) -> Vec<Part>) -> Vec<Part> {
        let top = kind(self, "");
        if !top.is_empty() {
            return top;
        }
        let mut folders: BTreeSet<&str> = BTreeSet::new();
        for path in &self.tracked {
            if let Some((folder, _)) = path.rsplit_once('/')
                && !folder.split('/').any(|name| OTHERS.contains(&name) || name.starts_with('.'))
            {
                folders.insert(folder);
            }
        }
        let in_folder = |folder: &str| {
            let parts = kind(self, &format!("{folder}/")).into_iter();
            parts
                .map(|part| Part { command: format!("(cd {} && {})", quoted(folder), part.command), ..part })
                .collect::<Vec<_>>()
        };
        let found: Vec<Vec<Part>> =
            folders.into_iter().map(in_folder).filter(|parts| !parts.is_empty()).collect();
        found.into_iter().take(FOLDERS_MAX).flatten().collect()
    }

    fn has(&self, path: &str) -> bool {
        self.tracked.contains(path)
    }

    fn text(&self, path: &str) -> String {
        (self.read)(path).unwrap_or_default()
    }

    fn submodules(&self) -> Option<Part> {
        self.has(".gitmodules").then(|| Part {
            command: "git submodule update --init --recursive".to_owned(),
            reason: ".gitmodules".to_owned(),
            is_sure: true,
        })
    }

    fn node(&self, folder: &str) -> Vec<Part> {
        let built = self.is_built_from_sources(folder);
        let part = |file: &str, install: &str, build: &str, is_sure: bool| {
            let (command, reason) = match &built {
                Some(package) => (
                    format!("{install} && {build}"),
                    format!("{folder}{file}; {package} is loaded from what is built"),
                ),
                None => (install.to_owned(), format!("{folder}{file}")),
            };
            vec![Part { command, reason, is_sure }]
        };
        let has = |file: &str| self.has(&format!("{folder}{file}"));
        let npm_build = "npm run build --workspaces --if-present";
        if has("pnpm-lock.yaml") {
            return part(
                "pnpm-lock.yaml",
                "pnpm install --frozen-lockfile --prefer-offline",
                "pnpm -r --if-present build",
                true,
            );
        }
        if has("yarn.lock") {
            let is_first = self.text(&format!("{folder}yarn.lock")).contains("# yarn lockfile v1");
            let install =
                if is_first { "yarn install --frozen-lockfile" } else { "yarn install --immutable" };
            return part("yarn.lock", install, "yarn build", false);
        }
        for file in ["bun.lock", "bun.lockb"] {
            if has(file) {
                return part(file, "bun install --frozen-lockfile", "bun run build", false);
            }
        }
        for file in ["package-lock.json", "npm-shrinkwrap.json"] {
            if has(file) {
                return part(file, "npm ci", npm_build, true);
            }
        }
        let manifest = self.text(&format!("{folder}package.json"));
        let needs_any =
            ["dependencies\"", "devDependencies\"", "workspaces\""].iter().any(|key| manifest.contains(key));
        if has("package.json") && needs_any {
            return part(
                "package.json without a lock file",
                "npm install --no-package-lock",
                npm_build,
                false,
            );
        }
        Vec::new()
    }

    /// The package of a workspace that others load from files which git ignores, so that they have to be built.
    fn is_built_from_sources(&self, folder: &str) -> Option<String> {
        let top = self.text(&format!("{folder}package.json"));
        let has_workspaces =
            top.contains("\"workspaces\"") || self.has(&format!("{folder}pnpm-workspace.yaml"));
        if !has_workspaces {
            return None;
        }
        let manifests =
            self.tracked.iter().filter(|path| path.starts_with(folder) && path.ends_with("/package.json"));
        for manifest in manifests {
            let package = manifest.trim_end_matches("/package.json");
            let Ok(value) = serde_json::from_str::<serde_json::Value>(&self.text(manifest)) else { continue };
            let mut entries = Vec::new();
            for key in ["main", "module", "exports"] {
                value.get(key).into_iter().for_each(|value| strings(value, &mut entries));
            }
            let paths: Vec<String> = entries
                .iter()
                .filter(|entry| !entry.contains('*'))
                .map(|entry| format!("{package}/{}", entry.trim_start_matches("./")))
                .filter(|path| !self.has(path) && !path.contains("/../"))
                .collect();
            if !(self.is_ignored)(&paths).is_empty() {
                return Some(package.to_owned());
            }
        }
        None
    }

    fn python(&self, folder: &str) -> Vec<Part> {
        let has = |file: &str| self.has(&format!("{folder}{file}"));
        let one = |file: &str, command: &str, is_sure: bool| {
            vec![Part { command: command.to_owned(), reason: format!("{folder}{file}"), is_sure }]
        };
        if has("uv.lock") {
            return one("uv.lock", "uv sync --frozen", true);
        }
        if has("poetry.lock") {
            return one("poetry.lock", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install", false);
        }
        if has("Pipfile.lock") {
            return one("Pipfile.lock", "PIPENV_VENV_IN_PROJECT=1 pipenv sync --dev", false);
        }
        let is_requirements =
            |name: &str| name.starts_with("requirements") && name.ends_with(".txt") && !name.contains('/');
        let names: Vec<&str> = self
            .tracked
            .iter()
            .filter_map(|path| path.strip_prefix(folder))
            .filter(|name| is_requirements(name))
            .collect();
        let project = self.text(&format!("{folder}pyproject.toml"));
        let is_package =
            has("setup.py") || project.contains("[project]") || project.contains("[build-system]");
        if names.is_empty() && !is_package {
            return Vec::new();
        }
        let environment = self.environments.first().map_or(".venv", String::as_str);
        let mut wanted: Vec<String> = names.iter().map(|name| format!("-r {}", quoted(name))).collect();
        let mut reasons: Vec<String> = names.iter().map(|name| format!("{folder}{name}")).collect();
        if is_package {
            wanted.push(match extras(&project).as_str() {
                "" => "-e .".to_owned(),
                extras => format!("-e '.[{extras}]'"),
            });
            reasons.push(format!(
                "{folder}{}",
                if has("pyproject.toml") { "pyproject.toml" } else { "setup.py" }
            ));
        }
        let command = format!(
            "python3 -m venv --clear {environment} && {environment}/bin/pip install {}",
            wanted.join(" ")
        );
        // Without an environment in the project, commands there use one that work trees have as well.
        let is_sure = folder.is_empty() && !self.environments.is_empty();
        vec![Part { command, reason: reasons.join(", "), is_sure }]
    }

    fn others(&self, folder: &str) -> Vec<Part> {
        let kinds = [
            ("composer.json", "composer install --no-interaction", true),
            ("Gemfile", "bundle install", false),
            ("CMakeLists.txt", "cmake -S . -B build", true),
        ];
        let has = |file: &str| self.has(&format!("{folder}{file}"));
        // Those in folders below one of CMake's are part of it.
        let is_own = |file: &str| folder.is_empty() || file != "CMakeLists.txt";
        let found = kinds.into_iter().filter(|(file, _, _)| has(file) && is_own(file));
        found
            .map(|(file, command, is_sure)| Part {
                command: command.to_owned(),
                reason: format!("{folder}{file}"),
                is_sure,
            })
            .collect()
    }
}

/// The optional dependencies of a project that its tests need, by their usual names.
fn extras(project: &str) -> String {
    let Some((_, section)) = project.split_once("[project.optional-dependencies]") else {
        return String::new();
    };
    let lines = section.lines().skip(1).take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| Some(line.split_once('=')?.0.trim()));
    let wanted = ["dev", "test", "testing", "tests"];
    names.filter(|name| wanted.contains(name)).collect::<Vec<_>>().join(",")
}

/// All texts in a value.
fn strings(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Array(list) => list.iter().for_each(|value| strings(value, found)),
        serde_json::Value::Object(map) => map.values().for_each(|value| strings(value, found)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}

/// A path as a word of a shell.
fn quoted(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if path.bytes().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(files: &[(&str, &str)], environments: &[&str]) -> Option<Proposal> {
        let read =
            |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        let is_ignored = |paths: &[String]| {
            paths.iter().filter(|path| path.contains("/dist/")).cloned().collect::<BTreeSet<_>>()
        };
        let project = Project {
            tracked: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
            read: &read,
            is_ignored: &is_ignored,
            environments: environments.iter().map(|name| (*name).to_owned()).collect(),
        };
        project.proposal(&|program| program != "bun" && program != "poetry")
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: Option<(&str, bool)>) {
        let found = proposal(files, &[]);
        let found = found.as_ref().map(|proposal| (proposal.command.as_str(), proposal.is_sure));
        assert_eq!(found, expected, "{files:?}");
    }

    #[test]
    fn lock_files_tell_the_command() {
        check(&[("package.json", ""), ("package-lock.json", "")], Some(("npm ci", true)));
        let pnpm = "pnpm install --frozen-lockfile --prefer-offline";
        check(&[("pnpm-lock.yaml", ""), ("package-lock.json", "")], Some((pnpm, true)));
        let first = "# THIS IS AN AUTOGENERATED FILE.\n# yarn lockfile v1\n";
        check(&[("yarn.lock", first)], Some(("yarn install --frozen-lockfile", false)));
        check(&[("yarn.lock", "__metadata:\n")], Some(("yarn install --immutable", false)));
        check(&[("bun.lock", "")], Some(("bun install --frozen-lockfile", false)));
        check(&[("uv.lock", ""), ("pyproject.toml", "[project]")], Some(("uv sync --frozen", true)));
        check(&[("composer.json", "")], Some(("composer install --no-interaction", true)));
        check(&[("Gemfile", "")], Some(("bundle install", false)));
        check(&[("CMakeLists.txt", ""), ("src/CMakeLists.txt", "")], Some(("cmake -S . -B build", true)));
        check(&[("Cargo.toml", ""), ("go.mod", ""), ("README.md", "")], None);
        check(&[("package.json", "{\"name\": \"x\"}")], None);
        let bare = "{\"devDependencies\": {}}";
        check(&[("package.json", bare)], Some(("npm install --no-package-lock", false)));
    }

    #[test]
    fn parts_are_joined_and_folders_have_their_own() {
        check(
            &[
                (".gitmodules", ""),
                ("web/package-lock.json", ""),
                ("tests/x/package-lock.json", ""),
                ("api/uv.lock", ""),
            ],
            Some((
                "git submodule update --init --recursive && (cd web && npm ci) && (cd api && uv sync --frozen)",
                true,
            )),
        );
        check(&[("a b/package-lock.json", "")], Some(("(cd 'a b' && npm ci)", true)));
        check(&[("package-lock.json", ""), ("web/package-lock.json", "")], Some(("npm ci", true)));
    }

    #[test]
    fn packages_that_are_loaded_from_what_is_built_are_built() {
        let top = ("package.json", "{\"workspaces\": [\"packages/*\"]}");
        let lock = ("package-lock.json", "");
        let built =
            ("packages/lib/package.json", "{\"exports\": {\".\": {\"require\": \"./dist/index.js\"}}}");
        let found = proposal(&[top, lock, built], &[]).unwrap();
        assert_eq!(found.command, "npm ci && npm run build --workspaces --if-present");
        assert_eq!(found.reason, "package-lock.json; packages/lib is loaded from what is built");
        let source = ("packages/lib/package.json", "{\"main\": \"src/index.js\"}");
        check(&[top, lock, source], Some(("npm ci", true)));
        check(&[lock, built], Some(("npm ci", true)));
    }

    #[test]
    fn an_environment_is_made_of_what_python_needs() {
        let plain =
            [("requirements.txt", ""), ("requirements-dev.txt", ""), ("pyproject.toml", "[tool.ruff]")];
        let command = "python3 -m venv --clear .venv && .venv/bin/pip install -r requirements-dev.txt -r requirements.txt";
        check(&plain, Some((command, false)));
        let package = [("pyproject.toml", "[project]\nname = \"x\"\n")];
        let found = proposal(&package, &["venv"]).unwrap();
        assert_eq!(found.command, "python3 -m venv --clear venv && venv/bin/pip install -e .");
        assert!(found.is_sure, "the project has such an environment");
        let extras = "[project]\n[project.optional-dependencies]\ndocs = [\"x\"]\ntest = [\n  \"pytest\",\n]\n[tool.x]\ndev = 1\n";
        let command = "python3 -m venv --clear .venv && .venv/bin/pip install -e '.[test]'";
        check(&[("pyproject.toml", extras)], Some((command, false)));
        check(&[("pyproject.toml", "[tool.ruff]")], None);
        check(&[("poetry.lock", "")], Some(("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install", false)));
    }
}
