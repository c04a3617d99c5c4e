//! The tests of Rust; the compiler is among the diagnostics.

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{counted, end_of_block, first_told};

/// `---- tests::adds stdout ----` and what the test wrote; `test tests::adds ... FAILED` where it wrote nothing.
pub(super) fn libtest(lines: &[&str], found: &mut Found) {
    let mut silent = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("test result: ") {
            found.ran(Tool::CargoTest, counted(line, &["passed", "failed"]).unwrap_or(0));
        }
        if let Some(name) = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED")) {
            silent.push((at, name));
        }
        let Some(name) = stdout_of(line) else { continue };
        let end = end_of_block(lines, at + 1, |line| stdout_of(line).is_some() || line == "failures:");
        found.test(Tool::CargoTest, unplaced(name), &reason(&lines[at + 1..end]), at..end);
    }
    for (at, name) in silent {
        found.test(Tool::CargoTest, unplaced(name), "", at..at + 1);
    }
}

fn stdout_of(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// The name without what is said of the test, and without the line of an example in a comment.
fn unplaced(name: &str) -> &str {
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    name.rsplit_once(" (line ").map_or(name, |(name, _)| name)
}

/// The message of the panic, with both sides of a comparison; else the first thing that is told.
fn reason(body: &[&str]) -> String {
    let Some(at) = body.iter().position(|line| line.contains(" panicked at ")) else {
        return first_told(body.iter().copied());
    };
    let told = first_told(body[at + 1..].iter().copied());
    let side = |label: &str| body.iter().map(|line| line.trim()).find(|line| line.starts_with(label));
    match (side("left: "), side("right: ")) {
        (Some(left), Some(right)) if told.starts_with("assertion ") => format!("{told} ({left}, {right})"),
        (_, _) => told,
    }
}
