//! RSpec.

use crate::output::failing::Tool;
use crate::output::reading::Found;
use crate::output::text::{begins_with_digit, counted, end_of_block, first_told};

/// Between `Failures:` and the end: `  1) calc adds two numbers`, the line of code, and the error.
pub(super) fn rspec(lines: &[&str], found: &mut Found) {
    let mut is_listed = false;
    for (at, line) in lines.iter().enumerate() {
        let is_count = begins_with_digit(line) && line.contains(" failure");
        if let Some(examples) = is_count.then(|| counted(line, &["example", "examples"])).flatten() {
            found.ran(Tool::Rspec, examples.saturating_sub(counted(line, &["pending"]).unwrap_or(0)));
        }
        is_listed = (is_listed || *line == "Failures:") && !line.starts_with("Finished in ");
        if let Some(file) = line.strip_prefix("An error occurred while loading ") {
            let end = end_of_block(lines, at + 1, |line| line.starts_with("# "));
            found.unloaded(Tool::Rspec, file.trim_end_matches('.'), &reason(&lines[at + 1..end]), at..end);
        }
        let Some(example) = example(line).filter(|_| is_listed) else { continue };
        let end = end_of_block(lines, at + 1, |line| {
            self::example(line).is_some() || line.starts_with("Finished in ")
        });
        found.test(Tool::Rspec, example, &reason(&lines[at + 1..end]), at..end);
    }
}

fn example(line: &str) -> Option<&str> {
    let text = line.strip_prefix("  ").filter(|text| begins_with_digit(text))?;
    let (number, example) = text.split_once(") ")?;
    number.parse::<u32>().is_ok().then_some(example)
}

/// The text below the line of code: what was expected and what came, or the exception.
fn reason(body: &[&str]) -> String {
    let is_told = |line: &&str| !line.starts_with("Failure/Error:") && !line.starts_with('#');
    let told: Vec<&str> = body.iter().map(|line| line.trim()).filter(is_told).collect();
    let side = |label: &str| told.iter().find(|line| line.starts_with(label));
    match (side("expected: "), side("got: ")) {
        (Some(expected), Some(got)) => format!("{expected}, {got}"),
        (_, _) => first_told(told),
    }
}
