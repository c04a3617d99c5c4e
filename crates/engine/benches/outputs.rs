//! How long it takes to read the output of a red command of about a megabyte: one that is a log with a failure at its
//! end, one in which all known tools fail, and one of nothing but diagnostics.
#![expect(clippy::disallowed_types, clippy::disallowed_methods, reason = "a benchmark reads clock and files")]
#![expect(clippy::disallowed_macros, reason = "a benchmark prints its figures")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::Reading;

const BYTES: usize = 1 << 20;

fn main() {
    let recorded = recorded();
    let log = "2026-01-26 14:30:00 INFO server: handled request 4711 in 12 ms\n".repeat(BYTES / 63);
    measure("a log, then a failing test", &format!("{log}{}", recorded[0]));
    measure("all tools at once", &filled(&recorded.concat()));
    let diagnostics: String =
        (0..BYTES / 60).map(|at| format!("src/{at}.c:{at}:7: error: 'counter' undeclared here\n")).collect();
    measure("diagnostics", &diagnostics);
}

fn recorded() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/output");
    let entries = fs::read_dir(folder).expect("the recorded outputs are there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("an output")).collect()
}

fn filled(output: &str) -> String {
    output.repeat(BYTES / output.len() + 1)
}

fn measure(name: &str, output: &str) {
    let elapsed = (0..20).map(|_| read(output)).min().expect("it was read");
    println!("{name}: {} KiB read in {elapsed:?}", output.len() / 1024);
}

fn read(output: &str) -> Duration {
    let start = Instant::now();
    let reading = Reading::of(output, "/home/dev/project", 2_000);
    let elapsed = start.elapsed();
    assert!(reading.error.is_some(), "something is found");
    elapsed
}
