//! JUnit through Maven and Gradle; the compiler is among the diagnostics.

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{begins_with_digit, counted, end_of_block, first_told, labelled};

/// `[ERROR] adds(com.example.CalcTest)  Time elapsed: 0.012 s  <<< FAILURE!`, with the exception in the next line.
pub(super) fn maven(lines: &[&str], found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        let Some(said) = said(line) else { continue };
        if let Some(tests) = labelled(said, "Tests run:").filter(|_| !said.contains("Time elapsed")) {
            found.ran(Tool::Maven, tests.saturating_sub(labelled(said, "Skipped:").unwrap_or(0)));
        }
        let Some(test) = failed_test(said) else { continue };
        let end = end_of_block(lines, at + 1, |line| line.is_empty() || line.starts_with('['));
        let reason = first_told(lines[at + 1..end].iter().copied());
        found.test(Tool::Maven, &maven_name(test), &reason, at..end);
    }
}

/// The text of a line of Maven behind its level.
fn said(line: &str) -> Option<&str> {
    ["[ERROR] ", "[INFO] ", "[WARNING] "].iter().find_map(|level| line.strip_prefix(level)).or_else(|| {
        // Older versions print the tests' own lines as they are.
        (line.starts_with("Tests run:") || line.ends_with('!')).then_some(line)
    })
}

fn failed_test(said: &str) -> Option<&str> {
    let (test, rest) = said.split_once("Time elapsed:")?;
    let is_red = rest.contains("<<< FAILURE!") || rest.contains("<<< ERROR!");
    (is_red && !test.starts_with("Tests run:")).then(|| test.trim_end().trim_end_matches("--").trim())
}

/// `adds(com.example.CalcTest)` as newer versions write it.
fn maven_name(test: &str) -> String {
    match test.strip_suffix(')').and_then(|test| test.split_once('(')) {
        Some((name, class)) if class.contains('.') => format!("{class}.{name}"),
        Some(_) | None => test.to_owned(),
    }
}

/// `com.example.CalcTest > adds FAILED`, with the exception in the next line.
pub(super) fn gradle(lines: &[&str], found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        let is_count = begins_with_digit(line);
        let count =
            (is_count && line.contains(" completed, ")).then(|| counted(line, &["tests", "test"])).flatten();
        if let Some(tests) = count {
            found.ran(Tool::Gradle, tests.saturating_sub(counted(line, &["skipped"]).unwrap_or(0)));
        }
        let test = line.strip_suffix(" FAILED").filter(|test| test.contains(" > ") && !test.starts_with(' '));
        let Some(test) = test else { continue };
        let end = end_of_block(lines, at + 1, |line| !line.starts_with(' '));
        let reason = first_told(lines[at + 1..end].iter().copied());
        found.test(Tool::Gradle, test, &reason, at..end);
    }
}
