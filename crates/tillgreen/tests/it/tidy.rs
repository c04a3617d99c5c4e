//! The house rules that a machine can check.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const LINES_MAX: usize = 800;
const FLAT_FILES_MAX: usize = 12;
const VAGUE_NAMES: [&str; 7] = ["util", "helper", "common", "shared", "support", "types", "misc"];
const LICENCES: [&str; 8] =
    ["MIT", "Apache-2.0", "Unicode-3.0", "Zlib", "BSD-3-Clause", "BSD-2-Clause", "ISC", "Unlicense"];

/// Which crate may depend on which of ours.
const DIRECTION: [(&str, &[&str]); 6] = [
    ("plan", &[]),
    ("engine", &["plan"]),
    ("runner", &["plan", "engine"]),
    ("rehearsal", &["engine", "runner"]),
    ("tillgreen", &["plan", "engine", "runner", "rehearsal"]),
    ("testkit", &[]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates"), root().join("fuzz/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&entry).expect("a source file");
                found.push((entry, text));
            }
        }
    }
    assert!(found.len() > 20, "the sources were found");
    found
}

#[track_caller]
fn expect_none(found: &[String], rule: &str) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

#[test]
fn files_are_short_and_named_after_a_concept() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > LINES_MAX {
            found.push(format!("{} has {lines} lines", path.display()));
        }
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let folder =
            path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        if VAGUE_NAMES.contains(&stem.trim_end_matches('s'))
            || VAGUE_NAMES.contains(&folder)
            || VAGUE_NAMES.contains(&stem)
        {
            found.push(format!("{} has a name that says nothing", path.display()));
        }
    }
    expect_none(&found, "a file owns one concept");
}

#[test]
fn nothing_is_left_open_or_switched_off() {
    let words = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("#[ig", "nore"),
        concat!("#[should_", "panic"),
        concat!("#[al", "low("),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
    ];
    let mut found = Vec::new();
    // What looks for such words in the work of agents has a table of them.
    let is_table = |path: &Path| path.ends_with("signs/words.rs") || path.ends_with("signs/added.rs");
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_table(path)) {
        for (number, line) in text.lines().enumerate() {
            for word in words.iter().filter(|word| line.contains(**word)) {
                found.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    expect_none(&found, "what is open belongs into an issue");
}

#[test]
fn only_the_binary_prints_and_it_starts_no_processes() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let shown = path.display().to_string();
        let libraries = ["plan", "engine", "runner", "rehearsal"];
        let is_library = libraries.iter().any(|name| shown.contains(&format!("crates/{name}/src")));
        let is_binary = shown.contains("crates/tillgreen/src");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let prints = ["println!(", "eprintln!(", "print!("].iter().any(|word| code.contains(word));
        if is_library && prints && !shown.contains("tests") {
            found.push(format!("{shown} prints"));
        }
        if is_binary && code.contains("process::Command") {
            found.push(format!("{shown} starts processes"));
        }
    }
    expect_none(&found, "the runner never prints, the binary starts no processes");
}

#[test]
fn dependencies_point_one_way_and_have_a_reason() {
    let mut found = Vec::new();
    for (name, allowed) in DIRECTION {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let text = fs::read_to_string(&path).expect("a manifest");
        let dependencies = text.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("\n[").next().unwrap_or_default();
        for line in dependencies.lines().filter(|line| line.contains("workspace")) {
            let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let is_ours = DIRECTION.iter().any(|(ours, _)| *ours == dependency);
            if is_ours && !allowed.contains(&dependency) {
                found.push(format!("{name} depends on {dependency}"));
            }
            let is_plain = ["thiserror", "serde"].contains(&dependency);
            if !is_ours && !is_plain && !line.contains('#') {
                found.push(format!("{name} gives no reason for {dependency}"));
            }
        }
    }
    expect_none(&found, "plan <- engine <- runner <- tillgreen");
}

fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

#[test]
fn licences_of_dependencies_are_permissive() {
    let mut found = Vec::new();
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or("none");
        // Any one of the alternatives will do; what is joined by AND has to be acceptable altogether.
        let is_fine = licence.replace('/', " OR ").split(" OR ").any(|choice| {
            choice.trim_matches(['(', ')', ' ']).split(" AND ").all(|part| {
                let part = part.trim_matches(['(', ')', ' ']);
                LICENCES.contains(&part.trim_end_matches(" WITH LLVM-exception"))
            })
        });
        if !is_fine {
            found.push(format!("{} {}: {licence}", package["name"], package["version"]));
        }
    }
    expect_none(&found, "only permissive licences");
}

#[test]
fn no_dependency_of_the_program_comes_in_two_versions() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args([
            "tree",
            "--package",
            "tillgreen",
            "--edges",
            // What only builds the program is no part of it.
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--locked",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split(' ');
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name.to_owned()).or_default().insert(version.to_owned());
        }
    }
    assert!(versions.len() > 10, "the tree was read");
    let doubled: Vec<String> = versions
        .iter()
        .filter(|(_, all)| all.len() > 1)
        .map(|(name, all)| format!("{name}: {all:?}"))
        .collect();
    expect_none(&doubled, "one version of each dependency");
}

#[test]
fn the_page_of_states_shows_the_tables() {
    let text = fs::read_to_string(root().join("docs/states.md")).expect("docs/states.md");
    for diagram in [engine::mermaid(), engine::pull_request_mermaid()] {
        assert!(text.contains(&diagram), "replace the diagram by:\n{diagram}");
    }
}

#[test]
fn the_architecture_is_read_in_ten_minutes() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let (words, pictures) = text.split("```").enumerate().fold((0, 0), |(words, pictures), (place, part)| {
        if place % 2 == 0 {
            (words + part.split_whitespace().count(), pictures)
        } else {
            (words, pictures + 1)
        }
    });
    assert!(words <= 1_500, "{words} words");
    assert_eq!(pictures, 3, "the loop, the way of work, the disk");
}

#[test]
fn the_top_folder_of_the_runner_holds_rooms() {
    let folder = root().join("crates/runner/src");
    let files = fs::read_dir(&folder).expect("sources").map(|entry| entry.expect("an entry").path());
    let flat = files.filter(|path| path.extension().is_some_and(|end| end == "rs")).count();
    assert!(flat <= FLAT_FILES_MAX, "{flat} files lie beside the rooms");
}

#[test]
fn no_test_file_is_forgotten() {
    let mut found = Vec::new();
    for (name, _) in DIRECTION {
        let folder = root().join("crates").join(name).join("tests/it");
        let Ok(main) = fs::read_to_string(folder.join("main.rs")) else { continue };
        for entry in fs::read_dir(&folder).expect("tests").map(|entry| entry.expect("an entry").path()) {
            let stem = entry.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            let is_module = entry.extension().is_some_and(|extension| extension == "rs") && stem != "main";
            if is_module && !main.contains(&format!("mod {stem};")) {
                found.push(format!("{} is not in main.rs", entry.display()));
            }
        }
    }
    expect_none(&found, "every test file runs");
}
