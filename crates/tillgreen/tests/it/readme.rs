//! What the README and the pages in `docs/` show, done as they say. Their settings are looked at in `settings`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::Sandbox;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
const README: &str = "README.md";
const README_LINES_MAX: usize = 150;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("the page is there")
}

/// The README and every page, by name.
fn pages() -> Vec<(String, String)> {
    let docs = fs::read_dir(root().join("docs")).expect("the pages are there");
    let names = docs.map(|entry| entry.expect("a page").file_name().into_string().expect("a name"));
    let names = names.filter(|name| name.ends_with(".md"));
    let names = names.map(|name| format!("docs/{name}")).chain([README.to_owned()]);
    names.map(|name| (name.clone(), page(&name))).collect()
}

/// The fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// The fenced block of a language that contains a text.
fn block(page: &str, language: &str, containing: &str) -> String {
    let found = blocks(page, language).into_iter().find(|block| block.contains(containing));
    found.unwrap_or_else(|| panic!("no {language} block has {containing}")).to_owned()
}

/// Code on a page: fenced blocks for a shell, line by line, and what stands in backticks.
fn code(page: &str) -> Vec<String> {
    let lines = blocks(page, "sh").into_iter().flat_map(str::lines).map(str::to_owned);
    let prose: String = page.split("\n```").step_by(2).collect::<Vec<_>>().join("\n");
    let spans: Vec<String> = prose.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    lines.chain(spans).collect()
}

/// What the program itself says of its commands.
fn help(sandbox: &Sandbox, command: &[&str]) -> String {
    let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
    sandbox.run(&arguments).expect_code(0).stdout
}

/// The names of all commands.
fn commands(sandbox: &Sandbox) -> BTreeSet<String> {
    let help = help(sandbox, &[]);
    let (_, list) = help.split_once("\nCommands:\n").expect("there are commands");
    let list = list.split("\n\n").next().unwrap_or_default();
    let names = list
        .lines()
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

fn runs_to_green(name: &str, plan: &str) -> Sandbox {
    let text = page(name);
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("greeting", &block(&text, "markdown", plan));
    let environment = sandbox.environment();
    let known = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let folder = Path::new(PROGRAM).parent().expect("a folder").display();
    let path = format!("{folder}:{}", known.unwrap_or_default());
    let output = Command::new("sh")
        .args(["-e", "-c", &block(&text, "sh", "agent.sh")])
        .current_dir(sandbox.root())
        .env_clear()
        .envs(environment)
        .env("PATH", path)
        .output()
        .expect("sh runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.lines().last(), Some("ALL_TASKS_COMPLETE"));
    assert_eq!(sandbox.read("greeting.txt"), "hello\n");
    assert!(sandbox.subjects().iter().any(|subject| subject == "feat: add a greeting"));
    sandbox
}

#[test]
fn the_example_runs_to_green() {
    runs_to_green(README, "Write the greeting");
}

#[test]
fn the_first_plan_fails_once_and_runs_to_green() {
    let sandbox = runs_to_green("docs/getting-started.md", "Write the greeting");
    let shown = sandbox.run(&["show", "1.1"]);
    assert!(shown.stdout.contains("attempt 1 (executor, command): failed"), "{}", shown.stdout);
    assert!(shown.stdout.contains("attempt 2 (executor, command): passed"), "{}", shown.stdout);
}

#[test]
fn every_plan_that_is_shown_is_understood() {
    let mut plans = 0;
    for (name, text) in pages() {
        for block in blocks(&text, "markdown") {
            let sandbox = Sandbox::new(Path::new(PROGRAM));
            sandbox.spec("example", block);
            let checked = sandbox.run(&["check"]);
            assert_eq!(checked.code, Some(0), "{name}: {}{}", checked.stdout, checked.stderr);
            plans += 1;
        }
    }
    assert!(plans > 4, "{plans}");
}

#[test]
fn the_graph_that_is_shown_is_what_is_printed() {
    let text = page("docs/side-by-side.md");
    let shown = block(&text, "console", "check --graph");
    let (_, shown) = shown.split_once('\n').expect("an answer");
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("pages", &block(&text, "markdown", "Write the start page"));
    assert_eq!(sandbox.run(&["check", "--graph"]).stdout.trim_end(), shown.trim_end());
}

#[test]
fn commands_and_flags_that_are_named_exist() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let commands = commands(&sandbox);
    let mut known = help(&sandbox, &["agents", "test"]);
    for command in &commands {
        known.push_str(&help(&sandbox, &[command]));
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let flags: BTreeSet<&str> =
        known.split(|c| !is_letter(c)).filter(|word| word.starts_with("--")).collect();
    let mut named = BTreeSet::new();
    for (name, text) in pages() {
        for line in code(&text) {
            let line = line.split(" #").next().unwrap_or_default();
            let Some(arguments) = line.strip_prefix("tillgreen ").or(line.starts_with("--").then_some(line))
            else {
                continue;
            };
            let first = arguments.split_whitespace().next().unwrap_or_default();
            if line.starts_with("tillgreen ") && first.chars().all(is_letter) {
                assert!(first.starts_with('-') || commands.contains(first), "{name}: {line}");
                named.insert(first.to_owned());
            }
            let words = arguments.split(|c: char| !is_letter(c) && c != '\'');
            for flag in words.filter(|word| word.starts_with("--")) {
                assert!(flags.contains(flag), "{name}: {line}");
            }
        }
    }
    assert!(commands.is_subset(&named), "{:?}", commands.difference(&named));
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    let help = help(&sandbox, &[]);
    let (_, told) = help.split_once("Exit codes:\n").expect("there are exit codes");
    let number = |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<u8>().ok());
    let told: Vec<u8> = told.lines().filter_map(number).collect();
    let text = page("docs/files-and-exit-codes.md");
    let shown: Vec<u8> = text.lines().filter_map(|line| number(line.strip_prefix("| ")?)).collect();
    assert_eq!(shown, told);
}

#[test]
fn links_lead_somewhere() {
    for (name, text) in pages() {
        let folder = root().join(&name).parent().expect("a folder").to_owned();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.starts_with("https://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = fs::read(folder.join(file));
            let target = target.unwrap_or_else(|error| panic!("{name}: {link}: {error}"));
            let target = String::from_utf8_lossy(&target);
            let mut headings = target.lines().filter_map(|line| line.strip_prefix("## "));
            let found = headings.any(|known| known.to_lowercase().replace(' ', "-") == heading);
            assert!(heading.is_empty() || found, "{name}: {link}");
        }
    }
}

#[test]
fn every_page_is_reached_from_the_readme_which_is_short() {
    let readme = page(README);
    assert!(readme.lines().count() <= README_LINES_MAX, "{}", readme.lines().count());
    for (name, _) in pages().iter().filter(|(name, _)| name != README) {
        assert!(readme.contains(&format!("]({name})")), "{name}");
    }
}
