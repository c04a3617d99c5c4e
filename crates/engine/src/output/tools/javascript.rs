//! Jest, Vitest and Mocha.

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{begins_with_digit, counted, end_of_block, first_told};

/// `FAIL tests/calc.test.js`, and below it a block for each test: `  ● calc › adds two numbers`.
pub(super) fn jest(lines: &[&str], found: &mut Found) {
    let mut file = None;
    for (at, line) in lines.iter().enumerate() {
        let count = line.strip_prefix("Tests:").and_then(counted_or_none);
        if let Some(tests) = count {
            found.ran(Tool::Jest, tests);
        }
        if line.starts_with("No tests found, exiting with code 0") {
            found.ran(Tool::Jest, 0);
        }
        if let Some(failed) = jest_file(line) {
            file = Some(failed);
        }
        let (Some(file), Some(title)) = (file, line.strip_prefix("  ● ")) else { continue };
        if title == "Console" {
            continue;
        }
        let end = end_of_block(lines, at + 1, |line| {
            line.starts_with("  ● ")
                || jest_file(line).is_some()
                || line.starts_with("PASS ")
                || line.starts_with("Test Suites:")
        });
        let reason = jest_reason(&lines[at + 1..end]);
        if title == "Test suite failed to run" {
            found.unloaded(Tool::Jest, file, &reason, at..end);
        } else {
            found.test(Tool::Jest, &format!("{file} › {title}"), &reason, at..end);
        }
    }
}

/// The number of tests that ran; what is all skipped ran none.
fn counted_or_none(count: &str) -> Option<u32> {
    counted(count, &["passed", "failed"]).or_else(|| counted(count, &["skipped", "todo"]).map(|_| 0))
}

fn jest_file(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("FAIL ")?.trim();
    let file = rest.split_once(" (").map_or(rest, |(file, _)| file);
    (file.contains('.') && !file.contains(" > ") && !file.contains(" [")).then_some(file)
}

/// The first thing that is told; of an expectation, what was expected and what came.
fn jest_reason(body: &[&str]) -> String {
    let told = first_told(body.iter().copied());
    let labelled = |label: &str| body.iter().map(|line| line.trim()).find(|line| line.starts_with(label));
    match (labelled("Expected"), labelled("Received")) {
        (Some(expected), Some(received)) if told.starts_with("expect(") => format!("{expected}, {received}"),
        (_, _) => told,
    }
}

/// ` FAIL  tests/calc.test.js > calc > adds two numbers`, with the error in the next line.
pub(super) fn vitest(lines: &[&str], found: &mut Found) {
    for (at, line) in lines.iter().enumerate() {
        let count = line.trim_start().strip_prefix("Tests  ");
        if let Some(tests) = count.and_then(counted_or_none) {
            found.ran(Tool::Vitest, tests);
        }
        if line.starts_with("No test files found, exiting with code 0") {
            found.ran(Tool::Vitest, 0);
        }
        let Some(name) = vitest_name(line) else { continue };
        let end = end_of_block(lines, at + 1, |line| vitest_name(line).is_some() || line.starts_with("⎯⎯"));
        // Tests with the same error stand one below the other.
        let told =
            lines[at + 1..].iter().take(100).find(|line| !line.is_empty() && vitest_name(line).is_none());
        let reason = told.copied().unwrap_or_default();
        match name.split_once(" [ ") {
            Some((file, _)) => found.unloaded(Tool::Vitest, file, reason, at..end),
            None => found.test(Tool::Vitest, name, reason, at..end),
        }
    }
}

fn vitest_name(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("FAIL ")?.trim();
    (name.contains(" > ") || name.contains(" [ ")).then_some(name)
}

/// After `2 failing`: a number, the titles one below the other, the last with a colon, and the error.
pub(super) fn mocha(lines: &[&str], found: &mut Found) {
    let mut is_listed = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start_matches(' ');
        let count = if begins_with_digit(text) { text.split(" (").next().unwrap_or(text) } else { "" };
        if let Some(tests) = mocha_count(count, " passing").or_else(|| mocha_count(count, " failing")) {
            found.ran(Tool::Mocha, tests);
            is_listed |= count.ends_with(" failing");
        }
        if let Some(exception) = text.strip_prefix("Exception during run: ") {
            found.told(Tool::Mocha, exception, at..lines.len().min(at + 5));
        }
        if let (true, Some(first)) = (is_listed, mocha_title(line)) {
            mocha_test(lines, (at, first), found);
        }
    }
}

/// `1 passing`, `3 failing`.
fn mocha_count(count: &str, word: &str) -> Option<u32> {
    count.strip_suffix(word)?.parse().ok()
}

/// `  1) calc`.
fn mocha_title(line: &str) -> Option<&str> {
    let text = line.strip_prefix("  ").filter(|text| begins_with_digit(text))?;
    let (number, title) = text.split_once(") ")?;
    number.parse::<u32>().is_ok().then_some(title)
}

fn mocha_test(lines: &[&str], (at, first): (usize, &str), found: &mut Found) {
    const TITLES_MAX: usize = 10;
    let mut titles = vec![first];
    let mut body = at + 1;
    while !titles.last().is_some_and(|title| title.ends_with(':')) {
        let Some(title) = lines.get(body).filter(|line| !line.is_empty() && titles.len() < TITLES_MAX) else {
            return;
        };
        titles.push(title.trim());
        body += 1;
    }
    let end = end_of_block(lines, body, |line| mocha_title(line).is_some());
    let name = titles.join(" > ");
    let reason = first_told(lines[body..end].iter().copied());
    found.test(Tool::Mocha, name.trim_end_matches(':'), &reason, at..end);
}
