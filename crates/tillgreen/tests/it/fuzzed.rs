//! What fuzzers begin with and what they have found, run through the targets again: `./fuzz.sh` finds more of it.

use std::path::{Path, PathBuf};
use std::{fs, panic};

#[path = "../../../../fuzz/src/targets/mod.rs"]
mod targets;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The inputs of a target in a folder.
fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(fuzz().join(folder).join(target)) else { return Vec::new() };
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn every_input_that_was_found_passes() {
    let mut failed = Vec::new();
    for (name, target) in targets::ALL {
        let seeds = inputs("seeds", name);
        assert!(!seeds.is_empty(), "{name} has nothing to begin with");
        for path in seeds.into_iter().chain(inputs("found", name)) {
            let data = fs::read(&path).expect("an input");
            if panic::catch_unwind(|| target(&data)).is_err() {
                failed.push(path.display().to_string());
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn no_input_belongs_to_a_target_that_is_gone() {
    for folder in ["seeds", "found"] {
        let Ok(entries) = fs::read_dir(fuzz().join(folder)) else { continue };
        for entry in entries.map(|entry| entry.expect("an entry")) {
            let name = entry.file_name().into_string().expect("a name");
            assert!(targets::ALL.iter().any(|(known, _)| *known == name), "{folder}/{name}");
        }
    }
}
