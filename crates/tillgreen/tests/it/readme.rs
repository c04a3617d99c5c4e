//! What the README shows, done as it says.

use std::fs;
use std::path::Path;
use std::process::Command;

use testkit::Sandbox;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");
const COMMANDS: [&str; 16] = [
    "demo",
    "init",
    "new",
    "check",
    "run",
    "list",
    "use",
    "status",
    "show",
    "log",
    "stats",
    "answer",
    "cancel",
    "agents",
    "completions",
    "man",
];

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    fs::read_to_string(path).expect("the README is there")
}

/// The fenced block of a language that contains a text.
fn block(language: &str, containing: &str) -> String {
    let readme = readme();
    let blocks = readme.split("```").skip(1).step_by(2);
    let mut of_language = blocks.filter_map(|block| block.strip_prefix(language));
    let found = of_language.find(|block| block.contains(containing));
    found.unwrap_or_else(|| panic!("no {language} block has {containing}")).trim_start().to_owned()
}

#[test]
fn the_example_runs_to_green() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("greeting", &block("markdown", "Write the greeting"));
    let environment = sandbox.environment();
    let known = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let folder = Path::new(PROGRAM).parent().expect("a folder").display();
    let path = format!("{folder}:{}", known.unwrap_or_default());
    let output = Command::new("sh")
        .args(["-e", "-c", &block("sh", "agent.sh")])
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
}

#[test]
fn every_command_it_names_exists() {
    let readme = readme();
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    for name in COMMANDS {
        assert!(
            readme.contains(&format!("tillgreen {name}")) || readme.contains(&format!("`{name}")),
            "{name}"
        );
        sandbox.run(&[name, "--help"]).expect_code(0);
    }
}
