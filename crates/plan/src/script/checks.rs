//! The known programs that a verify command runs: runners of tests, types, lint and builds, and plain looks. By them it
//! shows whether it can be run at any time, and what its result rests on.

use super::assemble::Script;
use super::shell::{Command, Shell, read};

/// A program that checks something, as a verify command starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The program.
    pub runner: Runner,
    /// The folder that it runs in, from where the script starts; empty for that itself.
    pub folder: String,
    /// The words after it, without quotes.
    pub words: Vec<String>,
}

/// A program that checks something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runner {
    /// pytest, and what runs the same files.
    Pytest,
    /// Python's own unittest.
    Unittest,
    /// Jest.
    Jest,
    /// Vitest.
    Vitest,
    /// Mocha.
    Mocha,
    /// `node --test`, `bun test`, Playwright and others that find tests by the same names.
    JavaScript,
    /// Cargo, where it runs tests.
    CargoTest,
    /// `go test`.
    GoTest,
    /// RSpec.
    Rspec,
    /// Ruby's own test runners.
    Minitest,
    /// PHPUnit.
    Phpunit,
    /// Maven and Gradle.
    Jvm,
    /// The compiler of TypeScript.
    Tsc,
    /// A linter or a formatter that only looks, or a type checker, by its name.
    Lint(String),
    /// A script of a `package.json`.
    Package(String),
    /// Targets of a Makefile; none for the first one.
    Make(Vec<String>),
    /// A script that the project has.
    Script(String),
    /// Another program that builds or tests.
    Other,
}

/// Programs that only look.
const LOOKS: &[&str] = &[
    "[",
    "[[",
    "awk",
    "basename",
    "cat",
    "cmp",
    "command",
    "comm",
    "cut",
    "diff",
    "dirname",
    "du",
    "egrep",
    "fgrep",
    "file",
    "find",
    "grep",
    "head",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "realpath",
    "rg",
    "sed",
    "sha256sum",
    "sort",
    "stat",
    "tail",
    "test",
    "tr",
    "tree",
    "type",
    "uniq",
    "wc",
    "which",
    "xmllint",
    "yq",
];
/// Commands of the shell that only lead to others.
const GLUE: &[&str] = &[
    ".", ":", "cd", "echo", "exit", "export", "false", "popd", "printf", "pushd", "pwd", "set", "source",
    "true", "unset",
];
/// Words of a script or a target that checks.
const CHECKING: &[&str] = &[
    "build", "check", "ci", "compile", "coverage", "e2e", "lint", "spec", "test", "type", "unit", "verify",
    "tsc",
];
/// Linters and type checkers.
const LINTERS: &[&str] = &[
    "actionlint",
    "biome",
    "black",
    "eslint",
    "flake8",
    "golangci-lint",
    "hadolint",
    "isort",
    "markdownlint",
    "mypy",
    "oxlint",
    "phpstan",
    "prettier",
    "psalm",
    "pylint",
    "pyright",
    "rubocop",
    "ruff",
    "rustfmt",
    "shellcheck",
    "standard",
    "staticcheck",
    "stylelint",
    "svelte-check",
    "yamllint",
];
/// Programs that write into what they are given, unless they are told to look only.
const FORMATTERS: &[&str] = &["black", "isort", "pre-commit", "rustfmt", "swiftformat"];
/// Programs and their verbs that do.
const FORMATTING: &[(&str, &str)] = &[
    ("cargo", "fix"),
    ("cargo", "fmt"),
    ("dart", "format"),
    ("deno", "fmt"),
    ("dprint", "fmt"),
    ("go", "fmt"),
    ("mix", "format"),
    ("ruff", "format"),
    ("terraform", "fmt"),
];
/// Flags that have programs write.
const WRITING: &[&str] = &[
    "--apply",
    "--autocorrect",
    "--fix",
    "--in-place",
    "--snapshot-update",
    "--update-snapshots",
    "--updateSnapshot",
    "--write",
];
/// Programs for which a letter does the same.
const WRITING_LETTERS: &[(&str, &[&str])] = &[
    ("clang-format", &["-i"]),
    ("gofmt", &["-w"]),
    ("goimports", &["-w"]),
    ("jest", &["-u"]),
    ("prettier", &["-w"]),
    ("rubocop", &["-a", "-A"]),
    ("vitest", &["-u"]),
];
/// Flags that have programs look only.
const LOOKING: &[&str] = &[
    "--check",
    "--check-formatted",
    "--check-only",
    "--diff",
    "--dry-run",
    "--list-different",
    "--verify-no-changes",
];
/// Interpreters of scripts.
const INTERPRETERS: &[&str] =
    &["bash", "bun", "deno", "node", "perl", "php", "python", "python3", "ruby", "sh", "tsx", "zsh"];

impl Script {
    /// True if it only runs tests, types, lint or a build, or looks at files, as far as its words tell: then it can be run
    /// at any time.
    #[must_use]
    pub fn only_checks(&self) -> bool {
        !self.snippets.is_empty() && self.snippets.iter().all(|snippet| only_checks(snippet))
    }

    /// True if it formats or fixes files, or writes snapshots, as far as its words tell.
    #[must_use]
    pub fn rewrites(&self) -> bool {
        self.snippets
            .iter()
            .any(|snippet| commands(&read(snippet)).any(|command| rewrites(&words_of(command))))
    }

    /// The known programs that it runs and that check something, in order. Looks and unknown programs are not among them.
    #[must_use]
    pub fn checks(&self) -> Vec<Check> {
        self.snippets.iter().flat_map(|snippet| checks(snippet)).collect()
    }
}

pub(super) fn commands<'a, 'b>(shell: &'b Shell<'a>) -> impl Iterator<Item = &'b Command<'a>> {
    let pipelines = shell.statements.iter().flat_map(|statement| &statement.pipelines);
    pipelines.flat_map(|(_, pipeline)| &pipeline.commands)
}

fn only_checks(snippet: &str) -> bool {
    let shell = read(snippet);
    !shell.compound
        && !shell.statements.is_empty()
        && commands(&shell).all(is_check)
        && has_plain_insides(snippet)
}

/// True if what is substituted only looks.
fn has_plain_insides(snippet: &str) -> bool {
    let inside = |open: &str| {
        snippet.match_indices(open).all(|(at, _)| {
            let rest = snippet[at + open.len()..].trim_start();
            rest.starts_with('(') || LOOKS.contains(&rest.split([' ', ')', '`']).next().unwrap_or_default())
        })
    };
    !snippet.contains('`') && ["$(", "<("].into_iter().all(inside)
}

fn rewrites(words: &[String]) -> bool {
    let words = unwrapped(words);
    let Some((first, rest)) = words.split_first() else { return false };
    let name = base_name(first);
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.as_str()));
    if has(LOOKING) || (matches!(name, "gofmt" | "goimports") && has(&["-l", "-d"])) {
        return false;
    }
    let verb = rest.iter().find(|word| !word.starts_with(['-', '+'])).map_or("", String::as_str);
    let is_named = match runner(&words) {
        Some((Runner::Package(script), _)) => is_formatting(&script),
        Some((Runner::Make(targets), _)) => targets.iter().any(|target| is_formatting(target)),
        Some(_) | None => FORMATTERS.contains(&name) || FORMATTING.contains(&(name, verb)),
    };
    let letters = WRITING_LETTERS.iter().find(|(known, _)| *known == name);
    is_named || has(WRITING) || letters.is_some_and(|(_, letters)| has(letters))
}

/// True of a script or a target that is named after formatting or fixing.
fn is_formatting(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let has_check = words.clone().any(|word| matches!(word, "check" | "verify"));
    !has_check && words.any(|word| matches!(word, "fix" | "fmt" | "format" | "autofix"))
}

fn is_check(command: &Command<'_>) -> bool {
    let words = words_of(command);
    if rewrites(&words) {
        return false;
    }
    let Some(name) = words.first().map(|word| base_name(word)) else { return true };
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.as_str()));
    match name {
        "find" => !has(&["-delete", "-exec", "-execdir", "-ok"]),
        "sed" => !words.iter().any(|word| word.starts_with("-i") || word == "--in-place"),
        _ if LOOKS.contains(&name) || GLUE.contains(&name) => true,
        _ => match runner(&words) {
            None | Some((Runner::Script(_), _)) => false,
            Some((Runner::Package(script), _)) => is_checking(&script),
            Some((Runner::Make(targets), _)) => {
                targets.iter().all(|target| is_checking(target) || target == "all")
            }
            Some(_) => true,
        },
    }
}

fn is_checking(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| CHECKING.iter().any(|known| word.starts_with(known)))
}

fn checks(snippet: &str) -> Vec<Check> {
    let (shell, mut folder, mut found) = (read(snippet), String::new(), Vec::new());
    for command in commands(&shell) {
        let words = words_of(command);
        if let [cd, to] = words.as_slice()
            && matches!(cd.as_str(), "cd" | "pushd")
        {
            folder = joined(&folder, to);
        } else if let Some((runner, words)) = runner(&words) {
            let (within, words) = folder_flag(&runner, words);
            let folder = joined(&folder, within.as_deref().unwrap_or_default());
            found.push(Check { runner, folder, words });
        }
    }
    found
}

/// The files that a script compares something with.
pub(super) fn compared(snippet: &str) -> Vec<String> {
    operands(snippet, |name| matches!(name, "diff" | "cmp" | "comm"))
}

/// The scripts that a shell takes in.
pub(super) fn sourced(snippet: &str) -> Vec<String> {
    operands(snippet, |name| matches!(name, "." | "source"))
}

fn operands(snippet: &str, is_meant: fn(&str) -> bool) -> Vec<String> {
    let shell = read(snippet);
    let meant = commands(&shell).map(words_of);
    let meant = meant.filter(|words| words.first().is_some_and(|name| is_meant(name)));
    let named = meant.flat_map(|words| words.into_iter().skip(1));
    named.filter(|word| !word.starts_with(['-', '<', '(', '$'])).collect()
}

/// A path from where a script starts.
pub(super) fn joined(folder: &str, path: &str) -> String {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    match (folder, path) {
        (_, "" | ".") => folder.to_owned(),
        ("", _) => path.to_owned(),
        _ => format!("{folder}/{path}"),
    }
}

/// The folder that a flag names, and the words without it.
fn folder_flag(runner: &Runner, words: Vec<String>) -> (Option<String>, Vec<String>) {
    let flags: &[&str] = if matches!(runner, Runner::Package(_)) {
        &["--prefix", "-C", "--dir", "--cwd"]
    } else if matches!(runner, Runner::Make(_)) {
        &["-C", "--directory"]
    } else {
        return (None, words);
    };
    let mut folder = None;
    let mut kept = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        if flags.contains(&word.as_str()) {
            folder = words.next();
        } else {
            kept.push(word);
        }
    }
    (folder, kept)
}

pub(super) fn words_of(command: &Command<'_>) -> Vec<String> {
    command.bare().iter().map(|word| word.text.replace(['"', '\''], "")).collect()
}

pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// The runner that the words start, and the words that are left for it; none where it is not known.
pub(super) fn runner(words: &[String]) -> Option<(Runner, Vec<String>)> {
    let words = unwrapped(words);
    let (first, rest) = words.split_first()?;
    let name = base_name(first).trim_end_matches(".cmd");
    let rest_of = |from: usize| rest.get(from..).unwrap_or_default().to_vec();
    let verb = rest.iter().find(|word| !word.starts_with(['-', '+'])).map_or("", String::as_str);
    let with = |runner: Runner| Some((runner, rest_of(0)));
    let is_one = |verbs: &[&str]| verbs.contains(&verb);
    match name {
        "pytest" | "py.test" | "tox" | "nox" => with(Runner::Pytest),
        "nose2" => with(Runner::Unittest),
        "jest" => with(Runner::Jest),
        "vitest" => with(Runner::Vitest),
        "mocha" => with(Runner::Mocha),
        "ava" | "tap" | "jasmine" | "karma" | "playwright" | "cypress" | "uvu" => with(Runner::JavaScript),
        "bun" if verb == "test" => with(Runner::JavaScript),
        "node" if rest.iter().any(|word| word == "--test") => with(Runner::JavaScript),
        "deno" if is_one(&["test", "check", "lint"]) => with(Runner::JavaScript),
        "cargo" if is_one(&["test", "t", "nextest"]) => with(Runner::CargoTest),
        "cargo" if is_one(&["check", "c", "build", "b", "clippy", "doc", "fmt"]) => with(Runner::Other),
        "go" if verb == "test" => with(Runner::GoTest),
        "go" if is_one(&["build", "vet"]) => with(Runner::Other),
        "rspec" => with(Runner::Rspec),
        "rake" | "rails" if verb.starts_with("test") || verb.starts_with("spec") => with(Runner::Minitest),
        "phpunit" | "pest" => with(Runner::Phpunit),
        "mvn" | "mvnw" | "gradle" | "gradlew" => with(Runner::Jvm),
        "tsc" | "vue-tsc" => with(Runner::Tsc),
        "dotnet" | "swift" | "flutter" | "dart" | "mix" | "sbt" | "zig"
            if is_one(&["test", "build", "analyze", "compile"]) =>
        {
            with(Runner::Other)
        }
        "ctest" | "rustc" | "javac" | "gcc" | "g++" | "clang" | "cc" | "ninja" | "webpack" | "rollup"
        | "esbuild" => with(Runner::Other),
        "vite" | "next" | "ng" | "nuxt" | "astro" if is_one(&["build", "test", "lint", "check"]) => {
            with(Runner::Other)
        }
        "cmake" if rest.first().is_some_and(|word| word == "--build") => with(Runner::Other),
        "npm" | "pnpm" | "yarn" | "bun" => package_script(name, rest),
        "make" | "gmake" => with(Runner::Make(targets(rest))),
        "just" | "task" if is_checking(verb) => with(Runner::Other),
        "openspec" if verb == "validate" => with(Runner::Other),
        _ if LINTERS.contains(&name) => with(Runner::Lint(name.to_owned())),
        _ if INTERPRETERS.contains(&name) => {
            let file = rest.iter().find(|word| !word.starts_with('-'))?;
            let is_text =
                rest.first().is_some_and(|word| matches!(word.as_str(), "-c" | "-e" | "-p" | "--eval"));
            (!is_text).then(|| (Runner::Script(file.clone()), rest_of(1)))
        }
        _ if first.contains('/') && !first.contains('$') => Some((Runner::Script(first.clone()), rest_of(0))),
        _ => None,
    }
}

/// The words without programs that only start another.
pub(super) fn unwrapped(words: &[String]) -> Vec<String> {
    let mut words = words;
    loop {
        let second = words.get(1).map_or("", String::as_str);
        let skip = match words.first().map_or("", |word| base_name(word)) {
            "npx" | "bunx" | "nice" | "xvfb-run" => 1,
            "pnpm" | "yarn" | "npm" if matches!(second, "exec" | "dlx") => 2,
            "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "rye" if second == "run" => 2,
            "bundle" if second == "exec" => 2,
            "python" | "python3" if second == "-m" => 2,
            "timeout" => 2,
            _ => break,
        };
        words = words.get(skip..).unwrap_or_default();
        while words.first().is_some_and(|word| word.starts_with('-')) {
            words = &words[1..];
        }
    }
    // `python -m unittest` names a module, which is no program of the same name.
    let mut words = words.to_vec();
    if words.first().is_some_and(|word| word == "unittest") {
        words[0] = "nose2".to_owned();
    }
    words
}

/// The script of a `package.json` that a package manager runs.
fn package_script(manager: &str, words: &[String]) -> Option<(Runner, Vec<String>)> {
    let flags_with_value = ["--prefix", "-C", "--dir", "--cwd", "-w", "--workspace", "--filter", "-F"];
    let named = |name: &str, place| Some((Runner::Package(name.to_owned()), without(words, place)));
    let (mut place, mut is_run) = (0, false);
    while let Some(word) = words.get(place) {
        match word.as_str() {
            flag if flags_with_value.contains(&flag) => place += 1,
            flag if flag.starts_with('-') => {}
            "run" | "run-script" => is_run = true,
            "t" | "tst" if manager == "npm" => return named("test", place),
            name if is_run || name == "test" => return named(name, place),
            // These managers also run programs by their names.
            name if matches!(manager, "yarn" | "pnpm") => {
                let is_script = is_checking(name);
                return if is_script { named(name, place) } else { runner(words.get(place..)?) };
            }
            _ => return None,
        }
        place += 1;
    }
    None
}

fn without(words: &[String], place: usize) -> Vec<String> {
    words.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, word)| word.clone()).collect()
}

/// The targets that make is asked for.
fn targets(words: &[String]) -> Vec<String> {
    let mut targets = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-C" | "-f" | "-j" | "--directory" | "--file") {
            words.next();
        } else if !word.starts_with('-') && !word.contains('=') {
            targets.push(word.clone());
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(snippet: &str) -> Script {
        Script::new(vec![snippet.to_owned()])
    }

    #[test]
    fn what_formats_or_fixes() {
        for snippet in [
            "cargo fmt && cargo clippy -q && cargo test -q",
            "npx prettier --write . && npm test",
            "black -l 88 src",
            "ruff format . && ruff check --fix",
            "gofmt -w . && go test ./...",
            "npm run lint:fix",
            "make fmt test",
            "npx jest -u",
            "pnpm exec eslint --fix src",
            "pre-commit run --all-files",
        ] {
            assert!(script(snippet).rewrites(), "{snippet}");
            assert!(!script(snippet).only_checks(), "{snippet}");
        }
        for snippet in [
            "cargo fmt --check && cargo test",
            "cargo fmt -- --check",
            "prettier --check .",
            "black --check .",
            "test -z \"$(gofmt -l .)\"",
            "gofmt -l .",
            "npm run format:check",
            "npm test -- --fixtures",
            "pytest tests/test_format.py",
            "grep -q fmt Makefile",
        ] {
            assert!(!script(snippet).rewrites(), "{snippet}");
        }
    }

    #[test]
    fn what_can_be_run_at_any_time() {
        for snippet in [
            "npm test",
            "npm run test:unit -- --ci",
            "npm --prefix web run build",
            "pnpm lint && pnpm -C web test",
            "yarn jest src/a.test.ts",
            "npx jest --ci 2>&1 | tail -5",
            "cd api && cargo test parser",
            "cargo +nightly clippy -- -D warnings",
            "python3 -m pytest tests -q",
            "uv run pytest",
            "python -m unittest tests.test_a",
            "go vet ./... && go test ./...",
            "test -f a.txt && grep -q b a.txt",
            "[ \"$(grep -c x a.txt)\" -ge 3 ]",
            "! grep -rn println src",
            "ls src | wc -l",
            "make test",
            "make -C api check",
            "./gradlew test",
            "npx tsc --noEmit",
            "eslint . --max-warnings 0",
            "ruff check . && mypy src",
            ". .venv/bin/activate && pytest",
            "node --test",
            "bundle exec rspec",
            "openspec validate add-x --strict",
        ] {
            assert!(script(snippet).only_checks(), "{snippet}");
        }
        for snippet in [
            "npm ci && npm test",
            "npm run deploy",
            "sh check.sh",
            "./verify",
            "curl -sf http://localhost:3000",
            "rm -rf dist && npm run build",
            "docker compose up -d",
            "psql -c 'drop table a'",
            "make deploy",
            "openspec archive add-x",
            "node -e 'require(\"./a\")'",
            "python3 migrate.py",
            "eslint --fix .",
            "sed -i s/a/b/ a.txt",
            "find . -name a -delete",
            "for f in a b; do test -f $f; done",
            "test \"$(curl -s http://a)\" = b",
            "test -n `reset`",
            "",
        ] {
            assert!(!script(snippet).only_checks(), "{snippet}");
        }
    }

    #[track_caller]
    fn check(snippet: &str, expected: &[(Runner, &str, &[&str])]) {
        let expected = expected.iter().map(|(runner, folder, words)| Check {
            runner: runner.clone(),
            folder: (*folder).to_owned(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        });
        assert_eq!(script(snippet).checks(), expected.collect::<Vec<_>>(), "{snippet}");
    }

    #[test]
    fn what_is_run() {
        let package = |name: &str| Runner::Package(name.to_owned());
        check("npm test -- --ci", &[(package("test"), "", &["--", "--ci"])]);
        check("npm --prefix web run build", &[(package("build"), "web", &["run"])]);
        check("cd web && npm t | tail -3", &[(package("test"), "web", &[])]);
        check("python3 -m pytest tests/test_a.py -q", &[(Runner::Pytest, "", &["tests/test_a.py", "-q"])]);
        check("python3 -m unittest tests.test_a", &[(Runner::Unittest, "", &["tests.test_a"])]);
        check(
            "cd api && make -C sub test all",
            &[(Runner::Make(vec!["test".to_owned(), "all".to_owned()]), "api/sub", &["test", "all"])],
        );
        check(
            "sh scripts/check.sh a && ./b",
            &[
                (Runner::Script("scripts/check.sh".to_owned()), "", &["a"]),
                (Runner::Script("./b".to_owned()), "", &[]),
            ],
        );
        check("grep -q a b.txt && test -f c", &[]);
        check("npx eslint src", &[(Runner::Lint("eslint".to_owned()), "", &["src"])]);
    }
}
