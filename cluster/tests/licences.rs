//! Licences of what this program leans on, beyond what the plain one does.

use std::process::Command;

use serde_json::Value;

const LICENCES: [&str; 9] =
    ["MIT", "Apache-2.0", "Unicode-3.0", "Zlib", "BSD-3-Clause", "BSD-2-Clause", "ISC", "Unlicense", "0BSD"];

/// Crates under MIT by their LICENSE.txt that have no field which says so.
const WITHOUT_FIELD: &str = "temporalio-";

#[test]
fn licences_of_dependencies_are_permissive() {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "the packages were found");
    let is_good = |licence: &str| {
        let is_known =
            |word: &str| LICENCES.contains(&word.trim().trim_start_matches('(').trim_end_matches(')'));
        let of_one = |part: &str| {
            part.split([' ', '/']).filter(|word| !["OR", "AND", "WITH", ""].contains(word)).any(is_known)
        };
        licence.split(" AND ").all(of_one)
    };
    let bad: Vec<String> = packages
        .iter()
        .filter(|package| package["source"].is_string())
        .filter_map(|package| {
            let name = package["name"].as_str().expect("a name");
            let licence = package["license"].as_str().unwrap_or("none");
            (!name.starts_with(WITHOUT_FIELD) && !is_good(licence)).then(|| format!("{name}: {licence}"))
        })
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
