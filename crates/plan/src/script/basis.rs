//! The things that the result of a verify command rests on beside the work: the scripts that it runs, the tests that its
//! runner finds, and how that is configured. They are found from the command, as the project was before the work.

use std::collections::{BTreeMap, BTreeSet};

use super::assemble::Script;
use super::checks::{Runner, compared, joined, sourced};
use crate::yaml::{Value, read_yaml};

/// How deep scripts are followed.
const DEPTH_MAX: usize = 4;
/// The extensions of languages, by families whose tests one runner runs.
const PYTHON: &[&str] = &["py", "ipynb"];
const JAVASCRIPT: &[&str] = &["js", "jsx", "ts", "tsx", "mjs", "mts", "cjs", "cts", "vue", "svelte"];
const RUST: &[&str] = &["rs"];
const GO: &[&str] = &["go"];
const RUBY: &[&str] = &["rb", "feature"];
const PHP: &[&str] = &["php"];
const JVM: &[&str] = &["java", "kt", "kts", "scala", "groovy"];
const OTHERS: &[&str] = &[
    "bash", "bats", "c", "cc", "cpp", "cs", "css", "cxx", "dart", "ex", "exs", "h", "hpp", "hs", "html",
    "lua", "m", "ml", "pl", "r", "scss", "sh", "sql", "swift", "zig",
];
const LANGUAGES: [&[&str]; 8] = [PYTHON, JAVASCRIPT, RUST, GO, RUBY, PHP, JVM, OTHERS];
/// Folders of tests.
const TEST_FOLDERS: &[&str] =
    &["__fixtures__", "__mocks__", "__snapshots__", "__tests__", "e2e", "spec", "test", "testdata", "tests"];
/// Files that hold more than the configuration of a runner: only these parts of them are looked at.
const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "build.gradle",
    "build.gradle.kts",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
];
/// Words of sections, keys and lines that say what a runner does.
const RUNNER_WORDS: &[&str] = &[
    "ava", "bench", "black", "c8", "coverage", "eslint", "exclude", "failure", "flake8", "ignore", "isort",
    "jest", "lib", "lint", "lints", "mocha", "mypy", "nyc", "pylint", "pyright", "pytest", "ruff", "skip",
    "surefire", "test", "tests", "tox", "vitest",
];

/// A part of what a result rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A test, or what tests read.
    Test,
    /// The configuration of a runner.
    Configuration,
    /// A script that the command runs.
    Script,
    /// A file that the command compares something with.
    Wanted,
}

/// The things that the result of a command rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// Single files.
    files: BTreeMap<String, Part>,
    /// Tests of these languages below these folders; of any language where there are none.
    tests: BTreeSet<(String, &'static [&'static str])>,
    /// The words by which configurations of these runners are known, below these folders.
    tools: BTreeSet<(String, String)>,
    /// The scripts of packages and the targets of Makefiles that are run, by file.
    entries: BTreeMap<String, BTreeSet<String>>,
}

impl Script {
    /// The things that its result rests on; `read` gives the text of a file as it was before the work.
    #[must_use]
    pub fn basis(&self, read: &dyn Fn(&str) -> Option<String>) -> Basis {
        let mut basis = Basis::default();
        self.snippets.iter().for_each(|snippet| basis.follow(snippet, "", (read, DEPTH_MAX)));
        basis
    }
}

type Reader<'a> = (&'a dyn Fn(&str) -> Option<String>, usize);

impl Basis {
    /// The part that a file plays, from the project's top folder; none if it plays none.
    #[must_use]
    pub fn part(&self, path: &str) -> Option<Part> {
        if let Some(part) = self.files.get(path) {
            return Some(*part);
        }
        let is_below = |folder: &str| {
            folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let configures = |tool: &str| is_configuration(name) && name.to_lowercase().contains(tool);
        if self.tools.iter().any(|(_, tool)| configures(tool)) {
            return Some(Part::Configuration);
        }
        if MANIFESTS.contains(&name) && !self.tools.is_empty() {
            return Some(Part::Configuration);
        }
        let speaks = |languages: &[&str]| {
            languages.is_empty()
                || language(path).is_none_or(|_| languages.contains(&extension(path).unwrap_or_default()))
        };
        let is_run = self.tests.iter().any(|(folder, languages)| is_below(folder) && speaks(languages));
        (is_run && is_test(path)).then_some(Part::Test)
    }

    /// What of a file's text matters: all of it, or, where it holds more than that, the parts that say what is run.
    #[must_use]
    pub fn telling(&self, path: &str, text: &str) -> String {
        let name = path.rsplit('/').next().unwrap_or(path);
        let entries = self.entries.get(path);
        match name {
            "package.json" => package_parts(text, entries),
            "pom.xml" | "build.gradle" | "build.gradle.kts" => {
                text.lines().filter(|line| speaks_of_runner(line)).collect::<Vec<_>>().join("\n")
            }
            _ if MANIFESTS.contains(&name) => sections(text),
            _ => match entries {
                Some(targets) => recipes(text, targets).unwrap_or_default().join("\n"),
                None => text.to_owned(),
            },
        }
    }

    fn follow(&mut self, snippet: &str, folder: &str, (read, depth): Reader<'_>) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        let reader = (read, deeper);
        for path in compared(snippet) {
            self.add(&joined(folder, &path), Part::Wanted);
        }
        for path in sourced(snippet) {
            self.script(&joined(folder, &path), folder, reader);
        }
        for check in (Script::new(vec![snippet.to_owned()])).checks() {
            let within = joined(folder, &check.folder);
            match &check.runner {
                Runner::Package(name) => self.package(name, &within, reader),
                Runner::Make(targets) => self.make(targets, &within, reader),
                Runner::Script(path) => {
                    self.tests.insert((within.clone(), &[]));
                    self.script(&joined(&within, path), &within, reader);
                }
                Runner::Lint(name) => {
                    let tool = name.split('-').next().unwrap_or(name).to_owned();
                    self.tools.insert((within, tool));
                }
                Runner::Tsc => drop(self.tools.insert((within, "tsconfig".to_owned()))),
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
                | Runner::Jvm
                | Runner::Other => {
                    let (languages, tools) = known(&check.runner);
                    self.tests.insert((within.clone(), languages));
                    let tools = tools.iter().map(|tool| (within.clone(), (*tool).to_owned()));
                    self.tools.extend(tools);
                }
            }
        }
    }

    /// A file that is the work's as well as the proof's stays what it was named first.
    fn add(&mut self, path: &str, part: Part) {
        if !path.contains(['$', '*', '?']) && !path.starts_with('/') && !path.starts_with("..") {
            self.files.entry(path.to_owned()).or_insert(part);
        }
    }

    fn script(&mut self, path: &str, folder: &str, (read, depth): Reader<'_>) {
        let is_new = !self.files.contains_key(path);
        self.add(path, Part::Script);
        let is_shell = |text: &str| {
            matches!(extension(path), Some("sh" | "bash") | None)
                && !text.lines().next().is_some_and(|line| line.starts_with("#!") && !line.contains("sh"))
        };
        if let Some(text) = read(path).filter(|text| is_new && is_shell(text)) {
            self.follow(&text, folder, (read, depth));
        }
    }

    /// A script that the package did not have before is part of the work.
    fn package(&mut self, name: &str, folder: &str, (read, depth): Reader<'_>) {
        let path = joined(folder, "package.json");
        let package = read(&path).and_then(|text| read_yaml(&text).ok());
        let scripts = package.as_ref().and_then(|package| package.get("scripts"));
        let text_of = |name: &str| scripts.and_then(|scripts| scripts.get(name)).and_then(Value::text);
        if text_of(name).is_none() {
            return;
        }
        self.add(&path, Part::Configuration);
        for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            let Some(text) = text_of(&name) else { continue };
            if self.entries.entry(path.clone()).or_default().insert(name) {
                self.follow(&text, folder, (read, depth));
            }
        }
    }

    /// Targets that the Makefile did not have before are part of the work.
    fn make(&mut self, targets: &[String], folder: &str, (read, depth): Reader<'_>) {
        let names = ["GNUmakefile", "makefile", "Makefile"].map(|name| joined(folder, name));
        let found = names.into_iter().find_map(|path| read(&path).map(|text| (path, text)));
        let Some((path, text)) = found else { return };
        let first = text.lines().find_map(|line| rule(line).map(|(name, _)| name.to_owned()));
        let targets: BTreeSet<String> =
            if targets.is_empty() { first.into_iter().collect() } else { targets.iter().cloned().collect() };
        let Some(lines) = recipes(&text, &targets) else { return };
        self.add(&path, Part::Configuration);
        let entries = self.entries.entry(path).or_default();
        let known = entries.len();
        entries.extend(targets);
        if entries.len() > known {
            for line in lines {
                self.follow(line.trim_start().trim_start_matches(['@', '-', '+']), folder, (read, depth));
            }
        }
    }
}

/// The languages of a runner's tests, and the words by which its configuration is known.
fn known(runner: &Runner) -> (&'static [&'static str], &'static [&'static str]) {
    match runner {
        Runner::Pytest | Runner::Unittest => (PYTHON, &["pytest", "tox", "nox"]),
        Runner::Jest => (JAVASCRIPT, &["jest", "babel"]),
        Runner::Vitest => (JAVASCRIPT, &["vitest", "vite"]),
        Runner::Mocha => (JAVASCRIPT, &["mocha"]),
        Runner::JavaScript => {
            (JAVASCRIPT, &["playwright", "cypress", "karma", "ava", "jasmine", "bunfig", "deno"])
        }
        Runner::CargoTest => (RUST, &["nextest"]),
        Runner::GoTest => (GO, &[]),
        Runner::Rspec => (RUBY, &["rspec"]),
        Runner::Minitest => (RUBY, &["rakefile"]),
        Runner::Phpunit => (PHP, &["phpunit", "pest"]),
        Runner::Jvm => (JVM, &["junit", "testng"]),
        Runner::Tsc
        | Runner::Lint(_)
        | Runner::Package(_)
        | Runner::Make(_)
        | Runner::Script(_)
        | Runner::Other => (&[], &[]),
    }
}

/// True for names of tests in any language, and for what lies in folders of tests.
fn is_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    let whole = name.rsplit_once('.').map_or(name, |(whole, _)| whole);
    let in_folder = folders.split('/').any(|folder| {
        // A folder of that name may hold specifications.
        TEST_FOLDERS.contains(&folder) && (folder != "spec" || language(path).is_some())
    });
    let is_named = ["test_", "test-"].iter().any(|start| stem.starts_with(start))
        || ["_test", "_spec", "-test", "-spec", "Test", "Tests", "Spec"]
            .iter()
            .any(|end| stem.ends_with(end))
        || [".test", ".spec", ".cy", ".e2e"].iter().any(|end| whole.ends_with(end))
        || matches!(stem, "test" | "tests" | "conftest" | "spec_helper" | "rails_helper");
    in_folder || (is_named && language(path).is_some())
}

/// True for the text of a program, and not for a test of one, nor for a configuration.
#[must_use]
pub fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    language(path).is_some() && !is_test(path) && !(is_configuration(name) && name.contains("conf"))
}

fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension)
}

fn language(path: &str) -> Option<&'static [&'static str]> {
    let extension = extension(path)?;
    LANGUAGES.into_iter().find(|family| family.contains(&extension))
}

/// True of a file that may say what is run, by its name.
#[must_use]
pub fn may_configure(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    MANIFESTS.contains(&name)
        || matches!(name, "Makefile" | "makefile" | "GNUmakefile")
        || is_configuration(name)
}

/// True for names that configurations have.
fn is_configuration(name: &str) -> bool {
    let data = ["json", "json5", "jsonc", "ini", "toml", "xml", "yml", "yaml", "neon", "cfg", "dist"];
    name.starts_with('.')
        || name.contains("conf")
        || name.contains(".workspace.")
        || extension(name).is_none_or(|extension| data.contains(&extension))
}

fn speaks_of_runner(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| RUNNER_WORDS.contains(&word))
        || text.contains("skiptest")
        || text.contains("failureignore")
}

/// The scripts of a package that are run, and how its runners are configured.
fn package_parts(text: &str, entries: Option<&BTreeSet<String>>) -> String {
    let Ok(package) = read_yaml(text) else { return text.to_owned() };
    let scripts = package.get("scripts").map(Value::entries).unwrap_or_default();
    let is_run = |(name, _): &&(String, Value)| entries.is_some_and(|entries| entries.contains(name));
    let config =
        package.entries().iter().filter(|(key, _)| RUNNER_WORDS.iter().any(|word| key.starts_with(word)));
    let parts: Vec<String> =
        scripts.iter().filter(is_run).chain(config).map(|part| format!("{part:?}")).collect();
    parts.join("\n")
}

/// The sections of a file in the manner of TOML that speak of a runner.
fn sections(text: &str) -> String {
    let mut is_telling = false;
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            is_telling = speaks_of_runner(line);
        }
        if is_telling && !line.trim().is_empty() {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// A rule's target and what it depends on, at the beginning of a line of a Makefile.
fn rule(line: &str) -> Option<(&str, &str)> {
    let (target, needs) = line.split_once(':')?;
    let is_plain =
        !target.is_empty() && !target.starts_with(['\t', ' ', '#', '.']) && !needs.starts_with('=');
    is_plain.then_some((target.trim(), needs))
}

/// The lines that make runs for targets, and those that hold for all; none where a target is missing.
fn recipes<'t>(text: &'t str, targets: &BTreeSet<String>) -> Option<Vec<&'t str>> {
    let mut wanted: BTreeSet<&str> = targets.iter().map(String::as_str).collect();
    let rules: Vec<(&str, &str)> = text.lines().filter_map(rule).collect();
    if !wanted
        .iter()
        .all(|target| rules.iter().any(|(name, _)| name.split_whitespace().any(|name| name == *target)))
    {
        return None;
    }
    for _ in 0..DEPTH_MAX {
        let needed =
            rules.iter().filter(|(name, _)| name.split_whitespace().any(|name| wanted.contains(name)));
        let needed: Vec<&str> = needed.flat_map(|(_, needs)| needs.split_whitespace()).collect();
        wanted.extend(needed);
    }
    let mut is_wanted = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some((name, _)) = rule(line) {
            is_wanted = name.split_whitespace().any(|name| wanted.contains(name));
        } else if line.starts_with('\t') {
            lines.extend(is_wanted.then_some(line));
        } else if line.contains('=') && !line.starts_with('#') {
            lines.push(line);
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project as it was before the work.
    fn file(path: &str) -> Option<String> {
        let text = match path {
            "check.sh" => "#!/bin/sh\n. ./lib.sh\nsh scripts/deep.sh\n",
            "scripts/deep.sh" => "diff work.txt wanted.txt\n",
            "tests/run.sh" => "for case in tests/case-*.sh; do sh \"$case\"; done\n",
            "Makefile" => {
                "CC = gcc\nall: test\ntest: lib\n\t@sh check.sh\nlib:\n\tmake -C lib\nclean:\n\trm -f a\n"
            }
            "web/package.json" => {
                "{\n\t\"scripts\": { \"test\": \"jest --ci\", \"dev\": \"vite\" },\n\t\"jest\": { \"bail\": 1 }\n}"
            }
            _ => return None,
        };
        Some(text.to_owned())
    }

    fn basis(command: &str) -> Basis {
        Script::new(vec![command.to_owned()]).basis(&file)
    }

    #[test]
    fn parts_are_found_from_the_command() {
        use Part::{Configuration, Script, Test, Wanted};
        let check = |command: &str, path: &str, expected: Option<Part>| {
            assert_eq!(basis(command).part(path), expected, "{path} for {command}");
        };
        for (command, path, part) in [
            ("pytest -q", "tests/test_a.py", Test),
            ("pytest", "pkg/a_test.py", Test),
            ("pytest", "tests/data/a.json", Test),
            ("pytest", "conftest.py", Test),
            ("pytest", "pytest.ini", Configuration),
            ("pytest", "pyproject.toml", Configuration),
            ("python3 -m unittest", "test_a.py", Test),
            ("npx jest --ci", "src/__tests__/a.js", Test),
            ("npx jest", "src/a.spec.ts", Test),
            ("npx jest", "jest.config.ts", Configuration),
            ("npx vitest run", "vite.config.ts", Configuration),
            ("npx mocha", ".mocharc.yml", Configuration),
            ("node --test", "a.test.mjs", Test),
            ("cargo test", "tests/it.rs", Test),
            ("go test ./...", "a/b_test.go", Test),
            ("go test ./...", "a/testdata/in.txt", Test),
            ("bundle exec rspec", "spec/a_spec.rb", Test),
            ("bundle exec rspec", ".rspec", Configuration),
            ("vendor/bin/phpunit", "tests/ATest.php", Test),
            ("vendor/bin/phpunit", "phpunit.xml.dist", Configuration),
            ("./gradlew test", "src/test/java/ATest.java", Test),
            ("mvn -q test", "pom.xml", Configuration),
            ("npx tsc --noEmit", "tsconfig.build.json", Configuration),
            ("npx eslint .", ".eslintrc.json", Configuration),
            ("npx eslint .", "eslint.config.mjs", Configuration),
            ("npx eslint .", ".eslintignore", Configuration),
            ("ruff check .", "ruff.toml", Configuration),
            ("mypy src", "mypy.ini", Configuration),
            ("golangci-lint run", ".golangci.yml", Configuration),
            ("sh check.sh", "check.sh", Script),
            ("sh check.sh", "lib.sh", Script),
            ("sh check.sh", "scripts/deep.sh", Script),
            ("sh check.sh", "wanted.txt", Wanted),
            ("sh a.sh | diff - expected.txt", "expected.txt", Wanted),
            ("sh tests/run.sh", "tests/run.sh", Script),
            ("sh tests/run.sh", "tests/case-a.sh", Test),
            ("make test", "Makefile", Configuration),
            ("make", "check.sh", Script),
            ("npm --prefix web test", "web/package.json", Configuration),
            ("cd web && npm test", "web/src/a.test.js", Test),
            ("cd web && npm test", "web/jest.config.js", Configuration),
        ] {
            check(command, path, Some(part));
        }
        for (command, path) in [
            ("pytest", "src/a.py"),
            ("pytest", "web/a.test.ts"),
            ("pytest", "src/pytest_plugin.py"),
            ("npx tsc --noEmit", "src/a.test.ts"),
            ("npx eslint .", "src/eslint-rules.ts"),
            ("grep -q 2.0 package.json", "package.json"),
            ("test -s a.txt", "a.txt"),
            ("make page", "Makefile"),
            ("cd web && npm run lint", "web/package.json"),
            ("cd web && npm test", "api/a.test.js"),
            ("bundle exec rspec", "spec/notes.md"),
            ("sh check.sh", "work.md"),
            ("node check.mjs", "__snapshots.md"),
        ] {
            check(command, path, None);
        }
    }

    #[test]
    fn of_some_files_only_a_part_is_telling() {
        let same = |command: &str, path: &str, before: &str, after: &str, expected: bool| {
            let basis = basis(command);
            let is_same = basis.telling(path, before) == basis.telling(path, after);
            assert_eq!(is_same, expected, "{path} for {command}: {after}");
        };
        let package = file("web/package.json").unwrap();
        let (test, web) = ("cd web && npm test", "web/package.json");
        same(test, web, &package, &package.replace("\"dev\": \"vite\"", "\"lint\": \"eslint\""), true);
        same(test, web, &package, &package.replace("{\n", "{ \"dependencies\": { \"a\": \"1\" },"), true);
        same(test, web, &package, &package.replace("jest --ci", "exit 0"), false);
        same(test, web, &package, &package.replace("1", "0"), false);
        let makefile = file("Makefile").unwrap();
        same("make test", "Makefile", &makefile, &(makefile.clone() + "page:\n\techo > page\n"), true);
        same("make test", "Makefile", &makefile, &makefile.replace("@sh", "-sh"), false);
        same("make test", "Makefile", &makefile, &makefile.replace("make -C lib", "true"), false);
        same("make test", "Makefile", &makefile, &makefile.replace("rm -f a", "rm -f b"), true);
        let toml = "[project]\ndependencies = []\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n";
        same("pytest", "pyproject.toml", toml, &toml.replace("[]", "[\"a\"]"), true);
        same("pytest", "pyproject.toml", toml, &toml.replace("\"tests\"", "\"none\""), false);
        let pom = "<dependency>a</dependency>\n<skipTests>false</skipTests>\n";
        same("mvn test", "pom.xml", pom, &pom.replace(">a<", ">b<"), true);
        same("mvn test", "pom.xml", pom, &pom.replace("false", "true"), false);
        same("npx tsc", "tsconfig.json", "{}", "{ }", false);
    }

    #[test]
    fn sources_are_told_from_tests_and_data() {
        for path in ["src/a.py", "a.test-utils/a.ts", "lib.rs", "page.css"] {
            assert!(is_source(path), "{path}");
        }
        for path in ["a_test.go", "tests/a.py", "README.md", "jest.config.js", "package.json", "data.csv"] {
            assert!(!is_source(path), "{path}");
        }
    }
}
